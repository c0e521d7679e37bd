/* SPDX-License-Identifier: MIT */
/* A source of CUDA in the place of a program: it is compiled into a temporary folder, which is removed when this process ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "compose/usual.h"

#define OPTIONS "-g -lineinfo -cudart shared"

/* ---- the folder ---- */

static char folder[1024], program[2048];

static void remove_program(void)
{
	if (folder[0] == '\0')
		return;
	unlink(program);
	rmdir(folder);
	folder[0] = '\0';
}

static void remove_and_end(int number)
{
	remove_program();
	signal(number, SIG_DFL);
	raise(number);
}

static int make_folder(const char *name, struct gt_error *error)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	const char *temporary = getenv("TMPDIR");
	struct sigaction action = {.sa_handler = remove_and_end};
	char path[sizeof folder];

	if (!temporary || !*temporary)
		temporary = "/tmp";
	if ((size_t)snprintf(path, sizeof path, "%s/gtrace-XXXXXX", temporary) >= sizeof path)
		return gt_fail(error, "TMPDIR: expected a shorter path");
	if (!mkdtemp(path))
		return gt_fail_errno(error, "no folder for the program in %s ($TMPDIR names another)", temporary);
	memcpy(folder, path, sizeof folder);
	snprintf(program, sizeof program, "%s/%.255s", folder, name);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaction(ends[i], &action, NULL);
	return atexit(remove_program) == 0 ? 0 : gt_fail(error, "%s: cannot be removed at the end", folder);
}

/* ---- the compiler ---- */

/* nvcc as PATH has it, else in the folders in which toolkits are. */
static bool find_nvcc(char *path, size_t size)
{
	const char *const folders[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
	char unused[4096];

	if (gt_child_find("nvcc", unused, sizeof unused))
		return (size_t)snprintf(path, size, "nvcc") < size;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (folders[i] && (size_t)snprintf(path, size, "%s/bin/nvcc", folders[i]) < size && gt_child_find(path, unused, sizeof unused))
			return true;
	return false;
}

static int run_nvcc(const struct gt_pipe *pipe, const char *source, struct gt_error *error)
{
	int status;

	if (gt_pipe_run(pipe, -1, STDERR_FILENO, &status, error) != 0)
		return -1;
	if (status != 0)
		return gt_fail(error, "%s: nvcc ended with status %d: mend it, or compile it with more options than " OPTIONS " and give gtrace the "
			       "program", source, status);
	return 0;
}

/* "my" of "path/my.cu". */
static void name_program(const char *source, char name[256])
{
	const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
	size_t length = strlen(base) - strlen(".cu");

	snprintf(name, 256, "%.*s", (int)(length < 255 ? length : 255), base);
}

/* The command; nvcc is named as it was found, whatever its path contains. */
static int compose(struct gt_pipe *pipe, const char *nvcc, const char *output, const char *source, struct gt_error *error)
{
	char dashed[4096];

	snprintf(dashed, sizeof dashed, "%s%s", *source == '-' ? "./" : "", source);
	if (gt_pipe_command(pipe, "nvcc " OPTIONS " -o", error) != 0 || gt_pipe_word(pipe, output, error) != 0 || gt_pipe_word(pipe, dashed, error) != 0)
		return -1;
	char *found = strdup(nvcc);
	if (!found)
		return gt_fail_memory(error, "a pipe");
	free(pipe->words[0]);
	pipe->words[0] = found;
	return 0;
}

int gt_origin_compile(struct gt_origin *origin, const char *source, bool dry, void (*show)(const struct gt_pipe *pipe), struct gt_error *error)
{
	struct gt_pipe pipe = {0};
	char nvcc[1024], name[256];

	name_program(source, name);
	if (!find_nvcc(nvcc, sizeof nvcc))
		return gt_fail(error, "%s: no nvcc in PATH, $CUDA_HOME or /usr/local/cuda: compile it where CUDA's toolkit is, by "
				      "nvcc " OPTIONS " -o %s %s, then give gtrace ./%s", source, name, source, name);
	if (!dry && make_folder(name, error) != 0)
		return -1;
	snprintf(origin->path, sizeof origin->path, "%s%s", dry ? "./" : "", dry ? name : program);
	origin->kind = GT_ORIGIN_PROGRAM;
	int result = compose(&pipe, nvcc, dry ? name : program, source, error);
	if (result == 0)
		show(&pipe);
	if (result == 0 && !dry)
		result = run_nvcc(&pipe, source, error);
	gt_pipe_clear(&pipe);
	return result;
}
