/* SPDX-License-Identifier: MIT */
#include "reuse/team.h"

#include <stdlib.h>

#include "base/pipeline.h"

struct item {
	struct gt_stack *stack;
	size_t number; /* of the stack */
	uint64_t *units;
	size_t n;
};

struct lane {
	struct gt_histogram histogram;
	uint64_t distances[GT_REUSE_TOGETHER];
};

struct gt_reuse_team {
	struct gt_pipeline *pipeline;
	unsigned jobs;
	struct lane *lanes;
	struct item *items;
	size_t n;
};

/* A lane takes the stacks that are its own, so that each sees its references in order. */
static int measure(void *context, void *taken, unsigned lane, struct gt_error *error)
{
	struct gt_reuse_team *team = context;
	const struct item *item = taken;
	struct lane *own = &team->lanes[lane];

	if (item->number % team->jobs != lane)
		return 0;
	if (gt_stack_touch_all(item->stack, item->units, item->n, own->distances, error) != 0)
		return -1;
	return gt_histogram_add_all(&own->histogram, own->distances, item->n, error);
}

static bool allocate(struct gt_reuse_team *team)
{
	const size_t n = 4 * (size_t)team->jobs; /* so that no lane waits for the others' stacks */

	team->lanes = calloc(team->jobs, sizeof *team->lanes);
	team->items = calloc(n, sizeof *team->items);
	if (!team->lanes || !team->items)
		return false;
	for (; team->n < n; team->n++)
		if (!(team->items[team->n].units = malloc(GT_REUSE_TOGETHER * sizeof(uint64_t))))
			return false;
	return true;
}

struct gt_reuse_team *gt_reuse_team_open(unsigned jobs, uint64_t bound, struct gt_error *error)
{
	struct gt_reuse_team *team = calloc(1, sizeof *team);
	const struct gt_step step = {measure, jobs};

	if (team)
		team->jobs = jobs;
	if (!team || !allocate(team)) {
		gt_reuse_team_close(team);
		gt_fail_memory(error, "threads");
		return NULL;
	}
	for (unsigned lane = 0; lane < jobs; lane++)
		gt_histogram_begin(&team->lanes[lane].histogram, bound);
	if (!(team->pipeline = gt_pipeline_open(jobs, &step, 1, team, (struct gt_pipeline_items){team->items, sizeof *team->items, team->n}, error))) {
		gt_reuse_team_close(team);
		return NULL;
	}
	return team;
}

void gt_reuse_team_close(struct gt_reuse_team *team)
{
	if (!team)
		return;
	gt_pipeline_close(team->pipeline);
	for (unsigned lane = 0; team->lanes && lane < team->jobs; lane++)
		gt_histogram_clear(&team->lanes[lane].histogram);
	for (size_t i = 0; i < team->n; i++)
		free(team->items[i].units);
	free(team->lanes);
	free(team->items);
	free(team);
}

int gt_reuse_team_measure(struct gt_reuse_team *team, size_t number, struct gt_stack *stack, uint64_t **units, size_t n,
			  struct gt_error *error)
{
	struct item *item = gt_pipeline_next(team->pipeline, error);

	if (!item)
		return -1;
	uint64_t *empty = item->units;
	*item = (struct item){.stack = stack, .number = number, .units = *units, .n = n};
	*units = empty;
	gt_pipeline_put(team->pipeline, item);
	return 0;
}

int gt_reuse_team_wait(struct gt_reuse_team *team, struct gt_error *error)
{
	return gt_pipeline_drain(team->pipeline, error);
}

int gt_reuse_team_give(struct gt_reuse_team *team, struct gt_histogram *to, struct gt_error *error)
{
	if (gt_reuse_team_wait(team, error) != 0)
		return -1;
	for (unsigned lane = 0; lane < team->jobs; lane++) {
		if (gt_histogram_merge(to, &team->lanes[lane].histogram, error) != 0)
			return -1;
		gt_histogram_clear(&team->lanes[lane].histogram);
	}
	return 0;
}
