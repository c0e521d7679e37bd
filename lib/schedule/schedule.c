/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scan.h"
#include "counter/schedule.h"
#include "schedule/machine.h"
#include "schedule/schedule.h"
#include "stream/counted.h"
#include "stream/rows.h"

/* The steps of the schedule, and what happens in each. Private to lib/schedule. */

/* The first step at which an active SM can take a block, when none has one. */
static uint64_t next_free(const struct gt_schedule *schedule)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < schedule->n_next; i++) {
		const struct sm *sm = &schedule->sms[schedule->active[i]];
		if (schedule->config->issue->timed && sm->live > 0 && sm->wake < next)
			next = sm->wake;
		for (size_t slot = 0; slot < sm->n_resident; slot++)
			if (!sm->resident[slot] && sm->free_at[slot] > schedule->step && sm->free_at[slot] < next)
				next = sm->free_at[slot];
	}
	return next;
}

/* Runs step by step, in each step the SMs in order, as far as the rows that have arrived allow. */
static int schedule_run(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct gt_schedule_config *config = schedule->config;
	const uint64_t capacity = gt_machine_capacity(schedule);

	while (schedule->n_active > 0) {
		enum filled first = config->dispatch->shuffles && schedule->cursor == 0 ? gt_dispatch_shuffled(schedule, error) : FILL_DONE;
		if (first == FILL_WAIT || first == FILL_FAILED)
			return first == FILL_WAIT ? 0 : -1;
		for (; schedule->cursor < schedule->n_active; schedule->cursor++) {
			uint32_t number = schedule->active[schedule->cursor];
			struct sm *sm = &schedule->sms[number];
			gt_machine_prefetch(schedule);
			enum filled filled = sm->live < capacity ? config->dispatch->fill(schedule, sm, error) : FILL_DONE;
			if (filled == FILL_WAIT || filled == FILL_FAILED)
				return filled == FILL_WAIT ? 0 : -1;
			if (sm->live == 0 && filled == FILL_DONE)
				continue; /* finished */
			if (sm->live > 0 && config->issue->issue(schedule, sm, error) != 0)
				return -1;
			schedule->active[schedule->n_next++] = number;
		}
		if (schedule->n_next > 0)
			schedule->step = schedule->issued ? schedule->step + 1 : next_free(schedule);
		schedule->issued = false;
		schedule->n_active = schedule->n_next;
		schedule->n_next = schedule->cursor = 0;
	}
	return 0;
}

/* Rows arrive, by block or in any order, and blocks are placed on SMs. Private to lib/schedule. */

static void join(struct block_queue *queue, struct block *block)
{
	if (queue->last)
		queue->last->next = block;
	else
		queue->first = block;
	queue->last = block;
}

/* Finds the block's SM and puts it into that SM's queue. Blocks are placed in rising order. */
static void place(struct gt_schedule *schedule, struct block *block)
{
	schedule->known = (uint64_t)block->number + 1;
	if (schedule->floating) {
		block->skipped = block->number >= gt_modelled_of_all(schedule);
		if (!block->skipped)
			join(&schedule->floaters, block);
		schedule->n_floaters += !block->skipped;
		return;
	}
	if (schedule->mapping.kind->traced) {
		block->index = schedule->mapping.counts[block->sm]++;
	} else {
		block->sm = gt_mapping_sm(&schedule->mapping, block->number);
		block->index = gt_mapping_count(&schedule->mapping, block->sm, block->number);
	}
	block->skipped = !gt_is_modelled(schedule, block->sm) || block->index >= gt_modelled_of_sm(schedule);
	if (!block->skipped)
		join(&schedule->sms[block->sm].waiting, block);
}

/* ---- rows that arrive by block ---- */

static int close_block(struct gt_schedule *schedule, struct gt_error *error)
{
	struct block *block = schedule->open;

	if (!block)
		return 0;
	schedule->open = NULL;
	if (!block->skipped)
		return gt_block_close(block, &schedule->keep, error);
	gt_block_free(block, &schedule->keep);
	return 0;
}

