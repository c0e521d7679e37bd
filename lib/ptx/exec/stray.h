/* SPDX-License-Identifier: MIT */
/* Accesses outside of every allocation: what --check says of them. */
#ifndef GT_PTX_STRAY_H
#define GT_PTX_STRAY_H

#include "ptx/exec/warp.h"

struct gt_ptx_program;

/* Where a lane's access outside of every allocation goes: with `list` to bytes that read as the memory that is
 * there, and as 0 where there is none, and that nobody reads again; with `no` to memory that hardware would
 * have mapped there. NULL: it is a fault. */
unsigned char *gt_ptx_stray(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t address,
			    unsigned bytes);

/* Tells of the instructions that strayed in a launch, each once, and counts anew. */
void gt_ptx_strays_tell(struct gt_ptx_machine *machine, const struct gt_ptx_program *program, enum gt_ptx_check check);

#endif
