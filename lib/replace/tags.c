/* SPDX-License-Identifier: MIT */
/* The state of one cache instance: how lines are found among many ways, the order of their last use, and what fills and drops do. */
#include <stdlib.h>
#include <string.h>

#include "replace/replace.h"
#include "replace/tags.h"

/* ---- memory ---- */

/* Zeros, of which those that are never used take no memory. NULL when memory is short. */
static void *zeros(const struct gt_geometry *geometry, size_t n, size_t size)
{
	return geometry->arena ? gt_arena_zeroed(geometry->arena, n * size) : calloc(n, size);
}

static void give_back(const struct gt_geometry *geometry, void *array)
{
	if (!geometry->arena)
		free(array);
}

/* ---- finder ---- */

/* At least twice as many chains as slots: most have one slot or none. */
static int finder_open(struct gt_finder *finder, const struct gt_geometry *geometry, struct gt_error *error)
{
	const uint32_t slots = geometry->slots;
	unsigned bits = 1;

	while (bits < 31 && UINT32_C(1) << bits < 2 * slots)
		bits++;
	*finder = (struct gt_finder){.shift = 64 - bits};
	finder->heads = zeros(geometry, UINT32_C(1) << bits, sizeof *finder->heads);
	return finder->heads ? 0 : gt_fail_memory(error, "a cache's lines");
}

static void finder_add(struct gt_tags *tags, uint64_t line, uint32_t slot)
{
	uint32_t *head = gt_finder_chain(&tags->finder, line);

	*gt_slot_next(tags, slot) = *head;
	*head = slot + 1;
}

static void finder_remove(struct gt_tags *tags, uint64_t line, uint32_t slot)
{
	uint32_t *link = gt_finder_chain(&tags->finder, line);

	while (*link != slot + 1)
		link = gt_slot_next(tags, *link - 1);
	*link = *gt_slot_next(tags, slot);
}

/* ---- the order of the lines of a set by their last use, in each of the forms of enum gt_recency ---- */

/* The links of a list element; 0 is the end of the list. */
static uint32_t *newer_of(struct gt_tags *tags, uint32_t set, uint32_t link)
{
	return link ? &gt_slot_links(tags, link - 1)->newer : &tags->ends[set].older;
}

static uint32_t *older_of(struct gt_tags *tags, uint32_t set, uint32_t link)
{
	return link ? &gt_slot_links(tags, link - 1)->older : &tags->ends[set].newer;
}

static void unlink_slot(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	struct gt_links link = *gt_slot_links(tags, slot);

	*older_of(tags, set, link.newer) = link.older;
	*newer_of(tags, set, link.older) = link.newer;
}

static void link_first(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t second = tags->ends[set].newer;

	*gt_slot_links(tags, slot) = (struct gt_links){.newer = 0, .older = second};
	*newer_of(tags, set, second) = slot + 1;
	tags->ends[set].newer = slot + 1;
}

void gt_tags_relink(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	if (tags->ends[set].newer == slot + 1)
		return;
	unlink_slot(tags, set, slot);
	link_first(tags, set, slot);
}

/* Makes a slot the most recent that a line is about to take; that line has `*slot` then. */
static void recency_add(struct gt_tags *tags, uint32_t set, uint32_t *slot)
{
	if (tags->geometry->recency == GT_RECENCY_LIST && *gt_slot_tag(tags, *slot) == 0)
		link_first(tags, set, *slot);
	else
		gt_tags_touch(tags, set, slot);
}

void gt_tags_move_first(struct gt_tags *tags, uint32_t first, uint32_t way)
{
	uint32_t ways = tags->geometry->ways, slot = first + way;

	if (tags->rank) {
		uint8_t rank = tags->rank[slot];
		memmove(tags->rank + first + 1, tags->rank + first, way);
		tags->rank[first] = rank;
	}
	gt_ways_put_words(tags->first_dirty + first, ways, way, *gt_slot_dirty(tags, slot));
	gt_ways_put_states(tags->state + first, ways, way, tags->state[slot]);
	gt_ways_put_words(tags->first_tag + first, ways, way, *gt_slot_tag(tags, slot));
}

