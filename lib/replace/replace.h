/* SPDX-License-Identifier: MIT */
/* The victim in a full set: one row per policy. */
#ifndef GT_REPLACE_REPLACE_H
#define GT_REPLACE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/random.h"
#include "base/wide.h"
#include "replace/tags.h"

#define GT_WEIGHTS_MAX 64
#define GT_TURNS_MAX 64

/* A policy's settings, shared by all instances of a level. */
struct gt_replacement {
	const struct gt_policy *policy;
	uint64_t seed;			    /* of random choices */
	double cumulative[GT_WEIGHTS_MAX];  /* weighted: probability that the victim is this way or a lower one */
	unsigned weights;
	uint16_t order[GT_TURNS_MAX];	    /* order: the ways, from 0, that are replaced in turn */
	unsigned turns;
	bool lowest_way;		    /* lfu: of lines used equally often, the lowest way leaves */
	uint32_t tail;			    /* tail: the lines, least recently used, of which one leaves */
};

struct gt_policy {
	const char *name;
	bool by_set;	     /* what it does in a set depends on no other set */
	bool by_recency;     /* the victim depends on the order of use alone; a use right after one of the same line changes nothing */
	bool counts_uses;    /* a lookup is one hit, although its sectors arrive later */
	bool looks_ahead;    /* needs the next use of the lines of a request: gt_tags.next_use */
	/* Reads the argument of "NAME:ARGUMENT", or NULL. NULL: the policy has no argument. */
	int (*parse)(struct gt_replacement *replacement, const char *argument, struct gt_error *error);
	/* Whether a set may have that many ways. NULL: any. */
	int (*check)(const struct gt_replacement *replacement, uint32_t ways, struct gt_error *error);
	size_t slot_bytes; /* of state for each slot, zero when the cache is empty */
	bool uses_sets; /* it uses the state of slots that have had no line, too, before the set is full */
	/* Called when a valid line is used, and when a line was filled. NULL: the policy keeps no state for it. */
	void (*hit)(struct gt_tags *tags, uint32_t set, uint32_t slot);
	void (*fill)(struct gt_tags *tags, uint32_t set, uint32_t slot);
	/* The slot to be replaced in a set whose ways are all valid. */
	uint32_t (*victim)(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement);
};

/* tail: which of the lines that may leave does, counted from the one least recently used. */
static inline uint32_t gt_tail_draw(const struct gt_replacement *replacement, uint32_t ways, uint64_t *random)
{
	const uint32_t n = replacement->tail < ways ? replacement->tail : ways;

	return (uint32_t)((gt_random(random) >> 32) * n >> 32);
}

/* ---- the lines that `tail` will draw, foreseen ----
 *
 * As many draws are made as lines are absent, from a copy of the state of the random numbers, among successive requests of one cache. What
 * finds a line that leaves is prefetched, in turns between which other requests are served: what is prefetched in one is read in the next. */

#define GT_FORESEEN_MOST 256 /* lines */
#define GT_FORESEEN_SETS 8 /* of a cache of more, too few lines leave each set at a time */
#define GT_FORESIGHT_TURNS 3 /* from the one in which a line is foreseen to that in which it is replaced */

/* A line that probably leaves for one that is absent. */
struct gt_leaving {
	const struct gt_tags *tags;
	uint64_t line; /* that it leaves for */
	uint32_t set;
	uint32_t slot; /* of it, or GT_NO_SLOT */
	const uint32_t *chain; /* of the finder, in which it is; NULL: not known yet */
};

struct gt_foresight {
	struct gt_leaving leaving[GT_FORESEEN_MOST];
	size_t n, before, earlier; /* of them; n when the last turn ended, and the one before */
	uint16_t by_line[256]; /* by a hash of their line, the last one + 1 */
	/* For successive requests of the cache that was looked at last: */
	size_t first;	 /* of what leaves */
	uint64_t random; /* what its next draw begins with */
	uint8_t drawn[GT_FORESEEN_SETS][GT_FORESEEN_MOST]; /* of each set: the places in its order that were drawn, from 0 */
	uint16_t drawn_n[GT_FORESIGHT_TURNS + 2][GT_FORESEEN_SETS]; /* how many so many turns ago */
};

static inline void gt_foresight_begin(struct gt_foresight *foresight)
{
	foresight->n = foresight->before = foresight->earlier = 0;
	memset(foresight->by_line, 0, sizeof foresight->by_line);
}

/* Successive requests of another cache begin. */
static inline void gt_foresee_of(struct gt_foresight *foresight, const struct gt_tags *tags)
{
	foresight->random = tags->random;
	foresight->first = foresight->n;
	memset(foresight->drawn_n, 0, sizeof foresight->drawn_n);
}

/* The slot at a place that is drawn in the order of a set, after those lines have left it that were drawn before and are not replaced yet.
 * GT_NO_SLOT: another request will have brought the line there. */
