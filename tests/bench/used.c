/* SPDX-License-Identifier: MIT */
/* Runs a command and prints its processor time in seconds and its peak memory in bytes on standard error; exits with its
 * status.
 *   used COMMAND [ARGUMENT...] */
#define _DEFAULT_SOURCE /* ru_maxrss */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int status;

	if (argc < 2) {
		fputs("usage: used COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	pid_t child = fork();
	if (child == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child == -1 || waitpid(child, &status, 0) != child || getrusage(RUSAGE_CHILDREN, &used) != 0) {
		perror("used");
		return 1;
	}
	fprintf(stderr, "%.6f %ld\n", seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss * 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
