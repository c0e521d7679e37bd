/* SPDX-License-Identifier: MIT */
/* Which warps of an SM issue next. */
#include <stdlib.h>
#include <string.h>

#include "schedule/machine.h"

/* ---- round robin: [000] algorithm 2 ---- */

/* In each round a block issues the access whose number is the round minus the round in which the block began. A
 * block that starts when another has finished begins in the next round. */
static int admit_round_robin(struct gt_schedule *schedule, struct sm *sm, struct block *block,
			     struct gt_error *error)
{
	(void)schedule;
	(void)error;
	if (sm->live == 1) {
		sm->round = 0;
		sm->cursor = SIZE_MAX; /* the round is not determined yet */
	}
	block->start = sm->cursor == SIZE_MAX ? 0 : sm->round + 1;
	sm->due[block->position] = block->start + block->row->an;
	return 0;
}

/* Removes finished blocks from the array. */
static void compact(struct sm *sm)
{
	size_t n = 0;

	for (size_t i = 0; i < sm->n_resident; i++) {
		struct block *block = sm->resident[i];
		if (!block)
			continue;
		block->position = n;
		sm->due[n] = sm->due[i];
		sm->resident[n++] = block;
	}
	sm->n_resident = n;
}

static void next_round(const struct gt_schedule *schedule, struct sm *sm)
{
	uint64_t round = UINT64_MAX;

	if (!schedule->config->dispatch->refills && sm->live < sm->n_resident / 2)
		compact(sm);
	for (size_t i = 0; i < sm->n_resident; i++)
		round = sm->due[i] < round ? sm->due[i] : round;
	sm->round = round;
	sm->cursor = 0;
}

/* The next block that has accesses in this round, or in the next round with any. */
static struct block *next_block(const struct gt_schedule *schedule, struct sm *sm)
{
	if (sm->next)
		return sm->next;
	for (;;) {
		for (; sm->cursor < sm->n_resident; sm->cursor++)
			if (sm->due[sm->cursor] == sm->round)
				return sm->resident[sm->cursor];
		next_round(schedule, sm);
	}
}

/* Finds which block issues next: another of this round, else probably the first. */
static void look_ahead(struct sm *sm)
{
	size_t next = sm->cursor;

	while (next < sm->n_resident && sm->due[next] != sm->round)
		next++;
	sm->cursor = next;
	sm->next = next < sm->n_resident ? sm->resident[next] : NULL;
	sm->ahead = sm->next ? sm->next : sm->resident[0];
}

/* The rows of a span, from those that have been issued on, whose warps are below `beyond`. */
static size_t rows_below(const struct kept *span, size_t done, uint32_t beyond)
{
	const struct span_more *more = gt_span_more(span);
	size_t left = more->n - done, warps = beyond - span->warp - done;

	return more->warp_delta == 0 || warps > left ? left : warps;
}

/* Single rows from one on, before `end`, of an access number, whose warps are below `beyond`. */
static struct kept *singles_below(struct kept *row, const struct kept *end, uint32_t an, uint32_t beyond)
{
	while (row < end && !gt_span_is_many(row) && row->an == an && row->warp < beyond)
		row++;
	return row;
}

/* Issues what comes first of a block: rows of one access number, whose warps are below `beyond`. */
static int issue_next(struct gt_schedule *schedule, struct sm *sm, struct block *block, uint32_t beyond, struct gt_error *error)
{
	struct kept *first = block->row;

	if (!gt_span_is_many(first)) {
		block->row = singles_below(first, block->end, first->an, beyond);
		return gt_machine_emit(schedule, sm, block, first, block->row, error);
	}
	size_t done = block->done, n = rows_below(first, done, beyond);
	bool ends = done + n == gt_span_more(first)->n;
	block->row = ends ? gt_span_next(first) : first;
	block->done = ends ? 0 : (uint16_t)(done + n);
	return gt_machine_emit_span(schedule, sm, block, first, done, n, error);
}

/* Of the first row that has not been issued. */
static uint32_t next_warp(const struct block *block)
{
	const struct kept *span = block->row;

	return gt_span_is_many(span) ? span->warp + (uint32_t)block->done * gt_span_more(span)->warp_delta : span->warp;
}

