/* SPDX-License-Identifier: MIT */
#include "reuse/reuse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

enum {
	CHUNK = 512,		/* references gathered before their stacks are touched */
	TABLE_AHEAD = 24,	/* references between the first hint and the touch */
	LINE_AHEAD = 12,	/* and between the second and the touch */
};

struct gt_reference {
	uint64_t unit, hash;
	uint32_t row, stack;
};

int gt_reuse_open(struct gt_reuse *reuse, const struct gt_reuse_options *options, struct gt_error *error)
{
	*reuse = (struct gt_reuse){.options = *options};
	reuse->references = malloc(CHUNK * sizeof *reuse->references);
	if (!reuse->references)
		return gt_fail_memory(error, "references");
	if (gt_profile_open(&reuse->profile, options->split, options->bound, error) != 0 ||
	    gt_map_open(&reuse->index, 0, error) != 0) {
		gt_reuse_close(reuse);
		return -1;
	}
	return 0;
}

void gt_reuse_flush(struct gt_reuse *reuse)
{
	for (size_t i = 0; i < reuse->n_stacks; i++)
		gt_stack_close(&reuse->stacks[i]);
	reuse->n_stacks = 0;
	gt_map_clear(&reuse->index);
}

void gt_reuse_close(struct gt_reuse *reuse)
{
	if (reuse->index.slots)
		gt_reuse_flush(reuse);
	gt_map_close(&reuse->index);
	gt_profile_close(&reuse->profile);
	free(reuse->stacks);
	free(reuse->references);
	*reuse = (struct gt_reuse){0};
}

/* Appends an empty stack. */
static int add_stack(struct gt_reuse *reuse, struct gt_error *error)
{
	if (reuse->n_stacks == reuse->capacity) {
		size_t capacity = reuse->capacity ? 2 * reuse->capacity : 16;
		struct gt_stack *stacks = realloc(reuse->stacks, capacity * sizeof *stacks);
		if (!stacks)
			return gt_fail_memory(error, "LRU stacks");
		reuse->stacks = stacks;
		reuse->capacity = capacity;
	}
	if (gt_stack_open(&reuse->stacks[reuse->n_stacks], error) != 0)
		return -1;
	reuse->n_stacks++;
	return 0;
}

/* Which stack a unit of an SM is in. */
static int find_stack(struct gt_reuse *reuse, uint64_t sm, uint64_t unit, uint32_t *stack,
		      struct gt_error *error)
{
	const struct gt_reuse_options *options = &reuse->options;
	uint64_t set = 0;
	int fresh;

	if (options->sets > 1)
		set = options->set_of ? options->set_of(options->set_context, unit) : unit % options->sets;
	uint64_t *index = gt_map_put(&reuse->index, sm * options->sets + set, reuse->n_stacks, &fresh);
	if (!index)
		return gt_fail_memory(error, "LRU stacks");
	*stack = (uint32_t)*index;
	return fresh ? add_stack(reuse, error) : 0;
}

/* Touches the stacks of the chunk's n references and counts what they say. */
static int run(struct gt_reuse *reuse, const struct gt_rows *rows, size_t n, struct gt_error *error)
{
	const struct gt_reference *references = reuse->references;
	const struct gt_reuse_options *options = &reuse->options;

	for (size_t i = 0; i < n; i++) {
		const struct gt_reference *now = &references[i];
		uint64_t distance;
		if (i + TABLE_AHEAD < n)
			gt_stack_prefetch(&reuse->stacks[now[TABLE_AHEAD].stack], now[TABLE_AHEAD].hash);
		if (i + LINE_AHEAD < n)
			gt_stack_prefetch_line(&reuse->stacks[now[LINE_AHEAD].stack], now[LINE_AHEAD].hash);
		if (gt_stack_touch(&reuse->stacks[now->stack], now->unit, now->hash, &distance, error) != 0 ||
		    gt_profile_add(&reuse->profile, rows, now->row, distance, error) != 0)
			return -1;
		if (options->watch && options->watch(options->watch_context, rows, now->row, now->unit,
						     distance, error) != 0)
			return -1;
	}
	return 0;
}

static int check(const struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_granularity *granularity = reuse->options.unit.granularity;

	if (rows->kind != granularity->kind)
		return gt_fail(error, "reuse by %s is of %s, but these rows are %s", granularity->name,
			       granularity->kind == GT_ACCESSES ? "accesses" : "requests",
			       rows->kind == GT_ACCESSES ? "accesses" : "requests");
	if (reuse->options.per == GT_PER_SM && !rows->scheduled)
		return gt_fail(error, "one stack per SM needs scheduled rows, and these have no SM: run gschedule first");
	return 0;
}

int gt_reuse_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_unit *unit = &reuse->options.unit;
	bool by_sm = rows->scheduled && reuse->options.per != GT_PER_GLOBAL;
	size_t n = 0;

	if (check(reuse, rows, error) != 0)
		return -1;
	reuse->by_sm = by_sm;
	for (size_t i = 0; i < rows->n; i++) {
		uint64_t units[GT_WARP_SIZE];
		if (!(reuse->options.actions >> gt_op_action(rows->op[i]) & 1) ||
		    gt_op_space(rows->op[i]) == GT_SHARED)
			continue;
		unsigned made = unit->granularity->references(rows, i, unit->shift, units);
		for (unsigned j = 0; j < made; j++, n++) {
			struct gt_reference *reference = &reuse->references[n];
			reference->unit = units[j];
			reference->hash = gt_stack_hash(units[j]);
			reference->row = (uint32_t)i;
			if (find_stack(reuse, by_sm ? rows->sm[i] : 0, units[j], &reference->stack, error) != 0)
				return -1;
		}
		if (n + GT_WARP_SIZE > CHUNK) {
			if (run(reuse, rows, n, error) != 0)
				return -1;
			n = 0;
		}
	}
	return run(reuse, rows, n, error);
}

int gt_reuse_count(const struct gt_reuse *reuse, struct gt_count *count, struct gt_error *error)
{
	const struct gt_reuse_options *options = &reuse->options;
	char granularity[64], per[64], size[32];

	snprintf(granularity, sizeof granularity, "%s:%s", options->unit.granularity->name,
		 gt_format_size(UINT64_C(1) << options->unit.shift, size));
	snprintf(per, sizeof per, "%s", reuse->by_sm || options->per == GT_PER_SM ? "sm" : "global");
	if (options->sets > 1)
		snprintf(per + strlen(per), sizeof per - strlen(per), ",set:%" PRIu64, options->sets);
	if (gt_count_text(count, "granularity", granularity, error) != 0 ||
	    gt_count_text(count, "per", per, error) != 0)
		return -1;
	return gt_profile_count(&reuse->profile, count, error);
}
