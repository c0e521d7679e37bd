/* SPDX-License-Identifier: MIT */
#include "schedule/clocked.h"

#include <stdlib.h>

#include "gpu/parameter.h"
#include "stream/hint.h"

/* ---- the load/store unit ---- */

static uint32_t lsu_behind(const struct clocked *clocked, uint32_t i)
{
	return i + 1 == clocked->n ? 0 : i + 1;
}

/* Gives passes to the next scheduler that waits. */
static void lsu_next(struct clocked *clocked, uint64_t passes)
{
	struct scheduler *scheduler;

	do {
		scheduler = &clocked->schedulers[clocked->lsu_turn];
		clocked->lsu_turn = lsu_behind(clocked, clocked->lsu_turn);
	} while (scheduler->passes == 0);
	scheduler->passes -= passes;
	clocked->lsu_given += passes;
	clocked->lsu_waiting -= scheduler->passes == 0;
}

/* Gives each that waits as many passes as one of them still needs, but `most` at most. Returns how many: 0, if most is 0. */
static uint64_t lsu_rounds(struct clocked *clocked, uint64_t most)
{
	uint64_t rounds = most;

	for (uint32_t i = 0; i < clocked->n; i++)
		rounds = clocked->schedulers[i].passes > 0 ? sooner(rounds, clocked->schedulers[i].passes) : rounds;
	for (uint32_t waiting = rounds > 0 ? clocked->lsu_waiting : 0; waiting > 0; waiting--)
		lsu_next(clocked, rounds);
	return rounds;
}

void gt_lsu_run(struct clocked *clocked, uint64_t now)
{
	while (clocked->lsu_waiting > 0 && clocked->lsu_given < now)
		if (lsu_rounds(clocked, (now - clocked->lsu_given) / clocked->lsu_waiting) == 0)
			lsu_next(clocked, 1);
	clocked->lsu_given = later(clocked->lsu_given, now);
}

/* When a scheduler has as many of its passes as its present warp waits for, if no more is asked for. */
static uint64_t lsu_ends(const struct clocked *clocked, const struct scheduler *scheduler)
{
	const uint64_t own = scheduler->passes - scheduler->spare;
	uint64_t end = clocked->lsu_given + own;
	bool behind = false; /* in a round */

	for (uint32_t k = 0, i = clocked->lsu_turn; k < clocked->n; k++, i = lsu_behind(clocked, i)) {
		const struct scheduler *other = &clocked->schedulers[i];
		if (other == scheduler)
			behind = true;
		else
			end += sooner(other->passes, behind ? own - 1 : own);
	}
	return end;
}

uint64_t gt_lsu_ask(struct clocked *clocked, struct scheduler *scheduler, const struct gt_issue_times *times, uint32_t shared, uint64_t now)
{
	const uint64_t accesses = gt_shared_accesses(shared), passes = later(gt_shared_passes(shared), accesses * times->access);

	if (accesses == 0)
		return now;
	gt_lsu_run(clocked, now);
	clocked->lsu_waiting += scheduler->passes == 0 && passes > 0;
	scheduler->passes += passes;
	scheduler->spare = QUEUE * passes / accesses;
	return later(gt_lsu_holds(scheduler) ? lsu_ends(clocked, scheduler) : now, now + accesses * times->scheduler_access);
}

bool gt_lsu_still_holds(struct clocked *clocked, struct scheduler *scheduler, uint64_t now)
{
	gt_lsu_run(clocked, now);
	if (gt_lsu_holds(scheduler))
		scheduler->until = lsu_ends(clocked, scheduler);
	return gt_lsu_holds(scheduler);
}

/* ---- the machine ---- */

/* All but its L1, which it has once it takes a block: most SMs of a short launch take none. */
static int open_sm(const struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct gt_arena *arena = &schedule->machine->arena;
	struct clocked *clocked = sm->clocked = gt_arena_take(arena, sizeof *clocked);

	if (!clocked)
		return gt_fail_memory(error, "the schedulers of an SM");
	clocked->arena = clocked->held[0].arena = clocked->held[1].arena = arena;
	clocked->runners = &schedule->machine->runners;
	clocked->n = schedule->config->schedulers;
	clocked->wake = GT_NEVER;
	clocked->schedulers = gt_arena_take(arena, clocked->n * sizeof *clocked->schedulers);
	clocked->wakes = gt_arena_take(arena, clocked->n * sizeof *clocked->wakes);
	clocked->sends = gt_arena_take(arena, clocked->n * sizeof *clocked->sends);
	clocked->taken = gt_arena_take(arena, (schedule->machine->window + 1) * sizeof *clocked->taken);
	clocked->steps = gt_arena_take(arena, schedule->machine->window * sizeof *clocked->steps);
	if (!clocked->schedulers || !clocked->wakes || !clocked->sends || !clocked->taken || !clocked->steps)
		return gt_fail_memory(error, "the schedulers of an SM");
	for (uint32_t i = 0; i < clocked->n; i++) {
		clocked->schedulers[i].wake = &clocked->wakes[i];
		clocked->wakes[i] = clocked->sends[i] = GT_NEVER;
	}
	return 0;
}

void gt_clocked_bury(struct clocked *clocked, struct block *block, struct keep *keep)
{
	gt_free_lists_give(clocked->runners, block->runners, block->n_runners * sizeof *block->runners);
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
	machine->runners.arena = &machine->arena;
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
