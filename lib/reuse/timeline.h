/* SPDX-License-Identifier: MIT */
/* Time slots, some of them live, and the number of live ones after a slot. A bitmap, a byte for each of its words, and counts
 * above these in a tree of fan-out 16: O(log capacity) to query and to change, a sixth of a byte a slot. */
#ifndef GT_REUSE_TIMELINE_H
#define GT_REUSE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/public.h"

GT_PUBLIC_BEGIN

#define GT_TIMELINE_WORDS 64 /* whose bytes are below one node */
#define GT_TIMELINE_FAN 16   /* children of a higher node. Either fills one 64-byte line */
#define GT_TIMELINE_LEVELS 8 /* enough for 2^32 slots */
#define GT_TIMELINE_MAX (UINT32_MAX - 1)

struct gt_timeline {
	uint64_t *words; /* bit i % 64 of words[i / 64]: slot i is live */
	uint8_t *live;	 /* slots of each word */
	uint32_t *counts[GT_TIMELINE_LEVELS]; /* live slots below each node; level 0 has one node for GT_TIMELINE_WORDS words */
	unsigned levels;
	uint32_t capacity;
	size_t bytes; /* of memory held */
};

/* Element GT_TIMELINE_FAN + i - at is all ones if i > at, else 0. */
extern const uint32_t gt_timeline_after_mask[2 * GT_TIMELINE_FAN];
/* The same for GT_TIMELINE_WORDS bytes. */
extern const uint8_t gt_timeline_after_bytes[2 * GT_TIMELINE_WORDS];

/* Makes room for `capacity` (1 to GT_TIMELINE_MAX) slots, of which the first `live` are live; earlier contents are
 * lost. Start from a zeroed struct. Returns 0, or -1 when memory is short. */
int gt_timeline_open(struct gt_timeline *slots, uint32_t capacity, uint32_t live, struct gt_error *error);
void gt_timeline_close(struct gt_timeline *slots);

/* Makes exactly the first `live` slots live. */
void gt_timeline_fill(struct gt_timeline *slots, uint32_t live);

/* The live slots before each word, for gt_timeline_rank as long as no slot changes; for the caller to free. NULL when memory is
 * short. */
uint32_t *gt_timeline_ranks(const struct gt_timeline *slots, struct gt_error *error);

static inline unsigned gt_popcount64(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555U;
	word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
	return (unsigned)((word * 0x0101010101010101U) >> 56);
}

/* The sum of a group's bytes after position `at`. Each is 64 at most, so that sums of 16 bits do not overflow. */
static inline uint32_t gt_timeline_sum_bytes_after(const uint8_t *group, uint32_t at)
{
	const uint8_t *masks = gt_timeline_after_bytes + GT_TIMELINE_WORDS - at;
	const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < GT_TIMELINE_WORDS; i += 8) {
		uint64_t bytes, mask;
		memcpy(&bytes, group + i, sizeof bytes);
		memcpy(&mask, masks + i, sizeof mask);
		bytes &= mask;
		sum += (bytes & even) + (bytes >> 8 & even);
	}
	return (uint32_t)(sum * UINT64_C(0x0001000100010001) >> 48);
}

/* The live slots before a slot. */
static inline uint32_t gt_timeline_rank(const struct gt_timeline *slots, const uint32_t *ranks, uint32_t slot)
{
	uint64_t before = slots->words[slot / 64] & ((UINT64_C(1) << slot % 64) - 1);

	return ranks[slot / 64] + gt_popcount64(before);
}

/* A dead slot becomes live, a live one dead. */
static inline void gt_timeline_set(struct gt_timeline *slots, uint32_t slot)
{
	uint32_t word = slot / 64, node = word / GT_TIMELINE_WORDS;

	slots->words[word] |= UINT64_C(1) << slot % 64;
	slots->live[word]++;
	for (unsigned level = 0; level < slots->levels; level++, node /= GT_TIMELINE_FAN)
		slots->counts[level][node]++;
}

static inline void gt_timeline_unset(struct gt_timeline *slots, uint32_t slot)
{
	uint32_t word = slot / 64, node = word / GT_TIMELINE_WORDS;

	slots->words[word] &= ~(UINT64_C(1) << slot % 64);
	slots->live[word]--;
	for (unsigned level = 0; level < slots->levels; level++, node /= GT_TIMELINE_FAN)
		slots->counts[level][node]--;
}

/* The sum of a group's counts after position `at`, without branches and with two counts in a word. There are fewer
 * than 2^32 slots, so no sum overflows into its neighbour. */
static inline uint32_t gt_timeline_sum_after(const uint32_t *group, uint32_t at)
{
	const uint32_t *masks = gt_timeline_after_mask + GT_TIMELINE_FAN - at;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < GT_TIMELINE_FAN; i += 2) {
		uint64_t pair, mask;
		memcpy(&pair, group + i, sizeof pair);
		memcpy(&mask, masks + i, sizeof mask);
		sum += pair & mask;
	}
	return (uint32_t)(sum >> 32) + (uint32_t)sum;
}

/* Prefetch for a slot that will soon be queried and changed. */
static inline void gt_timeline_prefetch(const struct gt_timeline *slots, uint32_t slot)
{
	__builtin_prefetch(&slots->words[slot / 64], 1);
	__builtin_prefetch(&slots->live[slot / 64], 1);
}

/* Live slots after `slot`, given that none after `last` is live. Near the last slot, where most reuses are, only the
 * lowest levels are read. */
static inline uint32_t gt_timeline_after(const struct gt_timeline *slots, uint32_t slot, uint32_t last)
{
	uint32_t word = slot / 64, node = word / GT_TIMELINE_WORDS, end = last / 64 / GT_TIMELINE_WORDS;
	uint32_t sum = gt_popcount64(slots->words[word] >> slot % 64 >> 1);

	if (word != last / 64)
		sum += gt_timeline_sum_bytes_after(slots->live + (size_t)node * GT_TIMELINE_WORDS, word % GT_TIMELINE_WORDS);
	for (unsigned level = 0; node != end; level++) {
		const uint32_t *group = slots->counts[level] + node / GT_TIMELINE_FAN * GT_TIMELINE_FAN;
		sum += gt_timeline_sum_after(group, node % GT_TIMELINE_FAN);
		node /= GT_TIMELINE_FAN;
		end /= GT_TIMELINE_FAN;
	}
	return sum;
}

GT_PUBLIC_END

#endif
