/* SPDX-License-Identifier: MIT */
#include "cache/replace/tags.h"

#include <stdlib.h>

#define NIBBLES_IN_ORDER UINT64_C(0xfedcba9876543210)

/* At least twice as many chains as slots: most have one slot or none. */
static int finder_open(struct gt_finder *finder, uint32_t slots, struct gt_error *error)
{
	unsigned bits = 1;

	while (bits < 31 && UINT32_C(1) << bits < 2 * slots)
		bits++;
	*finder = (struct gt_finder){.shift = 64 - bits, .slots = slots};
	finder->heads = calloc(UINT32_C(1) << bits, sizeof *finder->heads);
	finder->next = calloc(slots, sizeof *finder->next);
	return finder->heads && finder->next ? 0 : gt_fail_memory(error, "a cache's lines");
}

static void finder_close(struct gt_finder *finder)
{
	free(finder->heads);
	free(finder->next);
}

static void finder_clear(struct gt_finder *finder)
{
	memset(finder->heads, 0, (UINT64_C(1) << (64 - finder->shift)) * sizeof *finder->heads);
}

static void finder_add(struct gt_finder *finder, uint64_t line, uint32_t slot)
{
	uint32_t *head = gt_finder_chain(finder, line);

	finder->next[slot] = *head;
	*head = slot + 1;
}

static void finder_remove(struct gt_finder *finder, uint64_t line, uint32_t slot)
{
	uint32_t *link = gt_finder_chain(finder, line);

	while (*link != slot + 1)
		link = &finder->next[*link - 1];
	*link = finder->next[slot];
}

int gt_geometry_open(struct gt_geometry *geometry, const uint32_t *ways, uint32_t sets, unsigned sectors,
		     bool depths, struct gt_error *error)
{
	bool equal = true;

	*geometry = (struct gt_geometry){.sets = sets, .sectors = sectors};
	for (uint32_t set = 0; set < sets; set++) {
		geometry->slots += ways[set];
		equal = equal && ways[set] == ways[0];
		if (ways[set] > geometry->most_ways)
			geometry->most_ways = ways[set];
	}
	geometry->recency = geometry->most_ways <= GT_NIBBLE_WAYS ? GT_RECENCY_NIBBLES
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

/* Sets the order of an empty cache. */
static void reset_order(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (geometry->recency == GT_RECENCY_LIST) {
		memset(tags->ends, 0, geometry->sets * sizeof *tags->ends);
		return;
	}
	for (uint32_t set = 0; set < geometry->sets; set++) {
		uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set);
		if (geometry->recency == GT_RECENCY_NIBBLES)
			tags->nibbles[set] = NIBBLES_IN_ORDER;
		else
			for (uint32_t way = 0; way < ways; way++)
				tags->bytes[first + way] = (uint8_t)way;
	}
}

static bool allocate_order(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (geometry->recency == GT_RECENCY_NIBBLES)
		return (tags->nibbles = calloc(geometry->sets, sizeof *tags->nibbles)) != NULL;
	if (geometry->recency == GT_RECENCY_BYTES)
		return (tags->bytes = calloc(geometry->slots + GT_ORDER_SLACK, 1)) != NULL;
	tags->links = calloc(geometry->slots, sizeof *tags->links);
	tags->ends = calloc(geometry->sets, sizeof *tags->ends);
	return tags->links && tags->ends;
}

int gt_tags_open(struct gt_tags *tags, const struct gt_geometry *geometry, size_t policy_bytes,
		 uint64_t seed, struct gt_error *error)
{
	uint32_t slots = geometry->slots;

	*tags = (struct gt_tags){.geometry = geometry, .random = seed, .policy_bytes = policy_bytes};
	tags->tag = calloc(slots, sizeof *tags->tag);
	tags->valid = calloc(slots, sizeof *tags->valid);
	tags->dirty = calloc(slots, sizeof *tags->dirty);
	tags->vacancy = calloc(geometry->sets, sizeof *tags->vacancy);
	tags->policy = calloc(policy_bytes + !policy_bytes, 1);
	if (geometry->depths)
		tags->depth = calloc(slots, geometry->sectors);
	if (!tags->tag || !tags->valid || !tags->dirty || !tags->vacancy || !tags->policy ||
	    (geometry->depths && !tags->depth) || !allocate_order(tags))
		return gt_fail_memory(error, "a cache's lines");
	reset_order(tags);
	return geometry->recency == GT_RECENCY_NIBBLES ? 0 : finder_open(&tags->finder, slots, error);
}

void gt_tags_close(struct gt_tags *tags)
{
	free(tags->tag);
	free(tags->valid);
	free(tags->dirty);
	free(tags->vacancy);
	free(tags->policy);
	free(tags->rank);
	free(tags->depth);
	free(tags->nibbles);
	free(tags->bytes);
	free(tags->links);
	free(tags->ends);
	finder_close(&tags->finder);
}