static int next_block(struct gt_schedule *schedule, uint32_t number, struct gt_error *error)
{
	if (schedule->open && number < schedule->open->number)
		return gt_fail(error, "kernel %" PRIu64 ": a row of block %" PRIu32 " after block %" PRIu32
				      ": expected rows ordered by block: run gtrace-order first",
			       schedule->kernel->id, number, schedule->open->number);
	if (close_block(schedule, error) != 0)
		return -1;
	schedule->open = gt_block_new(number, &schedule->keep, error);
	if (!schedule->open)
		return -1;
	place(schedule, schedule->open);
	return schedule_run(schedule, error);
}

static int put_by_block(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last,
			struct gt_error *error)
{
	if ((!schedule->open || schedule->open->number != rows->block[first]) &&
	    next_block(schedule, rows->block[first], error) != 0)
		return -1;
	if (schedule->open->skipped)
		return 0;
	return gt_block_add(schedule->open, &schedule->keep, rows, first, last, error);
}

/* ---- rows that arrive in any order ---- */

static int new_kept(struct gt_schedule *schedule, uint32_t number, struct gt_error *error)
{
	struct block **kept = gt_grown(schedule->kept, schedule->n_kept, &schedule->kept_capacity, sizeof *kept);

	if (!kept)
		return gt_fail_memory(error, "blocks");
	schedule->kept = kept;
	struct block *block = gt_block_new(number, &schedule->keep, error);
	if (!block)
		return -1;
	schedule->kept[schedule->n_kept++] = block;
	return 0;
}

static int check_traced(const struct gt_schedule *schedule, const struct block *block,
			const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	uint64_t id = schedule->kernel->id;

	if (!rows->scheduled)
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: expected rows with an SM", id);
	if (rows->sm[i] >= schedule->config->sms)
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: SM %u: expected SMs below %" PRIu32, id,
			       (unsigned)rows->sm[i], schedule->config->sms);
	if (block->sm != rows->sm[i])
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: block %" PRIu32 " is on SM %" PRIu32
				      " and on SM %u: expected one SM a block",
			       id, block->number, block->sm, (unsigned)rows->sm[i]);
	return 0;
}

static int put_kept(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last,
		    struct gt_error *error)
{
	int fresh;
	uint64_t *at = gt_map_put(&schedule->places, rows->block[first], schedule->n_kept, &fresh);

	if (!at)
		return gt_fail_memory(error, "blocks");
	if (fresh && new_kept(schedule, rows->block[first], error) != 0)
		return -1;
	struct block *block = schedule->kept[*at];
	if (fresh && rows->scheduled)
		block->sm = rows->sm[first];
	for (size_t i = first; schedule->mapping.kind->traced && i < last; i++)
		if (check_traced(schedule, block, rows, i, error) != 0)
			return -1;
	return gt_block_add(block, &schedule->keep, rows, first, last, error);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *left = *(struct block *const *)a, *right = *(struct block *const *)b;

	return (left->number > right->number) - (left->number < right->number);
}

/* After the last row: places the blocks as if they had arrived in order. */
static int place_kept(struct gt_schedule *schedule, struct gt_error *error)
{
	if (schedule->n_kept > 0)
		qsort(schedule->kept, schedule->n_kept, sizeof(*schedule->kept), compare_blocks);
	for (size_t i = 0; i < schedule->n_kept; i++) {
		struct block *block = schedule->kept[i];
		if (gt_block_close(block, &schedule->keep, error) != 0)
			return -1;
	}
	for (size_t i = 0; i < schedule->n_kept; i++) {
		struct block *block = schedule->kept[i];
		place(schedule, block);
		if (block->skipped)
			gt_block_free(block, &schedule->keep);
	}
	schedule->n_kept = 0;
	return 0;
}