/* Moves a way from one of the first n positions to the last of them. Returns the slot that its line has then. */
static uint32_t move_behind(struct gt_tags *tags, uint32_t set, uint32_t n, uint32_t way)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set);

	if (geometry->recency == GT_RECENCY_WAYS) {
		gt_tags_move_first(tags, first, way);
		for (uint32_t behind = 1; behind < n; behind++) /* the others, the last of them first */
			gt_tags_move_first(tags, first, n - 1);
		return first + n - 1;
	}
	if (geometry->recency == GT_RECENCY_BYTES) {
		gt_bytes_touch(tags->bytes + first, gt_ways_of(geometry, set), way);
		memmove(tags->bytes + first, tags->bytes + first + 1, n - 1);
		tags->bytes[first + n - 1] = (uint8_t)way;
		return first + way;
	}
	uint64_t *word = &tags->nibbles[set];
	gt_nibbles_touch(word, way);
	for (unsigned bit = 0; bit < 4 * (n - 1); bit += 4) {
		uint64_t swapped = (*word >> bit ^ *word >> bit >> 4) & 15;
		*word ^= swapped << bit | swapped << bit << 4;
	}
	return first + way;
}

uint32_t gt_tags_demote(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set), valid = 0;

	if (geometry->recency == GT_RECENCY_LIST) {
		uint32_t last;
		unlink_slot(tags, set, slot);
		last = tags->ends[set].older;
		*gt_slot_links(tags, slot) = (struct gt_links){.newer = last, .older = 0};
		*older_of(tags, set, last) = slot + 1;
		tags->ends[set].older = slot + 1;
		return slot;
	}
	for (uint32_t way = 0; way < ways; way++)
		valid += *gt_slot_tag(tags, first + way) != 0;
	return move_behind(tags, set, valid, slot - first);
}

/* Puts a valid slot, which is about to be invalid, behind all others. Returns the slot that its line has then. */
static uint32_t recency_remove(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (geometry->recency != GT_RECENCY_LIST)
		return move_behind(tags, set, gt_ways_of(geometry, set), slot - gt_first_slot(geometry, set));
	unlink_slot(tags, set, slot);
	return slot;
}

uint32_t gt_tags_at(const struct gt_tags *tags, uint32_t set, uint32_t place)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set);

	if (geometry->recency == GT_RECENCY_WAYS)
		return first + place;
	if (geometry->recency == GT_RECENCY_NIBBLES)
		return first + (uint32_t)(tags->nibbles[set] >> 4 * place & 15);
	return first + tags->bytes[first + place];
}

uint32_t gt_tags_oldest(const struct gt_tags *tags, uint32_t set)
{
	if (tags->geometry->recency == GT_RECENCY_LIST)
		return tags->ends[set].older - 1;
	return gt_tags_at(tags, set, gt_ways_of(tags->geometry, set) - 1);
}

uint32_t gt_tags_by_recency(const struct gt_tags *tags, uint32_t set, uint32_t *slots)
{
	uint32_t ways = gt_ways_of(tags->geometry, set), n = 0;

	if (tags->geometry->recency == GT_RECENCY_LIST) {
		for (uint32_t at = tags->ends[set].newer; at != 0; at = gt_slot_links(tags, at - 1)->older)
			slots[n++] = at - 1;
		return n;
	}
	for (; n < ways; n++) {
		slots[n] = gt_tags_at(tags, set, n);
		if (*gt_slot_tag(tags, slots[n]) == 0)
			break;
	}
	return n;
}

uint32_t gt_tags_position(const struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), way = slot - first, position = 0;

	if (geometry->recency == GT_RECENCY_WAYS)
		return way;
	if (geometry->recency == GT_RECENCY_BYTES) {
		const uint8_t *order = tags->bytes + first, *found = memchr(order, (int)way, gt_ways_of(geometry, set));
		return (uint32_t)(found - order);
	}
	if (geometry->recency == GT_RECENCY_NIBBLES) {
		while ((tags->nibbles[set] >> 4 * position & 15) != way)
			position++;
		return position;
	}
	for (uint32_t at = tags->ends[set].newer; at != slot + 1; at = gt_slot_links(tags, at - 1)->older)
		position++;
	return position;
}

#define NIBBLES_IN_ORDER UINT64_C(0xfedcba9876543210)

static bool has_finder(const struct gt_geometry *geometry)
{
	return geometry->recency == GT_RECENCY_BYTES || geometry->recency == GT_RECENCY_LIST;
}

