/* SPDX-License-Identifier: MIT */
/* The order of issue that follows from time: a step is a cycle, and a warp issues when what it waits for is there. Schedulers
 * are greedy, then prefer the youngest warp, and L1 takes their accesses in turn: what R. Huerta et al. (Analyzing Modern NVIDIA
 * GPU Cores, 2025) found. Which requests hit is what memory.c takes the caches for. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "schedule/machine.h"
#include "schedule/memory.h"
#include "schedule/runner.h"
#include "stream/op.h"
#include "stream/work.h"

#define QUEUE 5 /* accesses of a scheduler that L1 has not taken, before it has to wait: the same paper */

/* An access that L1 has not taken; its warp's window may hold later ones by now. */
struct waiting {
	struct runner *runner;
	struct kept *rows;
	size_t n, capacity;
	struct odd *odd; /* of rows that have no numbered shape */
	size_t odd_capacity;
};

struct scheduler {
	struct crew crew;
	struct runner *current; /* its instructions up to its next access issue until `until`; NULL: none */
	struct runner *last;	/* that issued */
	uint64_t until;
	struct waiting queue[QUEUE];
	uint32_t first, queued;
};

struct clocked {
	struct scheduler *schedulers;
	struct recent *l1; /* NULL: there is none */
	uint32_t n, turn;  /* the scheduler from which L1 takes next */
	uint64_t free;	   /* when L1 can take an access */
};

/* ---- blocks ---- */

static struct clocked *open_sm(const struct gt_schedule *schedule, struct gt_error *error)
{
	uint64_t bytes = schedule->occupancy.l1_bytes ? schedule->occupancy.l1_bytes : schedule->config->times.l1_bytes;
	struct clocked *clocked = calloc(1, sizeof *clocked);

	if (!clocked) {
		gt_fail_memory(error, "the schedulers of an SM");
		return NULL;
	}
	clocked->n = schedule->config->schedulers;
	clocked->schedulers = calloc(clocked->n, sizeof *clocked->schedulers);
	if (!clocked->schedulers)
		gt_fail_memory(error, "the schedulers of an SM");
	else if (schedule->config->times.l1_bytes == 0 || (clocked->l1 = gt_recent_open((uint32_t)(bytes / GT_LINE), error)))
		return clocked;
	free(clocked->schedulers);
	free(clocked);
	return NULL;
}

static void close_sm(struct sm *sm)
{
	struct clocked *clocked = sm->clocked;

	if (!clocked)
		return;
	for (uint32_t i = 0; i < clocked->n; i++) {
		gt_crew_close(&clocked->schedulers[i].crew);
		for (uint32_t place = 0; place < QUEUE; place++) {
			free(clocked->schedulers[i].queue[place].rows);
			free(clocked->schedulers[i].queue[place].odd);
		}
	}
	free(clocked->schedulers);
	gt_recent_close(clocked->l1);
	free(clocked);
}

static int admit(struct gt_schedule *schedule, struct sm *sm, struct block *block, struct gt_error *error)
{
	uint64_t in_block = gt_kernel_warps(schedule->kernel);

	if (!schedule->memory.l2 && gt_memory_open(&schedule->memory, &schedule->config->times, error) != 0)
		return -1;
	if (!sm->clocked && !(sm->clocked = open_sm(schedule, error)))
		return -1;
	struct clocked *clocked = sm->clocked;
	struct crew *crews[GT_SCHEDULERS_MAX];
	for (uint32_t i = 0; i < clocked->n; i++)
		crews[i] = &clocked->schedulers[i].crew;
	in_block = in_block ? in_block : (uint64_t)block->highest_warp + 1;
	sm->wake = schedule->step;
	return gt_runners_admit(block, crews, clocked->n, block->slot * in_block, &schedule->keep, schedule->step, error);
}

/* ---- L1 ---- */

static int retire(struct gt_schedule *schedule, struct sm *sm, struct runner *runner, uint64_t now)
{
	struct block *block = runner->block;
	size_t position = block->position;
	uint64_t data = runner->data > now ? runner->data : now;

	gt_runner_leave(runner);
	if (--block->warps_left > 0)
		return 0;
	gt_machine_retire(schedule, sm, block);
	if (sm->free_at[position] < data)
		sm->free_at[position] = data;
	return 0;
}

/* Copies an access into a place of the queue. Requests have no addresses of lanes. */
static int wait_for_l1(struct waiting *place, struct runner *runner, const struct kept *end, struct gt_error *error)
{
	const struct kept *first = runner->source->row;
	size_t n = (size_t)(end - first), odd = 0;
	struct kept *rows = gt_grown_to(place->rows, n, &place->capacity, sizeof *rows);

	place->rows = rows ? rows : place->rows;
	for (size_t i = 0; i < n; i++)
		odd += first[i].shape == SHAPE_NONE;
	struct odd *odds = odd ? gt_grown_to(place->odd, odd, &place->odd_capacity, sizeof *odds) : place->odd;
	place->odd = odds ? odds : place->odd;
	if (!rows || (odd && !odds))
		return gt_fail_memory(error, "accesses");
	memcpy(rows, first, n * sizeof *rows);
	for (size_t i = 0; odd > 0 && i < n; i++) {
		if (rows[i].shape != SHAPE_NONE)
			continue;
		*odds = *(const struct odd *)(uintptr_t)rows[i].base;
		rows[i].base = (uint64_t)(uintptr_t)odds++;
	}
	place->n = n;
	place->runner = runner;
	return 0;
}

