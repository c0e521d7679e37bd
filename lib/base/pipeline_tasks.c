/* SPDX-License-Identifier: MIT */
#include "base/pipeline_tasks.h"

#include <stdlib.h>

static struct gt_pipeline_item *slot_of(const struct gt_pipeline_tasks *tasks, uint64_t number)
{
	return &tasks->slots[number % tasks->slots_n];
}

int gt_pipeline_tasks_open(struct gt_pipeline_tasks *tasks, const struct gt_step *steps, size_t steps_n,
			   struct gt_pipeline_items items, struct gt_error *error)
{
	*tasks = (struct gt_pipeline_tasks){.steps_n = steps_n, .slots_n = items.n};
	tasks->slots = calloc(items.n, sizeof *tasks->slots);
	tasks->idle = calloc(items.n, sizeof *tasks->idle);
	if (!tasks->slots || !tasks->idle)
		return gt_fail_memory(error, "threads");
	for (size_t s = 0; s < steps_n; s++) {
		tasks->steps[s] = steps[s];
		tasks->lanes[s] = calloc(steps[s].lanes + 1, sizeof *tasks->lanes[s]);
		if (!tasks->lanes[s])
			return gt_fail_memory(error, "threads");
	}
	for (size_t i = 0; i < items.n; i++)
		tasks->idle[tasks->idle_n++] = (char *)items.first + i * items.bytes;
	return 0;
}

void gt_pipeline_tasks_close(struct gt_pipeline_tasks *tasks)
{
	for (size_t s = 0; s < tasks->steps_n; s++)
		free(tasks->lanes[s]);
	free(tasks->slots);
	free(tasks->idle);
	*tasks = (struct gt_pipeline_tasks){.steps_n = 0};
}

/* ---- finding ---- */

static bool find_in_lanes(const struct gt_pipeline_tasks *tasks, struct gt_pipeline_task *task)
{
	for (unsigned lane = 0; lane < tasks->steps[task->step].lanes; lane++) {
		const struct gt_pipeline_lane *of = &tasks->lanes[task->step][lane];
		if (of->running || of->next == tasks->end || slot_of(tasks, of->next)->step != task->step)
			continue;
		task->slot = slot_of(tasks, of->next);
		task->lane = lane;
		return true;
	}
	return false;
}

static bool find_in_any_order(const struct gt_pipeline_tasks *tasks, struct gt_pipeline_task *task)
{
	if (tasks->ready[task->step] == 0)
		return false;
	for (uint64_t i = tasks->begin; i < tasks->end; i++) {
		struct gt_pipeline_item *slot = slot_of(tasks, i);
		if (slot->step != task->step || slot->running)
			continue;
		task->slot = slot;
		task->lane = 0;
		return true;
	}
	return false;
}

/* Late steps first, so that items leave before others enter. */
bool gt_pipeline_tasks_find(const struct gt_pipeline_tasks *tasks, struct gt_pipeline_task *task)
{
	if (tasks->failed)
		return false;
	for (task->step = tasks->steps_n; task->step-- > 0;)
		if (tasks->steps[task->step].lanes > 0 ? find_in_lanes(tasks, task) : find_in_any_order(tasks, task))
			return true;
	return false;
}

bool gt_pipeline_tasks_begin(struct gt_pipeline_tasks *tasks, const struct gt_pipeline_task *task)
{
	tasks->running++;
	if (tasks->steps[task->step].lanes == 0) {
		task->slot->running = true;
		tasks->ready[task->step]--;
		return !task->slot->failed;
	}
	struct gt_pipeline_lane *lane = &tasks->lanes[task->step][task->lane];
	lane->running = true;
	lane->next++;
	/* A failure in another lane of the same step says nothing of this lane, which may be ahead of it. */
	lane->ended |= task->slot->failed && task->slot->failed_lane == GT_NO_LANE;
	return !lane->ended;
}

/* ---- ending ---- */

static void arrive(struct gt_pipeline_tasks *tasks, struct gt_pipeline_item *slot, size_t step)
{
	slot->step = step;
	slot->running = false;
	slot->failed_lane = GT_NO_LANE;
	slot->left = 1;
	if (step == tasks->steps_n)
		return;
	if (tasks->steps[step].lanes > 0)
		slot->left = tasks->steps[step].lanes;
	else
		tasks->ready[step]++;
}

void gt_pipeline_tasks_put(struct gt_pipeline_tasks *tasks, void *item)
{
	struct gt_pipeline_item *slot = slot_of(tasks, tasks->end++);

	*slot = (struct gt_pipeline_item){.item = item};
	arrive(tasks, slot, 0);
}

/* Takes items off that have ended, in order. */
static void retire(struct gt_pipeline_tasks *tasks)
{
	while (tasks->begin < tasks->end && slot_of(tasks, tasks->begin)->step == tasks->steps_n) {
		struct gt_pipeline_item *slot = slot_of(tasks, tasks->begin++);
		tasks->idle[tasks->idle_n++] = slot->item;
		if (slot->failed && !tasks->failed) {
			tasks->failed = true;
			tasks->error = slot->error;
			tasks->reason = slot->reason;
		}
	}
}

/* Of the lanes of a step that fail, the lowest says why. */
static void fail(struct gt_pipeline_item *slot, unsigned lane, const struct gt_error *error, int reason)
{
	if (slot->failed && slot->failed_lane <= lane)
		return;
	slot->failed = true;
	slot->failed_lane = lane;
	slot->error = *error;
	slot->reason = reason;
}

void gt_pipeline_tasks_end(struct gt_pipeline_tasks *tasks, const struct gt_pipeline_task *task, int result,
			   const struct gt_error *error, int reason)
{
	struct gt_pipeline_item *slot = task->slot;

	tasks->running--;
	if (result != 0)
		fail(slot, task->lane, error, reason);
	if (tasks->steps[task->step].lanes > 0) {
		tasks->lanes[task->step][task->lane].running = false;
		tasks->lanes[task->step][task->lane].ended |= result != 0;
	}
	if (--slot->left > 0)
		return;
	arrive(tasks, slot, task->step + 1);
	retire(tasks);
}
