/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/nested.h"

#include <string.h>

#include "cuda/ptx/exec/nested.h"

/* Puts launches before the others that are left. */
static void put_first(struct gt_ptx_children *left, const struct gt_ptx_children *more)
{
	if (!more->first)
		return;
	more->last->next = left->first;
	left->first = more->first;
}

static int run_one(struct gt_ptx_memory *memory, struct gt_ptx_launch *launch, const struct gt_ptx_runner *runner,
		   struct gt_ptx_children *left, struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_ptx_launched launched = {0};
	struct gt_ptx_ran one = {0};

	launch->launched = &launched;
	int result = runner->run(runner->context, launch, &one, error);
	launch->launched = NULL;
	gt_ptx_pool_end_launch(memory);
	put_first(left, &launched.tails);
	put_first(left, &launched.children);
	ran->warp_instructions += one.warp_instructions;
	ran->accesses += one.accesses;
	ran->polls += one.polls;
	ran->fault |= one.fault;
	ran->assertion_failed |= one.assertion_failed;
	return result;
}

static void shape_as(struct gt_ptx_launch *launch, const struct gt_ptx_child *child)
{
	launch->kernel = child->kernel;
	memcpy(launch->grid, child->grid, sizeof launch->grid);
	memcpy(launch->block, child->block, sizeof launch->block);
	launch->dynamic_shared = child->dynamic_shared;
	launch->parameters = child->parameters;
	launch->parent = child->parent;
	launch->depth = child->depth;
	memset(launch->cluster, 0, sizeof launch->cluster);
	launch->workspace = 0;
}

int gt_ptx_run_nested(struct gt_ptx_memory *memory, struct gt_ptx_launch *launch, const struct gt_ptx_runner *runner,
		      struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_ptx_launched rest = {0};
	struct gt_ptx_children *left = &rest.children;

	*ran = (struct gt_ptx_ran){0};
	int result = run_one(memory, launch, runner, left, ran, error);
	while (result == 0 && left->first) {
		struct gt_ptx_child *child = left->first;
		struct gt_ptx_launch next = *launch;
		left->first = child->next;
		shape_as(&next, child);
		result = run_one(memory, &next, runner, left, ran, error);
		gt_ptx_pool_give(memory, child->buffer);
		gt_ptx_child_free(child);
	}
	gt_ptx_launched_clear(memory, &rest);
	return result;
}
