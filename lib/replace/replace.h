/* SPDX-License-Identifier: MIT */
/* The victim in a full set: one row per policy. */
#ifndef GT_REPLACE_REPLACE_H
#define GT_REPLACE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
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

/* All policies, as gt_policy_NAME. */
#define GT_POLICIES(ROW) ROW(lru) ROW(tail) ROW(fifo) ROW(lfu) ROW(random) ROW(weighted) ROW(order) ROW(plru) ROW(srrip) ROW(opt)
#define GT_DECLARE_POLICY(NAME) extern const struct gt_policy gt_policy_##NAME;
GT_POLICIES(GT_DECLARE_POLICY)

extern const struct gt_policy *const gt_policies[];
extern const size_t gt_policies_n;

/* Reads "NAME" or "NAME:ARGUMENT"; leaves the seed alone unless the text gives one. */
int gt_replacement_parse(const char *text, struct gt_replacement *replacement, struct gt_error *error);

#endif
