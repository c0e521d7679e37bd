/* SPDX-License-Identifier: MIT */
/* Sets of few ways that stand in the order of their last use, the most recent first (GT_RECENCY_WAYS): a line that is used
 * moves to the first way, and those before it move up by one. No other order is kept, and the victim is the last way. The
 * lines have four sectors.
 *
 * Everything here is done without a branch on where a line is, in vectors of 16 bytes, which all machines have. */
#ifndef GT_CACHE_REPLACE_WAYS_H
#define GT_CACHE_REPLACE_WAYS_H

#include <stdint.h>
#include <string.h>

#define GT_WAYS_SLACK 3 /* elements behind the last set that a vector may reach */

typedef uint64_t gt_two_words __attribute__((vector_size(16)));
typedef uint32_t gt_four_words __attribute__((vector_size(16)));
typedef int32_t gt_four_ranks __attribute__((vector_size(16)));
typedef uint8_t gt_sixteen_bytes __attribute__((vector_size(16)));

/* A byte of ones for each bit of a mask of four sectors. */
static const uint32_t gt_bytes_of_4[16] = {
	0,	    0xff,	0xff00,	    0xffff,	0xff0000,   0xff00ff,	0xffff00,   0xffffff,
	0xff000000, 0xff0000ff, 0xff00ff00, 0xff00ffff, 0xffff0000, 0xffff00ff, 0xffffff00, 0xffffffff,
};

/* The state of a line: of each sector a byte, its depth (gt_tags.depth), or that it is invalid, in which case it may hold what
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

#endif
