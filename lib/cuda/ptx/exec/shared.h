/* SPDX-License-Identifier: MIT */
/* The variables of a block's shared memory. */
#ifndef GT_PTX_SHARED_H
#define GT_PTX_SHARED_H

#include "cuda/ptx/exec/code.h"

struct gt_ptx_shared_array {
	char name[GT_PTX_VARIABLE_NAME];
	uint64_t at, bytes;
};

/* Number i of a program's variables, in a launch with so many bytes of dynamic memory. False if it has no memory of its own: of those in
 * dynamic memory, only the first has. */
bool gt_ptx_find_shared(const struct gt_ptx_program *program, size_t i, uint64_t dynamic, struct gt_ptx_shared_array *array);

/* "; nearest is 'tile', 4224 bytes at 0x0" of an address outside of all memory of the block, or "" if it has no variable; returns `text`. */
#define GT_PTX_SHARED_TEXT 160
const char *gt_ptx_shared_describe(const struct gt_ptx_core *core, uint64_t at, char text[GT_PTX_SHARED_TEXT]);

#endif
