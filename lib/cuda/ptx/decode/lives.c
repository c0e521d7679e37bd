/* SPDX-License-Identifier: MIT */
/* From where to where each register of a function is live. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/visitor.h"

struct ranges {
	const struct gt_ptx_flow *flow;
	/* Of the block that is visited. */
	uint64_t *read, *written, *live;
	size_t position;
};

/* Results in registers are read where a function ends. */
static int keep_result(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	const struct ranges *ranges = visitor->context;

	(void)written;
	gt_ptx_put_in(ranges->live, index);
	return 0;
}

static int keep_results(struct ranges *ranges, struct gt_ptx_visitor *visitor, size_t b)
{
	const struct gt_ptx_flow *flow = ranges->flow;
	const struct gt_ptx_function *function = flow->function;

	ranges->live = gt_ptx_liveness_of(&visitor->registers->live, b, GT_PTX_LIVE_OUT);
	visitor->visit = keep_result;
	for (size_t s = 0; s < flow->blocks[b].n_successors; s++)
		for (size_t i = 0; flow->edges[flow->blocks[b].successors + s] == flow->n_blocks && i < function->n_returns; i++)
			if (function->returns[i].space == GT_PTX_REG && gt_ptx_visit_name(visitor, function->returns[i].name, false) != 0)
				return -1;
	return 0;
}

/* First pass, forwards: what a block reads before it writes it, and what it writes without a guard. */
static int collect(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	const struct ranges *ranges = visitor->context;

	if (!written) {
		if (!gt_ptx_is_in(ranges->written, index))
			gt_ptx_put_in(ranges->read, index);
	} else if (!visitor->guarded) {
		gt_ptx_put_in(ranges->written, index);
	}
	return 0;
}

static void extend(struct gt_ptx_register *reg, size_t position)
{
	reg->first = position < reg->first ? position : reg->first;
	reg->last = position > reg->last ? position : reg->last;
}

/* Second pass, backwards: where each register is live. A source is live until after the result of its instruction, so
 * that the two never share a slot. */
static int trace_ranges(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	const struct ranges *ranges = visitor->context;
	struct gt_ptx_register *reg = &visitor->registers->list[index];

	if (written) {
		extend(reg, ranges->position + 1);
		extend(reg, ranges->position + 2);
		if (!visitor->guarded)
			gt_ptx_take_out(ranges->live, index);
		return 0;
	}
	extend(reg, ranges->position);
	extend(reg, ranges->position + 2);
	gt_ptx_put_in(ranges->live, index);
	return 0;
}

static int walk_block(struct ranges *ranges, struct gt_ptx_visitor *visitor, size_t b)
{
	const struct gt_ptx_block *block = &ranges->flow->blocks[b];
	struct gt_ptx_registers *registers = visitor->registers;
	const struct gt_ptx_liveness *live = &registers->live;

	/* What the block writes is not asked for any more: its set is that of what is live while the walk goes back. */
	ranges->live = memcpy(gt_ptx_liveness_of(live, b, GT_PTX_LIVE_WRITTEN), gt_ptx_liveness_of(live, b, GT_PTX_LIVE_OUT),
			      live->words * sizeof *ranges->live);
	visitor->visit = trace_ranges;
	for (size_t r = 0; r < registers->n; r++) {
		if (gt_ptx_is_in(ranges->live, r))
			extend(&registers->list[r], 2 * block->end);
		if (gt_ptx_is_in(gt_ptx_liveness_of(live, b, GT_PTX_LIVE_IN), r))
			extend(&registers->list[r], 2 * block->first);
	}
	for (size_t i = block->end; i-- > block->first;) {
		const struct gt_ptx_instruction *instruction = &ranges->flow->function->instructions[i];
		ranges->position = 2 * i;
		if (gt_ptx_visit_results(visitor, instruction) != 0 || gt_ptx_visit_sources(visitor, instruction) != 0)
			return -1;
	}
	return 0;
}

static int find_ranges(struct ranges *ranges, struct gt_ptx_visitor *visitor)
{
	const struct gt_ptx_flow *flow = ranges->flow;
	const struct gt_ptx_liveness *live = &visitor->registers->live;

	for (size_t b = 0; b < flow->n_blocks; b++) {
		ranges->read = gt_ptx_liveness_of(live, b, GT_PTX_LIVE_IN);
		ranges->written = gt_ptx_liveness_of(live, b, GT_PTX_LIVE_WRITTEN);
		visitor->visit = collect;
		for (size_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
			if (gt_ptx_visit_sources(visitor, &flow->function->instructions[i]) != 0 ||
			    gt_ptx_visit_results(visitor, &flow->function->instructions[i]) != 0)
				return -1;
		if (keep_results(ranges, visitor, b) != 0)
			return -1;
	}
	gt_ptx_liveness_solve(live, flow);
	for (size_t b = 0; b < flow->n_blocks; b++)
		if (walk_block(ranges, visitor, b) != 0)
			return -1;
	return 0;
}

const uint64_t *gt_ptx_live_behind(const struct gt_ptx_registers *registers, size_t *stride)
{
	*stride = GT_PTX_LIVENESS_SETS * registers->live.words;
	return registers->live.sets ? gt_ptx_liveness_of(&registers->live, 0, GT_PTX_LIVE_OUT) : NULL;
}

int gt_ptx_find_live_ranges(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, struct gt_error *error)
{
	struct ranges ranges = {.flow = flow};
	struct gt_ptx_visitor visitor = {.registers = registers, .context = &ranges, .error = error};

	if (gt_ptx_liveness_make(&registers->live, flow, registers->n, error) != 0)
		return -1;
	if (registers->live.sets)
		return find_ranges(&ranges, &visitor);
	for (size_t r = 0; r < registers->n; r++)
		registers->list[r].last = SIZE_MAX;
	return 0;
}
