/* SPDX-License-Identifier: MIT */
/* The flow graph of a function: its basic blocks, and where lanes that part at a branch meet again. */
#ifndef GT_PTX_FLOW_H
#define GT_PTX_FLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ptx/text/module.h"

struct gt_ptx_block {
	size_t first, end;   /* instructions [first, end) */
	size_t successors;   /* the first of them in `edges` */
	size_t n_successors; /* at least one; n_blocks is the function's end */
	size_t join;	     /* block where the ways out of this one meet; n_blocks: the function's end */
};

struct gt_ptx_flow {
	struct gt_ptx_block *blocks;
	size_t n_blocks;
	size_t *edges;
	size_t n_edges;
	size_t *block_of; /* by instruction; one more, n_blocks, for the end */
};

/* Fails for a branch to no label. Freed by gt_ptx_flow_free in either case. */
int gt_ptx_flow_make(struct gt_ptx_flow *flow, const struct gt_ptx_function *function,
		     struct gt_error *error);
void gt_ptx_flow_free(struct gt_ptx_flow *flow);

/* The instruction that a label stands before; n_instructions at the end; SIZE_MAX if there is none. */
size_t gt_ptx_label_at(const struct gt_ptx_function *function, const char *label);

#endif
