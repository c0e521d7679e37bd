/* SPDX-License-Identifier: MIT */
/* Finds the value that reaches a register read; where several do, a join of them (the phi of SSA form). */
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/static/parts.h"

uint32_t gt_static_new_value(struct gt_static *analysis, enum gt_static_kind kind, struct gt_error *error)
{
	struct gt_static_value *values =
		analysis->n_values < GT_STATIC_NUMBERS
			? gt_grown(analysis->values, analysis->n_values, &analysis->value_capacity, sizeof *values)
			: NULL;

	if (!values) {
		gt_fail_memory(error, "the values of a kernel");
		return GT_STATIC_NONE;
	}
	analysis->values = values;
	memset(&values[analysis->n_values], 0, sizeof *values);
	values[analysis->n_values].kind = kind;
	values[analysis->n_values].same = analysis->n_values;
	return analysis->n_values++;
}

uint32_t gt_static_same(const struct gt_static *analysis, uint32_t value)
{
	while (analysis->values[value].same != value)
		value = analysis->values[value].same;
	return value;
}

int gt_static_write_variable(struct gt_static *analysis, uint32_t block, uint32_t variable, uint32_t value,
			  struct gt_error *error)
{
	int fresh;
	uint64_t *place = gt_map_put(&analysis->reaching, (uint64_t)block << 32 | variable, value, &fresh);

	if (!place)
		return gt_fail_memory(error, "the values of a kernel");
	*place = value;
	return 0;
}

/* Fills a join with the values at the ends of the predecessors. */
static int fill_join(struct gt_static *analysis, uint32_t join, struct gt_error *error)
{
	const struct gt_ptx_block *block = &analysis->flow.blocks[analysis->values[join].block];
	const size_t *before = analysis->flow.sources + block->predecessors;
	uint32_t variable = analysis->values[join].variable;
	uint32_t *operands = gt_ptx_arena_take(analysis->arena, block->n_predecessors, sizeof *operands, error);

	if (!operands)
		return -1;
	for (size_t i = 0; i < block->n_predecessors; i++) {
		operands[i] = gt_static_read_variable(analysis, (uint32_t)before[i], variable, error);
		if (operands[i] == GT_STATIC_NONE)
			return -1;
	}
	analysis->values[join].operands = operands;
	analysis->values[join].n = (uint32_t)block->n_predecessors;
	return 0;
}

/* True for a block with a back edge, as long as the values at its source are not known. */
static bool is_late(const struct gt_static *analysis, uint32_t block)
{
	const struct gt_ptx_block *b = &analysis->flow.blocks[block];

	return !analysis->complete && b->n_predecessors > 0 &&
	       analysis->flow.sources[b->predecessors + b->n_predecessors - 1] >= block;
}

/* The depth of the recursion is bounded: in a long chain of blocks the value is opaque. */
uint32_t gt_static_read_variable(struct gt_static *analysis, uint32_t block, uint32_t variable, struct gt_error *error)
{
	const struct gt_ptx_block *b = &analysis->flow.blocks[block];
	const uint64_t *known = gt_map_get(&analysis->reaching, (uint64_t)block << 32 | variable);
	uint32_t value;
	bool deep = analysis->depth > 2000, first = b->n_predecessors == 0, late = is_late(analysis, block);

	if (known)
		return (uint32_t)*known;
	if (!deep && block > 0 && !late && b->n_predecessors == 1) {
		analysis->depth++;
		value = gt_static_read_variable(analysis, (uint32_t)analysis->flow.sources[b->predecessors], variable, error);
		analysis->depth--;
		if (value == GT_STATIC_NONE || gt_static_write_variable(analysis, block, variable, value, error) != 0)
			return GT_STATIC_NONE;
		return value;
	}
	value = gt_static_new_value(analysis, deep || first ? GT_STATIC_OPAQUE : GT_STATIC_JOIN, error);
	if (value == GT_STATIC_NONE)
		return value;
	analysis->values[value].block = block;
	analysis->values[value].variable = variable;
	if (gt_static_write_variable(analysis, block, variable, value, error) != 0)
		return GT_STATIC_NONE;
	if (deep || first || late)
		return value;
	analysis->depth++;
	if (fill_join(analysis, value, error) != 0)
		value = GT_STATIC_NONE;
	analysis->depth--;
	return value;
}

/* A join whose operands are one value and the join itself equals that value. */
static bool simplify(struct gt_static *analysis)
{
	bool changed = false;

	for (uint32_t i = 0; i < analysis->n_values; i++) {
		struct gt_static_value *value = &analysis->values[i];
		uint32_t only = GT_STATIC_NONE, others = 0;

		if (value->kind != GT_STATIC_JOIN || value->same != i || value->n == 0)
			continue;
		for (uint32_t j = 0; j < value->n; j++) {
			uint32_t operand = gt_static_same(analysis, value->operands[j]);

			if (operand == i || operand == only)
				continue;
			only = operand;
			others++;
		}
		if (others == 1 && value->block > 0) {
			value->same = only;
			changed = true;
		}
	}
	return changed;
}

int gt_static_fill_joins(struct gt_static *analysis, struct gt_error *error)
{
	/* Filling one may add others behind it. */
	analysis->complete = true;
	for (uint32_t i = 0; i < analysis->n_values; i++)
		if (analysis->values[i].kind == GT_STATIC_JOIN && !analysis->values[i].operands &&
		    fill_join(analysis, i, error) != 0)
			return -1;
	for (int pass = 0; pass < 64 && simplify(analysis); pass++)
		;
	return 0;
}
