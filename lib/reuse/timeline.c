/* SPDX-License-Identifier: MIT */
#include "reuse/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

#define ONES UINT32_MAX
const uint32_t gt_timeline_after_mask[2 * GT_TIMELINE_FAN] = {
	[GT_TIMELINE_FAN + 1] = ONES, ONES, ONES, ONES, ONES, ONES, ONES, ONES,
	ONES, ONES, ONES, ONES, ONES, ONES, ONES,
};

/* Whole groups, so that a group can be summed without a test for the end of the level. */
static size_t round_up(size_t nodes)
{
	return (nodes + GT_TIMELINE_FAN - 1) / GT_TIMELINE_FAN * GT_TIMELINE_FAN;
}

static size_t words_of(uint32_t capacity)
{
	return round_up((size_t)capacity / 64 + 1);
}

void gt_timeline_close(struct gt_timeline *slots)
{
	free(slots->words);
	*slots = (struct gt_timeline){0};
}

int gt_timeline_open(struct gt_timeline *slots, uint32_t capacity, uint32_t live, struct gt_error *error)
{
	size_t words = words_of(capacity), counts = 0;

	gt_timeline_close(slots);
	for (size_t nodes = words; nodes > 1; nodes = (nodes + GT_TIMELINE_FAN - 1) / GT_TIMELINE_FAN)
		counts += round_up(nodes);
	size_t bytes = words * sizeof *slots->words + counts * sizeof **slots->counts;
	slots->words = aligned_alloc(64, bytes);
	if (!slots->words)
		return gt_fail_memory(error, "time slots");

	gt_pages_large(slots->words, bytes);
	slots->bytes = bytes;
	slots->capacity = capacity;
	uint32_t *next = (uint32_t *)(void *)(slots->words + words);
	for (size_t nodes = words; nodes > 1; nodes = (nodes + GT_TIMELINE_FAN - 1) / GT_TIMELINE_FAN) {
		slots->counts[slots->levels++] = next;
		next += round_up(nodes);
	}
	gt_timeline_fill(slots, live);
	return 0;
}

/* One level's counts when the first `live` slots are live and a node covers `span` slots. */
static void fill_level(uint32_t *counts, size_t nodes, uint64_t span, uint64_t live)
{
	size_t full = (size_t)(live / span);

	for (size_t i = 0; i < full; i++)
		counts[i] = (uint32_t)span;
	memset(counts + full, 0, (nodes - full) * sizeof *counts);
	if (full < nodes)
		counts[full] = (uint32_t)(live % span);
}

void gt_timeline_fill(struct gt_timeline *slots, uint32_t live)
{
	size_t words = words_of(slots->capacity), full = live / 64;

	memset(slots->words, 0xff, full * sizeof *slots->words);
	memset(slots->words + full, 0, (words - full) * sizeof *slots->words);
	slots->words[full] = (UINT64_C(1) << live % 64) - 1;

	size_t nodes = words;
	uint64_t span = 64;
	for (unsigned level = 0; level < slots->levels; level++) {
		fill_level(slots->counts[level], round_up(nodes), span, live);
		nodes = (nodes + GT_TIMELINE_FAN - 1) / GT_TIMELINE_FAN;
		span *= GT_TIMELINE_FAN;
	}
}

void gt_timeline_begin_ranks(struct gt_timeline *slots)
{
	uint32_t before = 0;

	for (size_t i = 0; i < words_of(slots->capacity); i++) {
		uint32_t here = slots->counts[0][i];
		slots->counts[0][i] = before;
		before += here;
	}
}
