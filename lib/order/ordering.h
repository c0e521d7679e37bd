/* SPDX-License-Identifier: MIT */
/* The state of an ordering (order/order.h), for the files that have to do with it: order.c takes the trace, write.c writes what
 * has been ordered. */
#ifndef GT_ORDER_ORDERING_H
#define GT_ORDER_ORDERING_H

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
	uint64_t accesses;
};

#endif
