/* SPDX-License-Identifier: MIT */
/* Serves reads in a level whose lines have fixed slots. The loop is compiled for each shape of level.
 *
 * Many small caches together exceed the machine's own cache, so their state is prefetched for some requests at a time. */
#include "base/wide.h"
#include "cache/fast/fast.h"

/* The variant of the loop: constants at each call of serve_some, so that each variant is compiled separately. */
struct shape {
	enum gt_recency recency;
	bool lru;  /* the policy, which records nothing else for a hit */
};

#define LINE_WORDS 8 /* in a line of the machine's cache: a set of few ways has its words in one or two */
#define AT_ONCE 32 /* requests whose state is prefetched before the first of them is served */

/* Where a request looks its line up. */
struct place {
	struct gt_tags *tags;
	uint32_t *chain; /* of the finder, unless recency is GT_RECENCY_NIBBLES */
	uint32_t set;	 /* else */
};

/* What it found. */
struct found {
	struct gt_tags *tags;
	uint64_t line;
	uint32_t slot, set;
	bool newest; /* of its set, certainly */
};

/* `set` is that of the line; NULL: unknown yet. */
GT_INLINE struct place find_place(const struct gt_level *level, struct gt_tags *tags, uint64_t line, const uint32_t *set,
				  struct shape shape)
{
	struct place place = {.tags = tags};

	if (shape.recency != GT_RECENCY_NIBBLES) {
		place.chain = gt_finder_chain(&tags->finder, line);
		__builtin_prefetch(place.chain);
		return place;
	}
	place.set = set ? *set : gt_level_set_of(level, line);
	size_t ways = level->geometry.ways, first = place.set * ways;
	__builtin_prefetch(&tags->tag[first], 1);
	__builtin_prefetch(&tags->valid[first], 1);
	if (ways > LINE_WORDS) {
		__builtin_prefetch(&tags->tag[first + LINE_WORDS], 1);
		__builtin_prefetch(&tags->valid[first + LINE_WORDS], 1);
	}
	__builtin_prefetch(&tags->nibbles[place.set], 1);
	if (shape.lru)
		__builtin_prefetch(&tags->depth[4 * first], 1);
	return place;
}

/* Prefetches the line to which a chain leads. */
GT_INLINE void follow(const struct place *place, struct shape shape)
{
	const struct gt_tags *tags = place->tags;
	uint32_t slot = *place->chain - 1;

	if (slot == GT_NO_SLOT)
		return;
	__builtin_prefetch(&tags->tag[slot]);
	__builtin_prefetch(&tags->valid[slot]);
	if (shape.recency == GT_RECENCY_LIST)
		__builtin_prefetch(&tags->links[slot], 1);
	else if (shape.lru)
		__builtin_prefetch(&tags->depth[4 * (size_t)slot], 1);
}

/* Finds a line in its set, the most recent way of which is tried first. */
GT_INLINE struct found find_in_set(const struct gt_level *level, const struct place *place, uint64_t line)
{
	const struct gt_tags *tags = place->tags;
	uint32_t ways = level->geometry.ways, first = place->set * ways;
	struct found found = {.tags = place->tags, .line = line, .set = place->set};

	found.slot = first + (uint32_t)(tags->nibbles[place->set] & 15);
	found.newest = tags->tag[found.slot] == line + 1;
	if (found.newest)
		return found;
	uint32_t match = gt_tags_match(tags->tag + first, ways, line);
	found.slot = match ? first + (uint32_t)__builtin_ctz(match) : GT_NO_SLOT;
	return found;
}

/* Finds a line; slot is GT_NO_SLOT if it is absent. */
GT_INLINE struct found find(const struct gt_level *level, const struct place *place, uint64_t line, struct shape shape)
{
	const struct gt_tags *tags = place->tags;
	struct found found = {.tags = place->tags, .line = line};

	if (shape.recency == GT_RECENCY_NIBBLES)
		return find_in_set(level, place, line);
	uint32_t at = *place->chain;
	while (at != 0 && tags->tag[at - 1] != line + 1)
		at = tags->finder.next[at - 1];
	found.slot = at - 1;
	if (found.slot == GT_NO_SLOT)
		found.set = gt_level_set_of(level, line);
	else if (shape.recency == GT_RECENCY_BYTES)
		found.set = (uint32_t)(found.slot * level->ways_inverse >> GT_INVERSE_SHIFT);
	else
		found.set = found.slot / level->geometry.ways;
	return found;
}