int gt_geometry_open(struct gt_geometry *geometry, const uint32_t *ways, uint32_t sets, unsigned sectors,
		     bool depths, bool ordered, struct gt_error *error)
{
	bool equal = true;

	*geometry = (struct gt_geometry){.sets = sets, .sectors = sectors};
	for (uint32_t set = 0; set < sets; set++) {
		geometry->slots += ways[set];
		equal = equal && ways[set] == ways[0];
		if (ways[set] > geometry->most_ways)
			geometry->most_ways = ways[set];
	}
	geometry->recency = ordered && equal && geometry->most_ways <= GT_ORDERED_WAYS ? GT_RECENCY_WAYS
			    : geometry->most_ways <= GT_NIBBLE_WAYS ? GT_RECENCY_NIBBLES
			    : geometry->most_ways <= GT_BYTE_WAYS ? GT_RECENCY_BYTES
								  : GT_RECENCY_LIST;
	geometry->depths = depths && geometry->recency != GT_RECENCY_LIST;
	if (equal) {
		geometry->ways = ways[0];
		return 0;
	}
	geometry->first = malloc((sets + UINT64_C(1)) * sizeof *geometry->first);
	if (!geometry->first)
		return gt_fail_memory(error, "a cache's sets");
	uint32_t slot = 0;
	for (uint32_t set = 0; set < sets; slot += ways[set++])
		geometry->first[set] = slot;
	geometry->first[sets] = slot;
	return 0;
}

void gt_geometry_close(struct gt_geometry *geometry)
{
	free(geometry->first);
	geometry->first = NULL;
}

/* Gives a set that gets its first line an order. */
static void begin_order(struct gt_tags *tags, uint32_t set)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set);

	if (geometry->recency == GT_RECENCY_NIBBLES)
		tags->nibbles[set] = NIBBLES_IN_ORDER;
	for (uint32_t way = 0; geometry->recency == GT_RECENCY_BYTES && way < ways; way++)
		tags->bytes[first + way] = (uint8_t)way;
}

/* Takes it from an empty set. */
static void end_order(struct gt_tags *tags, uint32_t set)
{
	const struct gt_geometry *geometry = tags->geometry;

	switch (geometry->recency) {
	case GT_RECENCY_WAYS: break;
	case GT_RECENCY_NIBBLES: tags->nibbles[set] = 0; break;
	case GT_RECENCY_BYTES: memset(tags->bytes + gt_first_slot(geometry, set), 0, gt_ways_of(geometry, set)); break;
	case GT_RECENCY_LIST: tags->ends[set] = (struct gt_list_ends){0}; break;
	}
}

static bool allocate_order(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (geometry->recency == GT_RECENCY_WAYS)
		return true;
	if (geometry->recency == GT_RECENCY_NIBBLES)
		return (tags->nibbles = zeros(geometry, geometry->sets, sizeof *tags->nibbles)) != NULL;
	if (geometry->recency == GT_RECENCY_BYTES)
		return (tags->bytes = zeros(geometry, geometry->slots + GT_ORDER_NEAR, 1)) != NULL;
	return (tags->ends = zeros(geometry, geometry->sets, sizeof *tags->ends)) != NULL;
}

#define MACHINE_LINE 64 /* bytes of a line of the machine's cache */

/* As zeros(), on the border of a line of the machine's cache, so that a set of few ways lies in as few of them as it can. give_back() takes
 * `*block`. It is aligned by hand, since no allocator both aligns and takes no memory for what is never used. */
static void *aligned_zeros(const struct gt_geometry *geometry, void **block, size_t n, size_t size)
{
	*block = zeros(geometry, n + MACHINE_LINE / size, size);
	return *block ? (void *)(((uintptr_t)*block + MACHINE_LINE - 1) & ~(uintptr_t)(MACHINE_LINE - 1)) : NULL;
}

/* Which sectors are valid, and their depths, if they are kept. */
static bool allocate_sectors(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;
	size_t slots = geometry->slots;

	if (geometry->recency == GT_RECENCY_WAYS)
		return (tags->state = aligned_zeros(geometry, &tags->state_block, slots + GT_WAYS_SLACK, sizeof *tags->state)) != NULL;
	if (!gt_tags_has_records(tags) && !(tags->first_valid = zeros(geometry, slots, sizeof *tags->first_valid)))
		return false;
	if (!geometry->depths || tags->first_depth)
		return true;
	tags->depth_spread = (unsigned)__builtin_ctz(geometry->sectors);
	return (tags->first_depth = zeros(geometry, slots, geometry->sectors)) != NULL;
}

/* A record of a slot. */
#define RECORD_VALID 1 /* words behind the tag */
#define RECORD_DIRTY 2 /* or, of a list, the links */
#define RECORD_NEXT 3  /* half a word; in the other half the depths of up to RECORD_DEPTHS sectors or, of a list, the mark */
#define RECORD_DEPTHS 4

