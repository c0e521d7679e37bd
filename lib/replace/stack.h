/* SPDX-License-Identifier: MIT */
/* An LRU stack with exact stack distances ([000] 3.2, [002] 3.3): the number of distinct lines touched since the
 * last touch of this one. Each touch takes the next time slot and frees the line's old one; the distance is the
 * number of live slots in between. When the slots are used up the live ones are renumbered, so memory is
 * O(distinct lines), at most 32 bytes a line for large stacks. A touch takes O(log lines). After an error a stack
 * can only be closed. */
#ifndef GT_REPLACE_STACK_H
#define GT_REPLACE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

struct gt_room; /* base/pages.h */

/* ---- the slots ---- */

/* Time slots, some of them live, and the number of live ones before a slot. A bitmap, and sums of what precedes each word of it in
 * its group and each group in a tree above: O(log capacity) to query and to change, a sixth of a byte a slot. A query adds one sum
 * a level, and a change is one operation on a vector a level. Slots become live in their order, so that sums beyond the last are
 * not kept until it comes to them. */

#define GT_TIMELINE_WORDS 32 /* below one node */
#define GT_TIMELINE_FAN 16   /* children of a higher node. The sums of either are one 64-byte line */
#define GT_TIMELINE_LEVELS 8 /* enough for 2^32 slots */
#define GT_TIMELINE_MAX (UINT32_MAX - 1)

struct gt_timeline {
	uint64_t *words;  /* bit i % 64 of words[i / 64]: slot i is live */
	uint16_t *before; /* each word: live slots of its node's earlier words */
	/* Before each node: live slots of its parent's earlier children. Level 0 has one node for GT_TIMELINE_WORDS words. */
	uint32_t *sums[GT_TIMELINE_LEVELS];
	unsigned levels;
	uint32_t capacity;
	size_t bytes; /* of memory held */
	struct gt_room *room; /* that has that memory; NULL: it is the timeline's own */
};

/* Element GT_TIMELINE_FAN + i - at is -1 if i > at, else 0. */
extern const uint32_t gt_timeline_less[2 * GT_TIMELINE_FAN];
/* The same for GT_TIMELINE_WORDS sums of words. */
extern const uint16_t gt_timeline_less_of_words[2 * GT_TIMELINE_WORDS];

/* Makes room for `capacity` (1 to GT_TIMELINE_MAX) slots, of which the first `live` are live; earlier contents are
 * lost. Start from a struct of zeros, but for `room`. Returns 0, or -1 when memory is short. */
int gt_timeline_open(struct gt_timeline *slots, uint32_t capacity, uint32_t live, struct gt_error *error);
void gt_timeline_close(struct gt_timeline *slots);

/* Makes exactly the first `live` slots live. */
void gt_timeline_fill(struct gt_timeline *slots, uint32_t live);

/* The live slots before each word, for gt_timeline_rank as long as no slot changes; for the caller to free. NULL when memory is
 * short. */
uint32_t *gt_timeline_ranks(const struct gt_timeline *slots, struct gt_error *error);

/* Makes the sums of a word, which is entered with its first slot. */
void gt_timeline_enter(struct gt_timeline *slots, uint32_t word);

static inline unsigned gt_popcount64(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555U;
	word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
	return (unsigned)((word * 0x0101010101010101U) >> 56);
}

/* The live slots before a slot, by ranks. */
static inline uint32_t gt_timeline_rank(const struct gt_timeline *slots, const uint32_t *ranks, uint32_t slot)
{
	uint64_t before = slots->words[slot / 64] & ((UINT64_C(1) << slot % 64) - 1);

	return ranks[slot / 64] + gt_popcount64(before);
}

