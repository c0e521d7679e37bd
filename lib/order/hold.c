/* SPDX-License-Identifier: MIT */
/* Rows of a stream that are held as batches (order/batches.h), because they come in order. */
#include "base/wide.h"
#include "order/ordering.h"

/* What the limits of a launch are compared with, and what is counted. */
struct sums {
	uint32_t block, warp; /* the greatest */
	uint32_t absent;      /* lanes of the last warp, of which some are active */
	uint64_t stores, atomics, threads;
};

GT_WIDE static struct sums sum(const struct gt_rows *rows, uint32_t last_warp)
{
	struct sums sums = {0};

	for (size_t i = 0; i < rows->n; i++)
		sums.block = rows->block[i] > sums.block ? rows->block[i] : sums.block;
	for (size_t i = 0; i < rows->n; i++) {
		sums.warp = rows->warp[i] > sums.warp ? rows->warp[i] : sums.warp;
		sums.absent |= rows->warp[i] == last_warp ? rows->mask[i] : 0;
	}
	for (size_t i = 0; i < rows->n; i++) {
		sums.stores += gt_op_action(rows->op[i]) == GT_STORE;
		sums.atomics += gt_op_action(rows->op[i]) >= GT_ATOMIC;
	}
	for (size_t i = 0; i < rows->n; i++)
		sums.threads += (uint64_t)__builtin_popcount(rows->mask[i]);
	return sums;
}

/* Whether the rows have the columns of those before them in the launch, and those that are wanted. */
static bool are_alike(const struct gt_ordering *order, const struct gt_order_launch *launch, const struct gt_rows *rows)
{
	if (order->options.work && !rows->has_work)
		return false;
	return launch->accesses == 0 || (launch->hinted == rows->has_hints && (launch->timed > 0) == rows->has_work);
}

static void note(struct gt_order_launch *launch, const struct gt_rows *rows, const struct sums *sums)
{
	launch->accesses += rows->n;
	launch->timed += rows->has_work ? rows->n : 0;
	launch->hinted |= rows->has_hints;
	if (sums->block > launch->greatest_block)
		launch->greatest_block = sums->block;
	if (sums->warp > launch->greatest_warp)
		launch->greatest_warp = (uint16_t)sums->warp;
	launch->held.accesses += rows->n;
	launch->held.loads += rows->n - sums->stores - sums->atomics;
	launch->held.stores += sums->stores;
	launch->held.atomics += sums->atomics;
	launch->held.threads += sums->threads;
}

int gt_order_rows(struct gt_ordering *order, const struct gt_rows *rows, struct gt_error *error)
{
	struct gt_order_launch *launch = order->launch;

	/* If they are to be scattered, a quarter of the memory is for sorting them, while they are there. */
	if (order->scattered || !launch || order->batches.bytes > order->options.memory - order->options.memory / 4)
		return 0;
	if (!launch->wanted)
		return 1;
	const struct gt_order_limits *limits = &launch->limits;
	const struct sums sums = sum(rows, (uint32_t)limits->warps - 1);
	if (sums.block >= limits->blocks || sums.warp >= limits->warps || (sums.absent & limits->absent_lanes) != 0 ||
	    !are_alike(order, launch, rows) ||
	    !gt_order_batches_fit(&order->batches, order->launch_index, rows, order->options.by_an))
		return 0;
	note(launch, rows, &sums);
	if (gt_order_batches_add(&order->batches, order->launch_index, rows, order->options.by_an, error) != 0)
		return -1;
	gt_order_count(order, rows->n);
	return 1;
}
