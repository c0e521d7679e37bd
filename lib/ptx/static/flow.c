/* SPDX-License-Identifier: MIT */
/* Blocks of instructions that are entered at their first and left at their last. */
#include <stdlib.h>
#include <string.h>

#include "ptx/static/parts.h"

static bool ends_with_return(const struct gt_ptx_instruction *instruction)
{
	enum gt_ptx_ending ending = gt_ptx_row(instruction)->ending;

	return ending == GT_PTX_RETURNS || ending == GT_PTX_EXITS || ending == GT_PTX_TRAPS;
}

static bool branches(const struct gt_ptx_instruction *instruction)
{
	enum gt_ptx_ending ending = gt_ptx_row(instruction)->ending;

	return ending == GT_PTX_BRANCHES || ending == GT_PTX_BRANCHES_BY_INDEX;
}

/* Marks where blocks begin, and puts each label's instruction into the map for now. */
static int mark_leaders(struct gt_static *analysis, unsigned char *leader, struct gt_error *error)
{
	const struct gt_ptx_function *kernel = analysis->kernel;
	int fresh;

	for (size_t i = 0; i < kernel->n_instructions; i++)
		if (branches(&kernel->instructions[i]) || ends_with_return(&kernel->instructions[i]))
			leader[i + 1] = 1;
	for (size_t i = 0; i < kernel->n_labels; i++) {
		leader[kernel->labels[i].at] = 1;
		if (!gt_map_put(&analysis->labels, (uint64_t)(uintptr_t)kernel->labels[i].name, kernel->labels[i].at,
				&fresh))
			return gt_fail_memory(error, "the labels of a kernel");
	}
	return 0;
}

/* Cuts the instructions at the marks; block_of[i] is the block of instruction i. */
static int cut(struct gt_static *analysis, const unsigned char *leader, uint32_t *block_of, struct gt_error *error)
{
	size_t n = analysis->kernel->n_instructions, blocks = 0;
	struct gt_static_block *block = NULL;

	for (size_t i = 0; i < n; i++)
		blocks += i == 0 || leader[i];
	analysis->blocks = gt_ptx_arena_take(analysis->arena, blocks, sizeof *analysis->blocks, error);
	if (!analysis->blocks)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || leader[i]) {
			block = &analysis->blocks[analysis->n_blocks++];
			block->first = (uint32_t)i;
			block->entry = i == 0;
		}
		block->end = (uint32_t)i + 1;
		block_of[i] = analysis->n_blocks - 1;
	}
	return 0;
}

typedef void (*edge)(struct gt_static *analysis, uint32_t from, uint32_t to);

static void count_edge(struct gt_static *analysis, uint32_t from, uint32_t to)
{
	(void)from;
	analysis->blocks[to].n_before++;
}

static void put_edge(struct gt_static *analysis, uint32_t from, uint32_t to)
{
	struct gt_static_block *block = &analysis->blocks[to];

	block->before[block->n_before++] = from;
	if (from >= to)
		block->late = true;
}

static void target_edges(struct gt_static *analysis, const uint32_t *block_of, uint32_t from,
			 const struct gt_ptx_operand *operands, size_t n, edge take)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t *at = operands[i].name
					     ? gt_map_get(&analysis->labels, (uint64_t)(uintptr_t)operands[i].name)
					     : NULL;

		/* Elements of brx.idx's table are labels in turn. */
		target_edges(analysis, block_of, from, operands[i].elements, operands[i].n_elements, take);
		if (at && *at < analysis->kernel->n_instructions)
			take(analysis, from, block_of[*at]);
	}
}

static void edges(struct gt_static *analysis, const uint32_t *block_of, uint32_t b, edge take)
{
	const struct gt_ptx_instruction *last = &analysis->kernel->instructions[analysis->blocks[b].end - 1];
	bool leaves = branches(last) || ends_with_return(last);

	if (branches(last))
		target_edges(analysis, block_of, b, last->operands, last->n_operands, take);
	if ((!leaves || last->guard) && b + 1 < analysis->n_blocks)
		take(analysis, b, b + 1);
}

static void reach(struct gt_static *analysis, uint32_t from, uint32_t to)
{
	(void)from;
	if (!analysis->blocks[to].reached)
		analysis->reached[analysis->n_reached++] = to;
	analysis->blocks[to].reached = true;
}

/* Code that nothing leads to would only bring in registers without a value. */
static int find_reached(struct gt_static *analysis, const uint32_t *block_of, struct gt_error *error)
{
	analysis->reached = gt_ptx_arena_take(analysis->arena, analysis->n_blocks, sizeof *analysis->reached, error);
	if (!analysis->reached)
		return -1;
	if (analysis->n_blocks)
		reach(analysis, 0, 0);
	while (analysis->n_reached > 0)
		edges(analysis, block_of, analysis->reached[--analysis->n_reached], reach);
	return 0;
}

static void each_edge(struct gt_static *analysis, const uint32_t *block_of, edge take)
{
	for (uint32_t b = 0; b < analysis->n_blocks; b++)
		if (analysis->blocks[b].reached)
			edges(analysis, block_of, b, take);
}

static int connect(struct gt_static *analysis, const uint32_t *block_of, struct gt_error *error)
{
	if (find_reached(analysis, block_of, error) != 0)
		return -1;
	each_edge(analysis, block_of, count_edge);
	for (uint32_t b = 0; b < analysis->n_blocks; b++) {
		struct gt_static_block *block = &analysis->blocks[b];

		block->before = gt_ptx_arena_take(analysis->arena, block->n_before, sizeof *block->before, error);
		if (!block->before)
			return -1;
		block->n_before = 0;
	}
	each_edge(analysis, block_of, put_edge);
	return 0;
}

int gt_static_find_blocks(struct gt_static *analysis, struct gt_error *error)
{
	size_t n = analysis->kernel->n_instructions;
	unsigned char *leader = gt_ptx_arena_take(analysis->arena, n + 1, sizeof *leader, error);
	uint32_t *block_of = gt_ptx_arena_take(analysis->arena, n + 1, sizeof *block_of, error);

	if (!leader || !block_of || mark_leaders(analysis, leader, error) != 0 ||
	    cut(analysis, leader, block_of, error) != 0)
		return -1;
	return connect(analysis, block_of, error);
}
