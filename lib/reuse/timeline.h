/* SPDX-License-Identifier: MIT */
/* Time slots, some of them live, and the number of live ones after a slot. A bitmap with counts above it in a tree of
 * fan-out 16: O(log capacity) to query and to change, a quarter of a byte a slot. */
#ifndef GT_REUSE_TIMELINE_H
#define GT_REUSE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/public.h"

GT_PUBLIC_BEGIN

#define GT_TIMELINE_FAN 16   /* children of a node: their counts fill one 64-byte line */
#define GT_TIMELINE_LEVELS 8 /* enough for 2^32 slots */
#define GT_TIMELINE_MAX (UINT32_MAX - 1)

struct gt_timeline {
	uint64_t *words; /* bit i % 64 of words[i / 64]: slot i is live */
	uint32_t *counts[GT_TIMELINE_LEVELS]; /* live slots below each node; level 0 has one node a word */
	unsigned levels;
	uint32_t capacity;
	size_t bytes; /* of memory held */
};

/* Element GT_TIMELINE_FAN + i - at is all ones if i > at, else 0. */
extern const uint32_t gt_timeline_after_mask[2 * GT_TIMELINE_FAN];

/* Makes room for `capacity` (1 to GT_TIMELINE_MAX) slots, of which the first `live` are live; earlier contents are
 * lost. Start from a zeroed struct. Returns 0, or -1 when memory is short. */
int gt_timeline_open(struct gt_timeline *slots, uint32_t capacity, uint32_t live, struct gt_error *error);
void gt_timeline_close(struct gt_timeline *slots);

/* Makes exactly the first `live` slots live. */
void gt_timeline_fill(struct gt_timeline *slots, uint32_t live);

/* Ranks: gt_timeline_rank(slot) is the number of live slots before it. Between begin_ranks and the
 * next fill or open nothing else may be called. */
void gt_timeline_begin_ranks(struct gt_timeline *slots);

static inline unsigned gt_popcount64(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555U;
	word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
	return (unsigned)((word * 0x0101010101010101U) >> 56);
}

static inline uint32_t gt_timeline_rank(const struct gt_timeline *slots, uint32_t slot)
{
	uint64_t before = slots->words[slot / 64] & ((UINT64_C(1) << slot % 64) - 1);

	return slots->counts[0][slot / 64] + gt_popcount64(before);
}

/* A dead slot becomes live, a live one dead. */
static inline void gt_timeline_set(struct gt_timeline *slots, uint32_t slot)
{
	uint32_t node = slot / 64;

	slots->words[node] |= UINT64_C(1) << slot % 64;
	for (unsigned level = 0; level < slots->levels; level++, node /= GT_TIMELINE_FAN)
		slots->counts[level][node]++;
}

static inline void gt_timeline_unset(struct gt_timeline *slots, uint32_t slot)
{
	uint32_t node = slot / 64;

	slots->words[node] &= ~(UINT64_C(1) << slot % 64);
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
	if (slots->levels > 0)
		__builtin_prefetch(&slots->counts[0][slot / 64], 1);
}

/* Live slots after `slot`, given that none after `last` is live. Near the last slot, where most reuses are, only the
 * lowest levels are read. */
static inline uint32_t gt_timeline_after(const struct gt_timeline *slots, uint32_t slot, uint32_t last)
{
	uint32_t node = slot / 64, end = last / 64;
	uint32_t sum = gt_popcount64(slots->words[node] >> slot % 64 >> 1);

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
