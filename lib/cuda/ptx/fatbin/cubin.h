/* SPDX-License-Identifier: MIT */
/* Reads the properties of a kernel from a cubin, the ELF file that ptxas makes. */
#ifndef GT_PTX_CUBIN_H
#define GT_PTX_CUBIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct gt_cubin_kernel {
	uint32_t registers;    /* per thread */
	uint32_t shared_bytes; /* static, per block */
};

/* Looks a kernel up by its mangled name: its registers from .nv.info (attribute 0x2f), else from
 * the section of its code. Returns 1, 0 if the cubin has no such kernel, or -1 if it is damaged. */
int gt_cubin_find(const void *cubin, size_t bytes, const char *name, struct gt_cubin_kernel *kernel,
		    struct gt_error *error);

#endif
