/* SPDX-License-Identifier: MIT */
/* Serves a batch by the loop that most requests of most models take: reads of the usual lines, in sets of equal size. What it
 * finds is what cache/serve.c does, which serves the rest. The loop is compiled for each shape of level.
 *
 * Many small caches together exceed the machine's own cache, so their state is prefetched for some requests at a time. */
#include "base/wide.h"
#include "cache/leaders.h"
#include "cache/serve.h"
#include "cache/served.h"
#include "stream/op.h"

/* The variant of the loop: constants at each call of serve_reads, so that each variant is compiled separately. */
struct shape {
	enum gt_recency recency;
	bool lru;  /* the policy, which records nothing else for a hit */
	bool four; /* ways */
	bool mod;  /* the index is mod, of a power of two */
};

#define INLINE static inline __attribute__((always_inline))
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

INLINE uint32_t ways_of(const struct gt_level *level, struct shape shape)
{
	return shape.four ? 4 : level->geometry.ways;
}

INLINE struct place find_place(const struct gt_level *level, struct gt_tags *tags, uint64_t line, struct shape shape)
{
	struct place place = {.tags = tags};

	if (shape.recency != GT_RECENCY_NIBBLES) {
		place.chain = gt_finder_chain(&tags->finder, line);
		__builtin_prefetch(place.chain);
		return place;
	}
	place.set = shape.mod ? (uint32_t)line & level->set_mask : gt_level_set_of(level, line);
	size_t ways = ways_of(level, shape), first = place.set * ways;
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
INLINE void follow(const struct place *place, struct shape shape)
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
INLINE struct found find_in_set(const struct gt_level *level, const struct place *place, uint64_t line, struct shape shape)
{
	const struct gt_tags *tags = place->tags;
	uint32_t ways = ways_of(level, shape), first = place->set * ways;
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
INLINE struct found find(const struct gt_level *level, const struct place *place, uint64_t line, struct shape shape)
{
	const struct gt_tags *tags = place->tags;
	struct found found = {.tags = place->tags, .line = line};

	if (shape.recency == GT_RECENCY_NIBBLES)
		return find_in_set(level, place, line, shape);
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
INLINE void use(struct gt_level *level, const struct found *found, uint32_t hits, uint32_t used, struct shape shape)
{
	struct gt_tags *tags = found->tags;
	uint32_t first = found->set * ways_of(level, shape);
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
INLINE void prepare_next(const struct gt_level *level, const struct found *found, uint32_t oldest, struct shape shape)
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

/* Whether a line has to be written back. Only levels that write back have such lines; others need not look. */
INLINE bool is_dirty(const struct gt_level *level, const struct gt_tags *tags, uint32_t slot)
{
	return level->config.write == GT_WRITE_BACK && tags->dirty[slot] != 0;
}

/* Under LRU, a set of few ways that is full, as most are: replaces its oldest line. Valid ways precede the others, so the
 * oldest way tells whether the set is full. Returns false, having changed nothing, if it is not, or if the line is dirty. */
INLINE bool replace_oldest(struct gt_level *level, struct found *found, struct shape shape)
{
	struct gt_tags *tags = found->tags;
	uint32_t ways = ways_of(level, shape), way = (uint32_t)(tags->nibbles[found->set] >> 4 * (ways - 1)) & 15;
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
INLINE bool claim(struct gt_level *level, struct found *found, struct shape shape)
{
	struct gt_tags *tags = found->tags;

	if (tags->rank)
		return false;
	if (shape.recency == GT_RECENCY_NIBBLES && replace_oldest(level, found, shape))
		return true;
	bool full = tags->vacancy[found->set] >= ways_of(level, shape);
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
INLINE bool read_line(struct gt_level *level, struct found *found, uint32_t used, size_t row, struct gt_served *served,
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
INLINE int serve_some(struct gt_serving *serving, const struct gt_rows *rows, const uint16_t *sm, const uint32_t *row,
		      size_t n, struct gt_served *served, struct shape shape)
{
	struct gt_level *level = serving->level;
	struct place places[AT_ONCE];

	for (size_t k = 0; k < n; k++) {
		struct gt_tags *tags = gt_level_instance(level, sm ? sm[row[k]] : 0, serving->error);
		if (!tags)
			return -1;
		places[k] = find_place(level, tags, rows->address[row[k]] / GT_LINE, shape);
	}
	for (size_t k = 0; shape.recency != GT_RECENCY_NIBBLES && k < n; k++)
		follow(&places[k], shape);
	for (size_t k = 0; k < n; k++) {
		size_t i = row[k];
		if (level->class_of[rows->op[i]] == GT_CLASS_READ) {
			struct found found = find(level, &places[k], rows->address[i] / GT_LINE, shape);
			if (read_line(level, &found, rows->sectors[i] & 15, i, served, shape))
				continue;
		}
		if (gt_served_send(served, level, rows, serving->sent, serving->error) != 0 ||
		    gt_level_serve_row(serving, places[k].tags, rows, i) != 0)
			return -1;
		if (served->list && gt_row_list_note(served->list, &row[k], 0, serving->sent->rows->n, serving->error) != 0)
			return -1;
	}
	return 0;
}

/* Some successive requests that are served, and the sectors of those between them that repeat them. */
struct some {
	const uint32_t *row;
	size_t n;
	uint64_t repeated;
};

/* Those of rows [first, first + n) of a batch, or of a list of rows. */
INLINE struct some find_some(const struct gt_level *level, const struct gt_rows *rows, const struct gt_row_list *list,
			     size_t first, size_t n, struct gt_leaders *leaders)
{
	if (list)
		return (struct some){list->row + first, n, first == 0 ? list->repeated : 0};
	const uint16_t *sm = level->config.shared || !rows->scheduled ? NULL : rows->sm;
	gt_leaders_find(leaders, rows, sm, first, n, level->repeats_hit);
	return (struct some){leaders->row, leaders->n, leaders->repeated};
}

INLINE int serve_reads(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
		       struct gt_error *error, struct shape shape)
{
	const uint16_t *sm = level->config.shared || !rows->scheduled ? NULL : rows->sm;
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};
	struct gt_served served = {.list = list};
	struct gt_leaders leaders;
	size_t all = list ? list->n : rows->n;

	for (size_t first = 0, n; first < all; first += n) {
		n = all - first < GT_LEADERS_ROWS ? all - first : GT_LEADERS_ROWS;
		struct some some = find_some(level, rows, list, first, n, &leaders);
		served.hits += some.repeated;
		if (shape.lru && shape.recency != GT_RECENCY_LIST)
			level->counters.mru[0] += some.repeated;
		for (size_t k = 0; k < some.n; k += AT_ONCE)
			if (serve_some(&serving, rows, sm, some.row + k, some.n - k < AT_ONCE ? some.n - k : AT_ONCE, &served,
				       shape) != 0)
				return -1;
		if (gt_served_send(&served, level, rows, sent, error) != 0)
			return -1;
	}
	level->counters.reads += served.hits;
	level->counters.read_hits += served.hits;
	return 0;
}

#define VARIANT(NAME, RECENCY, LRU, FOUR, MOD)                                                                 \
	GT_WIDE static int NAME(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list,   \
				struct gt_sink *sent, struct gt_error *error)                                   \
	{                                                                                                       \
		return serve_reads(level, rows, list, sent, error, (struct shape){RECENCY, LRU, FOUR, MOD});    \
	}
VARIANT(four_mod, GT_RECENCY_NIBBLES, true, true, true)
VARIANT(four_lru, GT_RECENCY_NIBBLES, true, true, false)
VARIANT(few_lru, GT_RECENCY_NIBBLES, true, false, false)
VARIANT(few_other, GT_RECENCY_NIBBLES, false, false, false)
VARIANT(many_lru, GT_RECENCY_BYTES, true, false, false)
VARIANT(many_other, GT_RECENCY_BYTES, false, false, false)
VARIANT(most_lru, GT_RECENCY_LIST, true, false, false)
VARIANT(most_other, GT_RECENCY_LIST, false, false, false)

bool gt_level_reads(const struct gt_level *level)
{
	return level->usual && level->geometry.ways > 0 && !level->future && !level->config.halves;
}

static int serve(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
		 struct gt_error *error)
{
	bool lru = level->config.replacement.policy == &gt_policy_lru, four = level->geometry.ways == 4;

	switch (level->geometry.recency) {
	case GT_RECENCY_LIST: return (lru ? most_lru : most_other)(level, rows, list, sent, error);
	case GT_RECENCY_BYTES: return (lru ? many_lru : many_other)(level, rows, list, sent, error);
	case GT_RECENCY_NIBBLES: break;
	}
	if (lru && four)
		return (level->set_mask ? four_mod : four_lru)(level, rows, list, sent, error);
	return (lru ? few_lru : few_other)(level, rows, list, sent, error);
}

int gt_level_serve_reads(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	return serve(level, rows, NULL, sent, error);
}

int gt_level_serve_list(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
			struct gt_error *error)
{
	level->counters.requests += list->requests;
	if (gt_sink_begin(sent, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	return serve(level, rows, list, sent, error);
}
