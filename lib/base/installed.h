/* SPDX-License-Identifier: MIT */
/* What `make` was told about this build: its version and the folders it is installed in. A source file of
 * their own holds them, so that only it is recompiled when they change. */
#ifndef GT_BASE_INSTALLED_H
#define GT_BASE_INSTALLED_H

#include <stddef.h>

#include "base/error.h"

extern const char gt_version[];	/* "0.1.0" */
extern const char gt_datadir[]; /* with the folder gpus; "/usr/local/share/gtrace" */
extern const char gt_libdir[];	/* with the CUDA runtime of gtrace-record; "/usr/local/lib/gtrace" */

#define GT_PROGRAM_FOLDER 4096
/* The folder of the program that runs; "" where the system does not say. */
void gt_program_folder(char folder[GT_PROGRAM_FOLDER]);

#define GT_RUNTIME "libcudart.so.13"
/* The names by which programs ask for the CUDA runtime, the newest first: `version`, CUDART_VERSION of the first headers that lead to it. */
struct gt_runtime_name {
	unsigned version;
	const char *name;
};
#define GT_RUNTIMES 5
extern const struct gt_runtime_name gt_runtime_names[GT_RUNTIMES];
#define GT_RUNTIME_FOLDER GT_PROGRAM_FOLDER
/* The folder of gtrace-record's CUDA runtime: $GTRACE_CUDART, beside this program's folder, or gt_libdir. Returns 0, or -1. */
int gt_runtime_folder(char folder[GT_RUNTIME_FOLDER], struct gt_error *error);

/* The next folder where CUDA's toolkit may be, from *i = 0 on: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /usr/lib/cuda. NULL behind the last. */
const char *gt_cuda_home(size_t *i);

#endif
