/* SPDX-License-Identifier: MIT */
/* The state of one cache instance: the lines of each set, their valid and dirty sectors, and their recency. Policies are
 * elsewhere.
 *
 * A slot is a way of a set, numbered through the cache: the set's first slot plus the way. */
#ifndef GT_REPLACE_TAGS_H
#define GT_REPLACE_TAGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/pages.h"
#include "base/wide.h"
#include "stream/request.h"

/* ---- sets of few ways that stand in the order of their last use, the most recent first (GT_RECENCY_WAYS) ----
 *
 * A line that is used moves to the first way, and those before it move up by one. No other order is kept, and the victim is the last way.
 * The lines have four sectors. All is done without a branch on where a line is, in vectors of 16 bytes, which all machines have. */

#define GT_WAYS_SLACK 3 /* elements behind the last set that a vector may reach */

typedef uint64_t gt_two_words __attribute__((vector_size(16)));
typedef uint32_t gt_four_words __attribute__((vector_size(16)));
typedef int32_t gt_four_ranks __attribute__((vector_size(16)));
typedef uint8_t gt_sixteen_bytes __attribute__((vector_size(16)));
typedef int8_t gt_sixteen_places __attribute__((vector_size(16)));

/* A byte of ones for each bit of a mask of four sectors. */
static const uint32_t gt_bytes_of_4[16] = {
	0,	    0xff,	0xff00,	    0xffff,	0xff0000,   0xff00ff,	0xffff00,   0xffffff,
	0xff000000, 0xff0000ff, 0xff00ff00, 0xff00ffff, 0xffff0000, 0xffff00ff, 0xffffff00, 0xffffffff,
};

/* The state of a line: of each sector a byte, its depth (gt_tags.first_depth), or that it is invalid, in which case it may hold what
 * partial stores have written (gt_tags.held). */
#define GT_SECTOR_INVALID 255U
#define GT_SECTOR_HELD 254U
#define GT_STATE_INVALID UINT32_MAX

/* The sectors of these bytes that are invalid. */
static inline uint32_t gt_state_invalid(uint32_t state)
{
	return (state >> 7 & 0x01010101) * 0x10204080U >> 28; /* the product collects the four bits at the top */
}

/* Those of them that hold something. */
static inline uint32_t gt_state_held(uint32_t state)
{
	return (state >> 7 & ~state & 0x01010101) * 0x10204080U >> 28;
}

/* The state after sectors that are invalid were written in part. */
static inline uint32_t gt_state_hold(uint32_t state, uint32_t sectors)
{
	return state & ~(gt_bytes_of_4[sectors] & (GT_SECTOR_INVALID - GT_SECTOR_HELD) * 0x01010101U);
}

/* The state after the line was used at a position, which is at least the depth of its sectors then. */
static inline uint32_t gt_state_deepen(uint32_t state, uint32_t position)
{
	gt_sixteen_bytes bytes = (gt_sixteen_bytes)(gt_four_words){state};
	gt_sixteen_bytes at = (gt_sixteen_bytes)(gt_four_words){position * 0x01010101U};
	gt_sixteen_bytes deeper = (gt_sixteen_bytes)(bytes > at);
	return ((gt_four_words)((bytes & deeper) | (at & ~deeper)))[0];
}

/* Lanes of a word stay if they are behind the way; the others take the word before them, the first one `first`. */
static inline void gt_ways_put_words(uint64_t *words, uint32_t ways, uint32_t way, uint64_t first)
{
	gt_two_words before = {first, first};
	gt_four_ranks lane = {0, 0, 1, 1}, last = {0};

	last += (int32_t)way;
	for (uint32_t i = 0; i < ways; i += 2, lane += 2) {
		gt_two_words here, stays = (gt_two_words)(lane > last);
		memcpy(&here, words + i, sizeof here);
		gt_two_words moved = __builtin_shufflevector(before, here, 1, 2);
		before = here;
		here = (here & stays) | (moved & ~stays);
		memcpy(words + i, &here, sizeof here);
	}
}

