/* SPDX-License-Identifier: MIT */
/* PPT-GPU's app_config.py: the launches of an application, one Python dict each,
 *
 *     kernel_1 = {
 *         "kernel_name" : "gemm", "num_registers" : 32, "shared_mem_bytes" : 0,
 *         "grid_size" : (4, 16, 1), "block_size" : 256, ...
 *     }
 *     app_kernels_id = [1]
 *
 * where a size is a number or a tuple of up to three. Other keys are ignored. */
#ifndef GT_IMPORT_PPTCONFIG_H
#define GT_IMPORT_PPTCONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/kernel.h"

struct gt_pptconfig {
	struct gt_kernel *kernels; /* in the order of app_kernels_id */
	size_t n, capacity;
};

/* Reads the file. Returns 0, or -1 with file and line. Freed by gt_pptconfig_clear. */
int gt_pptconfig_read(struct gt_pptconfig *config, const char *path, struct gt_error *error);
void gt_pptconfig_clear(struct gt_pptconfig *config);

/* The launch of that id, or NULL. */
const struct gt_kernel *gt_pptconfig_find(const struct gt_pptconfig *config, uint64_t id);

#endif
