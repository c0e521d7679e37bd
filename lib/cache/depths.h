/* SPDX-License-Identifier: MIT */
/* The depths of the sectors of a line that has no state: gt_tags.depth. */
#ifndef GT_CACHE_DEPTHS_H
#define GT_CACHE_DEPTHS_H

#include "cache/replace/tags.h"
#include "stream/request.h"

/* Records that a line was touched at a recency position: the sectors `used`, of which `hits` were valid, are counted in
 * `mru` (NULL: not counted). */
void gt_note_depths(struct gt_tags *tags, uint32_t slot, unsigned position, uint64_t hits, uint64_t used,
		    uint64_t *mru);

/* The same for lines of four sectors, all bytes at once. */
static inline void gt_note_depths_4(struct gt_tags *tags, uint32_t slot, unsigned position, uint32_t hits,
				    uint32_t used, uint64_t *mru)
{
	const uint32_t ones = 0x01010101, tops = 0x80808080;
	uint32_t depth, here = position * ones;

	memcpy(&depth, tags->depth + 4 * (size_t)slot, sizeof depth);
	/* The top bits of bytes where depth >= position: the lower seven bits are compared without a borrow from the next. */
	uint32_t lower = (depth | tops) - (here & ~tops);
	uint32_t deeper = ((depth & ~here) | (~(depth ^ here) & lower)) & tops;
	deeper = (deeper >> 7) * 255;
	depth = (depth & deeper) | (here & ~deeper);
	if (((depth ^ here) & gt_bytes_of_4[hits]) == 0)
		mru[position] += gt_bits_of_4[hits];
	else
		for (uint32_t rest = hits; rest; rest &= rest - 1)
			mru[depth >> 8 * (unsigned)__builtin_ctz(rest) & 255]++;
	depth &= ~gt_bytes_of_4[used];
	memcpy(tags->depth + 4 * (size_t)slot, &depth, sizeof depth);
}

/* The same for the most recent line of its set, whose used sectors are all valid: mostly there is nothing to record. */
static inline void gt_note_newest_4(struct gt_tags *tags, uint32_t slot, uint32_t used, uint64_t *mru)
{
	uint32_t depth;

	memcpy(&depth, tags->depth + 4 * (size_t)slot, sizeof depth);
	if ((depth & gt_bytes_of_4[used]) == 0)
		mru[0] += gt_bits_of_4[used];
	else
		gt_note_depths_4(tags, slot, 0, used, used, mru);
}

/* Records that sectors of a line of four have become valid. */
static inline void gt_clear_depths_4(struct gt_tags *tags, uint32_t slot, uint32_t sectors)
{
	uint32_t depth;

	memcpy(&depth, tags->depth + 4 * (size_t)slot, sizeof depth);
	depth &= ~gt_bytes_of_4[sectors];
	memcpy(tags->depth + 4 * (size_t)slot, &depth, sizeof depth);
}

#endif
