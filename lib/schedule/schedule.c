/* SPDX-License-Identifier: MIT */
#include "schedule/schedule.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "counter/schedule.h"
#include "schedule/arrive.h"
#include "schedule/machine.h"
#include "schedule/modelled.h"
#include "schedule/steps.h"
#include "stream/counted.h"

/* What an order of issue by time needs. */
static int check_times(const struct gt_schedule_config *config, struct gt_error *error)
{
	const struct gt_issue_times *times = &config->times;
	const char *missing = times->l2_bytes == 0		      ? "l2.size"
			      : times->l2 == 0			      ? "l2.hit_cycles"
			      : times->dram == 0		      ? "l2.miss_cycles"
			      : times->l1_bytes > 0 && times->l1 == 0 ? "l1.hit_cycles"
								      : NULL;

	if (!config->issue->timed || !missing)
		return 0;
	return gt_fail(error, "--issue %s: expected %s in the GPU description", config->issue->name, missing);
}

int gt_schedule_put(struct gt_schedule *schedule, const struct gt_rows *rows, struct gt_error *error)
{
	if (schedule->config->issue->timed && (rows->kind != GT_REQUESTS || !rows->has_work))
		return gt_fail(error, "kernel %" PRIu64 ": --issue %s: expected requests with the column work: run gcoalesce first, on a "
				      "trace of gtrace-record --work or gtrace-order --work", schedule->kernel->id, schedule->config->issue->name);
	for (size_t first = 0, last; first < rows->n; first = last) {
		uint32_t block = rows->block[first];
		for (last = first + 1; last < rows->n && rows->block[last] == block;)
			last++;
		if (block >= schedule->blocks)
			schedule->blocks = (uint64_t)block + 1;
		if (gt_arrive(schedule, rows, first, last, error) != 0)
			return -1;
	}
	return 0;
}

struct numbers {
	GT_SCHEDULE_COUNTERS(GT_COUNTER_FIELD)
};

static int add_counts(struct gt_schedule *schedule, struct gt_count *count, struct gt_error *error)
{
	const struct gt_occupancy *occupancy = &schedule->occupancy;
	uint64_t most, all, capacity = occupancy->blocks;

	gt_modelled_count(schedule, &most, &all);
	const char *limited_by = most <= capacity ? "grid" : occupancy->limited_by;
	const struct numbers numbers = {
		.resident_blocks = most < capacity ? most : capacity,
		.waves = most / capacity + (most % capacity > 0),
		.steps = schedule->steps,
		.sms = schedule->config->sms,
		.blocks = schedule->blocks,
		.modelled_blocks = all,
		.rows = schedule->rows,
		.shared_carveout = occupancy->carveout,
		.l1_bytes = occupancy->l1_bytes,
	};
	/* The last two are only for GPUs with an adaptive L1. */
	size_t bytes = occupancy->l1_bytes ? sizeof numbers : offsetof(struct numbers, shared_carveout);

	if (gt_count_numbers(count, &gt_counters_schedule, &numbers, bytes, error) != 0)
		return -1;
	return gt_count_text(count, "limited_by", limited_by, error);
}

int gt_schedule_finish(struct gt_schedule *schedule, struct gt_count *count, struct gt_error *error)
{
	if (gt_arrive_end(schedule, error) != 0)
		return -1;
	schedule->finished = true;
	if (gt_schedule_run(schedule, error) != 0)
		return -1;
	return add_counts(schedule, count, error);
}

/* ---- beginning and end ---- */

static int open_sms(struct gt_schedule *schedule, struct gt_error *error)
{
	uint32_t sms = schedule->config->sms;

	schedule->sms = calloc(sms, sizeof *schedule->sms);
	schedule->active = calloc(sms, sizeof *schedule->active);
	schedule->turns = calloc(sms, sizeof *schedule->turns);
	if (!schedule->sms || !schedule->active || !schedule->turns)
		return gt_fail_memory(error, "SMs");
	for (uint32_t sm = 0; sm < sms; sm++) {
		schedule->sms[sm].number = sm;
		if (schedule->floating || gt_is_modelled(schedule, sm))
			schedule->active[schedule->n_active++] = sm;
	}
	return 0;
}

static int occupy(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct gt_kernel *kernel = schedule->kernel;
	struct gt_block_needs needs = {gt_kernel_warps(kernel), kernel->registers, kernel->shared_bytes,
					kernel->prefers.carveout};
	struct gt_error reason;

	if (gt_occupancy_find(&schedule->occupancy, &schedule->config->limits, &needs, &reason) != 0)
		return gt_fail(error, "kernel %" PRIu64 ": %s", kernel->id, reason.text);
	return 0;
}

struct gt_schedule *gt_schedule_open(const struct gt_schedule_config *config,
				     const struct gt_kernel *kernel, struct gt_sink *sink,
				     struct gt_error *error)
{
	struct gt_schedule *schedule = calloc(1, sizeof *schedule);

	if (!schedule) {
		gt_fail_memory(error, "a schedule");
		return NULL;
	}
	schedule->config = config;
	schedule->kernel = kernel;
	schedule->sink = sink;
	schedule->mapping = config->mapping;
	schedule->blocks = gt_kernel_blocks(kernel);
	schedule->by_block = kernel->order == GT_ORDER_BLOCK && !config->mapping.kind->traced;
	schedule->floating = config->dispatch->refills && config->mapping.kind->dealt;
	if (gt_keep_open(&schedule->keep, config->memory, config->directory, config->issue->arrangement, error) != 0 || check_times(config, error) != 0 ||
	    occupy(schedule, error) != 0 ||
	    gt_mapping_open(&schedule->mapping, config->sms, error) != 0 || open_sms(schedule, error) != 0 ||
	    gt_map_open(&schedule->places, 0, error) != 0) {
		gt_schedule_close(schedule);
		return NULL;
	}
	return schedule;
}

static void free_queue(struct gt_schedule *schedule, struct block_queue *queue)
{
	while (queue->first) {
		struct block *block = queue->first;
		queue->first = block->next;
		if (block != schedule->open)
			gt_block_free(block, &schedule->keep);
	}
}

static void free_sm(struct gt_schedule *schedule, struct sm *sm)
{
	free_queue(schedule, &sm->waiting);
	for (size_t i = 0; i < sm->n_resident; i++)
		if (sm->resident[i])
			gt_block_free(sm->resident[i], &schedule->keep);
	if (schedule->config->issue->close)
		schedule->config->issue->close(sm);
	free(sm->resident);
	free(sm->free_at);
	free(sm->due);
	for (uint32_t s = 0; sm->warps && s < schedule->config->schedulers; s++)
		free(sm->warps[s].runs);
	free(sm->warps);
}

void gt_schedule_close(struct gt_schedule *schedule)
{
	if (!schedule)
		return;
	free_queue(schedule, &schedule->floaters);
	for (uint32_t sm = 0; schedule->sms && sm < schedule->config->sms; sm++)
		free_sm(schedule, &schedule->sms[sm]);
	for (size_t i = 0; i < schedule->n_kept; i++)
		gt_block_free(schedule->kept[i], &schedule->keep);
	if (schedule->open)
		gt_block_free(schedule->open, &schedule->keep);
	free(schedule->kept);
	free(schedule->sms);
	free(schedule->active);
	free(schedule->turns);
	gt_memory_close(&schedule->memory);
	gt_map_close(&schedule->places);
	gt_mapping_close(&schedule->mapping);
	gt_keep_close(&schedule->keep);
	free(schedule);
}

const struct gt_occupancy *gt_schedule_occupancy(const struct gt_schedule *schedule)
{
	return &schedule->occupancy;
}
