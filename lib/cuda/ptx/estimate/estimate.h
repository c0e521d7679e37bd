/* SPDX-License-Identifier: MIT */
/* The registers of a thread that the assembler (ptxas) gives a kernel, estimated from its PTX. */
#ifndef GT_PTX_ESTIMATE_ESTIMATE_H
#define GT_PTX_ESTIMATE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/text/module.h"

/* full: the registers that each thread of an SM full of threads can have, 0: those of the GPUs of the module's
 * .target. The assembler issues loads early and unrolls loops while it keeps below that; above, it goes only as
 * far as values are live at once in the order of the PTX. Not more than 255, nor than .maxntid and .minnctapersm
 * allow, and 255 for functions of more than 2^31 / 3 blocks times values; .maxnreg is not considered. */
int gt_ptx_estimate_registers(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, uint32_t full,
			      uint32_t *registers, struct gt_error *error);

#endif
