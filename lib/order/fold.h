/* SPDX-License-Identifier: MIT */
/* Folding: accesses of one (block, warp, ordinal) with the same op, hint and size make one warp access.
 * The k-th such access of a lane belongs to the k-th of them. They are written in the order of their lowest
 * lanes; those of one lane in the order in which it made them. */
#ifndef GT_ORDER_FOLD_H
#define GT_ORDER_FOLD_H

#include "base/error.h"
#include "counter/tables.h"
#include "order/sort.h"
#include "stream/rows.h"

#define GT_FOLD_MAX 1024 /* warp accesses that one (block, warp, ordinal) may make */

/* Folds single-lane accesses as they arrive, as long as each fits the previous one. In most thread traces the
 * lanes of a warp are consecutive, so the sorter gets whole warp accesses. */
struct gt_fold_in {
	struct gt_packed row;
	uint64_t addresses[GT_WARP_SIZE]; /* by lane; row.mask says which */
};

/* Adds a one-lane row, address in row->base. */
int gt_fold_in_add(struct gt_fold_in *fold, const struct gt_packed *row, struct gt_sorter *to,
		   struct gt_error *error);
/* Passes on the row folded so far. */
int gt_fold_in_pass(struct gt_fold_in *fold, struct gt_sorter *to, struct gt_error *error);
/* The same if there is one. */
static inline int gt_fold_in_flush(struct gt_fold_in *fold, struct gt_sorter *to, struct gt_error *error)
{
	return fold->row.mask == 0 ? 0 : gt_fold_in_pass(fold, to, error);
}

/* Packs a row whose addresses are those of the lanes in row->mask, lowest first: sets base, stride
 * and lanes. */
void gt_pack_addresses(struct gt_packed *row, const uint64_t *addresses);

/* Rows on their way out, in order. */
struct gt_fold_out;

/* What was folded into a kernel's rows, in warp accesses and in lanes. */
struct gt_fold_counts {
	GT_ORDER_COUNTERS(GT_COUNTER_FIELD)
};

struct gt_fold_out *gt_fold_out_open(struct gt_sink *sink, struct gt_error *error);
void gt_fold_out_close(struct gt_fold_out *fold);
int gt_fold_out_add(struct gt_fold_out *fold, const struct gt_packed *row, const uint64_t *lanes, struct gt_error *error);
/* Passes the last rows to the sink, and returns the counts since the last flush. */
int gt_fold_out_flush(struct gt_fold_out *fold, struct gt_fold_counts *counts, struct gt_error *error);

#endif
