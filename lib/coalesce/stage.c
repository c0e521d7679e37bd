/* SPDX-License-Identifier: MIT */
#include "coalesce/stage.h"

#include <string.h>

int gt_coalesce_stage_open(struct gt_coalesce_stage *stage, struct gt_error *error)
{
	return gt_by_array_open(&stage->by_array, error);
}

void gt_coalesce_stage_close(struct gt_coalesce_stage *stage)
{
	gt_by_array_close(&stage->by_array);
}

int gt_coalesce_stage_begin(struct gt_coalesce_stage *stage, const struct gt_gpu *gpu, const char *rule, const char *banks,
			    struct gt_error *error)
{
	if (gt_coalescer_resolve(&stage->coalescer, gpu, rule, banks, error) != 0)
		return -1;
	gt_by_array_begin(&stage->by_array);
	stage->coalescer.by_array = &stage->by_array;
	stage->coalescer.turns = stage->turns;
	stage->relayed = stage->coalescer;
	stage->coalesced = stage->accessed = false;
	return 0;
}

int gt_coalesce_stage_rows(struct gt_coalesce_stage *stage, const struct gt_rows *rows, struct gt_sink *sink, struct gt_error *error)
{
	if (rows->kind == GT_REQUESTS) {
		stage->coalesced = true;
		return 0;
	}
	stage->accessed = true;
	return gt_coalesce(&stage->coalescer, rows, sink, error);
}

int gt_coalesce_stage_note(struct gt_coalesce_stage *stage, const struct gt_count *count, struct gt_error *error)
{
	stage->coalesced |= strcmp(count->stage, GT_COALESCE_STAGE) == 0;
	return gt_by_array_take(&stage->by_array, count, error);
}

int gt_coalesce_stage_end(struct gt_coalesce_stage *stage, uint64_t kernel, const struct gt_output *output, struct gt_error *error)
{
	gt_coalescer_add(&stage->coalescer, &stage->relayed);
	if (stage->coalesced && !stage->accessed)
		return 0;
	return gt_coalescer_write(&stage->coalescer, kernel, output, error);
}

/* What a batch has of its own, so that any thread can coalesce it. */
struct apart {
	struct gt_coalescer coalescer;
	struct gt_by_array by_array;
};

static int coalesce_batch(void *context, struct gt_relay_item *item, struct gt_error *error)
{
	const struct gt_coalesce_stage *stage = context;
	struct apart *apart = item->own;

	apart->coalescer = stage->coalescer;
	apart->coalescer.by_array = &apart->by_array;
	gt_coalescer_reset(&apart->coalescer);
	if (gt_by_array_part(&apart->by_array, &stage->by_array, error) != 0)
		return -1;
	return gt_coalesce(&apart->coalescer, item->rows, &item->sink, error);
}

static void close_apart(void *apart)
{
	gt_by_array_part_close(&((struct apart *)apart)->by_array);
}

static int count_batch(void *context, struct gt_relay_item *item, struct gt_error *error)
{
	struct gt_coalesce_stage *stage = context;
	const struct apart *apart = item->own;

	(void)error;
	stage->accessed = true;
	gt_coalescer_add(&stage->relayed, &apart->coalescer);
	gt_by_array_join(&stage->by_array, &apart->by_array);
	return 0;
}

struct gt_relay_stage gt_coalesce_stage_relay(struct gt_coalesce_stage *stage)
{
	return (struct gt_relay_stage){.own_bytes = sizeof(struct apart), .close_own = close_apart, .take = coalesce_batch,
				       .count = count_batch, .context = stage};
}
