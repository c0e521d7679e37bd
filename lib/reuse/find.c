/* SPDX-License-Identifier: MIT */
/* Finds the stack of a reference. */
#include "base/grown.h"
#include "reuse/reuse.h"

/* Appends an empty stack. */
static int add_stack(struct gt_reuse *reuse, struct gt_error *error)
{
	if (reuse->team && reuse->n_stacks == reuse->capacity && gt_reuse_team_wait(reuse->team, error) != 0) /* they may move */
		return -1;
	struct gt_stack *stacks = gt_grown(reuse->stacks, reuse->n_stacks, &reuse->capacity, sizeof *stacks);

	if (!stacks)
		return gt_fail_memory(error, "LRU stacks");
	reuse->stacks = stacks;
	if (gt_stack_open(&reuse->stacks[reuse->n_stacks], error) != 0)
		return -1;
	reuse->n_stacks++;
	return 0;
}

int gt_reuse_find(struct gt_reuse *reuse, uint64_t group, uint64_t unit, uint32_t *stack, struct gt_error *error)
{
	const struct gt_reuse_options *options = &reuse->options;
	int fresh;

	if (options->sets > 1)
		group = group * options->sets +
			(options->set_of ? options->set_of(options->set_context, unit) : unit % options->sets);
	if (group < GT_REUSE_DIRECT) {
		fresh = reuse->direct[group] == 0;
		if (fresh)
			reuse->direct[group] = (uint32_t)reuse->n_stacks + 1;
		*stack = reuse->direct[group] - 1;
		return fresh ? add_stack(reuse, error) : 0;
	}
	uint64_t *index = gt_map_put(&reuse->index, group, reuse->n_stacks, &fresh);
	if (!index)
		return gt_fail_memory(error, "LRU stacks");
	*stack = (uint32_t)*index;
	return fresh ? add_stack(reuse, error) : 0;
}