/* The same for states. */
static inline void gt_ways_put_states(uint32_t *states, uint32_t ways, uint32_t way, uint32_t first)
{
	gt_four_words before = {first, first, first, first};
	gt_four_ranks lane = {0, 1, 2, 3}, last = {0};

	last += (int32_t)way;
	for (uint32_t i = 0; i < ways; i += 4, lane += 4) {
		gt_four_words here, stays = (gt_four_words)(lane > last);
		memcpy(&here, states + i, sizeof here);
		gt_four_words moved = __builtin_shufflevector(before, here, 3, 4, 5, 6);
		before = here;
		here = (here & stays) | (moved & ~stays);
		memcpy(states + i, &here, sizeof here);
	}
}

/* ---- finding a line ---- */

/* Finds lines in a cache of many ways without a scan of the set: a chained hash from line numbers to slots. Each slot is in
 * at most one chain. */
struct gt_finder {
	uint32_t *heads; /* slot + 1 that begins each chain, 0 for none; gt_slot_next leads on */
	unsigned shift;	 /* 64 - log2(chains) */
};

static inline uint32_t *gt_finder_chain(const struct gt_finder *finder, uint64_t line)
{
	return &finder->heads[gt_fibonacci(line) >> finder->shift];
}

/* ---- the lines, their sectors and their recency ---- */

#define GT_ORDERED_WAYS 8 /* sets this small may stand in the order of recency themselves */
#define GT_NIBBLE_WAYS 16 /* sets this small keep their recency in one word */
#define GT_BYTE_WAYS 256  /* sets this small keep it in an array of bytes, larger ones in a list */
#define GT_ORDER_NEAR 32  /* of these bytes, the first: see gt_bytes_touch */
#define GT_RECORD_SPREAD 2 /* log2 of the words of a slot's record: half a line of the machine's cache */

#define GT_NO_SLOT UINT32_MAX

enum gt_recency { GT_RECENCY_WAYS, GT_RECENCY_NIBBLES, GT_RECENCY_BYTES, GT_RECENCY_LIST };

struct gt_geometry {
	uint32_t sets;
	uint32_t slots;	    /* of all sets */
	uint32_t ways;	    /* of every set; 0 if they differ */
	uint32_t *first;    /* sets + 1 slots, if they differ; owned */
	uint32_t most_ways; /* of the largest set */
	unsigned sectors;   /* of a line */
	enum gt_recency recency;
	bool depths; /* keep them: see gt_tags.first_depth */
	struct gt_arena *arena; /* that the caches' memory is in, of which no other thread takes any; NULL: each has its own */
};

struct gt_links {
	uint32_t newer, older; /* slot + 1, or 0 */
};

/* Of the list of a set. */
struct gt_list_ends {
	uint32_t newer, older; /* the most, and the least recent slot + 1, or 0 */
	uint32_t tail_n, tail_newest; /* of gt_policy_tail: the slots that it knows at the list's end, and the newest of them + 1, or 0 */
};

/* The order of eviction: lines of a lower rank before the others. */
enum gt_rank { GT_RANK_FIRST, GT_RANK_NORMAL, GT_RANK_LAST };

/* ---- columns ----
 *
 * Lines at even distances that one access loads, and others load after it: so the warps of a block read a column of a matrix. If all are
 * there, those of a set mostly still follow each other in its order, and loading them again moves them to its front together. */

#define GT_COLUMN_MOST GT_WARP_SIZE
#define GT_COLUMN_SETS 8 /* in more, too few lines of a column are in each set */

/* Where the lines of a column were when all of them were there last. They still are if their tags are. By set, and in each the one that was
 * used last comes first. */
struct gt_line_column {
	uint64_t first, distance; /* lines */
	uint8_t n;		  /* 0: there is none */
	uint8_t of_set[GT_COLUMN_SETS];
	uint8_t number[GT_COLUMN_MOST]; /* of the line in the column */
	uint16_t slot[GT_COLUMN_MOST];
};

struct gt_policy; /* replace/replace.h */