void gt_tags_clear(struct gt_tags *tags)
{
	const struct gt_geometry *geometry = tags->geometry;

	memset(tags->tag, 0, geometry->slots * sizeof *tags->tag);
	memset(tags->vacancy, 0, geometry->sets * sizeof *tags->vacancy);
	memset(tags->policy, 0, tags->policy_bytes);
	if (tags->rank)
		memset(tags->rank, GT_RANK_NORMAL, geometry->slots);
	reset_order(tags);
	if (geometry->recency != GT_RECENCY_NIBBLES)
		finder_clear(&tags->finder);
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

	while (way < ways && tags->tag[first + way] != 0)
		way++;
	tags->vacancy[set] = way;
	return way < ways ? first + way : GT_NO_SLOT;
}

/* The links of a list element; 0 is the end of the list. */
static uint32_t *newer_of(struct gt_tags *tags, uint32_t set, uint32_t link)
{
	return link ? &tags->links[link - 1].newer : &tags->ends[set].older;
}

static uint32_t *older_of(struct gt_tags *tags, uint32_t set, uint32_t link)
{
	return link ? &tags->links[link - 1].older : &tags->ends[set].newer;
}

static void unlink_slot(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	struct gt_links link = tags->links[slot];

	*older_of(tags, set, link.newer) = link.older;
	*newer_of(tags, set, link.older) = link.newer;
}

static void link_first(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t second = tags->ends[set].newer;

	tags->links[slot] = (struct gt_links){.newer = 0, .older = second};
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

void gt_tags_fill(struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t line)
{
	uint64_t old = tags->tag[slot];

	if (tags->geometry->recency != GT_RECENCY_NIBBLES) {
		if (old != 0)
			finder_remove(&tags->finder, old - 1, slot);
		finder_add(&tags->finder, line, slot);
	}
	if (tags->geometry->recency == GT_RECENCY_LIST && old == 0)
		link_first(tags, set, slot);
	else
		gt_tags_touch(tags, set, slot);
	if (tags->rank)
		tags->rank[slot] = GT_RANK_NORMAL;
	tags->tag[slot] = line + 1;
	tags->valid[slot] = tags->dirty[slot] = 0;
}

/* Moves a way from one of the first n positions to the last of them. */
static void move_behind(struct gt_tags *tags, uint32_t set, uint32_t n, uint32_t way)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set);

	if (geometry->recency == GT_RECENCY_BYTES) {
		gt_bytes_touch(tags->bytes + first, gt_ways_of(geometry, set), way);
		memmove(tags->bytes + first, tags->bytes + first + 1, n - 1);
		tags->bytes[first + n - 1] = (uint8_t)way;
		return;
	}
	uint64_t *word = &tags->nibbles[set];
	gt_nibbles_touch(word, way);
	for (unsigned bit = 0; bit < 4 * (n - 1); bit += 4) {
		uint64_t swapped = (*word >> bit ^ *word >> bit >> 4) & 15;
		*word ^= swapped << bit | swapped << bit << 4;
	}
}

void gt_tags_demote(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set), valid = 0;

	if (geometry->recency == GT_RECENCY_LIST) {
		uint32_t last;
		unlink_slot(tags, set, slot);
		last = tags->ends[set].older;
		tags->links[slot] = (struct gt_links){.newer = last, .older = 0};
		*older_of(tags, set, last) = slot + 1;
		tags->ends[set].older = slot + 1;
		return;
	}
	for (uint32_t way = 0; way < ways; way++)
		valid += tags->tag[first + way] != 0;
	move_behind(tags, set, valid, slot - first);
}

void gt_tags_drop(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set);
	uint32_t way = slot - first;

	if (geometry->recency == GT_RECENCY_LIST)
		unlink_slot(tags, set, slot);
	else
		move_behind(tags, set, ways, way);
	if (geometry->recency != GT_RECENCY_NIBBLES)
		finder_remove(&tags->finder, tags->tag[slot] - 1, slot);
	tags->tag[slot] = 0;
	if (way < tags->vacancy[set])
		tags->vacancy[set] = way;
}

uint32_t gt_tags_oldest(const struct gt_tags *tags, uint32_t set)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set);

	if (geometry->recency == GT_RECENCY_NIBBLES)
		return first + (uint32_t)(tags->nibbles[set] >> 4 * (ways - 1) & 15);
	if (geometry->recency == GT_RECENCY_BYTES)
		return first + tags->bytes[first + ways - 1];
	return tags->ends[set].older - 1;
}

uint32_t gt_tags_by_recency(const struct gt_tags *tags, uint32_t set, uint32_t *slots)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set), n = 0;

	if (geometry->recency == GT_RECENCY_LIST) {
		for (uint32_t at = tags->ends[set].newer; at != 0; at = tags->links[at - 1].older)
			slots[n++] = at - 1;
		return n;
	}
	for (; n < ways; n++) {
		uint32_t way = geometry->recency == GT_RECENCY_NIBBLES
				       ? (uint32_t)(tags->nibbles[set] >> 4 * n & 15)
				       : tags->bytes[first + n];
		if (tags->tag[first + way] == 0)
			break;
		slots[n] = first + way;
	}
	return n;
}
