/* SPDX-License-Identifier: MIT */
/* A CUDA program that forks and ends in many ways: `forks STEPS`, a letter a step.
 *   w  launches a kernel, and prints the code that it gets    2, 3, 4  the same with so many blocks   l  one that does not end
 *   q  asks how many devices there are    d  cuInit
 *   ( ... )  these steps in a forked process, which is waited for; [ ... ]  which is not
 *   j  waits for all forked processes     K  kills the last one
 *   c  closes all descriptors from 3 on
 *   s  waits .3 seconds    b  computes for .3 seconds    r  waits for a byte    u  gives one
 *   t  runs true, by fork and exec        p  the same by system()
 *   x  _exit(0)   X  _Exit(3)   k  quick_exit(0)   y  the system call itself   a  abort()   h  _exit(0) in the handler of a signal   e  ends by SIGTERM
 * At the end of its steps a process returns from main or calls exit. */
#define _GNU_SOURCE /* syscall */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct dim3 {
	unsigned x, y, z;
};

extern void **__cudaRegisterFatBinary(const void *);
extern void __cudaRegisterFunction(void **, const void *, const char *, const char *, int, void *, void *, void *, void *, int *);
extern int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
extern int cudaMalloc(void **, size_t), cudaGetDeviceCount(int *), cuInit(unsigned);

static char bump, endless;
static int bytes[2]; /* of a pipe */
static pid_t last; /* process that was forked */

__attribute__((constructor)) static void register_kernel(void)
{
	static const struct {
		uint32_t magic, version;
		const void *data;
		const void *const *prelinked;
	} wrapper = {0x466243b1, 1, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry bump(.param .u64 p)\n{ .reg .u64 %a; .reg .u32 %v;\n"
		     "ld.param.u64 %a, [p];\nld.global.u32 %v, [%a];\nadd.u32 %v, %v, 1;\nst.global.u32 [%a], %v;\nret; }\n"
		     ".visible .entry endless(.param .u64 p)\n{ .reg .u64 %a; .reg .u32 %v;\nld.param.u64 %a, [p];\nst.global.u32 [%a], 1;\n"
		     "A: add.u32 %v, %v, 1;\nbra A; }\n", NULL};
	void **all = __cudaRegisterFatBinary(&wrapper);

	__cudaRegisterFunction(all, &bump, "bump", "bump", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(all, &endless, "endless", "endless", -1, NULL, NULL, NULL, NULL, NULL);
}

static void work(const char *kernel, unsigned blocks)
{
	static void *word;
	void *arguments[] = {&word};
	const struct dim3 grid = {blocks, 1, 1}, block = {1, 1, 1};

	if (!word)
		cudaMalloc(&word, 4);
	printf("work: %d\n", cudaLaunchKernel(kernel, grid, block, arguments, 0, NULL));
}

static void leave_in_handler(int number)
{
	(void)number;
	_exit(0);
}

static void run_true(void)
{
	if (fork() == 0)
		execlp("true", "true", (char *)NULL);
	wait(NULL);
}

static void compute(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC * 3 / 10; clock() < end;)
		;
}

/* Behind the bracket that closes the one before `at`. */
static const char *behind(const char *at)
{
	for (int depth = 1; depth > 0; at++)
		depth += strchr("([", *at) ? 1 : strchr(")]", *at) ? -1 : 0;
	return at;
}

static const char *fork_at(const char *at)
{
	last = fork();
	if (last == 0)
		return at + 1;
	if (*at == '(')
		waitpid(last, NULL, 0);
	return behind(at + 1);
}

static void step(char letter)
{
	static const struct timespec a_while = {0, 300000000};
	char byte = 0;
	int n;

	switch (letter) {
	case 'w': work(&bump, 1); break;
	case 'l': work(&endless, 1); break;
	case '2': case '3': case '4': work(&bump, (unsigned)letter - '0'); break;
	case 'q': cudaGetDeviceCount(&n); break;
	case 'd': cuInit(0); break;
	case 'c': for (n = 3; n < 200; n++) close(n); break;
	case 's': nanosleep(&a_while, NULL); break;
	case 'b': compute(); break;
	case 'r': if (read(bytes[0], &byte, 1) != 1) exit(1); break;
	case 'u': if (write(bytes[1], &byte, 1) != 1) exit(1); break;
	case 'K': kill(last, SIGKILL); break;
	case 'j': while (wait(NULL) > 0) continue; break;
	case 't': run_true(); break;
	case 'p': if (system("true") != 0) exit(1); break;
	case 'x': _exit(0);
	case 'X': _Exit(3);
	case 'k': quick_exit(0);
	case 'y': syscall(SYS_exit_group, 0); break;
	case 'a': abort();
	case 'e': raise(SIGTERM); break;
	case 'h': signal(SIGUSR1, leave_in_handler); raise(SIGUSR1); break;
	default: exit(0); /* the end of a forked process */
	}
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (pipe(bytes) != 0)
		return 1;
	for (const char *at = argc > 1 ? argv[1] : ""; *at;) {
		if (*at == '(' || *at == '[')
			at = fork_at(at);
		else
			step(*at++);
	}
	return 0;
}