/* L1 takes an access: one request a cycle. */
static int take(struct gt_schedule *schedule, struct sm *sm, struct scheduler *scheduler, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;
	const struct waiting *waiting = &scheduler->queue[scheduler->first];
	const struct kept *first = waiting->rows, *end = first + waiting->n;
	struct runner *runner = waiting->runner;
	uint64_t now = schedule->step, data = 0;

	scheduler->first = (scheduler->first + 1) % QUEUE;
	scheduler->queued--;
	clocked->free = now;
	for (const struct kept *row = first; row < end; row++) {
		const struct shape *shape = gt_kept_shape(&schedule->keep.shapes, row);
		uint64_t there = gt_memory_request(&schedule->memory, clocked->l1, sm->number, shape, gt_kept_address(row), clocked->free++);
		if (gt_op_action(shape->op) != GT_REDUCTION && there > data)
			data = there;
	}
	if (gt_machine_emit(schedule, sm, runner->block, first, end, error) != 0)
		return -1;
	if (!gt_runner_served(runner, data))
		return 0;
	if (scheduler->last == runner)
		scheduler->last = NULL;
	return retire(schedule, sm, runner, now);
}

static int serve(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;

	for (uint32_t i = 0; i < clocked->n; i++) {
		struct scheduler *scheduler = &clocked->schedulers[clocked->turn];
		clocked->turn = clocked->turn + 1 == clocked->n ? 0 : clocked->turn + 1;
		if (scheduler->queued > 0)
			return take(schedule, sm, scheduler, error);
	}
	return 0;
}

/* ---- schedulers ---- */

/* Greedy: the warp that issued last; then the youngest. NULL: none can issue. */
static struct runner *choose(const struct scheduler *scheduler, uint64_t now)
{
	const struct crew *crew = &scheduler->crew;

	if (scheduler->last && crew->ready[scheduler->last->place] <= now)
		return scheduler->last;
	for (size_t i = crew->n; i-- > 0;)
		if (crew->ready[i] <= now)
			return crew->runners[i];
	return NULL;
}

/* Issues up to an access that is not due yet, or for which the queue has no room. */
static int run_scheduler(struct scheduler *scheduler, struct keep *keep, uint64_t now, struct gt_error *error)
{
	while (scheduler->until <= now) {
		if (!scheduler->current) {
			struct runner *chosen = choose(scheduler, now);
			if (!chosen)
				return 0;
			scheduler->current = scheduler->last = chosen;
			scheduler->until = now + chosen->instructions;
			/* Both are far apart, and are read when the access is due. */
			__builtin_prefetch(&chosen->source->end);
			__builtin_prefetch(chosen->source->row);
			continue;
		}
		if (scheduler->queued == QUEUE)
			return 0;
		struct runner *runner = scheduler->current;
		struct kept *end = gt_source_access(runner->source);
		if (wait_for_l1(&scheduler->queue[(scheduler->first + scheduler->queued) % QUEUE], runner, end, error) != 0)
			return -1;
		scheduler->queued++;
		scheduler->current = NULL;
		scheduler->until = now + 1;
		if (gt_runner_issued(runner, end, keep, now + 1, error) != 0)
			return -1;
	}
	return 0;
}

/* When the scheduler can do something next, if L1 takes nothing from it. */
static uint64_t next_of(const struct scheduler *scheduler)
{
	const struct crew *crew = &scheduler->crew;
	uint64_t next = GT_NEVER;

	if (scheduler->current)
		return scheduler->queued < QUEUE ? scheduler->until : GT_NEVER;
	for (size_t i = 0; i < crew->n; i++)
		next = crew->ready[i] < next ? crew->ready[i] : next;
	return next > scheduler->until ? next : scheduler->until;
}

static int issue(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;
	uint64_t now = schedule->step, wake = GT_NEVER;

	if (sm->wake > now)
		return 0;
	for (uint32_t i = 0; i < clocked->n; i++)
		if (run_scheduler(&clocked->schedulers[i], &schedule->keep, now, error) != 0)
			return -1;
	if (clocked->free <= now && serve(schedule, sm, error) != 0)
		return -1;
	for (uint32_t i = 0; i < clocked->n; i++) {
		const struct scheduler *scheduler = &clocked->schedulers[i];
		uint64_t next = next_of(scheduler);
		next = scheduler->queued > 0 && clocked->free < next ? clocked->free : next;
		wake = next < wake ? next : wake;
	}
	sm->wake = wake > now ? wake : now + 1;
	return 0;
}

const struct gt_issue gt_issue_latency = {"latency", BY_WARP, admit, issue, true, close_sm};
