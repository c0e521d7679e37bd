/* SPDX-License-Identifier: MIT */
#include "coalesce/intake.h"

static int take_coalesced(void *context, struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_intake *intake = context;
	int result = intake->take(intake->context, rows, error);

	rows->n = rows->n_lanes = 0;
	return result;
}

int gt_intake_open(struct gt_intake *intake, gt_take_requests *take, void *context, struct gt_error *error)
{
	*intake = (struct gt_intake){.take = take, .context = context};
	intake->coalesced = (struct gt_sink){gt_rows_new(GT_ROWS_BATCH, error), take_coalesced, intake};
	return intake->coalesced.rows ? 0 : -1;
}

void gt_intake_close(struct gt_intake *intake)
{
	gt_rows_free(intake->coalesced.rows);
	intake->coalesced.rows = NULL;
}

int gt_intake_begin(struct gt_intake *intake, const struct gt_gpu *gpu, struct gt_error *error)
{
	intake->accessed = false;
	if (gt_coalescer_resolve(&intake->coalescer, gpu, NULL, NULL, error) != 0)
		return -1;
	intake->apart = intake->coalescer;
	return 0;
}

int gt_intake_rows(struct gt_intake *intake, const struct gt_rows *rows, struct gt_error *error)
{
	if (rows->kind == GT_REQUESTS)
		return intake->take(intake->context, rows, error);
	intake->accessed = true;
	if (gt_coalesce(&intake->coalescer, rows, &intake->coalesced, error) != 0)
		return -1;
	return take_coalesced(intake, intake->coalesced.rows, error);
}

int gt_intake_batch_find(struct gt_intake_batch *batch, const struct gt_intake *intake, const struct gt_rows *rows,
			 struct gt_error *error)
{
	batch->coalescer = intake->coalescer;
	gt_coalescer_reset(&batch->coalescer);
	batch->requests = rows;
	if (rows->kind == GT_REQUESTS)
		return 0;
	if (!batch->coalesced && !(batch->coalesced = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	batch->coalesced->n = 0;
	batch->requests = batch->coalesced;
	struct gt_sink sink = gt_sink_that_grows(batch->coalesced);
	return gt_coalesce(&batch->coalescer, rows, &sink, error);
}

void gt_intake_batch_count(struct gt_intake *intake, const struct gt_intake_batch *batch)
{
	intake->accessed |= batch->requests == batch->coalesced;
	gt_coalescer_add(&intake->apart, &batch->coalescer);
}

void gt_intake_batch_close(struct gt_intake_batch *batch)
{
	gt_rows_free(batch->coalesced);
}

int gt_intake_end(struct gt_intake *intake, uint64_t kernel, const struct gt_output *output, struct gt_error *error)
{
	gt_coalescer_add(&intake->coalescer, &intake->apart);
	return intake->accessed ? gt_coalescer_write(&intake->coalescer, kernel, output, error) : 0;
}
