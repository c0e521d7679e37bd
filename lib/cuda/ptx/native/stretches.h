/* SPDX-License-Identifier: MIT */
/* The stretches of a function: which there are. */
#ifndef GT_PTX_STRETCHES_H
#define GT_PTX_STRETCHES_H

#include "cuda/ptx/native/stretch.h"

/* A segment that has been written. */
struct gt_native_made {
	size_t op, n, instructions;
	size_t whole, part; /* offsets of their code */
};

/* Where points of stretches are in the code. */
struct gt_stretches {
	struct gt_stretch_shared shared;
	struct gt_ptx_entry *entries; /* until they are the function's */
	size_t *ops, *at;
	size_t n;
};

/* Writes the code of all stretches of a function, whose segments are the list `made`, behind the code there is. */
int gt_stretches_make(struct gt_stretches *stretches, const struct gt_ptx_code *code, const size_t *starts, size_t n_starts,
		      const struct gt_native_made *made, size_t n_made, const struct gt_native_isa *isa, struct gt_native_needs *needs,
		      struct gt_native_code *native, struct gt_error *error);
/* Lets operations run them, once code->native is there and operations run segments. */
void gt_stretches_use(struct gt_stretches *stretches, struct gt_ptx_code *code);
void gt_stretches_free(struct gt_stretches *stretches);

#endif
