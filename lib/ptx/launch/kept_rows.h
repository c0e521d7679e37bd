/* SPDX-License-Identifier: MIT */
/* Accesses that are kept in their order until they are passed on: the first ones as batches of rows, as many as memory is for,
 * later ones packed, in memory up to a limit and then in a temporary file, and the last ones as the batch of a sink. */
#ifndef GT_PTX_KEPT_ROWS_H
#define GT_PTX_KEPT_ROWS_H

#include "base/store.h"
#include "ptx/exec/held.h"

/* Packed accesses of a block, in batches with the same columns. */
struct gt_ptx_kept_run {
	uint64_t n;
	uint32_t block;
	bool has_hints, has_work;
};

struct gt_ptx_kept_rows {
	struct gt_sink sink; /* takes the accesses */
	struct gt_rows **batches; /* `made` of them; the first `n_batches` hold the first accesses, the others are empty */
	size_t n_batches, made, batches_capacity;
	uint64_t batch_bytes; /* of the batches that hold accesses */
	uint64_t most;	      /* of `batch_bytes`: accesses beyond it are packed */
	struct gt_store store;
	struct gt_ptx_held held;
	struct gt_ptx_kept_run *runs; /* of `held` */
	size_t n, capacity;
};

/* `memory`: bytes of accesses that stay in memory. Returns 0, or -1. */
int gt_ptx_kept_rows_open(struct gt_ptx_kept_rows *kept, uint64_t memory, struct gt_error *error);
void gt_ptx_kept_rows_close(struct gt_ptx_kept_rows *kept);

/* Passes all of them on, and keeps none. The batches of `to` are those it would have got in their place. Returns 0, or -1. */
int gt_ptx_kept_rows_pass(struct gt_ptx_kept_rows *kept, struct gt_sink *to, struct gt_error *error);
/* Keeps none of them. */
void gt_ptx_kept_rows_drop(struct gt_ptx_kept_rows *kept);

#endif
