/* SPDX-License-Identifier: MIT */
/* The state of an ordering (order/order.h), for the files that have to do with it: order.c takes the trace, write.c writes what
 * has been ordered. */
#ifndef GT_ORDER_ORDERING_H
#define GT_ORDER_ORDERING_H

#include "order/batches.h"
#include "order/fold.h"
#include "order/launches.h"
#include "order/order.h"
#include "order/ordinals.h"
#include "order/passed.h"
#include "order/sort.h"

struct gt_ordering {
	struct gt_order_options options;
	struct gt_trace trace;
	struct gt_sorter *sorter;
	struct gt_ordinals ordinals;
	uint64_t ordinals_bytes; /* that the sorter was last told */
	struct gt_fold_in fold;
	struct gt_order_launches launches;
	struct gt_order_launch *launch; /* the current one */
	uint32_t launch_index;
	struct gt_passed_list passed; /* in all launches */
	struct gt_copies copies; /* since the last launch that was wanted */
	uint64_t blocks_room; /* bytes that the bits of blocks may still take */
	uint64_t accesses;
	struct gt_order_batches batches; /* all rows, while they come in order from streams; then none are anywhere else */
	bool scattered;			 /* they do not */
};

#define GT_ORDER_PROGRESS 65536 /* accesses between two reports */

/* Counts n accesses, and reports how many there are if that is due. */
static inline void gt_order_count(struct gt_ordering *order, uint64_t n)
{
	uint64_t before = order->accesses;

	order->accesses += n;
	if (before / GT_ORDER_PROGRESS != order->accesses / GT_ORDER_PROGRESS && order->options.progress)
		order->options.progress(order->options.context, order->accesses);
}

/* Keeps a row to be sorted; `addresses` if it lists them, else NULL. */
static inline int gt_order_keep(struct gt_ordering *order, struct gt_packed *row, const uint64_t *addresses, struct gt_error *error)
{
	if ((row->mask & (row->mask - 1)) == 0) {
		row->base = addresses ? addresses[0] : row->base;
		return gt_fold_in_add(&order->fold, row, order->sorter, error);
	}
	if (addresses)
		gt_pack_addresses(row, addresses);
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	return gt_sorter_add(order->sorter, row, addresses, error);
}

#endif
