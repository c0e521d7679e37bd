/* SPDX-License-Identifier: MIT */
/* Accesses outside of every allocation, by --check; all that are at fault, with --memcheck. */
#ifndef GT_PTX_STRAY_H
#define GT_PTX_STRAY_H

#include "cuda/ptx/exec/warp.h"

struct gt_ptx_program;

/* The place of a lane's access outside of every allocation. With `page`, memory that hardware would have mapped there. With `list`,
 * scratch bytes: loads read the memory that exists there, else 0, and stores are lost. NULL: a fault. */
unsigned char *gt_ptx_stray(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t address,
			    unsigned bytes);

/* The same in local memory, outside of its variables but within the bytes of the thread: with `page`, hardware has them. */
unsigned char *gt_ptx_stray_local(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t at);

/* With GT_PTX_MEMCHECK, after a fault of an access: reports it if it is the first of the instruction, and returns scratch bytes,
 * so that loads give 0 and stores are lost. NULL otherwise. */
unsigned char *gt_ptx_pass_over(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane);
/* The same after a fault of a call that can be left out: whether it is. */
bool gt_ptx_leave_out(struct gt_ptx_warp *warp, const struct gt_ptx_op *op);
/* Whether it reports the next fault of the instruction no more. */
bool gt_ptx_is_told(const struct gt_ptx_warp *warp, const struct gt_ptx_op *op);

/* Reports the instructions with such accesses in a launch, each once, and resets the counts. */
void gt_ptx_strays_tell(struct gt_ptx_machine *machine, const struct gt_ptx_program *program, enum gt_ptx_check check);

/* Counts of a program's accesses, in their order. Initially zero. */
struct gt_ptx_strays {
	struct gt_ptx_stray_count {
		uint64_t n, address; /* the first one's address and line */
		uint32_t line;
	} *counts;
	size_t n;
};

/* Takes the counts of a program, which are then 0. Returns 0, or -1 when memory is short. */
int gt_ptx_strays_take(struct gt_ptx_strays *strays, const struct gt_ptx_program *program, size_t n_functions, struct gt_error *error);
/* Adds them to those of another copy of the program, whose accesses come before these. */
void gt_ptx_strays_add(const struct gt_ptx_strays *strays, const struct gt_ptx_program *program, size_t n_functions);

/* With GT_PTX_MEMCHECK, after a launch that failed: whether it did so by a fault of the kernel, which is then reported. */
bool gt_ptx_ends_at_fault(const struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, const struct gt_ptx_ran *ran,
			  const struct gt_error *error);

#endif