static bool allocate_records(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;

	tags->spread = GT_RECORD_SPREAD;
	tags->first_tag = aligned_zeros(geometry, &tags->tag_block, (size_t)geometry->slots << tags->spread, sizeof *tags->first_tag);
	if (!tags->first_tag)
		return false;
	tags->first_valid = tags->first_tag + RECORD_VALID;
	tags->first_next = (uint32_t *)(void *)(tags->first_tag + RECORD_NEXT);
	if (geometry->recency == GT_RECENCY_LIST) {
		tags->first_links = (struct gt_links *)(void *)(tags->first_tag + RECORD_DIRTY);
		tags->first_mark = tags->first_next + 1;
		return (tags->first_dirty = zeros(geometry, geometry->slots, sizeof *tags->first_dirty)) != NULL;
	}
	tags->first_dirty = tags->first_tag + RECORD_DIRTY;
	tags->dirty_spread = GT_RECORD_SPREAD;
	if (geometry->depths && geometry->sectors == RECORD_DEPTHS) {
		tags->first_depth = (uint8_t *)(tags->first_next + 1);
		tags->depth_spread = GT_RECORD_SPREAD + 3;
	}
	return true;
}

static bool allocate_arrays(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;
	size_t slots = geometry->slots, slack = geometry->recency == GT_RECENCY_WAYS ? GT_WAYS_SLACK : 0;

	tags->first_tag = aligned_zeros(geometry, &tags->tag_block, slots + slack, sizeof *tags->first_tag);
	tags->first_dirty = zeros(geometry, slots + slack, sizeof *tags->first_dirty);
	return tags->first_tag && tags->first_dirty;
}

int gt_tags_open(struct gt_tags *tags, const struct gt_geometry *geometry, const struct gt_policy *policy,
		 uint64_t seed, struct gt_error *error)
{
	*tags = (struct gt_tags){.geometry = geometry, .random = seed, .slot_bytes = policy ? policy->slot_bytes : 0,
				 .clears_sets = policy && policy->uses_sets};
	bool allocated = has_finder(geometry) ? allocate_records(tags) : allocate_arrays(tags);
	tags->vacancy = zeros(geometry, geometry->sets, sizeof *tags->vacancy);
	tags->used = zeros(geometry, geometry->sets, sizeof *tags->used);
	tags->filled = zeros(geometry, geometry->sets, sizeof *tags->filled);
	tags->policy = zeros(geometry, geometry->slots + UINT64_C(1), tags->slot_bytes + !tags->slot_bytes);
	if (!allocated || !tags->vacancy || !tags->used || !tags->filled || !tags->policy || !allocate_sectors(tags) || !allocate_order(tags))
		return gt_fail_memory(error, "a cache's lines");
	return has_finder(geometry) ? finder_open(&tags->finder, geometry, error) : 0;
}

void gt_tags_close(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (!geometry) /* it was never opened */
		return;
	free(tags->held);
	free(tags->columns);
	free(tags->rank);
	if (!gt_tags_has_records(tags))
		give_back(geometry, tags->first_valid);
	if (tags->dirty_spread == 0)
		give_back(geometry, tags->first_dirty);
	if (!gt_tags_has_records(tags) || geometry->sectors != RECORD_DEPTHS)
		give_back(geometry, tags->first_depth);
	give_back(geometry, tags->tag_block);
	give_back(geometry, tags->vacancy);
	give_back(geometry, tags->used);
	give_back(geometry, tags->filled);
	give_back(geometry, tags->policy);
	give_back(geometry, tags->state_block);
	give_back(geometry, tags->nibbles);
	give_back(geometry, tags->bytes);
	give_back(geometry, tags->ends);
	give_back(geometry, tags->finder.heads);
}

uint32_t gt_tags_used(const struct gt_tags *tags, uint32_t set)
{
	const uint32_t sets = tags->geometry->sets;
	const uint8_t *found = set < sets ? memchr(tags->used + set, 1, sets - set) : NULL;

	return found ? (uint32_t)(found - tags->used) : sets;
}

/* The ways of a set that may have been written since it was empty. */
static uint32_t written_ways(const struct gt_tags *tags, uint32_t set)
{
	return tags->geometry->recency == GT_RECENCY_WAYS ? gt_ways_of(tags->geometry, set) : tags->filled[set];
}

