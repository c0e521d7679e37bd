/* SPDX-License-Identifier: MIT */
/* Exact LRU stack distances: how many distinct lines were touched since the last touch of this one. Each touch of a line takes the
 * next time slot, and the line's former slot becomes dead:
 *
 *	line    A B C D A    the touch of A takes slot 4; slots 1 to 3 behind its former one are live, so its distance is 3,
 *	slot    0 1 2 3 4    and slot 0 becomes dead
 *
 * The timeline counts the live slots before any slot in O(log slots), and a hash table finds the slot of a line. When all slots
 * are taken, the live ones are renumbered from 0. */
#include "replace/stack.h"

#include <stdlib.h>

#include "base/grown.h"
#include "base/pages.h"
#include "base/wide.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

/* What is touched in loops is compiled with them, for each machine. */
#define INLINE static inline __attribute__((always_inline))

enum {
	FIRST_CAPACITY = 64,
	FIRST_TABLE = 16,
	TOGETHER = 512,		      /* lines touched in one loop */
	TABLE_PREFETCH_DISTANCE = 16, /* lines from the prefetch of the table's entry to the touch */
	LINE_PREFETCH_DISTANCE = 8,   /* and from the prefetch of the line's slot */
};

/* ---- the timeline: slots, some of them live, and how many are before each ---- */

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
	if (slots->room)
		gt_room_give(slots->room, slots->words, slots->bytes);
	else
		free(slots->words);
	*slots = (struct gt_timeline){.room = slots->room};
}