struct gt_tags {
	const struct gt_geometry *geometry;
	/* Of each slot, by gt_slot_tag and the like. If recency is GT_RECENCY_BYTES or GT_RECENCY_LIST they are records, so that a use of a slot
	 * takes one line of the machine's cache; else arrays, of which the machine reads the few ways of a set together. In a list, what is dirty
	 * stands apart. */
	uint64_t *first_tag;   /* line + 1, or 0 if the way is invalid */
	uint64_t *first_valid; /* mask of sectors whose bytes are all valid. NULL if there are states */
	uint64_t *first_dirty; /* mask of sectors written and not yet sent on */
	uint32_t *first_next;  /* slot + 1 that follows in a chain of the finder */
	struct gt_links *first_links; /* of a list, in which only valid slots are */
	uint32_t *first_mark; /* of a list: a word that is the policy's */
	/* Of each sector: the deepest recency position at which its line was touched since the sector's last use. An LRU
	 * cache with the same sets and more ways than that would hold it. */
	uint8_t *first_depth;
	/* log2 of the elements from slot to slot: of tag and valid (0: they are arrays); of dirty; of depth. */
	unsigned spread, dirty_spread, depth_spread;
	/* Of each slot: mask of sectors that hold what partial stores have written and the level has sent on; a load finds them only
	 * if they are valid, too. NULL if there are none yet, or states, which tell it. */
	uint64_t *held;
	uint32_t *state; /* if recency is GT_RECENCY_WAYS, of each slot: which sectors are valid, and their depths; else NULL */
	/* Ways by recency, most recent first; valid ways always precede invalid ones. */
	uint64_t *nibbles;
	uint8_t *bytes;
	struct gt_list_ends *ends;	/* of each set */
	uint32_t *vacancy;	/* of each set: no way below this is invalid */
	uint8_t *used; /* of each set: 1 if it may hold lines, so that launches that use few sets clear few; threads share no byte */
	uint32_t *filled; /* of each set: no way from this on has had a line since the set was empty */
	struct gt_finder finder; /* if recency is GT_RECENCY_BYTES or GT_RECENCY_LIST */
	uint64_t last_line;	 /* that was found by it, and where */
	uint32_t last_slot;
	struct gt_line_column *columns; /* by the address of their first line, of the fast wing; NULL: none yet */
	void *policy;		 /* the replacement policy's own state, zeroed by clear */
	size_t slot_bytes;	 /* of it */
	bool clears_sets;	 /* it uses those of a set's ways that have had no line, too */
	void *tag_block, *state_block; /* what the tags or records, and the states, are in */
	uint8_t *rank;	 /* of each slot: enum gt_rank; NULL: all are normal */
	uint64_t clock;	 /* advanced by the policy */
	uint64_t random; /* the policy's generator */
	/* If the policy looks ahead: the next uses of the current request's lines, line L's at L & next_mask. */
	const uint64_t *next_use;
	uint64_t next_mask;
};

/* If `ordered` the ways of equal small sets stand in the order of recency, so that a line changes its slot when it is used. Its
 * sectors are four, their depths are kept, and a sector that is dirty is valid. */
int gt_geometry_open(struct gt_geometry *geometry, const uint32_t *ways, uint32_t sets, unsigned sectors,
		     bool depths, bool ordered, struct gt_error *error);
void gt_geometry_close(struct gt_geometry *geometry);

/* An empty cache; geometry must outlive it. A policy may be NULL. Memory is taken of what is used. Freed by close also after a failure. */
int gt_tags_open(struct gt_tags *tags, const struct gt_geometry *geometry, const struct gt_policy *policy,
		 uint64_t seed, struct gt_error *error);
void gt_tags_close(struct gt_tags *tags);
/* Makes everything invalid. The generator keeps its state. */
void gt_tags_clear(struct gt_tags *tags);
/* The first set from `set` on that may hold lines, or the number of sets. */
uint32_t gt_tags_used(const struct gt_tags *tags, uint32_t set);

/* The invalid way of lowest index, or GT_NO_SLOT if the set is full. */
uint32_t gt_tags_vacant(struct gt_tags *tags, uint32_t set);
/* Puts a line without sectors into a slot, replacing its line, and makes it the most recent. Returns the slot that it has
 * then. */
uint32_t gt_tags_fill(struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t line);
/* Makes a valid slot invalid. */
void gt_tags_drop(struct gt_tags *tags, uint32_t set, uint32_t slot);
/* Makes sectors of a slot that are not valid hold something. Returns 0, or -1 when memory is short. */
int gt_tags_hold(struct gt_tags *tags, uint32_t slot, uint64_t sectors, struct gt_error *error);
/* Gives a valid slot a rank. Returns 0, or -1 when memory is short. */
int gt_tags_rank(struct gt_tags *tags, uint32_t slot, uint8_t rank, struct gt_error *error);
/* For a full set in which ranks differ: `chosen` if its rank is the lowest of the set, else the least recent slot of the
 * lowest rank. `slots` has room for most_ways. */
