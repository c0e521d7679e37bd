/* SPDX-License-Identifier: MIT */
/* A source of CUDA in the place of a program: it is compiled into a temporary folder, which is removed when this process ends. A
 * comparison has two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "compose/usual.h"

#define OPTIONS "-g -lineinfo -cudart shared"

/* ---- the folder ---- */

#define FOLDERS 2

static struct {
	char path[1024], program[2048];
} compiled[FOLDERS];
static size_t n_compiled;

static void remove_programs(void)
{
	while (n_compiled > 0) {
		n_compiled--;
		unlink(compiled[n_compiled].program);
		rmdir(compiled[n_compiled].path);
	}
}

static int make_folder(const char *name, struct gt_error *error)
{
	const char *temporary = gt_temporary_directory();
	char path[sizeof compiled->path];

	if (n_compiled == FOLDERS)
		return gt_fail(error, "expected at most %d sources", FOLDERS);
	if ((size_t)snprintf(path, sizeof path, "%s/gtrace-XXXXXX", temporary) >= sizeof path)
		return gt_fail(error, "TMPDIR: expected a shorter path");
	if (!mkdtemp(path))
		return gt_fail_errno(error, "no folder for the program in %s ($TMPDIR names another)", temporary);
	memcpy(compiled[n_compiled].path, path, sizeof path);
	snprintf(compiled[n_compiled].program, sizeof compiled->program, "%s/%.255s", path, name);
	n_compiled++;
	gt_pipe_clean_at_signal(remove_programs);
	return n_compiled > 1 || atexit(remove_programs) == 0 ? 0 : gt_fail(error, "%s: cannot be removed at the end", path);
}

/* ---- the compiler ---- */

/* nvcc as PATH has it, else in the folders in which toolkits are. */
static bool find_nvcc(char *path, size_t size)
{
	const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
	char unused[4096];

	if (gt_child_find("nvcc", unused, sizeof unused))
		return (size_t)snprintf(path, size, "nvcc") < size;
	for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
		if (homes[i] && (size_t)snprintf(path, size, "%s/bin/nvcc", homes[i]) < size && gt_child_find(path, unused, sizeof unused))
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
	struct gt_pipe pipe = {.apart = true};
	char nvcc[1024], name[256];

	name_program(source, name);
	if (!find_nvcc(nvcc, sizeof nvcc))
		return gt_fail(error, "%s: no nvcc in PATH, $CUDA_HOME or /usr/local/cuda: compile it where CUDA's toolkit is, by "
				      "nvcc " OPTIONS " -o %s %s, then give gtrace ./%s", source, name, source, name);
	if (!dry && make_folder(name, error) != 0)
		return -1;
	const char *program = dry ? name : compiled[n_compiled - 1].program;
	snprintf(origin->path, sizeof origin->path, "%s%s", dry ? "./" : "", program);
	origin->compiled = true;
	origin->kind = GT_ORIGIN_PROGRAM;
	int result = compose(&pipe, nvcc, program, source, error);
	if (result == 0)
		show(&pipe);
	if (result == 0 && !dry)
		result = run_nvcc(&pipe, source, error);
	gt_pipe_clear(&pipe);
	return result;
}
