/* SPDX-License-Identifier: MIT */
#include "schedule/arrive.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grown.h"
#include "schedule/modelled.h"
#include "schedule/steps.h"

static void join(struct block_queue *queue, struct block *block)
{
	if (queue->last)
		queue->last->next = block;
	else
		queue->first = block;
	queue->last = block;
}

/* Finds the block's SM and puts it into that SM's queue. Blocks are placed in rising order. */
static void place(struct gt_schedule *schedule, struct block *block)
{
	schedule->known = (uint64_t)block->number + 1;
	if (schedule->floating) {
		block->skipped = block->number >= gt_modelled_of_all(schedule);
		if (!block->skipped)
			join(&schedule->floaters, block);
		schedule->n_floaters += !block->skipped;
		return;
	}
	if (schedule->mapping.kind->traced) {
		block->index = schedule->mapping.counts[block->sm]++;
	} else {
		block->sm = gt_mapping_sm(&schedule->mapping, block->number);
		block->index = gt_mapping_count(&schedule->mapping, block->sm, block->number);
	}
	block->skipped = !gt_is_modelled(schedule, block->sm) || block->index >= gt_modelled_of_sm(schedule);
	if (!block->skipped)
		join(&schedule->sms[block->sm].waiting, block);
}

/* ---- rows that arrive by block ---- */

static int close_block(struct gt_schedule *schedule, struct gt_error *error)
{
	struct block *block = schedule->open;

	if (!block)
		return 0;
	schedule->open = NULL;
	if (!block->skipped)
		return gt_block_close(block, &schedule->keep, error);
	gt_block_free(block, &schedule->keep);
	return 0;
}

static int next_block(struct gt_schedule *schedule, uint32_t number, struct gt_error *error)
{
	if (schedule->open && number < schedule->open->number)
		return gt_fail(error, "kernel %" PRIu64 ": a row of block %" PRIu32 " after block %" PRIu32
				      ": expected rows ordered by block: run gtrace-order first",
			       schedule->kernel->id, number, schedule->open->number);
	if (close_block(schedule, error) != 0)
		return -1;
	schedule->open = gt_block_new(number, &schedule->keep, error);
	if (!schedule->open)
		return -1;
	place(schedule, schedule->open);
	return gt_schedule_run(schedule, error);
}

static int put_by_block(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last,
			struct gt_error *error)
{
	if ((!schedule->open || schedule->open->number != rows->block[first]) &&
	    next_block(schedule, rows->block[first], error) != 0)
		return -1;
	if (schedule->open->skipped)
		return 0;
	return gt_block_add(schedule->open, &schedule->keep, rows, first, last, error);
}

/* ---- rows that arrive in any order ---- */

static int new_kept(struct gt_schedule *schedule, uint32_t number, struct gt_error *error)
{
	struct block **kept = gt_grown(schedule->kept, schedule->n_kept, &schedule->kept_capacity, sizeof *kept);

	if (!kept)
		return gt_fail_memory(error, "blocks");
	schedule->kept = kept;
	struct block *block = gt_block_new(number, &schedule->keep, error);
	if (!block)
		return -1;
	schedule->kept[schedule->n_kept++] = block;
	return 0;
}

static int check_traced(const struct gt_schedule *schedule, const struct block *block,
			const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	uint64_t id = schedule->kernel->id;

	if (!rows->scheduled)
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: expected rows with an SM", id);
	if (rows->sm[i] >= schedule->config->sms)
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: SM %u: expected SMs below %" PRIu32, id,
			       (unsigned)rows->sm[i], schedule->config->sms);
	if (block->sm != rows->sm[i])
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: block %" PRIu32 " is on SM %" PRIu32
				      " and on SM %u: expected one SM a block",
			       id, block->number, block->sm, (unsigned)rows->sm[i]);
	return 0;
}

static int put_kept(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last,
		    struct gt_error *error)
{
	int fresh;
	uint64_t *at = gt_map_put(&schedule->places, rows->block[first], schedule->n_kept, &fresh);

	if (!at)
		return gt_fail_memory(error, "blocks");
	if (fresh && new_kept(schedule, rows->block[first], error) != 0)
		return -1;
	struct block *block = schedule->kept[*at];
	if (fresh && rows->scheduled)
		block->sm = rows->sm[first];
	for (size_t i = first; schedule->mapping.kind->traced && i < last; i++)
		if (check_traced(schedule, block, rows, i, error) != 0)
			return -1;
	return gt_block_add(block, &schedule->keep, rows, first, last, error);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *left = *(struct block *const *)a, *right = *(struct block *const *)b;

	return (left->number > right->number) - (left->number < right->number);
}

/* After the last row: places the blocks as if they had arrived in order. */
static int place_kept(struct gt_schedule *schedule, struct gt_error *error)
{
	if (schedule->n_kept > 0)
		qsort(schedule->kept, schedule->n_kept, sizeof(*schedule->kept), compare_blocks);
	for (size_t i = 0; i < schedule->n_kept; i++) {
		struct block *block = schedule->kept[i];
		if (gt_block_close(block, &schedule->keep, error) != 0)
			return -1;
	}
	for (size_t i = 0; i < schedule->n_kept; i++) {
		struct block *block = schedule->kept[i];
		place(schedule, block);
		if (block->skipped)
			gt_block_free(block, &schedule->keep);
	}
	schedule->n_kept = 0;
	return 0;
}

int gt_arrive(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last, struct gt_error *error)
{
	if (schedule->by_block)
		return put_by_block(schedule, rows, first, last, error);
	return put_kept(schedule, rows, first, last, error);
}

int gt_arrive_end(struct gt_schedule *schedule, struct gt_error *error)
{
	if (schedule->by_block)
		return close_block(schedule, error);
	return place_kept(schedule, error);
}
