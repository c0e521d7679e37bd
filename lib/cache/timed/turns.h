/* SPDX-License-Identifier: MIT */
/* Whose turn it is among the warps of a wave by algorithm 2 of [000], if the level decides which warps issue: in rounds by
 * access number, and in each by block, and by as many warps of it as there are schedulers. The scheduler of a warp without an
 * access of that number, or that still waits for its data, is idle. Warps that waited catch up in a later round. */
#ifndef GT_CACHE_TIMED_TURNS_H
#define GT_CACHE_TIMED_TURNS_H

#include "cache/timed/wave.h"

struct gt_turns {
	const struct gt_wave *wave;
	uint32_t schedulers;
	uint32_t at;	/* the first warp whose turn in this round is to come */
	uint32_t round; /* access numbers up to this may issue */
};

/* The turns of an ordered wave. */
struct gt_turns gt_turns_begin(const struct gt_wave *wave, uint32_t schedulers);

/* Puts the warps that issue together into `warps`, which has room for one a scheduler, and returns their number; 0: none is
 * ready at `step`. */
uint32_t gt_turns_take(struct gt_turns *turns, uint64_t step, uint32_t *warps);

/* The first step at which a warp is ready; UINT64_MAX: all are done. */
uint64_t gt_turns_next(const struct gt_turns *turns);

#endif
