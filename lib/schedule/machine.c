/* SPDX-License-Identifier: MIT */
/* What policies do to the machine: blocks become resident, issue, and leave. */
#include "schedule/machine.h"

#include <stdlib.h>
#include <string.h>

static int grow_resident(struct sm *sm, struct gt_error *error)
{
	size_t capacity = sm->resident_capacity ? 2 * sm->resident_capacity : 8;
	struct block **resident = realloc(sm->resident, capacity * sizeof(*resident));

	if (!resident)
		return gt_fail_memory(error, "resident blocks");
	sm->resident = resident;
	sm->resident_capacity = capacity;
	return 0;
}

int machine_admit(struct gt_schedule *schedule, struct sm *sm, struct line *line, size_t position,
		  uint64_t slot, struct gt_error *error)
{
	struct block *block = line->first;

	if (position == sm->resident_capacity && grow_resident(sm, error) != 0)
		return -1;
	if (block_arrange(block, &schedule->store, schedule->config->issue->key, error) != 0)
		return -1;
	line->first = block->next;
	if (!line->first)
		line->last = NULL;
	block->position = position;
	block->slot = slot;
	sm->resident[position] = block;
	if (position == sm->n_resident)
		sm->n_resident++;
	sm->live++;
	if (schedule->floating && (!schedule->config->only_sms || schedule->config->only_sms[sm->number]))
		schedule->admitted++;
	return schedule->config->issue->admit(schedule, sm, block, error);
}

void machine_retire(struct gt_schedule *schedule, struct sm *sm, struct block *block)
{
	sm->resident[block->position] = NULL;
	sm->live--;
	block_free(block, &schedule->store);
}

/* Appends one row to the sink's batch, which has room. */
static int append(struct gt_rows *out, const struct kept *row, struct gt_error *error)
{
	size_t i = out->n;

	out->warp[i] = row->warp;
	out->an[i] = row->an;
	out->pc[i] = row->pc;
	out->op[i] = row->op;
	if (out->kind == GT_REQUESTS) {
		out->address[i] = row->base;
		out->sectors[i] = (uint8_t)row->mask;
		out->full[i] = (uint8_t)(row->mask >> 8);
		out->threads[i] = (uint8_t)(row->mask >> 16);
		return 0;
	}
	out->size[i] = row->size;
	out->mask[i] = row->mask;
	out->base[i] = row->base;
	out->stride[i] = row->stride;
	if (row->stride != GT_STRIDE_LANES)
		return 0;
	size_t n = (size_t)__builtin_popcount(row->mask);
	if (gt_rows_reserve_lanes(out, n, error) != 0)
		return -1;
	memcpy(out->lanes + out->n_lanes, (const uint64_t *)(uintptr_t)row->base, n * sizeof *out->lanes);
	out->base[i] = out->n_lanes;
	out->n_lanes += n;
	return 0;
}

int machine_emit(struct gt_schedule *schedule, const struct sm *sm, const struct block *block,
		 const struct kept *row, const struct kept *end, struct gt_error *error)
{
	struct gt_rows *out = schedule->sink->rows;

	if (schedule->config->only_sms && !schedule->config->only_sms[sm->number])
		return 0;
	schedule->rows += (uint64_t)(end - row);
	for (; row < end; row++) {
		enum gt_rows_kind kind = row->size ? GT_ACCESSES : GT_REQUESTS;
		if ((out->kind != kind || !out->scheduled) &&
		    gt_sink_begin(schedule->sink, kind, true, error) != 0)
			return -1;
		if (gt_sink_room(schedule->sink, error) != 0)
			return -1;
		out->block[out->n] = block->number;
		out->step[out->n] = schedule->step;
		out->sm[out->n] = (uint16_t)sm->number;
		if (append(out, row, error) != 0)
			return -1;
		out->n++;
	}
	return 0;
}
