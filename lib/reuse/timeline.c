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

#define BYTES_8 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define BYTES_56 BYTES_8, BYTES_8, BYTES_8, BYTES_8, BYTES_8, BYTES_8, BYTES_8
const uint8_t gt_timeline_after_bytes[2 * GT_TIMELINE_WORDS] = {
	[GT_TIMELINE_WORDS + 1] = BYTES_56, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* Whole groups, so that a group can be summed without a test for the end of the level. */
static size_t round_up(size_t n, size_t group)
{
	return (n + group - 1) / group * group;
}

static size_t words_of(uint32_t capacity)
{
	return round_up((size_t)capacity / 64 + 1, GT_TIMELINE_FAN);
}

/* The nodes of the lowest level, and of the one above a level of n nodes. */
static size_t lowest_nodes(uint32_t capacity)
{
	return round_up(words_of(capacity), GT_TIMELINE_WORDS) / GT_TIMELINE_WORDS;
}

static size_t nodes_above(size_t n)
{
	return (n + GT_TIMELINE_FAN - 1) / GT_TIMELINE_FAN;
}

void gt_timeline_close(struct gt_timeline *slots)
{
	free(slots->words);
	*slots = (struct gt_timeline){0};
}

int gt_timeline_open(struct gt_timeline *slots, uint32_t capacity, uint32_t live, struct gt_error *error)
{
	size_t words = words_of(capacity), live_bytes = round_up(words, GT_TIMELINE_WORDS), counts = 0;

	gt_timeline_close(slots);
	for (size_t nodes = lowest_nodes(capacity); nodes > 1; nodes = nodes_above(nodes))
		counts += round_up(nodes, GT_TIMELINE_FAN);
	size_t bytes = words * sizeof *slots->words + live_bytes + counts * sizeof **slots->counts;
	slots->words = aligned_alloc(64, bytes);
	if (!slots->words)
		return gt_fail_memory(error, "time slots");

	gt_pages_large(slots->words, bytes);
	slots->bytes = bytes;
	slots->capacity = capacity;
	slots->live = (uint8_t *)(slots->words + words);
	uint32_t *next = (uint32_t *)(void *)(slots->live + live_bytes);
	for (size_t nodes = lowest_nodes(capacity); nodes > 1; nodes = nodes_above(nodes)) {
		slots->counts[slots->levels++] = next;
		next += round_up(nodes, GT_TIMELINE_FAN);
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

	memset(slots->live, 64, full);
	memset(slots->live + full, 0, round_up(words, GT_TIMELINE_WORDS) - full);
	slots->live[full] = (uint8_t)(live % 64);

	size_t nodes = lowest_nodes(slots->capacity);
	uint64_t span = 64 * GT_TIMELINE_WORDS;
	for (unsigned level = 0; level < slots->levels; level++) {
		fill_level(slots->counts[level], round_up(nodes, GT_TIMELINE_FAN), span, live);
		nodes = nodes_above(nodes);
		span *= GT_TIMELINE_FAN;
	}
}

uint32_t *gt_timeline_ranks(const struct gt_timeline *slots, struct gt_error *error)
{
	size_t words = words_of(slots->capacity);
	uint32_t *ranks = malloc(words * sizeof *ranks), before = 0;

	if (!ranks)
		gt_fail_memory(error, "time slots");
	for (size_t i = 0; ranks && i < words; i++) {
		ranks[i] = before;
		before += slots->live[i];
	}
	return ranks;
}