/* Records the use of sectors of a line, of which `hits` are valid. */
GT_INLINE void use(struct gt_level *level, const struct found *found, uint32_t hits, uint32_t used, struct shape shape)
{
	struct gt_tags *tags = found->tags;
	uint32_t first = found->set * level->geometry.ways;
	unsigned position = 0;

	if (shape.recency == GT_RECENCY_NIBBLES && !found->newest)
		position = gt_nibbles_touch(&tags->nibbles[found->set], found->slot - first);
	else if (shape.recency == GT_RECENCY_BYTES)
		position = gt_bytes_touch(tags->bytes + first, level->geometry.ways, found->slot - first);
	else if (shape.recency == GT_RECENCY_LIST)
		gt_tags_relink(tags, found->set, found->slot);
	if (shape.lru && shape.recency != GT_RECENCY_LIST)
		gt_note_depths_4(tags, found->slot, position, hits, used, level->counters.mru);
	else if (!shape.lru && level->config.replacement.policy->hit)
		level->config.replacement.policy->hit(tags, found->set, found->slot);
}

/* Prefetches what it takes to evict the lines that follow the oldest of a set, which is leaving. */
GT_INLINE void prepare_next(const struct gt_level *level, const struct found *found, uint32_t oldest, struct shape shape)
{
	const struct gt_tags *tags = found->tags;
	uint32_t ways = level->geometry.ways, first = found->set * ways;
	uint32_t next, after; /* slots + 1 */

	if (shape.recency == GT_RECENCY_BYTES) {
		next = first + tags->bytes[first + ways - 2] + 1;
		after = first + tags->bytes[first + ways - 3] + 1;
	} else {
		next = tags->links[oldest].newer;
		after = next ? tags->links[next - 1].newer : 0;
	}
	if (after == 0)
		return;
	__builtin_prefetch(gt_finder_chain(&tags->finder, tags->tag[next - 1] - 1), 1);
	__builtin_prefetch(&tags->tag[after - 1], 1);
	if (shape.recency == GT_RECENCY_LIST)
		__builtin_prefetch(&tags->links[after - 1], 1);
	if (level->config.write == GT_WRITE_BACK || shape.recency == GT_RECENCY_LIST)
		__builtin_prefetch(&tags->dirty[after - 1], 1);
}

/* Whether a line has to be written back, or holds what partial stores wrote. Only levels that write back have the former; others
 * need not look. */
GT_INLINE bool is_dirty(const struct gt_level *level, const struct gt_tags *tags, uint32_t slot)
{
	return (level->config.write == GT_WRITE_BACK && tags->dirty[slot] != 0) || (tags->held && tags->held[slot] != 0);
}

/* Under LRU, a set of few ways that is full, as most are: replaces its oldest line. Valid ways precede the others, so the
 * oldest way tells whether the set is full. Returns false, having changed nothing, if it is not, or if the line is dirty. */
GT_INLINE bool replace_oldest(struct gt_level *level, struct found *found)
{
	struct gt_tags *tags = found->tags;
	uint32_t ways = level->geometry.ways, way = (uint32_t)(tags->nibbles[found->set] >> 4 * (ways - 1)) & 15;
	uint32_t slot = found->set * ways + way;

	if (tags->tag[slot] == 0 || is_dirty(level, tags, slot))
		return false;
	gt_nibbles_touch(&tags->nibbles[found->set], way);
	tags->tag[slot] = found->line + 1;
	tags->valid[slot] = 0;
	level->counters.evictions++;
	found->slot = slot;
	return true;
}

/* Under LRU, takes a slot for a line that is absent. Returns false, having changed nothing, if the victim has to be written
 * back, or if lines have ranks. */
GT_INLINE bool claim(struct gt_level *level, struct found *found, struct shape shape)
{
	struct gt_tags *tags = found->tags;

	if (tags->rank)
		return false;
	if (shape.recency == GT_RECENCY_NIBBLES && replace_oldest(level, found))
		return true;
	bool full = tags->vacancy[found->set] >= level->geometry.ways;
	uint32_t slot = full ? GT_NO_SLOT : gt_tags_vacant(tags, found->set);
	if (slot == GT_NO_SLOT) {
		slot = gt_tags_oldest(tags, found->set);
		if (is_dirty(level, tags, slot))
			return false;
		level->counters.evictions++;
		if (shape.recency != GT_RECENCY_NIBBLES)
			prepare_next(level, found, slot, shape);
	}
	gt_tags_fill(tags, found->set, slot, found->line);
	found->slot = slot;
	return true;
}

