/* SPDX-License-Identifier: MIT */
/* For realpath. */
#define _XOPEN_SOURCE 700
#include "base/installed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char gt_version[] = GT_VERSION;
const char gt_datadir[] = GT_DATADIR;
const char gt_libdir[] = GT_LIBDIR;

const struct gt_runtime_name gt_runtime_names[GT_RUNTIMES] = {
	{13000, GT_RUNTIME}, {12000, "libcudart.so.12"}, {11000, "libcudart.so.11.0"}, {10020, "libcudart.so.10.2"}, {10010, "libcudart.so.10.1"},
};

void gt_program_folder(char folder[GT_PROGRAM_FOLDER])
{
	ssize_t length = readlink("/proc/self/exe", folder, GT_PROGRAM_FOLDER - 1);
	const char *started = (const char *)getauxval(AT_EXECFN); /* the name by which it was started: where there is no /proc */

	if (length < 0 && started && strlen(started) < GT_PROGRAM_FOLDER) {
		char *path = realpath(started, NULL);
		length = path ? snprintf(folder, GT_PROGRAM_FOLDER, "%s", path) : -1;
		free(path);
	}
	folder[length > 0 && length < GT_PROGRAM_FOLDER ? length : 0] = '\0';
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

int gt_runtime_folder(char folder[GT_RUNTIME_FOLDER], struct gt_error *error)
{
	static const char *const places[] = {"/../lib/gtrace", "/../build/cudart"}; /* beside the program's folder */
	const char *named = getenv("GTRACE_CUDART");
	char self[GT_PROGRAM_FOLDER], path[GT_RUNTIME_FOLDER + 64];

	gt_program_folder(self);
	for (size_t i = 0; i <= sizeof places / sizeof *places; i++) {
		const char *base = i < sizeof places / sizeof *places ? self : "", *place = i < sizeof places / sizeof *places ? places[i] : gt_libdir;
		int bytes = named ? snprintf(path, sizeof path, "%s/" GT_RUNTIME, named)
				  : snprintf(path, sizeof path, "%s%s/" GT_RUNTIME, base, place);
		if ((size_t)bytes < sizeof path && access(path, R_OK) == 0 && realpath(path, folder)) {
			*strrchr(folder, '/') = '\0';
			return 0;
		}
	}
	if (named)
		return gt_fail(error, "GTRACE_CUDART: no " GT_RUNTIME " in '%s'", named);
	return gt_fail(error, "no " GT_RUNTIME " beside %s or in %s: set GTRACE_CUDART to its folder", self, gt_libdir);
}

const char *gt_cuda_home(size_t *i)
{
	static const char *const named[] = {"CUDA_HOME", "CUDA_PATH"}, *const usual[] = {"/usr/local/cuda", "/usr/lib/cuda"};
	const char *home = NULL;

	while (!home && *i < 4) {
		home = *i < 2 ? getenv(named[*i]) : usual[*i - 2];
		(*i)++;
	}
	return home;
}
