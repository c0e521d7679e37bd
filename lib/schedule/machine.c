/* SPDX-License-Identifier: MIT */
/* The operations of policies: blocks become resident, issue, and retire. */
#include "schedule/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

static int grow_resident(struct sm *sm, struct gt_error *error)
{
	size_t n = sm->resident_capacity, capacity = n;
	struct block **resident = gt_grown(sm->resident, n, &capacity, sizeof *resident);

	if (!resident)
		return gt_fail_memory(error, "resident blocks");
	sm->resident = resident;
	uint64_t *free_at = gt_grown(sm->free_at, n, &sm->resident_capacity, sizeof *free_at);
	if (!free_at)
		return gt_fail_memory(error, "resident blocks");
	sm->free_at = free_at;
	return 0;
}

int gt_machine_admit(struct gt_schedule *schedule, struct sm *sm, struct block_queue *queue, size_t position,
		  uint64_t slot, struct gt_error *error)
{
	struct block *block = queue->first;

	if (position == sm->resident_capacity && grow_resident(sm, error) != 0)
		return -1;
	if (gt_block_arrange(block, &schedule->keep, schedule->config->issue->arrangement, error) != 0)
		return -1;
	queue->first = block->next;
	if (!queue->first)
		queue->last = NULL;
	block->position = position;
	block->slot = slot;
	block->begun = false;
	sm->resident[position] = block;
	if (position == sm->n_resident)
		sm->n_resident++;
	sm->live++;
	if (schedule->floating && (!schedule->config->only_sms || schedule->config->only_sms[sm->number]))
		schedule->admitted++;
	return schedule->config->issue->admit(schedule, sm, block, error);
}

void gt_machine_retire(struct gt_schedule *schedule, struct sm *sm, struct block *block)
{
	sm->free_at[block->position] =
		block->begin + gt_durations_of(&schedule->config->durations, schedule->kernel->id, block->number);
	sm->resident[block->position] = NULL;
	sm->live--;
	gt_block_free(block, &schedule->keep);
}

/* Appends the addresses of an odd row's lanes. */
static int append_lanes(struct gt_rows *out, const struct odd *odd, struct gt_error *error)
{
	size_t n = (size_t)__builtin_popcount(odd->shape.mask);

	if (gt_rows_reserve_lanes(out, n, error) != 0)
		return -1;
	memcpy(out->lanes + out->n_lanes, odd->lanes, n * sizeof *out->lanes);
	out->base[out->n] = out->n_lanes;
	out->n_lanes += n;
	return 0;
}

/* Sets the fields that the shape holds in the row that is being appended to the batch. */
static void append_shape(struct gt_rows *out, const struct shape *shape, uint64_t base)
{
	size_t i = out->n;

	out->pc[i] = shape->pc;
	out->op[i] = shape->op;
	out->hint[i] = shape->hint;
	out->has_hints |= shape->hint != 0;
	if (shape->size == 0) {
		out->address[i] = base;
		out->sectors[i] = (uint8_t)shape->mask;
		out->full[i] = (uint8_t)(shape->mask >> 8);
		out->threads[i] = (uint8_t)(shape->mask >> 16);
		return;
	}
	out->size[i] = shape->size;
	out->mask[i] = shape->mask;
	out->base[i] = base;
	out->stride[i] = shape->stride;
}

int gt_machine_emit(struct gt_schedule *schedule, const struct sm *sm, struct block *block, const struct kept *row,
		 const struct kept *end, struct gt_error *error)
{
	struct gt_rows *out = schedule->sink->rows;
	bool first = !schedule->issued;

	if (!block->begun) {
		block->begun = true;
		block->begin = schedule->step;
	}
	schedule->issued = true;
	schedule->steps = schedule->step + 1;
	if (schedule->config->only_sms && !schedule->config->only_sms[sm->number])
		return 0;
	schedule->rows += (uint64_t)(end - row);
	for (; row < end; row++) {
		const struct odd *odd = row->shape == SHAPE_NONE ? (const struct odd *)(uintptr_t)row->base : NULL;
		const struct shape *shape = odd ? &odd->shape : &schedule->keep.shapes.all[row->shape];
		enum gt_rows_kind kind = shape->size ? GT_ACCESSES : GT_REQUESTS;
		if ((first || out->kind != kind || !out->scheduled) &&
		    gt_sink_begin(schedule->sink, kind, true, error) != 0)
			return -1;
		first = false;
		if (gt_sink_room(schedule->sink, error) != 0)
			return -1;
		out->block[out->n] = block->number;
		out->warp[out->n] = row->warp;
		out->an[out->n] = row->an;
		out->step[out->n] = schedule->step;
		out->sm[out->n] = (uint16_t)sm->number;
		append_shape(out, shape, odd ? odd->base : row->base);
		if (shape->stride == GT_STRIDE_LANES && append_lanes(out, odd, error) != 0)
			return -1;
		out->n++;
	}
	return 0;
}
