/* SPDX-License-Identifier: MIT */
/* Runs ptxas, the assembler of the CUDA toolkit, on a PTX text: its machine code gives the number of registers of a
 * kernel. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary.h"
#include "base/whole_file.h"
#include "cuda/runtime/runtime.h"

#define PATH_BYTES 4096

extern char **environ;

struct files {
	char folder[PATH_BYTES], ptx[PATH_BYTES + 16], cubin[PATH_BYTES + 16];
};

static void remove_files(const struct files *files)
{
	unlink(files->ptx);
	unlink(files->cubin);
	rmdir(files->folder);
}

static void make_files(struct files *files, const char *text, size_t bytes)
{
	const char *folder = gt_temporary_directory();
	struct gt_error error;

	snprintf(files->folder, sizeof files->folder, "%s/gtrace-ptxas.XXXXXX", folder);
	if (!mkdtemp(files->folder))
		gt_cudart_stop("%s: cannot make a temporary folder: %s", folder, strerror(errno));
	snprintf(files->ptx, sizeof files->ptx, "%s/k.ptx", files->folder);
	snprintf(files->cubin, sizeof files->cubin, "%s/k.cubin", files->folder);
	if (gt_whole_file_write(files->ptx, text, bytes, "the PTX", &error) != 0) {
		remove_files(files);
		gt_cudart_stop("%s", error.text);
	}
}

/* ptxas runs without this runtime in LD_PRELOAD. */
static bool run_ptxas(const struct files *files, unsigned capability)
{
	char architecture[32];
	int status = -1;
	pid_t child;

	snprintf(architecture, sizeof architecture, "-arch=sm_%u", capability);
	const char *arguments[] = {"env", "-u", "LD_PRELOAD", "ptxas", architecture, "-o", files->cubin, files->ptx, NULL};
	if (posix_spawnp(&child, "env", NULL, NULL, (char **)(uintptr_t)arguments, environ) != 0)
		return false;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return status == 0;
}

static char *read_all(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "r");
	char *data = NULL;
	long size = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size > 0 && (data = malloc((size_t)size))) {
		rewind(file);
		*bytes = fread(data, 1, (size_t)size, file);
		if (*bytes < (size_t)size) {
			free(data);
			data = NULL;
		}
	}
	if (file)
		fclose(file);
	return data;
}

char *gt_cudart_assemble(const char *name, const char *text, size_t bytes, unsigned capability, size_t *cubin_bytes)
{
	struct files files;

	make_files(&files, text, bytes);
	char *cubin = run_ptxas(&files, capability) ? read_all(files.cubin, cubin_bytes) : NULL;
	remove_files(&files);
	if (!cubin)
		gt_cudart_stop("--ptxas: ptxas makes no machine code for sm_%u of %s", capability, name);
	gt_cudart_note("%s: registers are those that ptxas gives for sm_%u", name, capability);
	return cubin;
}
