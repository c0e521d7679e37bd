/* SPDX-License-Identifier: MIT */
/* cp.async in two halves: from global memory to the warp's buffer, and on to shared memory. */
#include <string.h>

#include "cuda/ptx/exec/access.h"

/* Moves the bytes of lanes between their places and the buffer. */
GT_INLINE void move(struct gt_ptx_warp *warp, const struct gt_ptx_reach *reach, uint32_t mask, bool stores, const size_t size)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		unsigned char *there = gt_ptx_place_of(reach, lane), *here = warp->copied[lane];
		memcpy(stores ? there : here, stores ? here : there, size);
	}
}

/* The sizes that there are, so that each is a move of a register. */
GT_INLINE void move_sized(struct gt_ptx_warp *warp, const struct gt_ptx_reach *reach, uint32_t mask, bool stores, size_t size)
{
	switch (size) {
	case 4: move(warp, reach, mask, stores, 4); return;
	case 8: move(warp, reach, mask, stores, 8); return;
	default: move(warp, reach, mask, stores, 16);
	}
}

/* The lanes of `mask` that copy anything; those that do not copy all of their bytes are added to *part, and the rest of theirs is
 * 0. */
static uint32_t copying(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint32_t *part)
{
	const uint32_t *copied = op->a ? gt_ptx_lanes(warp, op->a) : NULL;
	const uint32_t ignored = op->b ? gt_ptx_predicate(warp, op->b) : 0;
	const unsigned size = op->with.access->size;
	uint32_t none = mask & ignored;

	for (unsigned lane = 0; copied && lane < GT_WARP_SIZE; lane++) {
		none |= (uint32_t)(copied[lane] == 0) << lane;
		*part |= (uint32_t)(copied[lane] < size) << lane;
	}
	for (uint32_t m = mask & (none | *part); m; m &= m - 1)
		memset(warp->copied[gt_ptx_lowest(m)], 0, size);
	*part &= mask & ~none;
	return mask & ~none;
}

static void move_parts(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_reach *reach, uint32_t part)
{
	const uint32_t *copied = gt_ptx_lanes(warp, op->a);

	for (uint32_t m = part; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		memcpy(warp->copied[lane], gt_ptx_place_of(reach, lane), copied[lane]);
	}
}

#define COPIES(TARGET, VARIANT, ...)                                                                         \
	TARGET GT_STEP_HEAD(copy_from##VARIANT)                                                              \
	{                                                                                                    \
		const unsigned size = op->with.access->size;                                                 \
		uint32_t part = 0;                                                                           \
		const uint32_t reads = op->a || op->b ? copying(warp, op, mask, &part) : mask;               \
		struct gt_ptx_reach reach;                                                                   \
		if (!reads)                                                                                  \
			return op + 1;                                                                       \
		if (gt_ptx_reach##VARIANT(warp, op, reads, &reach, size) != 0 ||                             \
		    gt_ptx_note##VARIANT(warp, op, reads, &reach, size) != 0)                                \
			return NULL;                                                                         \
		move_sized(warp, &reach, reads & ~part, false, size);                                        \
		if (part)                                                                                    \
			move_parts(warp, op, &reach, part);                                                  \
		return op + 1;                                                                               \
	}                                                                                                    \
	TARGET GT_STEP_HEAD(copy_to##VARIANT)                                                                \
	{                                                                                                    \
		const unsigned size = op->with.access->size;                                                 \
		struct gt_ptx_reach reach;                                                                   \
		if (gt_ptx_reach##VARIANT(warp, op, mask, &reach, size) != 0 ||                              \
		    gt_ptx_note##VARIANT(warp, op, mask, &reach, size) != 0)                                 \
			return NULL;                                                                         \
		move_sized(warp, &reach, mask, true, size);                                                  \
		return op + 1;                                                                               \
	}
GT_VARIANTS(COPIES, )

gt_ptx_step *gt_ptx_copy_step(bool stores)
{
	static gt_ptx_step *const from[] = GT_STEPS(copy_from), *const to[] = GT_STEPS(copy_to);

	return (stores ? to : from)[gt_ptx_simd_variant()];
}
