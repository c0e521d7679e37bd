/* SPDX-License-Identifier: MIT */
/* A source of CUDA in the place of a program: it is compiled into a temporary folder, which is removed when this process ends. A
 * comparison has two. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "base/installed.h"
#include "compose/usual.h"

#define OPTIONS "-g -lineinfo -cudart shared"
#define CLANG_OPTIONS "-x cuda --cuda-gpu-arch=sm_80 -O2 -g -Wno-unknown-cuda-version"

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

/* What a source is compiled with: nvcc, or clang with the headers of a toolkit, of which no program is needed. */
struct compiler {
	char name[1024];	 /* as PATH or a toolkit's folder has it */
	bool is_clang;
	char home[1024];	 /* the toolkit whose headers clang reads */
	const char *runtimes[2]; /* what programs of these headers are linked with */
};

/* nvcc as PATH has it, else in the folders in which toolkits are. */
static bool find_nvcc(struct compiler *compiler)
{
	const size_t size = sizeof compiler->name;
	char unused[4096];
	const char *home;

	if (gt_child_find("nvcc", unused, sizeof unused))
		return (size_t)snprintf(compiler->name, size, "nvcc") < size;
	for (size_t i = 0; (home = gt_cuda_home(&i));)
		if ((size_t)snprintf(compiler->name, size, "%s/bin/nvcc", home) < size && gt_child_find(compiler->name, unused, sizeof unused))
			return true;
	return false;
}

/* The version that a toolkit's cuda.h says, such as 12040 of CUDA 12.4; 0: there is none. */
static unsigned headers_version(const char *home)
{
	char path[2048], line[256];
	unsigned version = 0;

	snprintf(path, sizeof path, "%s/include/cuda.h", home);
	FILE *file = fopen(path, "r");
	while (file && version == 0 && fgets(line, sizeof line, file))
		if (sscanf(line, "#define CUDA_VERSION %u", &version) != 1)
			version = 0;
	if (file)
		fclose(file);
	return version;
}

/* Finds the headers; the stand-in of a runtime as old as they are has the calls of its time. */
static bool find_headers(struct compiler *compiler)
{
	unsigned version = 0;
	const char *home;

	for (size_t at = 0; version == 0 && (home = gt_cuda_home(&at));)
		if ((size_t)snprintf(compiler->home, sizeof compiler->home, "%s", home) < sizeof compiler->home)
			version = headers_version(home);
	size_t i = 0;
	while (i + 1 < GT_RUNTIMES && version < gt_runtime_names[i].version)
		i++;
	compiler->runtimes[0] = gt_runtime_names[i].name;
	compiler->runtimes[1] = i == 0 ? NULL : GT_RUNTIME;
	return version > 0;
}

/* Whether it has, and may use by default, a way of embedding device code that needs more of its programs. */
static bool embeds_anew(const struct compiler *compiler)
{
	char *const argv[] = {(char *)(uintptr_t)compiler->name, "--no-offload-new-driver", "--version", NULL};
	pid_t process;

	return gt_child_start(argv, (const int[GT_CHILD_STREAMS]){-1, -1, -1}, &process) == 0 && gt_child_wait(process) == 0;
}

/* $CUDACXX, nvcc, or clang, with headers. */
static bool find_compiler(struct compiler *compiler)
{
	const char *named = getenv("CUDACXX");
	char unused[4096];

	*compiler = (struct compiler){0};
	if (!named && find_nvcc(compiler))
		return true;
	snprintf(compiler->name, sizeof compiler->name, "%s", named ? named : "clang++");
	const char *slash = strrchr(compiler->name, '/');
	compiler->is_clang = strstr(slash ? slash : compiler->name, "clang") != NULL;
	return gt_child_find(compiler->name, unused, sizeof unused) && (!compiler->is_clang || find_headers(compiler));
}

/* "my" of "path/my.cu". */
static void name_program(const char *source, char name[256])
{
	const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
	size_t length = strlen(base) - strlen(".cu");

	snprintf(name, 256, "%.*s", (int)(length < 255 ? length : 255), base);
}

/* Appends a command: its options by words, then a file that it writes and one that it reads, whatever their names contain. The compiler is
 * named as it was found. */
static int compose(struct gt_pipe *pipe, const struct compiler *compiler, const char *options, const char *output, const char *input,
		   struct gt_error *error)
{
	char command[4096], dashed[4096];

	snprintf(command, sizeof command, "compiler %s", options);
	snprintf(dashed, sizeof dashed, "%s%s", *input == '-' ? "./" : "", input);
	if (gt_pipe_command(pipe, command, error) != 0 || gt_pipe_word(pipe, "-o", error) != 0 || gt_pipe_word(pipe, output, error) != 0 ||
	    gt_pipe_word(pipe, dashed, error) != 0)
		return -1;
	char *found = strdup(compiler->name);
	if (!found)
		return gt_fail_memory(error, "a pipe");
	free(pipe->words[0]);
	pipe->words[0] = found;
	return 0;
}