/* Rows [first, last) of a batch, all of one block. Returns 0, or -1: a row out of order, on the wrong SM, or memory is short. */
static int gt_arrive(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last, struct gt_error *error)
{
	if (schedule->by_block)
		return put_by_block(schedule, rows, first, last, error);
	return put_kept(schedule, rows, first, last, error);
}

/* After the last row: no block is open, and every block is placed. */
static int arrive_end(struct gt_schedule *schedule, struct gt_error *error)
{
	if (schedule->by_block)
		return close_block(schedule, error);
	return place_kept(schedule, error);
}

/* A number, or the first one of a list of cycles; 0 if there is none. */
static uint64_t cycles_of(const struct gt_gpu *gpu, const char *key)
{
	const char *text = gt_gpu_get(gpu, key);
	uint64_t cycles;

	return text && gt_scan_upto(&text, UINT32_MAX, &cycles) ? cycles : 0;
}

/* A size, of which a word such as none, line or sector is not one. */
static uint64_t size_of(const struct gt_gpu *gpu, const char *key, uint64_t otherwise)
{
	struct gt_error ignored;
	uint64_t bytes;

	return gt_gpu_size(gpu, key, otherwise, &bytes, &ignored) == 0 ? bytes : otherwise;
}

static bool says(const struct gt_gpu *gpu, const char *key, const char *value)
{
	const char *text = gt_gpu_get(gpu, key);

	return text && strcmp(text, value) == 0;
}

static struct gt_issue_times times_of(const struct gt_gpu *gpu)
{
	bool bypassed = says(gpu, "l1.bypass", "reads") || says(gpu, "l1.bypass", "all");
	uint64_t slices = cycles_of(gpu, "dram.channels");

	return (struct gt_issue_times){
		.l1 = cycles_of(gpu, "l1.hit_cycles"), .l2 = cycles_of(gpu, "l2.hit_cycles"),
		.dram = cycles_of(gpu, "l2.miss_cycles"), .l1_bytes = bypassed ? 0 : size_of(gpu, "l1.size", 0),
		.l1_sector = says(gpu, "l1.sector", "line") ? size_of(gpu, "l1.line", GT_LINE) : size_of(gpu, "l1.sector", GT_SECTOR),
		.l2_bytes = size_of(gpu, "l2.size", 0), .l2_fetch = size_of(gpu, "l2.fetch", GT_SECTOR),
		.l1_stores = !says(gpu, "l1.allocate", "no"),
		.l2_spread = cycles_of(gpu, "l2_spread"), .slices = slices > 0 ? slices : 1};
}

int gt_schedule_configure(struct gt_schedule_config *config, const struct gt_gpu *gpu, struct gt_error *error)
{
	bool all = config->limits.all;
	uint64_t sms, schedulers;

	if (gt_limits_load(&config->limits, gpu, error) != 0 || gt_gpu_count(gpu, "sms", 0, &sms, error) != 0 ||
	    gt_gpu_count(gpu, "schedulers", 1, &schedulers, error) != 0)
		return -1;
	config->limits.all = all;
	if (sms > GT_SMS_MAX || schedulers > GT_SCHEDULERS_MAX)
		return gt_fail(error, "expected at most %d SMs and %d schedulers", GT_SMS_MAX, GT_SCHEDULERS_MAX);
	config->times = times_of(gpu);
	config->sms = (uint32_t)sms;
	config->schedulers = (uint32_t)schedulers;
	if (config->dispatch)
		return 0;
	const char *dispatch = gt_gpu_get(gpu, "dispatch");
	config->dispatch = gt_dispatch_find(dispatch ? dispatch : "wave", error);
	if (!config->dispatch) {
		struct gt_error why = *error;
		return gt_fail(error, "dispatch in the GPU description: %s", why.text);
	}
	return 0;
}

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
	if (arrive_end(schedule, error) != 0)
		return -1;
	schedule->finished = true;
	if (schedule_run(schedule, error) != 0)
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