int gt_timeline_open(struct gt_timeline *slots, uint32_t capacity, uint32_t live, struct gt_error *error)
{
	size_t words = words_of(capacity), lowest = words / GT_TIMELINE_WORDS, sums = 0;

	gt_timeline_close(slots);
	for (size_t nodes = lowest; nodes > 1; nodes = nodes_above(nodes))
		sums += round_up(nodes, GT_TIMELINE_FAN);
	size_t bytes = words * (sizeof *slots->words + sizeof *slots->before) + sums * sizeof **slots->sums;
	slots->words = slots->room ? gt_room_take(slots->room, bytes) : aligned_alloc(64, bytes);
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

/* ---- the table: the slot of each line ---- */

INLINE uint64_t hash_of(uint64_t line)
{
	return XXH3_64bits(&line, sizeof line);
}

uint64_t gt_stack_hash(uint64_t line)
{
	return hash_of(line);
}

/* The bits that slot + 1 needs. */
static unsigned bits_for(uint32_t capacity)
{
	unsigned bits = 1;

	while (bits < 32 && capacity >> bits != 0)
		bits++;
	return bits;
}

/* The bits of the hash that an entry keeps: those of its upper half that slot + 1 does not use. */
static uint32_t tag_of(const struct gt_stack *stack, uint64_t hash)
{
	return (uint32_t)(hash >> 32 >> stack->bits << stack->bits);
}

static uint32_t slot_of(const struct gt_stack *stack, uint32_t entry)
{
	return (uint32_t)(entry & ((UINT64_C(1) << stack->bits) - 1)) - 1;
}

int gt_stack_open(struct gt_stack *stack, struct gt_error *error)
{
	*stack = (struct gt_stack){.mask = FIRST_TABLE - 1, .bits = bits_for(FIRST_CAPACITY)};
	stack->lines = malloc(FIRST_CAPACITY * sizeof *stack->lines);
	stack->table = calloc(FIRST_TABLE, sizeof *stack->table);
	if (stack->lines && stack->table && gt_timeline_open(&stack->slots, FIRST_CAPACITY, 0, error) == 0)
		return 0;
	gt_stack_close(stack);
	return gt_fail_memory(error, "an LRU stack");
}

void gt_stack_close(struct gt_stack *stack)
{
	gt_timeline_close(&stack->slots);
	free(stack->lines);
	free(stack->table);
	*stack = (struct gt_stack){0};
}

size_t gt_stack_bytes(const struct gt_stack *stack)
{
	return sizeof *stack + stack->slots.bytes + (size_t)stack->slots.capacity * sizeof *stack->lines +
	       (stack->mask + 1) * sizeof *stack->table;
}

/* Moves the lines of live slots down to the front, in order. */
static void pack_lines(struct gt_stack *stack)
{
	uint32_t to = 0;

	for (uint32_t word = 0; to < stack->live; word++)
		for (uint64_t left = stack->slots.words[word]; left != 0; left &= left - 1)
			stack->lines[to++] = stack->lines[(size_t)word * 64 + (size_t)__builtin_ctzll(left)];
}

/* Gives the table's entries the ranks of their slots, with hashes above `bits`. There is no branch for an empty entry, which is as
 * frequent as another and would be guessed wrong. */
GT_WIDE static void renumber(struct gt_stack *stack, const uint32_t *ranks, unsigned bits)
{
	const struct gt_timeline *slots = &stack->slots;
	uint32_t *restrict table = stack->table;
	const uint32_t low = (uint32_t)((UINT64_C(1) << stack->bits) - 1), kept = (uint32_t)(UINT64_MAX << bits);

	for (size_t i = 0, n = stack->mask + 1; i < n; i++) {
		uint32_t entry = table[i], empty = entry == 0, slot = ((entry | empty) & low) - 1;
		table[i] = ((entry & kept) | (gt_timeline_rank(slots, ranks, slot) + 1)) & (empty - 1);
	}
}

/* Renumbers the live slots from 0 and makes room for one and a half times as many. */
static int compact(struct gt_stack *stack, struct gt_error *error)
{
	uint64_t room = (uint64_t)stack->live * 5 / 2, wanted = room < FIRST_CAPACITY ? FIRST_CAPACITY : room;
	uint32_t capacity = wanted > GT_TIMELINE_MAX ? GT_TIMELINE_MAX : (uint32_t)wanted;

	if (stack->live == GT_TIMELINE_MAX)
		return gt_fail(error, "more than %u distinct lines in one stack", (unsigned)GT_TIMELINE_MAX);
	uint32_t *ranks = gt_timeline_ranks(&stack->slots, error);
	if (!ranks)
		return -1;
	pack_lines(stack);

	/* Never fewer than before: an entry cannot recover the bits of its hash that its slot has replaced. */
	unsigned bits = bits_for(capacity) > stack->bits ? bits_for(capacity) : stack->bits;
	renumber(stack, ranks, bits);
	free(ranks);
	stack->bits = bits;
	stack->next = stack->live;
	if (capacity == stack->slots.capacity) {
		gt_timeline_fill(&stack->slots, stack->live);
		return 0;
	}
	uint64_t *lines = gt_resized(stack->lines, capacity, sizeof *lines);
	if (!lines)
		return gt_fail_memory(error, "an LRU stack");
	stack->lines = lines;
	gt_pages_large(lines, capacity * sizeof *lines);
	return gt_timeline_open(&stack->slots, capacity, stack->live, error);
}

/* The entry that holds the line, or the empty one where it belongs. */
INLINE uint32_t *find(const struct gt_stack *stack, uint64_t line, uint64_t hash)
{
	uint32_t tag = tag_of(stack, hash);
	uint64_t low = (UINT64_C(1) << stack->bits) - 1;

	for (size_t i = (size_t)hash & stack->mask;; i = (i + 1) & stack->mask) {
		uint32_t entry = stack->table[i];
		if (entry == 0 || ((entry ^ tag) <= low && stack->lines[(entry & low) - 1] == line))
			return &stack->table[i];
	}
}

/* Prefetches what the first entry with the line's tag, if any, leads to; returns that, or the empty one, which is a guess at where
 * the line's entry is. */
INLINE size_t prefetch_line(const struct gt_stack *stack, uint64_t hash)
{
	uint32_t tag = tag_of(stack, hash);
	uint64_t low = (UINT64_C(1) << stack->bits) - 1;

	for (size_t i = (size_t)hash & stack->mask;; i = (i + 1) & stack->mask) {
		uint32_t entry = stack->table[i];
		if (entry == 0)
			return i;
		if ((entry ^ tag) <= low) {
			gt_timeline_prefetch(&stack->slots, slot_of(stack, entry));
			__builtin_prefetch(&stack->lines[(entry & low) - 1]);
			return i;
		}
	}
}

/* The same as find: the guess saves another search, whose steps the machine cannot foresee. The table may have grown since, but
 * not shrunk. */
INLINE uint32_t *find_from(const struct gt_stack *stack, uint64_t line, uint64_t hash, size_t guess)
{
	uint32_t entry = stack->table[guess];

	return entry != 0 && stack->lines[slot_of(stack, entry)] == line ? &stack->table[guess] : find(stack, line, hash);
}

void gt_stack_prefetch_line(const struct gt_stack *stack, uint64_t hash)
{
	prefetch_line(stack, hash);
}

/* Enters the live slots into an empty table. */
static void fill_table(struct gt_stack *stack)
{
	uint32_t seen = 0;

	for (uint32_t word = 0; seen < stack->live; word++)
		for (uint64_t left = stack->slots.words[word]; left != 0; left &= left - 1, seen++) {
			uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
			uint64_t hash = gt_stack_hash(stack->lines[slot]);
			size_t i = (size_t)hash & stack->mask;
			while (stack->table[i] != 0)
				i = (i + 1) & stack->mask;
			stack->table[i] = tag_of(stack, hash) | (slot + 1);
		}
}

/* Doubles the table. It is rebuilt from the lines, so that the old and the new one are never in memory together. */
static int grow_table(struct gt_stack *stack, struct gt_error *error)
{
	free(stack->table);
	stack->mask = stack->mask * 2 + 1;
	stack->table = calloc(stack->mask + 1, sizeof *stack->table);
	if (!stack->table)
		return gt_fail_memory(error, "an LRU stack");
	gt_pages_large(stack->table, (stack->mask + 1) * sizeof *stack->table);
	fill_table(stack);
	return 0;
}

void gt_stack_keep(struct gt_stack *stack, bool (*keep)(const void *context, uint64_t line), const void *context)
{
	for (uint32_t word = 0; word <= (stack->next ? stack->next - 1 : 0) / 64; word++)
		for (uint64_t left = stack->slots.words[word]; left != 0; left &= left - 1) {
			uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
			if (!keep(context, stack->lines[slot])) {
				gt_timeline_unset(&stack->slots, slot);
				stack->live--;
			}
		}
	memset(stack->table, 0, (stack->mask + 1) * sizeof *stack->table);
	fill_table(stack);
}

/* `guess` as prefetch_line gives it; any entry will do. */
INLINE int touch(struct gt_stack *stack, uint64_t line, uint64_t hash, size_t guess, uint64_t *distance, struct gt_error *error)
{
	if (stack->next == stack->slots.capacity && compact(stack, error) != 0)
		return -1;
	uint32_t *entry = find_from(stack, line, hash, guess);
	uint32_t slot = slot_of(stack, *entry);

	if (*entry == 0) {
		*distance = GT_DISTANCE_INFINITE;
		if (stack->live >= (stack->mask + 1) / 4 * 3) {
			if (grow_table(stack, error) != 0)
				return -1;
			entry = find(stack, line, hash);
		}
		stack->live++;
	} else if (slot == stack->next - 1) {
		*distance = 0;
		return 0;
	} else {
		*distance = stack->live - 1 - gt_timeline_before(&stack->slots, slot);
		gt_timeline_unset(&stack->slots, slot);
	}
	stack->lines[stack->next] = line;
	gt_timeline_set(&stack->slots, stack->next);
	*entry = tag_of(stack, hash) | (stack->next + 1);
	stack->next++;
	return 0;
}

int gt_stack_touch(struct gt_stack *stack, uint64_t line, uint64_t hash, uint64_t *distance,
		   struct gt_error *error)
{
	return touch(stack, line, hash, (size_t)hash & stack->mask, distance, error);
}

/* Touches up to TOGETHER lines. */
GT_WIDE static int touch_some(struct gt_stack *stack, const uint64_t *lines, size_t n, uint64_t *distances, struct gt_error *error)
{
	uint64_t hashes[TOGETHER];
	size_t guesses[TOGETHER];

	for (size_t i = 0; i < n; i++)
		hashes[i] = hash_of(lines[i]);
	for (size_t i = 0; i < n && i < LINE_PREFETCH_DISTANCE; i++)
		guesses[i] = (size_t)hashes[i] & stack->mask;
	for (size_t i = 0; i < n; i++) {
		if (i + TABLE_PREFETCH_DISTANCE < n)
			gt_stack_prefetch(stack, hashes[i + TABLE_PREFETCH_DISTANCE]);
		if (i + LINE_PREFETCH_DISTANCE < n)
			guesses[i + LINE_PREFETCH_DISTANCE] = prefetch_line(stack, hashes[i + LINE_PREFETCH_DISTANCE]);
		if (touch(stack, lines[i], hashes[i], guesses[i], &distances[i], error) != 0)
			return -1;
	}
	return 0;
}

int gt_stack_touch_all(struct gt_stack *stack, const uint64_t *lines, size_t n, uint64_t *distances, struct gt_error *error)
{
	for (size_t i = 0, some; i < n; i += some) {
		some = n - i < TOGETHER ? n - i : TOGETHER;
		if (touch_some(stack, lines + i, some, distances + i, error) != 0)
			return -1;
	}
	return 0;
}