uint32_t gt_tags_lowest(const struct gt_tags *tags, uint32_t set, uint32_t chosen, uint32_t *slots);
/* Makes a valid slot the least recent of its set's valid ones. Returns the slot that its line has then. */
uint32_t gt_tags_demote(struct gt_tags *tags, uint32_t set, uint32_t slot);
/* Moves a line of a set whose ways stand in order to the first way. */
void gt_tags_move_first(struct gt_tags *tags, uint32_t first, uint32_t way);
/* The slot at a place in the recency of a set, 0 the most recent; for recencies that are no list. */
uint32_t gt_tags_at(const struct gt_tags *tags, uint32_t set, uint32_t place);
/* The least recent slot of a full set. */
uint32_t gt_tags_oldest(const struct gt_tags *tags, uint32_t set);
/* Lists the valid slots of a set, most recent first, and returns their number; room for most_ways. */
uint32_t gt_tags_by_recency(const struct gt_tags *tags, uint32_t set, uint32_t *slots);
/* The place of a valid slot among these. */
uint32_t gt_tags_position(const struct gt_tags *tags, uint32_t set, uint32_t slot);
/* Makes a valid slot the most recent if recency is a list, which has no positions. */
void gt_tags_relink(struct gt_tags *tags, uint32_t set, uint32_t slot);

static inline uint32_t gt_first_slot(const struct gt_geometry *geometry, uint32_t set)
{
	return geometry->ways ? set * geometry->ways : geometry->first[set];
}

static inline uint32_t gt_ways_of(const struct gt_geometry *geometry, uint32_t set)
{
	return geometry->ways ? geometry->ways : geometry->first[set + 1] - geometry->first[set];
}

static inline uint64_t *gt_slot_tag(const struct gt_tags *tags, uint32_t slot)
{
	return tags->first_tag + ((size_t)slot << tags->spread);
}

static inline uint64_t *gt_slot_valid(const struct gt_tags *tags, uint32_t slot)
{
	return tags->first_valid + ((size_t)slot << tags->spread);
}

static inline uint64_t *gt_slot_dirty(const struct gt_tags *tags, uint32_t slot)
{
	return tags->first_dirty + ((size_t)slot << tags->dirty_spread);
}

static inline uint32_t *gt_slot_next(const struct gt_tags *tags, uint32_t slot)
{
	return tags->first_next + ((size_t)slot << (GT_RECORD_SPREAD + 1));
}

static inline struct gt_links *gt_slot_links(const struct gt_tags *tags, uint32_t slot)
{
	return tags->first_links + ((size_t)slot << GT_RECORD_SPREAD);
}

static inline uint32_t *gt_slot_mark(const struct gt_tags *tags, uint32_t slot)
{
	return tags->first_mark + ((size_t)slot << (GT_RECORD_SPREAD + 1));
}

static inline uint8_t *gt_slot_depth(const struct gt_tags *tags, uint32_t slot)
{
	return tags->first_depth + ((size_t)slot << tags->depth_spread);
}

static inline bool gt_tags_has_records(const struct gt_tags *tags) { return tags->spread > 0; }

/* Prefetches the record of a slot, and what is dirty of it if that stands apart and is looked at. */
GT_INLINE void gt_slot_prefetch(const struct gt_tags *tags, uint32_t slot, bool dirty)
{
	__builtin_prefetch(gt_slot_tag(tags, slot), 1);
	if (dirty)
		__builtin_prefetch(gt_slot_dirty(tags, slot));
}

/* The slot that holds a line, of those in a chain of the finder, or GT_NO_SLOT. */
static inline uint32_t gt_tags_find_in(const struct gt_tags *tags, const uint32_t *chain, uint64_t line)
{
	uint32_t at = *chain;

	while (at != 0 && *gt_slot_tag(tags, at - 1) != line + 1)
		at = *gt_slot_next(tags, at - 1);
	return at - 1; /* 0 becomes GT_NO_SLOT */
}

