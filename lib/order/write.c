/* SPDX-License-Identifier: MIT */
#include "order/write.h"

#include "order/ordering.h"
#include "order/scatter.h"
#include "order/team.h"
#include "stream/counted.h"

/* Sends what was copied to the device before the launch, as the count "copies". */
static int send_copies(const struct gt_order_launch *launch, struct gt_output *output, struct gt_error *error)
{
	struct gt_count count;

	if (launch->copies.n == 0 && !launch->copies.lost)
		return 0;
	gt_count_begin(&count, "copies", launch->kernel.id);
	int result = gt_copies_count(&launch->copies, &count, error);
	if (result == 0)
		return gt_output_count(output, &count, error);
	gt_count_clear(&count);
	return result;
}

/* Sends the counts that a stream has of it. */
static int send_kept(const struct gt_order_launch *launch, struct gt_output *output, struct gt_error *error)
{
	for (size_t i = 0; i < launch->counts_n; i++)
		if (output->count(output->context, &launch->counts[i], error) != 0)
			return -1;
	return 0;
}

static int send_launch(struct gt_ordering *order, struct gt_order_launch *launch, struct gt_output *output,
		       struct gt_error *error)
{
	struct gt_kernel *kernel = &launch->kernel;

	kernel->order = order->options.by_an ? GT_ORDER_AN : GT_ORDER_BLOCK;
	if (kernel->grid[0] == 0 && launch->accesses > 0) {
		kernel->grid[0] = launch->greatest_block + 1;
		kernel->grid[1] = kernel->grid[2] = 1;
	}
	if (kernel->block[0] == 0 && launch->accesses > 0) {
		kernel->block[0] = (launch->greatest_warp + 1U) * GT_WARP_SIZE;
		kernel->block[1] = kernel->block[2] = 1;
	}
	const char *source = order->options.source ? order->options.source : "???";
	if (output->kernel(output->context, kernel, error) != 0 ||
	    send_kept(launch, output, error) != 0 || send_copies(launch, output, error) != 0 ||
	    gt_order_lines_send(&launch->lines, kernel->id, source, output, error) != 0)
		return -1;
	bool scheduled = launch->accesses > 0 && launch->scheduled == launch->accesses;
	return gt_sink_begin_as(&output->rows, &(struct gt_rows){.kind = GT_ACCESSES, .scheduled = scheduled,
								.has_hints = launch->hinted,
								.has_work = launch->accesses > 0 && launch->timed == launch->accesses},
				error);
}

static int send_counts(const struct gt_order_launch *launch, const struct gt_fold_counts *counts,
		       struct gt_output *output, struct gt_error *error)
{
	struct gt_count count;
	int result = -1;

	gt_count_begin(&count, "order", launch->kernel.id);
	if (gt_count_numbers(&count, &gt_counters_order, counts, sizeof *counts, error) == 0 &&
	    gt_passed_count(&count, &launch->passed, error) == 0)
		result = output->count(output->context, &count, error);
	gt_count_clear(&count);
	return result;
}

/* Sends all launches; `row` is the next row of the sorter while `more` > 0. */
static int send_all(struct gt_ordering *order, struct gt_output *output, struct gt_fold_out *fold,
		    struct gt_error *error)
{
	struct gt_fold_counts counts;
	const struct gt_packed *row;
	const uint64_t *lanes;
	int more = gt_sorter_next(order->sorter, &row, &lanes, error);

	for (size_t i = 0; i < order->launches.n && more >= 0; i++) {
		struct gt_order_launch *launch = order->launches.launches[i];
		if (!launch->wanted)
			continue;
		if (send_launch(order, launch, output, error) != 0)
			return -1;
		for (; more > 0 && row->kernel == i; more = gt_sorter_next(order->sorter, &row, &lanes, error))
			if (gt_fold_out_add(fold, row, lanes, error) != 0)
				return -1;
		if (more < 0 || gt_fold_out_flush(fold, &counts, error) != 0 ||
		    send_counts(launch, &counts, output, error) != 0)
			return -1;
	}
	return more;
}

/* The same of batches. */
static int send_batches(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	struct gt_output *output = gt_writer_output(writer);
	size_t batch = 0;

	if (gt_order_batches_end(&order->batches, error) != 0)
		return -1;
	for (size_t i = 0; i < order->launches.n; i++) {
		struct gt_order_launch *launch = order->launches.launches[i];
		if (launch->wanted && (send_launch(order, launch, output, error) != 0 ||
				       gt_order_batches_write(&order->batches, (uint32_t)i, &batch, writer, error) != 0 ||
				       send_counts(launch, &launch->held, output, error) != 0))
			return -1;
	}
	return 0;
}

/* The same by a team. */
static int send_by_team(struct gt_ordering *order, struct gt_order_team *team, struct gt_output *output, struct gt_error *error)
{
	struct gt_fold_counts counts;

	for (size_t i = 0; i < order->launches.n; i++) {
		struct gt_order_launch *launch = order->launches.launches[i];
		if (launch->wanted && (send_launch(order, launch, output, error) != 0 ||
				       gt_order_team_write(team, (uint32_t)i, output->rows.rows, &counts, error) != 0 ||
				       send_counts(launch, &counts, output, error) != 0))
			return -1;
	}
	return 0;
}

/* Sends all if a team can. Returns 1, 0 if it cannot, or -1. */
static int try_team(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	const struct gt_kept *kept = gt_sorter_kept(order->sorter);
	struct gt_order_team *team;

	if (!kept || order->options.jobs <= 1)
		return 0;
	int opened = gt_order_team_open(&team, kept, order->options.jobs, writer, error);
	if (opened == 1 && send_by_team(order, team, gt_writer_output(writer), error) != 0)
		opened = -1;
	gt_order_team_close(team);
	return opened;
}

int gt_order_write(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	if (gt_order_batches_any(&order->batches))
		return send_batches(order, writer, error);
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	gt_ordinals_close(&order->ordinals);
	int sent = try_team(order, writer, error);
	return sent == 0 ? gt_order_finish(order, gt_writer_output(writer), error) : sent < 0 ? -1 : 0;
}

int gt_order_finish(struct gt_ordering *order, struct gt_output *output, struct gt_error *error)
{
	if (gt_order_scatter(order, error) != 0)
		return -1;
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	gt_ordinals_close(&order->ordinals);
	if (gt_sorter_finish(order->sorter, error) != 0)
		return -1;
	struct gt_fold_out *fold = gt_fold_out_open(&output->rows, error);
	int result = fold ? send_all(order, output, fold, error) : -1;
	gt_fold_out_close(fold);
	return result;
}