/* Serves a read. Returns false, having changed nothing, if it is for serve.c. */
GT_INLINE bool read_line(struct gt_level *level, struct found *found, uint32_t used, size_t row, struct gt_served *served,
			 struct shape shape)
{
	struct gt_tags *tags = found->tags;
	bool present = found->slot != GT_NO_SLOT;
	uint32_t missing = present ? used & ~(uint32_t)tags->valid[found->slot] : used;

	if (missing == 0) {
		if (found->newest && shape.lru)
			gt_note_newest_4(tags, found->slot, used, level->counters.mru);
		else
			use(level, found, used, used, shape);
		served->hits += gt_bits_of_4[used];
		return true;
	}
	if (!shape.lru || (!present && !claim(level, found, shape)))
		return false;
	if (present)
		use(level, found, used & ~missing, used, shape);
	*(present ? &level->counters.sector_misses : &level->counters.line_misses) += gt_bits_of_4[missing];
	level->counters.reads += gt_bits_of_4[missing];
	served->hits += gt_bits_of_4[used & ~missing];
	uint32_t brought = level->fetch_sectors == 1
				   ? missing
				   : (uint32_t)gt_level_groups(level, missing) & ~(uint32_t)tags->valid[found->slot];
	level->fetch.neighbours += gt_bits_of_4[brought & ~missing];
	tags->valid[found->slot] |= brought;
	if (shape.recency != GT_RECENCY_LIST)
		gt_clear_depths_4(tags, found->slot, brought);
	gt_served_add(served, row, brought);
	return true;
}

/* Serves n requests, at most AT_ONCE. */
GT_INLINE int serve_at_once(struct gt_reading *reads, const uint32_t *row, size_t n, struct shape shape)
{
	struct gt_level *level = reads->serving.level;
	const struct gt_rows *rows = reads->rows;
	const struct gt_row_list *list = reads->served.list;
	const uint32_t *set = list && list->set ? list->set + (row - list->row) : NULL;
	struct place places[AT_ONCE];

	for (size_t k = 0; k < n; k++) {
		struct gt_tags *tags = gt_reads_instance(reads, row[k]);
		if (!tags)
			return -1;
		places[k] = find_place(level, tags, rows->address[row[k]] / GT_LINE, set ? set + k : NULL, shape);
	}
	for (size_t k = 0; shape.recency != GT_RECENCY_NIBBLES && k < n; k++)
		follow(&places[k], shape);
	for (size_t k = 0; k < n; k++) {
		if (gt_reads_is_read(reads, row[k])) {
			struct found found = find(level, &places[k], rows->address[row[k]] / GT_LINE, shape);
			if (read_line(level, &found, rows->sectors[row[k]] & 15, row[k], &reads->served, shape))
				continue;
		}
		if (gt_reads_serve_other(reads, &row[k]) != 0)
			return -1;
	}
	return 0;
}

GT_INLINE int serve_some(struct gt_reading *reads, const uint32_t *row, size_t n, struct shape shape)
{
	for (size_t k = 0; k < n; k += AT_ONCE)
		if (serve_at_once(reads, row + k, n - k < AT_ONCE ? n - k : AT_ONCE, shape) != 0)
			return -1;
	return 0;
}

#define VARIANT(NAME, RECENCY, LRU)                                                               \
	GT_WIDE static int NAME(struct gt_reading *reads, const uint32_t *row, size_t n)             \
	{                                                                                          \
		return serve_some(reads, row, n, (struct shape){RECENCY, LRU});                    \
	}
VARIANT(few_lru, GT_RECENCY_NIBBLES, true)
VARIANT(few_other, GT_RECENCY_NIBBLES, false)
VARIANT(many_lru, GT_RECENCY_BYTES, true)
VARIANT(many_other, GT_RECENCY_BYTES, false)
VARIANT(most_lru, GT_RECENCY_LIST, true)
VARIANT(most_other, GT_RECENCY_LIST, false)

gt_serve_some *gt_reads_in_slots(const struct gt_level *level)
{
	bool lru = level->config.replacement.policy == &gt_policy_lru;

	switch (level->geometry.recency) {
	case GT_RECENCY_LIST: return lru ? most_lru : most_other;
	case GT_RECENCY_BYTES: return lru ? many_lru : many_other;
	default: return lru ? few_lru : few_other;
	}
}
