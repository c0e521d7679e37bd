/* SPDX-License-Identifier: MIT */
#include "schedule/clocked.h"

#include <stdlib.h>

#include "gpu/parameter.h"

/* All but its L1, which it has once it takes a block: most SMs of a short launch take none. */
static int open_sm(const struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct gt_arena *arena = &schedule->machine->arena;
	struct clocked *clocked = sm->clocked = gt_arena_take(arena, sizeof *clocked);

	if (!clocked)
		return gt_fail_memory(error, "the schedulers of an SM");
	clocked->arena = clocked->held[0].arena = clocked->held[1].arena = arena;
	clocked->n = schedule->config->schedulers;
	clocked->wake = GT_NEVER;
	clocked->schedulers = gt_arena_take(arena, clocked->n * sizeof *clocked->schedulers);
	if (!clocked->schedulers)
		return gt_fail_memory(error, "the schedulers of an SM");
	for (uint32_t i = 0; i < clocked->n; i++)
		clocked->schedulers[i].wake = GT_NEVER;
	return 0;
}

void gt_clocked_bury(struct clocked *clocked, struct block *block, struct keep *keep)
{
	struct spare *spare = (void *)block->runners;

	*spare = (struct spare){clocked->spares, block->n_runners};
	clocked->spares = spare;
	gt_block_free(block, keep);
}

void gt_clocked_close(struct gt_schedule *schedule)
{
	struct machine *machine = schedule->machine;

	for (uint32_t sm = 0; sm < schedule->config->sms; sm++) {
		while (schedule->sms[sm].clocked && schedule->sms[sm].clocked->dead) {
			struct block *block = schedule->sms[sm].clocked->dead;
			schedule->sms[sm].clocked->dead = block->next;
			gt_block_free(block, &schedule->keep);
		}
		schedule->sms[sm].clocked = NULL;
	}
	if (!machine)
		return;
	gt_arena_close(&machine->arena);
	free(machine);
}

#define WINDOW_MOST 1024 /* steps of a window */

/* The least time in which an SM has what it asks L2 for. So the SMs need not know of each other for so many steps, but for the
 * blocks that they take: a window, in which an SM runs on its own. */
static uint64_t window_of(const struct gt_issue_times *times)
{
	uint64_t nearest = gt_spread_nearest(&times->spread);

	return sooner(times->l2 > nearest ? times->l2 - nearest : 1, WINDOW_MOST);
}

int gt_clocked_open(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct gt_issue_times *times = &schedule->config->times;
	struct machine *machine = schedule->machine = calloc(1, sizeof *machine);

	if (!machine)
		return gt_fail_memory(error, "the lines of a cache");
	machine->window = window_of(times);
	machine->counts = gt_arena_take(&machine->arena, (machine->window + 1) * sizeof *machine->counts);
	if (!machine->counts)
		return gt_fail_memory(error, "the steps of a window");
	if (gt_l2_open(&machine->l2, &machine->arena, times, error) != 0)
		return -1;
	for (size_t i = 0; i < schedule->n_active; i++)
		if (open_sm(schedule, &schedule->sms[schedule->active[i]], error) != 0)
			return -1;
	return 0;
}