/* Issues the accesses with one number of warps l*n to l*n+n-1, for n schedulers. */
static int issue_round_robin(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct block *block = next_block(schedule, sm);
	uint32_t an = block->row->an, warp = next_warp(block), n = schedule->config->schedulers;
	bool power = (n & (n - 1)) == 0; /* then no division is needed */
	uint32_t beyond = power ? (warp | (n - 1)) + 1 : warp - warp % n + n;

	do
		if (issue_next(schedule, sm, block, beyond, error) != 0)
			return -1;
	while (block->row < block->end && block->row->an == an && next_warp(block) < beyond);
	/* The block's following rows are needed in the next round. */
	__builtin_prefetch(block->row + 4);
	if (block->row == block->end && gt_block_fill(block, &schedule->keep, error) != 0)
		return -1;
	if (block->row == block->end)
		gt_machine_retire(schedule, sm, block);
	else
		sm->due[block->position] = block->start + block->row->an;
	look_ahead(sm);
	return 0;
}

/* ---- greedy, then oldest ---- */

static int push(struct warps *warps, struct run run, struct gt_error *error)
{
	if (warps->n == warps->capacity) {
		size_t capacity = warps->capacity ? 2 * warps->capacity : 16;
		struct run *runs = malloc(capacity * sizeof *runs);
		if (!runs)
			return gt_fail_memory(error, "the warps of an SM");
		for (size_t i = 0; i < warps->n; i++)
			runs[i] = warps->runs[(warps->first + i) & (warps->capacity - 1)];
		free(warps->runs);
		*warps = (struct warps){.runs = runs, .n = warps->n, .capacity = capacity};
	}
	warps->runs[(warps->first + warps->n++) & (warps->capacity - 1)] = run;
	return 0;
}

/* A scheduler stays with a warp that is ready, and memory takes no time here, so its warps run one after another,
 * oldest first. Warps are assigned to schedulers by their place in the SM. */
static int admit_greedy(struct gt_schedule *schedule, struct sm *sm, struct block *block,
			struct gt_error *error)
{
	uint64_t in_block = gt_kernel_warps(schedule->kernel);
	uint32_t schedulers = schedule->config->schedulers;

	if (!sm->warps)
		sm->warps = calloc(schedulers, sizeof *sm->warps);
	if (!sm->warps)
		return gt_fail_memory(error, "the warps of an SM");
	if (in_block == 0)
		in_block = (uint64_t)block->highest_warp + 1;
	for (size_t i = 0; i < block->n_sources; i++) {
		struct source *source = &block->sources[i];
		uint64_t place = block->slot * in_block + source->warp;
		if (push(&sm->warps[place % schedulers], (struct run){source, block}, error) != 0)
			return -1;
	}
	block->warps_left = block->n_sources;
	return 0;
}

/* Every scheduler issues one access of its warp. */
static int issue_greedy(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	for (uint32_t s = 0; s < schedule->config->schedulers; s++) {
		struct warps *warps = &sm->warps[s];
		if (warps->n == 0)
			continue;
		struct run *run = &warps->runs[warps->first & (warps->capacity - 1)];
		struct source *source = run->source;
		if (source->row == source->end && gt_source_fill(source, &schedule->keep.strands, error) != 0)
			return -1;
		struct kept *first = source->row;
		source->row = gt_source_access(source);
		if (gt_machine_emit(schedule, sm, run->block, first, source->row, error) != 0)
			return -1;
		if (source->row < source->end || source->unpacker.more)
			continue;
		struct block *block = run->block;
		gt_source_close(source, &schedule->keep.strands);
		warps->first++;
		warps->n--;
		if (--block->warps_left == 0)
			gt_machine_retire(schedule, sm, block);
	}
	return 0;
}

static const struct gt_issue round_robin = {"rr", BY_ACCESS, admit_round_robin, issue_round_robin, false, NULL};
static const struct gt_issue greedy = {"gto", BY_WARP, admit_greedy, issue_greedy, false, NULL};
static const struct gt_issue *const policies[] = {&round_robin, &greedy, &gt_issue_latency};

bool gt_issue_is_timed(const struct gt_issue *issue)
{
	return issue->timed;
}

const struct gt_issue *gt_issue_find(const char *name, struct gt_error *error)
{
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
		if (strcmp(policies[i]->name, name) == 0)
			return policies[i];
	gt_fail(error, "'%.100s': expected rr, gto or latency", name);
	return NULL;
}