/* A bit for the way, if any, that holds a line among at most 32, found without a branch. */
static inline uint32_t gt_tags_match(const uint64_t *tag, uint32_t ways, uint64_t line)
{
	uint32_t found = 0;

	for (uint32_t way = 0; way < ways; way++)
		found |= (uint32_t)(tag[way] == line + 1) << way;
	return found;
}

/* The slot that holds a line of this set, or GT_NO_SLOT. */
static inline uint32_t gt_tags_find(struct gt_tags *tags, uint32_t set, uint64_t line)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (geometry->recency <= GT_RECENCY_NIBBLES) {
		uint32_t first = gt_first_slot(geometry, set);
		uint32_t found = gt_tags_match(tags->first_tag + first, gt_ways_of(geometry, set), line);
		return found ? first + (uint32_t)__builtin_ctz(found) : GT_NO_SLOT;
	}
	/* The line that was found last is often looked for again; a slot that has another line now does not match. */
	if (tags->last_line == line && *gt_slot_tag(tags, tags->last_slot) == line + 1)
		return tags->last_slot;
	uint32_t slot = gt_tags_find_in(tags, gt_finder_chain(&tags->finder, line), line);
	if (slot != GT_NO_SLOT) {
		tags->last_line = line;
		tags->last_slot = slot;
	}
	return slot;
}

/* Moves a way to the front of a word of nibbles and returns the position it had. */
GT_INLINE unsigned gt_nibbles_touch(uint64_t *word, uint32_t way)
{
	const uint64_t ones = UINT64_C(0x1111111111111111);
	uint64_t order = *word, apart = order ^ way * ones;
	/* The lowest bit is in the nibble that equals the way; borrows can only affect higher ones. */
	uint64_t zero = (apart - ones) & ~apart & 8 * ones;
	uint64_t moved = zero ^ (zero - 1); /* the nibbles up to that one */

	*word = (order & ~moved) | ((order << 4 | way) & moved);
	return (unsigned)__builtin_ctzll(zero) / 4;
}

/* The same for an array of bytes, by vectors as far as GT_ORDER_NEAR, where most lines that hit stand: at which of these places is hard to
 * foresee for the machine, so nothing branches on it. So many bytes that can be read, less one, follow the order. */