GT_INLINE uint32_t gt_foresee_drawn(struct gt_foresight *foresight, const struct gt_tags *tags, uint32_t set, uint32_t drawn)
{
	if (tags->geometry->sets > GT_FORESEEN_SETS)
		return gt_tags_at(tags, set, drawn);
	const uint8_t *before = foresight->drawn[set];
	const size_t replaced = foresight->drawn_n[GT_FORESIGHT_TURNS + 1][set], n = foresight->drawn_n[0][set]++;
	int32_t place = (int32_t)drawn;

	foresight->drawn[set][n] = (uint8_t)drawn;
	for (size_t i = n; i-- > replaced;)
		place -= place <= before[i]; /* it stood one before */
	return place < 0 ? GT_NO_SLOT : gt_tags_at(tags, set, (uint32_t)place);
}

/* The same where recency is a list. Prefetches what the draw will look at: if the tail has been forgotten, the slots that it had are mostly
 * at the list's end still. */
GT_INLINE uint32_t gt_foresee_in_tail(const struct gt_replacement *replacement, const struct gt_tags *tags, uint32_t set, uint32_t draw)
{
	const struct gt_list_ends *ends = &tags->ends[set];
	const uint32_t *tail = (const uint32_t *)tags->policy + gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);

	gt_slot_prefetch(tags, ends->older - 1, false);
	if (ends->tail_n == 0)
		for (uint32_t i = 0; i < replacement->tail && i < ways; i++)
			gt_slot_prefetch(tags, tail[i], false);
	else
		gt_slot_prefetch(tags, ends->tail_newest - 1, false);
	return draw < ends->tail_n ? tail[draw] : GT_NO_SLOT;
}

/* Foresees what leaves a set for a line that is absent, unless the set is not full, or a request before brings the line. Prefetches its record.
 * `recency` is that of the geometry, whose sets are equal. */
GT_INLINE void gt_foresee(struct gt_foresight *foresight, const struct gt_replacement *replacement, const struct gt_tags *tags, uint32_t set,
			  uint64_t line, enum gt_recency recency)
{
	const uint32_t ways = tags->geometry->ways;
	uint16_t *last = &foresight->by_line[gt_fibonacci(line) >> 56];

	if (tags->vacancy[set] < ways || (*last > foresight->first && foresight->leaving[*last - 1].line == line))
		return;
	const uint32_t draw = gt_tail_draw(replacement, ways, &foresight->random);
	struct gt_leaving *leaving = &foresight->leaving[foresight->n++];
	*last = (uint16_t)foresight->n;
	*leaving = (struct gt_leaving){.tags = tags, .line = line, .set = set};
	if (recency == GT_RECENCY_BYTES) {
		leaving->slot = gt_foresee_drawn(foresight, tags, set, ways - 1 - draw);
		__builtin_prefetch(tags->bytes + set * ways, 1);
	} else {
		leaving->slot = gt_foresee_in_tail(replacement, tags, set, draw);
	}
	if (leaving->slot != GT_NO_SLOT)
		gt_slot_prefetch(tags, leaving->slot, false);
}

/* Begins a turn: of what was foreseen in the last turn prefetches what finds it, and the slot by which the tail will grow; of the turn before,
 * the first record of its chain, which mostly is no longer than two. */
GT_INLINE void gt_foresight_turn(struct gt_foresight *foresight, enum gt_recency recency)
{
	struct gt_leaving *leaving = foresight->leaving;

	for (size_t k = foresight->earlier; k < foresight->before; k++)
		if (leaving[k].chain && *leaving[k].chain != 0)
			gt_slot_prefetch(leaving[k].tags, *leaving[k].chain - 1, false);
	for (size_t k = foresight->before; k < foresight->n; k++) {
		const struct gt_tags *tags = leaving[k].tags;
		if (leaving[k].slot == GT_NO_SLOT)
			continue;
		leaving[k].chain = gt_finder_chain(&tags->finder, *gt_slot_tag(tags, leaving[k].slot) - 1);
		__builtin_prefetch(leaving[k].chain, 1);
		const uint32_t newest = recency == GT_RECENCY_LIST ? tags->ends[leaving[k].set].tail_newest : 0;
		const uint32_t next = newest ? gt_slot_links(tags, newest - 1)->newer : 0;
		if (next)
			gt_slot_prefetch(tags, next - 1, false);
	}
	foresight->earlier = foresight->before;
	foresight->before = foresight->n;
	memmove(foresight->drawn_n[1], foresight->drawn_n[0], sizeof foresight->drawn_n - sizeof foresight->drawn_n[0]);
}

/* All policies, as gt_policy_NAME. */
#define GT_POLICIES(ROW) ROW(lru) ROW(tail) ROW(fifo) ROW(lfu) ROW(random) ROW(weighted) ROW(order) ROW(plru) ROW(srrip) ROW(opt)
#define GT_DECLARE_POLICY(NAME) extern const struct gt_policy gt_policy_##NAME;
GT_POLICIES(GT_DECLARE_POLICY)

extern const struct gt_policy *const gt_policies[];
extern const size_t gt_policies_n;

/* Reads "NAME" or "NAME:ARGUMENT"; leaves the seed alone unless the text gives one. */
int gt_replacement_parse(const char *text, struct gt_replacement *replacement, struct gt_error *error);

#endif
