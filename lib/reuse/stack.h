/* SPDX-License-Identifier: MIT */
/* An LRU stack with exact stack distances ([000] 3.2, [002] 3.3): the number of distinct lines touched since the
 * last touch of this one. Each touch takes the next time slot and frees the line's old one; the distance is the
 * number of live slots in between. When the slots are used up the live ones are renumbered, so memory is
 * O(distinct lines), at most 32 bytes a line for large stacks. A touch takes O(log lines). After an error a stack
 * can only be closed. */
#ifndef GT_REUSE_STACK_H
#define GT_REUSE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/public.h"
#include "reuse/timeline.h"

GT_PUBLIC_BEGIN

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
