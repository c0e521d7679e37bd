/* SPDX-License-Identifier: MIT */
/* Where lines were looked up last: their set, for which some index functions divide and hash, and the slot that held them, whose
 * search follows links. The instances share the table, since each serves many requests before another does. */
#ifndef GT_CACHE_TIMED_RECENT_H
#define GT_CACHE_TIMED_RECENT_H

#include "base/hash.h"
#include "cache/serve.h"

#define GT_RECENT_BITS 8
#define GT_RECENT_LINES (1 << GT_RECENT_BITS)

struct gt_recent {
	uint64_t tag; /* line + 1; 0: none yet */
	uint32_t set;
	uint32_t slot; /* in the instance that looked it up last; any, if it was not found yet */
};

static inline uint8_t gt_recent_place(uint64_t line)
{
	return (uint8_t)(gt_fibonacci(line) >> (64 - GT_RECENT_BITS));
}

/* The set of a line whose place in the table is given. */
static inline uint32_t gt_recent_set(struct gt_recent *table, uint8_t place, const struct gt_level *level, uint64_t line)
{
	struct gt_recent *recent = &table[place];

	if (recent->tag != line + 1)
		*recent = (struct gt_recent){line + 1, gt_level_set_of(level, line), recent->slot};
	return recent->set;
}

/* As gt_tags_find. */
static inline uint32_t gt_recent_find(struct gt_recent *table, uint8_t place, const struct gt_tags *tags, uint32_t set,
				      uint64_t line)
{
	uint32_t slot = table[place].slot;

	if (tags->tag[slot] == line + 1)
		return slot;
	slot = gt_tags_find(tags, set, line);
	if (slot != GT_NO_SLOT)
		table[place].slot = slot;
	return slot;
}

#endif
