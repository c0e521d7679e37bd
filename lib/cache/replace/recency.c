/* SPDX-License-Identifier: MIT */
/* The order of the lines of a set by their last use, in each of the forms of enum gt_recency. */
#include "cache/replace/tags.h"

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

void gt_recency_add(struct gt_tags *tags, uint32_t set, uint32_t *slot)
{
	if (tags->geometry->recency == GT_RECENCY_LIST && tags->tag[*slot] == 0)
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
	gt_ways_put_words(tags->dirty + first, ways, way, tags->dirty[slot]);
	gt_ways_put_states(tags->state + first, ways, way, tags->state[slot]);
	gt_ways_put_words(tags->tag + first, ways, way, tags->tag[slot]);
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
		tags->links[slot] = (struct gt_links){.newer = last, .older = 0};
		*older_of(tags, set, last) = slot + 1;
		tags->ends[set].older = slot + 1;
		return slot;
	}
	for (uint32_t way = 0; way < ways; way++)
		valid += tags->tag[first + way] != 0;
	return move_behind(tags, set, valid, slot - first);
}

uint32_t gt_recency_remove(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (geometry->recency != GT_RECENCY_LIST)
		return move_behind(tags, set, gt_ways_of(geometry, set), slot - gt_first_slot(geometry, set));
	unlink_slot(tags, set, slot);
	return slot;
}

uint32_t gt_tags_oldest(const struct gt_tags *tags, uint32_t set)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), ways = gt_ways_of(geometry, set);

	if (geometry->recency == GT_RECENCY_WAYS)
		return first + ways - 1;
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
		uint32_t way = geometry->recency == GT_RECENCY_WAYS      ? n
			       : geometry->recency == GT_RECENCY_NIBBLES ? (uint32_t)(tags->nibbles[set] >> 4 * n & 15)
									 : tags->bytes[first + n];
		if (tags->tag[first + way] == 0)
			break;
		slots[n] = first + way;
	}
	return n;
}
