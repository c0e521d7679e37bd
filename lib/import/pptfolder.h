/* SPDX-License-Identifier: MIT */
/* The files of a PPT-GPU trace, kernel_K_block_B.mem in one folder, and app_config.py in that folder or its parent; and the launches
 * that the files are of. */
#ifndef GT_IMPORT_PPTFOLDER_H
#define GT_IMPORT_PPTFOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/kernel.h"

struct gt_pptfile {
	uint64_t kernel;
	uint32_t block;
	char *path;
};

struct gt_pptlaunch {
	struct gt_kernel kernel;
	const struct gt_pptfile *files; /* of its blocks, in their order */
	size_t n;
};

struct gt_pptfolder {
	char *config; /* path of app_config.py, which need not exist */
	char *traces; /* path of the folder with the .mem files */
	struct gt_pptfile *files;
	size_t n, capacity;
	struct gt_pptlaunch *launches; /* in the order of app_kernels_id, else of the numbers in the names */
	size_t launches_n, launches_capacity;
	size_t sm_traces; /* files of an SM instead of a block, which are ignored */
};

/* True if the path is such a folder, its parent, or such a file. */
bool gt_pptfolder_owns(const char *path);

/* Finds the files of paths: a folder, or files of one folder, and the configuration if it is named. No file, two of one block, and
 * files of a launch that the configuration does not list, are errors. Returns 0, or -1. Closed in either case. */
int gt_pptfolder_open(struct gt_pptfolder *folder, char *const paths[], size_t n, struct gt_error *error);
void gt_pptfolder_close(struct gt_pptfolder *folder);

#endif
