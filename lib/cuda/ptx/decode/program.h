/* SPDX-License-Identifier: MIT */
/* What decoding gives to those behind it: programs, which are a kernel and the functions that it can reach, decoded, with its shared
 * variables placed; and the layouts of matrices that instructions name, which the static analysis needs too. */
#ifndef GT_PTX_DECODE_PROGRAM_H
#define GT_PTX_DECODE_PROGRAM_H

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/matrix.h"

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

/* Lays out the fragment of wmma.load or wmma.store, of n registers, by its modifiers. False if there is no such one. */
bool gt_ptx_lay_out_tile(const struct gt_ptx_instruction *instruction, struct gt_ptx_tile *tile, bool stores, size_t n);
/* Elements between the lines of a matrix without gaps. */
unsigned gt_ptx_tile_stride(const struct gt_ptx_tile *tile);

#endif
