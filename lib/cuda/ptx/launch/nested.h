/* SPDX-License-Identifier: MIT */
/* Runs a launch and all that it leads to. The launches that a kernel makes are run when it has ended, in the order in which it
 * made them, each with all that it launches itself before the next; then, in their order, its tail launches. */
#ifndef GT_PTX_LAUNCH_NESTED_H
#define GT_PTX_LAUNCH_NESTED_H

#include "cuda/ptx/exec/machine.h"

/* Runs one launch, and sets its number. */
struct gt_ptx_runner {
	int (*run)(void *context, struct gt_ptx_launch *launch, struct gt_ptx_ran *ran, struct gt_error *error);
	void *context;
};

/* `launch` is that of the host; what is launched by kernels is as it in what they do not say themselves. Adds up what all of
 * them did. */
int gt_ptx_run_nested(struct gt_ptx_memory *memory, struct gt_ptx_launch *launch, const struct gt_ptx_runner *runner,
		      struct gt_ptx_ran *ran, struct gt_error *error);

#endif