/* Each chain begins in the hash of each of its lines, all of which are valid. */
static void clear_set(struct gt_tags *tags, uint32_t set)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = written_ways(tags, set);

	for (uint32_t slot = first; has_finder(tags->geometry) && slot < first + ways; slot++)
		if (*gt_slot_tag(tags, slot) != 0)
			*gt_finder_chain(&tags->finder, *gt_slot_tag(tags, slot) - 1) = 0;
	memset(gt_slot_tag(tags, first), 0, ((size_t)ways << tags->spread) * sizeof *tags->first_tag);
	if (tags->dirty_spread == 0)
		memset(gt_slot_dirty(tags, first), 0, ways * sizeof *tags->first_dirty);
	if (tags->held)
		memset(tags->held + first, 0, ways * sizeof *tags->held);
	if (tags->rank)
		memset(tags->rank + first, GT_RANK_NORMAL, ways);
	memset((char *)tags->policy + first * tags->slot_bytes, 0, (tags->clears_sets ? gt_ways_of(tags->geometry, set) : ways) * tags->slot_bytes);
	tags->vacancy[set] = tags->filled[set] = 0;
	end_order(tags, set);
}

void gt_tags_clear(struct gt_tags *tags)
{
	uint32_t sets = tags->geometry->sets;

	for (uint32_t set = gt_tags_used(tags, 0); set < sets; set = gt_tags_used(tags, set + 1)) {
		clear_set(tags, set);
		tags->used[set] = 0;
	}
}

int gt_tags_hold(struct gt_tags *tags, uint32_t slot, uint64_t sectors, struct gt_error *error)
{
	if (sectors == 0)
		return 0;
	if (tags->state) {
		tags->state[slot] = gt_state_hold(tags->state[slot], (uint32_t)sectors);
		return 0;
	}
	if (!tags->held && !(tags->held = calloc(tags->geometry->slots, sizeof *tags->held)))
		return gt_fail_memory(error, "a cache's lines");
	tags->held[slot] |= sectors;
	return 0;
}

int gt_tags_rank(struct gt_tags *tags, uint32_t slot, uint8_t rank, struct gt_error *error)
{
	if (!tags->rank && rank != GT_RANK_NORMAL) {
		tags->rank = malloc(tags->geometry->slots);
		if (!tags->rank)
			return gt_fail_memory(error, "a cache's lines");
		memset(tags->rank, GT_RANK_NORMAL, tags->geometry->slots);
	}
	if (tags->rank)
		tags->rank[slot] = rank;
	return 0;
}

uint32_t gt_tags_lowest(const struct gt_tags *tags, uint32_t set, uint32_t chosen, uint32_t *slots)
{
	uint32_t n = gt_tags_by_recency(tags, set, slots), found = chosen;

	for (uint32_t i = n; i-- > 0;)
		if (tags->rank[slots[i]] < tags->rank[found])
			found = slots[i];
	return found;
}

uint32_t gt_tags_vacant(struct gt_tags *tags, uint32_t set)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint32_t way = tags->vacancy[set];

	while (way < ways && *gt_slot_tag(tags, first + way) != 0)
		way++;
	tags->vacancy[set] = way;
	return way < ways ? first + way : GT_NO_SLOT;
}

/* Notes that a line takes a way that has none. */
static void fill_vacant(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t ways = slot - gt_first_slot(tags->geometry, set) + 1;

	if (!tags->used[set])
		begin_order(tags, set);
	tags->used[set] = 1;
	tags->filled[set] = tags->filled[set] < ways ? ways : tags->filled[set];
}

uint32_t gt_tags_fill(struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t line)
{
	uint64_t old = *gt_slot_tag(tags, slot);

	if (old == 0)
		fill_vacant(tags, set, slot);
	if (has_finder(tags->geometry)) {
		if (old != 0)
			finder_remove(tags, old - 1, slot);
		finder_add(tags, line, slot);
	}
	recency_add(tags, set, &slot);
	if (tags->rank)
		tags->rank[slot] = GT_RANK_NORMAL;
	*gt_slot_tag(tags, slot) = line + 1;
	*gt_slot_dirty(tags, slot) = 0;
	if (tags->held)
		tags->held[slot] = 0;
	if (tags->state)
		tags->state[slot] = GT_STATE_INVALID;
	else
		*gt_slot_valid(tags, slot) = 0;
	return slot;
}

void gt_tags_drop(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t way = slot - gt_first_slot(tags->geometry, set);

	slot = recency_remove(tags, set, slot);
	if (has_finder(tags->geometry))
		finder_remove(tags, *gt_slot_tag(tags, slot) - 1, slot);
	*gt_slot_tag(tags, slot) = 0;
	if (way < tags->vacancy[set])
		tags->vacancy[set] = way;
}