/* The slot behind the last that was set becomes live, at first slot 0 or the one behind those that were filled. */
static inline void gt_timeline_set(struct gt_timeline *slots, uint32_t slot)
{
	if (slot % 64 == 0)
		gt_timeline_enter(slots, slot / 64);
	slots->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* The sums of one node's children, as a vector. */
typedef uint32_t gt_timeline_sums __attribute__((vector_size(GT_TIMELINE_FAN * sizeof(uint32_t))));
typedef uint16_t gt_timeline_word_sums __attribute__((vector_size(GT_TIMELINE_WORDS * sizeof(uint16_t))));

/* A live slot becomes dead. */
static inline void gt_timeline_unset(struct gt_timeline *slots, uint32_t slot)
{
	uint32_t word = slot / 64, node = word / GT_TIMELINE_WORDS, at = word % GT_TIMELINE_WORDS;
	gt_timeline_word_sums *before = (gt_timeline_word_sums *)(void *)&slots->before[word - at], less_of_words;

	slots->words[word] &= ~(UINT64_C(1) << slot % 64);
	memcpy(&less_of_words, &gt_timeline_less_of_words[GT_TIMELINE_WORDS - at], sizeof less_of_words);
	*before += less_of_words;
	for (unsigned level = 0; level < slots->levels; level++, node /= GT_TIMELINE_FAN) {
		at = node % GT_TIMELINE_FAN;
		gt_timeline_sums *sums = (gt_timeline_sums *)(void *)&slots->sums[level][node - at], less;
		memcpy(&less, &gt_timeline_less[GT_TIMELINE_FAN - at], sizeof less);
		*sums += less;
	}
}

/* Prefetch for a slot that will soon be queried and changed. */
static inline void gt_timeline_prefetch(const struct gt_timeline *slots, uint32_t slot)
{
	__builtin_prefetch(&slots->words[slot / 64], 1);
	__builtin_prefetch(&slots->before[slot / 64], 1);
}

/* The live slots before a slot, which is not behind the last that was set. */
static inline uint32_t gt_timeline_before(const struct gt_timeline *slots, uint32_t slot)
{
	uint32_t word = slot / 64, node = word / GT_TIMELINE_WORDS;
	uint32_t sum = slots->before[word] + gt_popcount64(slots->words[word] & ((UINT64_C(1) << slot % 64) - 1));

	for (unsigned level = 0; level < slots->levels; level++, node /= GT_TIMELINE_FAN)
		sum += slots->sums[level][node];
	return sum;
}

/* ---- the stack ---- */

#define GT_DISTANCE_INFINITE UINT64_MAX /* never touched before */

struct gt_stack {
	struct gt_timeline slots;
	uint64_t *lines; /* by slot: the line that took it; meaningful where the slot is live */
	/* A hash table of slots, open addressing: 0 is empty; otherwise the low `bits` bits are slot + 1 and the
	 * others are bits of the line's hash, so that a wrong line is rarely compared. */
	uint32_t *table;
	size_t mask;   /* entries of the table - 1, a power of two less one */
	unsigned bits; /* wide enough for any slot + 1 */
	uint32_t live; /* distinct lines */
	uint32_t next; /* the slot of the next touch */
};

/* An empty stack. Returns 0, or -1 when memory is short. */
int gt_stack_open(struct gt_stack *stack, struct gt_error *error);
void gt_stack_close(struct gt_stack *stack);

/* The hash of a line, for touch and prefetch. */
uint64_t gt_stack_hash(uint64_t line);

/* Moves a line to the top and sets *distance to its former distance from the top: 0 for the line touched last,
 * GT_DISTANCE_INFINITE for a new one. Returns 0, or -1: out of memory, or too many lines. */
int gt_stack_touch(struct gt_stack *stack, uint64_t line, uint64_t hash, uint64_t *distance,
		   struct gt_error *error);

/* Touches n lines, one after the other, and sets the distance of each. The same result. */
int gt_stack_touch_all(struct gt_stack *stack, const uint64_t *lines, size_t n, uint64_t *distances, struct gt_error *error);

/* Prefetch for a line that will be touched soon. Call the first well before the second, and the second well before
 * the touch. */
static inline void gt_stack_prefetch(const struct gt_stack *stack, uint64_t hash)
{
	__builtin_prefetch(&stack->table[hash & stack->mask]);
}

void gt_stack_prefetch_line(const struct gt_stack *stack, uint64_t hash);

/* Drops every line for which `keep` returns false. Allocates nothing. */
void gt_stack_keep(struct gt_stack *stack, bool (*keep)(const void *context, uint64_t line), const void *context);

/* Bytes of memory that the stack holds. */
size_t gt_stack_bytes(const struct gt_stack *stack);

GT_PUBLIC_END

#endif