/* A command's run, unless `dry`. Clears the pipe. */
static int finish(struct gt_pipe *pipe, int result, const struct compiler *compiler, const char *source, bool dry,
		  void (*show)(const struct gt_pipe *pipe), struct gt_error *error)
{
	int status = 0;

	if (result == 0)
		show(pipe);
	if (result == 0 && !dry)
		result = gt_pipe_run(pipe, -1, STDERR_FILENO, &status, error);
	gt_pipe_clear(pipe);
	if (result == 0 && status != 0)
		return gt_fail(error, "%s: %s ended with status %d: mend it, or compile it with more options than %s and give gtrace the program",
			       source, compiler->is_clang ? "clang" : "nvcc", status, compiler->is_clang ? CLANG_OPTIONS : OPTIONS);
	return result;
}

static int compile_by_nvcc(const struct compiler *compiler, const char *source, const char *program, bool dry,
			   void (*show)(const struct gt_pipe *pipe), struct gt_error *error)
{
	struct gt_pipe pipe = {.apart = true};
	const int result = compose(&pipe, compiler, OPTIONS, program, source, error);

	return finish(&pipe, result, compiler, source, dry, show, error);
}

/* The parts of a program of clang: its PTX, which the object contains as text, and the object, which is linked with gtrace's runtime. */
enum { PTX, OBJECT, PROGRAM, PARTS };

static int compose_part(struct gt_pipe *pipe, int part, const struct compiler *compiler, char files[PARTS][2048], const char *source,
			struct gt_error *error)
{
	static const char *const options[PARTS] = {CLANG_OPTIONS " --cuda-device-only -S", CLANG_OPTIONS " --cuda-host-only -c", "-g"};
	char home[1100], folder[GT_RUNTIME_FOLDER], runtime[GT_RUNTIME_FOLDER + 64];
	int result = compose(pipe, compiler, options[part], files[part], part == PROGRAM ? files[OBJECT] : source, error);

	snprintf(home, sizeof home, "--cuda-path=%s", compiler->home);
	if (result == 0 && part != PROGRAM)
		result = gt_pipe_word(pipe, home, error);
	if (result == 0 && part == OBJECT && embeds_anew(compiler))
		result = gt_pipe_word(pipe, "--no-offload-new-driver", error);
	if (result == 0 && part == OBJECT)
		result = gt_pipe_option(pipe, "-Xclang", "-fcuda-include-gpubinary", error) != 0 ? -1 : gt_pipe_option(pipe, "-Xclang", files[PTX], error);
	if (result == 0 && part == PROGRAM)
		result = gt_runtime_folder(folder, error);
	for (size_t i = 0; result == 0 && part == PROGRAM && i < 2 && compiler->runtimes[i]; i++) {
		snprintf(runtime, sizeof runtime, "%s/%s", folder, compiler->runtimes[i]);
		result = gt_pipe_word(pipe, runtime, error);
	}
	return result;
}

static int compile_by_clang(const struct compiler *compiler, const char *source, const char *program, bool dry,
			    void (*show)(const struct gt_pipe *pipe), struct gt_error *error)
{
	char files[PARTS][2048];
	int result = 0;

	snprintf(files[PTX], sizeof files[PTX], "%.2040s.ptx", program);
	snprintf(files[OBJECT], sizeof files[OBJECT], "%.2040s.o", program);
	snprintf(files[PROGRAM], sizeof files[PROGRAM], "%s", program);
	for (int part = PTX; part < PARTS && result == 0; part++) {
		struct gt_pipe pipe = {.apart = true};
		result = compose_part(&pipe, part, compiler, files, source, error);
		result = finish(&pipe, result, compiler, source, dry, show, error);
	}
	for (int part = PTX; part < PROGRAM && !dry; part++)
		unlink(files[part]);
	return result;
}

int gt_origin_compile(struct gt_origin *origin, const char *source, bool dry, void (*show)(const struct gt_pipe *pipe), struct gt_error *error)
{
	struct compiler compiler;
	char name[256];

	name_program(source, name);
	if (!find_compiler(&compiler))
		return gt_fail(error, "%s: no nvcc in PATH, $CUDA_HOME or /usr/local/cuda, nor clang++ and CUDA's headers: compile it where CUDA's toolkit is, by "
				      "nvcc " OPTIONS " -o %s %s, then give gtrace ./%s", source, name, source, name);
	if (!dry && make_folder(name, error) != 0)
		return -1;
	const char *program = dry ? name : compiled[n_compiled - 1].program;
	snprintf(origin->path, sizeof origin->path, "%s%s", dry ? "./" : "", program);
	origin->compiled = true;
	origin->kind = GT_ORIGIN_PROGRAM;
	return (compiler.is_clang ? compile_by_clang : compile_by_nvcc)(&compiler, source, program, dry, show, error);
}
