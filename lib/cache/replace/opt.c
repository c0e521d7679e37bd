/* SPDX-License-Identifier: MIT */
/* Belady (IBM Systems Journal 5, 1966): evicts the line whose next use is farthest away. The state is the next use of each
 * slot's line, set at its last use, and a heap of the ways of each set, the farthest first, since sets may have many ways.
 * A way whose line was dropped keeps its place; a set in which a victim is chosen has no such way. */
#include <stdbool.h>

#include "cache/replace/replace.h"

struct use {
	uint64_t next;
	/* XORed with their own index, so that all zero is a heap. */
	uint32_t place; /* of this way in the heap */
	uint32_t way;	/* that has this place */
};

static uint32_t way_at(const struct use *uses, uint32_t place)
{
	return uses[place].way ^ place;
}

static void put(struct use *uses, uint32_t place, uint32_t way)
{
	uses[place].way = way ^ place;
	uses[way].place = place ^ way;
}

/* Whether a way is evicted before another; among equals the lower. */
static bool leaves_before(const struct use *uses, uint32_t left, uint32_t right)
{
	return uses[left].next != uses[right].next ? uses[left].next > uses[right].next : left < right;
}

static void note(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set), way = slot - first;
	struct use *uses = (struct use *)tags->policy + first;
	uint32_t place = uses[way].place ^ way;

	uses[way].next = tags->next_use[(tags->tag[slot] - 1) & tags->next_mask];
	for (; place > 0 && leaves_before(uses, way, way_at(uses, (place - 1) / 2)); place = (place - 1) / 2)
		put(uses, place, way_at(uses, (place - 1) / 2));
	for (uint32_t child; (child = 2 * place + 1) < ways; place = child) {
		child += child + 1 < ways && leaves_before(uses, way_at(uses, child + 1), way_at(uses, child));
		if (leaves_before(uses, way, way_at(uses, child)))
			break;
		put(uses, place, way_at(uses, child));
	}
	put(uses, place, way);
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set);

	(void)replacement;
	return first + way_at((const struct use *)tags->policy + first, 0);
}

const struct gt_policy gt_policy_opt = {.name = "opt", .looks_ahead = true,
	.slot_bytes = sizeof(struct use), .hit = note, .fill = note, .victim = victim};