GT_INLINE unsigned gt_bytes_touch(uint8_t *order, uint32_t ways, uint32_t way)
{
	const gt_sixteen_bytes its = (gt_sixteen_bytes){0} + (uint8_t)way;
	const gt_sixteen_places lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, all = {0};
	const gt_sixteen_places end = all + (int8_t)(ways < GT_ORDER_NEAR ? ways : GT_ORDER_NEAR);
	gt_sixteen_bytes near[GT_ORDER_NEAR / 16], before = its;
	gt_sixteen_places found = {0};
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word;

	if (order[0] == way)
		return 0;
	if (order[ways - 1] == way) {
		memmove(order + 1, order, ways - 1);
		order[0] = (uint8_t)way;
		return ways - 1;
	}
	memcpy(&word, order, sizeof word);
	uint64_t apart = word ^ way * ones, zero = (apart - ones) & ~apart & 0x80 * ones; /* as in gt_nibbles_touch */
	if (zero) {
		uint64_t moved = zero ^ (zero - 1);
		word = (word & ~moved) | ((word << 8 | way) & moved);
		memcpy(order, &word, sizeof word);
		return (unsigned)__builtin_ctzll(zero) / 8;
	}
	memcpy(near, order, sizeof near);
	for (int8_t i = 0; i < GT_ORDER_NEAR; i += 16) /* one lane becomes its place */
		found |= (near[i / 16] == its) & (lane + i) & (lane + i < end);
	uint64_t place = ((gt_two_words)found)[0] | ((gt_two_words)found)[1];
	place |= place >> 32;
	place |= place >> 16;
	place = (place | place >> 8) & 255;
	if (place == 0) {
		size_t n = (size_t)((uint8_t *)memchr(order + GT_ORDER_NEAR, (int)way, ways - GT_ORDER_NEAR) - order);
		memmove(order + 1, order, n);
		order[0] = (uint8_t)way;
		return (unsigned)n;
	}
	for (int8_t i = 0; i < GT_ORDER_NEAR; i += 16) {
		const gt_sixteen_bytes here = near[i / 16], stays = (gt_sixteen_bytes)(lane + i > all + (int8_t)place);
		const gt_sixteen_bytes moved = __builtin_shufflevector(before, here, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
		const gt_sixteen_bytes there = (here & stays) | (moved & ~stays);
		memcpy(order + i, &there, sizeof there); /* at once: to read both halves together, the machine would wait for them */
		before = here;
	}
	return (unsigned)place;
}

/* Makes a slot the most recent; its line has `*slot` then. Returns the recency position it had among the valid ways of its
 * set, 0 for the most recent; always 0 if recency is a list. */
static inline unsigned gt_tags_touch(struct gt_tags *tags, uint32_t set, uint32_t *slot)
{
	const struct gt_geometry *geometry = tags->geometry;
	uint32_t first = gt_first_slot(geometry, set), way = *slot - first;

	switch (geometry->recency) {
	case GT_RECENCY_WAYS:
		if (way != 0)
			gt_tags_move_first(tags, first, way);
		*slot = first;
		return way;
	case GT_RECENCY_NIBBLES: return gt_nibbles_touch(&tags->nibbles[set], way);
	case GT_RECENCY_BYTES: return gt_bytes_touch(tags->bytes + first, gt_ways_of(geometry, set), way);
	case GT_RECENCY_LIST: gt_tags_relink(tags, set, *slot); break;
	}
	return 0;
}

/* Prefetches what it takes to evict the lines that follow the oldest of a set, all of which have many ways. `recency` is that of the geometry. */
GT_INLINE void gt_tags_prepare_next(const struct gt_tags *tags, uint32_t set, uint32_t oldest, enum gt_recency recency)
{
	uint32_t next, after; /* slots + 1 */

	if (recency == GT_RECENCY_BYTES) {
		uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
		next = first + tags->bytes[first + ways - 2] + 1;
		after = first + tags->bytes[first + ways - 3] + 1;
	} else {
		next = gt_slot_links(tags, oldest)->newer;
		after = next ? gt_slot_links(tags, next - 1)->newer : 0;
	}
	if (after == 0)
		return;
	__builtin_prefetch(gt_finder_chain(&tags->finder, *gt_slot_tag(tags, next - 1) - 1), 1);
	gt_slot_prefetch(tags, after - 1, recency == GT_RECENCY_LIST);
}

/* The sectors of a slot whose bytes are all valid. */
static inline uint64_t gt_tags_valid(const struct gt_tags *tags, uint32_t slot)
{
	return tags->state ? ~gt_state_invalid(tags->state[slot]) & 15 : *gt_slot_valid(tags, slot);
}

/* The sectors of a slot that hold something for a store: those that are valid, and those that were written in part. */
static inline uint64_t gt_tags_held(const struct gt_tags *tags, uint32_t slot)
{
	uint64_t held = tags->state ? gt_state_held(tags->state[slot]) : tags->held ? tags->held[slot] : 0;

	return held | *gt_slot_dirty(tags, slot) | gt_tags_valid(tags, slot);
}

/* Makes sectors of a slot invalid. */
static inline void gt_tags_invalidate(struct gt_tags *tags, uint32_t slot, uint64_t sectors)
{
	if (tags->state)
		tags->state[slot] |= gt_bytes_of_4[sectors];
	else
		*gt_slot_valid(tags, slot) &= ~sectors;
	if (tags->held)
		tags->held[slot] &= ~sectors;
}

/* ---- how deep sectors were, of lines that have no state: gt_tags.first_depth ---- */

/* Bytes of ones where those of `depth` are at least those of `here`: the lower seven bits are compared without a borrow from the next. */
GT_INLINE uint32_t gt_deeper_4(uint32_t depth, uint32_t here)
{
	const uint32_t tops = 0x80808080;
	uint32_t lower = (depth | tops) - (here & ~tops);

	return (((depth & ~here) | (~(depth ^ here) & lower)) & tops) / 128 * 255;
}

/* Records that a line of four sectors was touched at a recency position: the sectors `used`, of which `hits` were valid, are counted in
 * `mru`. All bytes at once. */
GT_INLINE void gt_note_depths_4(struct gt_tags *tags, uint32_t slot, unsigned position, uint32_t hits,
				    uint32_t used, uint64_t *mru)
{
	uint32_t depth, here = position * 0x01010101U;

	memcpy(&depth, gt_slot_depth(tags, slot), sizeof depth);
	uint32_t deeper = gt_deeper_4(depth, here);
	depth = (depth & deeper) | (here & ~deeper);
	if (((depth ^ here) & gt_bytes_of_4[hits]) == 0)
		mru[position] += gt_bits_of_4[hits];
	else
		for (uint32_t rest = hits; rest; rest &= rest - 1)
			mru[depth >> 8 * (unsigned)__builtin_ctz(rest) & 255]++;
	depth &= ~gt_bytes_of_4[used];
	memcpy(gt_slot_depth(tags, slot), &depth, sizeof depth);
}

/* The same for the most recent line of its set, whose used sectors are all valid: mostly there is nothing to record. */
GT_INLINE void gt_note_newest_4(struct gt_tags *tags, uint32_t slot, uint32_t used, uint64_t *mru)
{
	uint32_t depth;

	memcpy(&depth, gt_slot_depth(tags, slot), sizeof depth);
	if ((depth & gt_bytes_of_4[used]) == 0)
		mru[0] += gt_bits_of_4[used];
	else
		gt_note_depths_4(tags, slot, 0, used, used, mru);
}

/* Records that sectors of a line of four have become valid. */
GT_INLINE void gt_clear_depths_4(struct gt_tags *tags, uint32_t slot, uint32_t sectors)
{
	uint32_t depth;

	memcpy(&depth, gt_slot_depth(tags, slot), sizeof depth);
	depth &= ~gt_bytes_of_4[sectors];
	memcpy(gt_slot_depth(tags, slot), &depth, sizeof depth);
}

/* ---- columns, under LRU, of lines of four sectors in equal sets that keep their order in bytes ---- */

#define GT_COLUMNS 32 /* of an instance, by the address of their first line */

/* The place of the column that begins at a line. NULL when memory is short. */
static inline struct gt_line_column *gt_line_column_of(struct gt_tags *tags, uint64_t first, struct gt_error *error)
{
	if (!tags->columns && !(tags->columns = calloc(GT_COLUMNS, sizeof *tags->columns)))
		gt_fail_memory(error, "a cache's columns");
	return tags->columns ? &tags->columns[gt_fibonacci(first) / (UINT64_MAX / GT_COLUMNS + 1)] : NULL;
}

/* Brings that place into the machine's cache, of whose lines it takes two. */
GT_INLINE void gt_line_column_prefetch_place(const struct gt_line_column *column)
{
	__builtin_prefetch(column);
	__builtin_prefetch((const char *)column + sizeof *column / 2);
}

/* Whether used sectors of all lines of a column are where they were. */
GT_INLINE bool gt_line_column_is_there(const struct gt_line_column *column, const struct gt_tags *tags, uint64_t used)
{
	uint64_t absent = 0;

	for (size_t i = 0; i < column->n; i++) {
		const uint32_t slot = column->slot[i];
		absent |= *gt_slot_tag(tags, slot) ^ (column->first + column->distance * column->number[i] + 1);
		absent |= used & ~*gt_slot_valid(tags, slot);
	}
	return absent == 0;
}

/* Finds where n lines are. Returns false, having changed nothing, if used sectors of some are not there. */
GT_INLINE bool gt_line_column_find(struct gt_line_column *column, const struct gt_tags *tags, uint64_t first, uint64_t distance, size_t n,
				   uint64_t used)
{
	const uint32_t ways = tags->geometry->ways, sets = tags->geometry->sets;
	uint32_t slot[GT_COLUMN_MOST];
	uint8_t set[GT_COLUMN_MOST], from[GT_COLUMN_SETS + 1] = {0};

	for (size_t k = 0; k < n; k++) {
		const uint64_t line = first + k * distance;
		slot[k] = gt_tags_find_in(tags, gt_finder_chain(&tags->finder, line), line);
		if (slot[k] == GT_NO_SLOT || used & ~*gt_slot_valid(tags, slot[k]))
			return false;
		set[k] = (uint8_t)(slot[k] / ways);
		from[set[k] + 1]++;
	}
	*column = (struct gt_line_column){.first = first, .distance = distance, .n = (uint8_t)n};
	memcpy(column->of_set, from + 1, sets);
	for (uint32_t s = 1; s < sets; s++)
		from[s] = (uint8_t)(from[s] + from[s - 1]);
	for (size_t k = n; k-- > 0; from[set[k]]++) {
		column->slot[from[set[k]]] = (uint16_t)slot[k];
		column->number[from[set[k]]] = (uint8_t)k;
	}
	return true;
}

/* gt_note_depths_4 of m slots, at most GT_COLUMN_MOST, whose used sectors are all valid. */
GT_INLINE void gt_note_depths_of(struct gt_tags *tags, const uint16_t *slot, size_t m, unsigned position, uint32_t used, uint64_t *mru)
{
	const uint32_t here = position * 0x01010101U, bytes = gt_bytes_of_4[used];
	uint32_t depth[GT_COLUMN_MOST] = {0}, beyond = 0;

	for (size_t i = 0; i < m; i++)
		memcpy(&depth[i], gt_slot_depth(tags, slot[i]), sizeof depth[i]);
	for (size_t i = 0; i < (m + 7) / 8 * 8; i++) {
		uint32_t deeper = gt_deeper_4(depth[i], here);
		beyond |= deeper & (depth[i] ^ here) & bytes;
		depth[i] = ((depth[i] & deeper) | (here & ~deeper)) & ~bytes;
	}
	for (size_t i = 0; i < m; i++)
		if (beyond)
			gt_note_depths_4(tags, slot[i], position, used, used, mru);
		else
			memcpy(gt_slot_depth(tags, slot[i]), &depth[i], sizeof depth[i]);
	mru[position] += beyond ? 0 : m * gt_bits_of_4[used];
}

/* Uses sectors, all valid, of m slots of a set, the last of them first. */
GT_INLINE void gt_tags_use_slots(struct gt_tags *tags, uint32_t set, const uint16_t *slot, size_t m, uint32_t used, uint64_t *mru)
{
	const uint32_t ways = tags->geometry->ways, first = set * ways;
	uint8_t *order = tags->bytes + first, way[GT_COLUMN_MOST];

	for (size_t i = 0; i < m; i++)
		way[i] = (uint8_t)(slot[i] - first);
	const size_t before = (size_t)((uint8_t *)memchr(order, way[0], ways) - order);
	if (before + m <= ways && memcmp(order + before, way, m) == 0) {
		memmove(order + m, order, before);
		memcpy(order, way, m);
		gt_note_depths_of(tags, slot, m, (unsigned)(before + m - 1), used, mru);
		return;
	}
	for (size_t i = m; i-- > 0;)
		gt_note_depths_4(tags, slot[i], gt_bytes_touch(order, ways, way[i]), used, used, mru);
}

/* Uses sectors of n lines, at most GT_COLUMN_MOST, one after the other; `column` is their place. Returns false, having changed nothing but
 * that, if some are not there. */
GT_INLINE bool gt_line_column_use(struct gt_line_column *column, struct gt_tags *tags, uint64_t first, uint64_t distance, size_t n, uint32_t used,
				  uint64_t *mru)
{
	const uint16_t *slot = column->slot;
	bool known = column->n == n && column->first == first && column->distance == distance && gt_line_column_is_there(column, tags, used);

	if (!known && !gt_line_column_find(column, tags, first, distance, n, used))
		return false;
	for (uint32_t set = 0; set < tags->geometry->sets; slot += column->of_set[set++])
		if (column->of_set[set] > 0)
			gt_tags_use_slots(tags, set, slot, column->of_set[set], used, mru);
	return true;
}

/* Brings what that touches into the machine's cache: lines that came together have slots side by side. */
GT_INLINE void gt_line_column_prefetch(const struct gt_line_column *column, const struct gt_tags *tags)
{
	const uint16_t *slot = column->slot;

	for (uint32_t set = 0; set < tags->geometry->sets; slot += column->of_set[set++]) {
		if (column->of_set[set] == 0)
			continue;
		const uint16_t ends[2] = {slot[0], slot[column->of_set[set] - 1]};
		__builtin_prefetch(tags->bytes + set * tags->geometry->ways, 1);
		for (size_t i = 0; i < 2; i++)
			__builtin_prefetch(gt_slot_tag(tags, ends[i]), 1);
	}
}

#endif
