/* SPDX-License-Identifier: MIT */
#include "reuse/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

#define LESS_5 -1U, -1U, -1U, -1U, -1U
const uint32_t gt_timeline_less[2 * GT_TIMELINE_FAN] = {[GT_TIMELINE_FAN + 1] = LESS_5, LESS_5, LESS_5};

#define WORD_LESS UINT16_MAX /* -1 */
#define WORD_LESS_6 WORD_LESS, WORD_LESS, WORD_LESS, WORD_LESS, WORD_LESS, WORD_LESS
const uint16_t gt_timeline_less_of_words[2 * GT_TIMELINE_WORDS] = {
	[GT_TIMELINE_WORDS + 1] = WORD_LESS_6, WORD_LESS_6, WORD_LESS_6, WORD_LESS_6, WORD_LESS_6, WORD_LESS};

/* Whole groups, so that the sums of a node are changed without a test for the end of the level. */
static size_t round_up(size_t n, size_t group)
{
	return (n + group - 1) / group * group;
}

static size_t words_of(uint32_t capacity)
{
	return round_up((size_t)capacity / 64 + 1, GT_TIMELINE_WORDS);
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
	size_t words = words_of(capacity), lowest = words / GT_TIMELINE_WORDS, sums = 0;

	gt_timeline_close(slots);
	for (size_t nodes = lowest; nodes > 1; nodes = nodes_above(nodes))
		sums += round_up(nodes, GT_TIMELINE_FAN);
	size_t bytes = words * (sizeof *slots->words + sizeof *slots->before) + sums * sizeof **slots->sums;
	slots->words = aligned_alloc(64, bytes);
	if (!slots->words)
		return gt_fail_memory(error, "time slots");

	gt_pages_large(slots->words, bytes);
	slots->bytes = bytes;
	slots->capacity = capacity;
	slots->before = (uint16_t *)(void *)(slots->words + words);
	uint32_t *next = (uint32_t *)(void *)(slots->before + words);
	for (size_t nodes = lowest; nodes > 1; nodes = nodes_above(nodes)) {
		slots->sums[slots->levels++] = next;
		next += round_up(nodes, GT_TIMELINE_FAN);
	}
	gt_timeline_fill(slots, live);
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void gt_timeline_fill(struct gt_timeline *slots, uint32_t live)
{
	size_t words = words_of(slots->capacity), full = live / 64;

	memset(slots->words, 0xff, full * sizeof *slots->words);
	memset(slots->words + full, 0, (words - full) * sizeof *slots->words);
	slots->words[full] = (UINT64_C(1) << live % 64) - 1;

	for (size_t i = 0; i < words; i++)
		slots->before[i] = (uint16_t)(least(live, i * 64) - least(live, i / GT_TIMELINE_WORDS * GT_TIMELINE_WORDS * 64));
	size_t nodes = words / GT_TIMELINE_WORDS;
	uint64_t span = 64 * GT_TIMELINE_WORDS;
	for (unsigned level = 0; level < slots->levels; level++) {
		for (size_t i = 0; i < round_up(nodes, GT_TIMELINE_FAN); i++)
			slots->sums[level][i] = (uint32_t)(least(live, i * span) - least(live, i / GT_TIMELINE_FAN * GT_TIMELINE_FAN * span));
		nodes = nodes_above(nodes);
		span *= GT_TIMELINE_FAN;
	}
}

void gt_timeline_enter(struct gt_timeline *slots, uint32_t word)
{
	if (word == 0)
		return;
	/* What precedes it from the word before on, and, where a node begins, from the node before on. */
	uint32_t sum = gt_popcount64(slots->words[word - 1]), node = word / GT_TIMELINE_WORDS;
	if (word % GT_TIMELINE_WORDS != 0) {
		slots->before[word] = (uint16_t)(slots->before[word - 1] + sum);
		return;
	}
	sum += slots->before[word - 1];
	slots->before[word] = 0;
	for (unsigned level = 0; level < slots->levels; level++, node /= GT_TIMELINE_FAN) {
		uint32_t *sums = slots->sums[level];
		sum += sums[node - 1];
		sums[node] = node % GT_TIMELINE_FAN ? sum : 0;
		if (node % GT_TIMELINE_FAN != 0)
			return;
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
		before += gt_popcount64(slots->words[i]);
	}
	return ranks;
}
