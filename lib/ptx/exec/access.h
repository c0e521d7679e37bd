/* SPDX-License-Identifier: MIT */
/* The memory that the lanes of a warp access: addresses, their stride, and the bytes in this process. Used by loads, stores,
 * atomics and copies. */
#ifndef GT_PTX_ACCESS_H
#define GT_PTX_ACCESS_H

#include "ptx/exec/lanes.h"
#include "ptx/exec/warp.h"
#include "stream/op.h"

struct gt_ptx_reach {
	const uint64_t *lanes; /* lane i accesses lanes[i] + offset */
	uint64_t offset;
	uint64_t low; /* the smallest address */
	unsigned char *host; /* the place of `low` in this process; NULL: each lane's place is in `where` */
	enum gt_ptx_space space; /* of the lowest lane */
	uint64_t widened[GT_WARP_SIZE];
	unsigned char *where[GT_WARP_SIZE];
};

/* Finds the places of an access of `bytes` a lane; -1 after a fault. */
int gt_ptx_reach_slow(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		      struct gt_ptx_reach *reach, unsigned bytes);
/* Finds the allocation that contains [low, high), which will be tried first from now on; NULL if there is none. */
unsigned char *gt_ptx_reach_global(struct gt_ptx_core *core, struct gt_ptx_access *access, uint64_t low,
				   uint64_t high);

/* The place of a lane's generic [address, address + bytes) in this process, or NULL. */
unsigned char *gt_ptx_place_at(const struct gt_ptx_warp *warp, unsigned lane, uint64_t address, uint64_t bytes);

/* The stride of the active lanes' addresses, or GT_STRIDE_LANES. */
GT_INLINE int64_t gt_ptx_stride(const uint64_t *lanes, uint32_t mask)
{
	if (mask == GT_PTX_FULL) {
		uint64_t stride = lanes[1] - lanes[0], differs = 0;
		for (int i = 1; i < GT_WARP_SIZE; i++)
			differs |= (lanes[i] - lanes[i - 1]) ^ stride;
		return differs ? GT_STRIDE_LANES : (int64_t)stride;
	}
	unsigned lowest = gt_ptx_lowest(mask);
	uint32_t rest = mask & (mask - 1);
	if (!rest)
		return 0;
	unsigned gap = gt_ptx_lowest(rest) - lowest;
	int64_t distance = (int64_t)(lanes[lowest + gap] - lanes[lowest]);
	if (gap > 1 && distance % (int64_t)gap != 0)
		return GT_STRIDE_LANES;
	uint64_t stride = (uint64_t)(gap > 1 ? distance / (int64_t)gap : distance);
	for (; rest; rest &= rest - 1) {
		unsigned lane = gt_ptx_lowest(rest);
		if (lanes[lane] != lanes[lowest] + stride * (lane - lowest))
			return GT_STRIDE_LANES;
	}
	return (int64_t)stride;
}

/* The smallest and the largest address of the active lanes, and whether all are aligned. */
GT_INLINE bool gt_ptx_extent(struct gt_ptx_reach *reach, uint32_t mask, unsigned bytes, uint64_t *high)
{
	const uint64_t *lanes = reach->lanes, offset = reach->offset, any = lanes[gt_ptx_lowest(mask)] + offset;
	uint64_t bits = any, low = any, most = any;

	for (int i = 0; i < GT_WARP_SIZE; i++) {
		const uint64_t address = mask >> i & 1 ? lanes[i] + offset : any;
		bits |= address;
		low = address < low ? address : low;
		most = address > most ? address : most;
	}
	reach->low = low;
	*high = most;
	return (bits & (bytes - 1)) == 0;
}

/* Extends 32-bit addresses. Their sum with the offset has the register's width, so it wraps at 2^32. */
GT_INLINE void gt_ptx_widen(const struct gt_ptx_warp *warp, const struct gt_ptx_access *access,
			    struct gt_ptx_reach *reach)
{
	const uint32_t *narrow = gt_ptx_lanes(warp, access->address), offset = (uint32_t)access->offset;

	reach->offset = (uint64_t)access->offset;
	if (!access->narrow)
		return;
	for (int i = 0; i < GT_WARP_SIZE; i++)
		reach->widened[i] = narrow[i] + offset;
	reach->lanes = reach->widened;
	reach->offset = 0;
}

/* The fast path: all lanes are in the allocation of the last access, or in shared memory. */
GT_INLINE int gt_ptx_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
			   struct gt_ptx_reach *reach, unsigned bytes)
{
	struct gt_ptx_access *access = op->with.access;
	uint64_t high;

	reach->lanes = gt_ptx_lanes(warp, access->address);
	gt_ptx_widen(warp, access, reach);
	if (access->keeps && !access->narrow) {
		for (int i = 0; i < GT_WARP_SIZE; i++)
			reach->widened[i] = reach->lanes[i];
		reach->lanes = reach->widened;
	}
	reach->space = access->space;
	if (!gt_ptx_extent(reach, mask, bytes, &high))
		return gt_ptx_reach_slow(warp, op, mask, reach, bytes);
	if (access->space == GT_PTX_SHARED) {
		const struct gt_ptx_core *core = warp->core;
		if (high >= core->shared_bytes || core->shared_bytes - high < bytes || access->in_frame)
			return gt_ptx_reach_slow(warp, op, mask, reach, bytes);
		reach->host = core->shared + reach->low;
		return 0;
	}
	if (access->space == GT_PTX_PARAM && access->action == GT_LOAD && !access->in_frame) {
		const struct gt_ptx_core *core = warp->core;
		if (high >= core->parameter_bytes || core->parameter_bytes - high < bytes)
			return gt_ptx_reach_slow(warp, op, mask, reach, bytes);
		reach->host = core->parameters + reach->low;
		return 0;
	}
	/* `low` is above `high` if there was no access yet. */
	if (reach->low >= access->low && high <= access->high && access->high - high >= bytes) {
		reach->host = access->host + (reach->low - access->low);
		reach->space = access->space == GT_PTX_GENERIC ? GT_PTX_GLOBAL : access->space;
		return 0;
	}
	return gt_ptx_reach_slow(warp, op, mask, reach, bytes);
}

GT_INLINE unsigned char *gt_ptx_place_of(const struct gt_ptx_reach *reach, unsigned lane)
{
	return reach->host ? reach->host + (reach->lanes[lane] + reach->offset - reach->low)
			   : reach->where[lane];
}

/* Records the access, if its space is traced. */
int gt_ptx_trace_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		       const struct gt_ptx_reach *reach, unsigned bytes);

/* The same for all lanes at a stride, lane 0 at `first`, in the space that the instruction says. */
int gt_ptx_trace_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride, unsigned bytes);

static inline int gt_ptx_note(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
			      const struct gt_ptx_reach *reach, unsigned bytes)
{
	return warp->core->traced ? gt_ptx_trace_reach(warp, op, mask, reach, bytes) : 0;
}

/* The corresponding spaces of a trace. */
extern const unsigned char gt_ptx_traced_space[GT_PTX_SPACES];

/* The step of a load or store that is described completely, for this processor. */
gt_ptx_step *gt_ptx_load_step(const struct gt_ptx_access *access);
gt_ptx_step *gt_ptx_store_step(const struct gt_ptx_access *access);

#endif
