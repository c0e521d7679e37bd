/* SPDX-License-Identifier: MIT */
/* Measures references by stack. */
#include <stdlib.h>

#include "reuse/reuse.h"

/* Measures what has been gathered of a stack. */
static int measure(struct gt_reuse *reuse, size_t stack, struct gt_error *error)
{
	struct gt_gathered *gathered = &reuse->gathered[stack];
	size_t n = gathered->n;

	gathered->n = 0;
	if (reuse->team)
		return gt_reuse_team_measure(reuse->team, stack, &reuse->stacks[stack], &gathered->units, n, error);
	if (gt_stack_touch_all(&reuse->stacks[stack], gathered->units, n, reuse->distances, error) != 0)
		return -1;
	return gt_histogram_add_all(&reuse->profile.all, reuse->distances, n, error);
}

int gt_reuse_settle(struct gt_reuse *reuse, struct gt_error *error)
{
	for (size_t i = 0; reuse->gathers && i < reuse->n_stacks && i < GT_REUSE_GATHERED; i++)
		if (reuse->gathered[i].n > 0 && measure(reuse, i, error) != 0)
			return -1;
	if (gt_histogram_add_same(&reuse->profile.all, 0, reuse->repeats, error) != 0)
		return -1;
	reuse->repeats = 0;
	return reuse->team ? gt_reuse_team_give(reuse->team, &reuse->profile.all, error) : 0;
}

/* Measures a reference by itself. */
static int measure_one(struct gt_reuse *reuse, size_t stack, uint64_t unit, struct gt_error *error)
{
	uint64_t distance;

	if (gt_stack_touch(&reuse->stacks[stack], unit, gt_stack_hash(unit), &distance, error) != 0)
		return -1;
	return gt_histogram_add(&reuse->profile.all, distance, 1, error);
}

static inline int gather(struct gt_reuse *reuse, size_t stack, uint64_t unit, struct gt_error *error)
{
	if (stack >= GT_REUSE_GATHERED)
		return measure_one(reuse, stack, unit, error);
	struct gt_gathered *gathered = &reuse->gathered[stack];
	if (gathered->n > 0 && gathered->last == unit) {
		reuse->repeats++;
		return 0;
	}
	if (!gathered->units && !(gathered->units = malloc(GT_REUSE_TOGETHER * sizeof *gathered->units)))
		return gt_fail_memory(error, "references");
	gathered->units[gathered->n++] = gathered->last = unit;
	return gathered->n == GT_REUSE_TOGETHER ? measure(reuse, stack, error) : 0;
}

int gt_reuse_gather(struct gt_reuse *reuse, size_t stack, uint64_t unit, struct gt_error *error)
{
	return gather(reuse, stack, unit, error);
}

bool gt_reuse_plain(const struct gt_reuse *reuse, const struct gt_rows *rows)
{
	const struct gt_reuse_options *options = &reuse->options;

	return reuse->gathers && rows->kind == GT_REQUESTS && (UINT64_C(1) << options->unit.shift) >= GT_LINE && !rows->has_hints &&
	       !rows->has_status && options->sets <= 1;
}

int gt_reuse_gather_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error)
{
	uint64_t group = UINT64_MAX; /* that of no row */
	uint32_t stack = 0;

	for (size_t i = 0; i < rows->n; i++) {
		uint64_t unit = rows->address[i] >> reuse->options.unit.shift, now = gt_reuse_group(reuse, rows, i);
		if (!reuse->refers[rows->op[i]] || (rows->sectors[i] & 15) == 0)
			continue;
		if (now != group && gt_reuse_find(reuse, now, unit, &stack, error) != 0)
			return -1;
		group = now;
		if (gather(reuse, stack, unit, error) != 0)
			return -1;
	}
	return 0;
}
