/* SPDX-License-Identifier: MIT */
/* Programs: a kernel and the functions that it can reach, decoded, with its shared variables placed. */
#ifndef GT_PTX_DECODE_PROGRAM_H
#define GT_PTX_DECODE_PROGRAM_H

#include "cuda/ptx/exec/code.h"

/* The kernel's program, made when it is first asked for. The machine keeps and frees it. NULL on error. */
struct gt_ptx_program *gt_ptx_program_of(struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel,
					 struct gt_error *error);

/* Finds the functions and places the shared variables; `decode`: decodes the functions too. The caller frees it
 * by gt_ptx_program_free. NULL on error. */
struct gt_ptx_program *gt_ptx_program_make(const struct gt_ptx_machine *machine,
					   const struct gt_ptx_function *kernel, bool decode,
					   struct gt_error *error);

/* Copy number i of it for another thread: operations remember the allocations that they accessed last. The program keeps and
 * frees it. NULL on error. */
struct gt_ptx_program *gt_ptx_program_copy(const struct gt_ptx_machine *machine, struct gt_ptx_program *program, size_t i,
					   struct gt_error *error);

#endif
