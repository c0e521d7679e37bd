/* SPDX-License-Identifier: MIT */
/* When an SM takes its next blocks. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "schedule/machine.h"

/* a * b, or UINT64_MAX if it overflows. */
static uint64_t times(uint64_t a, uint64_t b)
{
	return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Whether all rows of the SM's blocks before the `end`th have come. */
static bool is_complete(struct gt_schedule *schedule, const struct sm *sm, uint64_t end)
{
	const struct block *last = sm->waiting.last;

	return gt_mapping_count(&schedule->mapping, sm->number, schedule->known) >= end &&
	       !(last->open && last->index < end);
}

/* [000] algorithm 2: as many blocks as fit, then none until all of them have finished. The wave of a block
 * follows from its index among the SM's blocks, including those without accesses. */
static enum filled fill_wave(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	uint64_t capacity = gt_machine_capacity(schedule);
	struct block *first = sm->waiting.first;

	if (sm->live > 0)
		return FILL_DONE;
	if (!first)
		return schedule->finished ? FILL_DONE : FILL_WAIT;
	uint64_t begin = first->index / capacity * capacity;
	uint64_t end = begin > UINT64_MAX - capacity ? UINT64_MAX : begin + capacity;
	if (!schedule->finished && !is_complete(schedule, sm, end))
		return FILL_WAIT;
	sm->n_resident = 0;
	while (sm->waiting.first && sm->waiting.first->index < end)
		if (gt_machine_admit(schedule, sm, &sm->waiting, sm->n_resident, sm->waiting.first->index - begin,
				  error) != 0)
			return FILL_FAILED;
	return FILL_DONE;
}

/* Whether the first block of a queue can run: its last row has come. */
static bool is_ready(const struct block_queue *queue)
{
	return queue->first && !queue->first->open;
}

/* [002] 4.1: the first blocks are assigned to the SMs round-robin until all are full. */
static enum filled deal(struct gt_schedule *schedule, struct gt_error *error)
{
	uint64_t all = times(schedule->config->sms, gt_machine_capacity(schedule));
	uint64_t closed = schedule->n_floaters - (schedule->open && !schedule->open->skipped);

	if (closed < all && !schedule->finished)
		return FILL_WAIT;
	for (uint64_t i = 0; i < all && is_ready(&schedule->floaters); i++) {
		struct sm *sm = &schedule->sms[i % schedule->config->sms];
		if (gt_machine_admit(schedule, sm, &schedule->floaters, sm->n_resident, sm->n_resident, error) != 0)
			return FILL_FAILED;
	}
	schedule->first_assigned = true;
	return FILL_DONE;
}

/* [002] 4.1: when a block finishes, the next one takes its place at once. */
static enum filled fill_first_done(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct block_queue *queue = schedule->floating ? &schedule->floaters : &sm->waiting;

	if (schedule->floating && !schedule->first_assigned) {
		enum filled filled = deal(schedule, error);
		if (filled != FILL_DONE)
			return filled;
	}
	if (!queue->first && schedule->finished)
		return FILL_DONE;
	for (size_t slot = 0; sm->live < gt_machine_capacity(schedule); slot++) {
		while (slot < sm->n_resident && (sm->resident[slot] || sm->free_at[slot] > schedule->step))
			slot++;
		if (slot >= gt_machine_capacity(schedule))
			return sm->live == 0 && (queue->first || !schedule->finished) ? FILL_IDLE : FILL_DONE;
		if (!is_ready(queue))
			return schedule->finished ? FILL_DONE : FILL_WAIT;
		if (gt_machine_admit(schedule, sm, queue, slot, slot, error) != 0)
			return FILL_FAILED;
	}
	return FILL_DONE;
}

static int by_key(const void *a, const void *b)
{
	const struct turn *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* SMs that have room at a step are ordered by a hash of the seed, the step and the SM. So the order is the same
 * when the step is continued after more rows have arrived. */
enum filled gt_dispatch_shuffled(struct gt_schedule *schedule, struct gt_error *error)
{
	size_t n = 0;

	if (schedule->floating && schedule->first_assigned && schedule->finished && !schedule->floaters.first)
		return FILL_DONE; /* no block is left */
	for (size_t i = 0; i < schedule->n_active; i++) {
		uint32_t number = schedule->active[i];
		uint64_t place[] = {schedule->step, number};
		if (schedule->sms[number].live < gt_machine_capacity(schedule))
			schedule->turns[n++] = (struct turn){XXH3_64bits_withSeed(place, sizeof place, schedule->config->seed), number};
	}
	if (n > 1)
		qsort(schedule->turns, n, sizeof *schedule->turns, by_key);
	for (size_t i = 0; i < n; i++) {
		enum filled filled = schedule->config->dispatch->fill(schedule, &schedule->sms[schedule->turns[i].sm], error);
		if (filled == FILL_WAIT || filled == FILL_FAILED)
			return filled;
	}
	return FILL_DONE;
}

static const struct gt_dispatch policies[] = {
	{"wave", false, false, fill_wave},
	{"first-done", true, false, fill_first_done},
	{"any-done", true, true, fill_first_done},
};

bool gt_dispatch_refills(const struct gt_dispatch *dispatch)
{
	return dispatch->refills;
}

const struct gt_dispatch *gt_dispatch_find(const char *name, struct gt_error *error)
{
	for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
		if (strcmp(policies[i].name, name) == 0)
			return &policies[i];
	gt_fail(error, "'%.100s': expected wave, first-done or any-done", name);
	return NULL;
}
