/* SPDX-License-Identifier: MIT */
/* The memory that the lanes of a warp access: addresses, their stride, and the bytes in this process. Used by loads, stores,
 * atomics and copies. */
#ifndef GT_PTX_ACCESS_H
#define GT_PTX_ACCESS_H

#include "cuda/ptx/exec/gather.h"
#include "cuda/ptx/exec/held.h"
#include "cuda/ptx/exec/warp.h"

struct gt_ptx_reach {
	const uint64_t *lanes; /* lane i accesses lanes[i] + offset */
	uint64_t offset;
	uint64_t low; /* an address, */
	unsigned char *host; /* its place in this process, */
	uint64_t apart; /* and how much further on it is for each next lane. host NULL: each lane's place is in `where` */
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

/* Chooses the memory that the lowest active lane is in, as far as that needs no search: sets low, host, apart, space and *high.
 * `host` stays NULL if there is none. */
void gt_ptx_window_generic(struct gt_ptx_warp *warp, const struct gt_ptx_access *access, uint64_t first, unsigned bytes,
			   struct gt_ptx_reach *reach, uint64_t *high);
void gt_ptx_window_local(struct gt_ptx_warp *warp, uint64_t base, uint64_t at, unsigned bytes, struct gt_ptx_reach *reach,
			 uint64_t *high);

GT_INLINE uint64_t gt_ptx_window(struct gt_ptx_warp *warp, const struct gt_ptx_access *access, uint64_t first, unsigned bytes,
				 struct gt_ptx_reach *reach)
{
	const struct gt_ptx_core *core = warp->core;
	uint64_t high = 0;

	reach->host = NULL;
	reach->low = reach->apart = 0;
	reach->space = access->space;
	if (access->space == GT_PTX_LOCAL) {
		gt_ptx_window_local(warp, access->in_frame ? 0 - warp->local_at : 0, first, bytes, reach, &high);
	} else if (access->in_frame) {
		return 0;
	} else if (access->space == GT_PTX_SHARED) {
		reach->host = core->shared;
		high = core->shared_bytes;
	} else if (access->space == GT_PTX_PARAM) {
		reach->host = access->action == GT_LOAD ? core->parameters : NULL;
		high = core->parameter_bytes;
	} else if (access->space == GT_PTX_GENERIC && first >= GT_PTX_SHARED_BASE) {
		gt_ptx_window_generic(warp, access, first, bytes, reach, &high);
	} else if (access->high > access->low) { /* there was an access before */
		reach->host = access->host;
		reach->low = access->low;
		high = access->high;
		reach->space = access->space == GT_PTX_GENERIC ? GT_PTX_GLOBAL : access->space;
	}
	return high;
}

/* The fast path: all lanes are in the memory that the lowest one is in. */
#define GT_REACH(TARGET, VARIANT, ...)                                                                       \
	TARGET GT_INLINE int gt_ptx_reach##VARIANT(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, \
						 struct gt_ptx_reach *reach, unsigned bytes)                 \
	{                                                                                                    \
		const struct gt_ptx_access *access = op->with.access;                                        \
		reach->lanes = gt_ptx_lanes(warp, access->address);                                          \
		gt_ptx_widen(warp, access, reach);                                                           \
		if (access->keeps && !access->narrow)                                                        \
			reach->lanes = memcpy(reach->widened, reach->lanes, sizeof reach->widened);          \
		const uint64_t first = reach->lanes[gt_ptx_lowest(mask)] + reach->offset;                    \
		const uint64_t room = gt_ptx_window(warp, access, first, bytes, reach) - reach->low;         \
		if (reach->host && room >= bytes &&                                                          \
		    !(gt_ptx_outside##VARIANT(reach->lanes, reach->offset, mask, reach->low, room - bytes, bytes - 1) & mask)) \
			return 0;                                                                            \
		reach->space = access->space;                                                                \
		return gt_ptx_reach_slow(warp, op, mask, reach, bytes);                                      \
	}
GT_VARIANTS(GT_REACH, )

GT_INLINE int gt_ptx_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, struct gt_ptx_reach *reach,
			   unsigned bytes)
{
	return gt_ptx_reach_plain(warp, op, mask, reach, bytes);
}

GT_INLINE unsigned char *gt_ptx_place_of(const struct gt_ptx_reach *reach, unsigned lane)
{
	return reach->host ? reach->host + (reach->lanes[lane] + reach->offset - reach->low + lane * reach->apart)
			   : reach->where[lane];
}

/* Records the access, if its space is traced; the stride is that of the lanes. */
int gt_ptx_trace_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		       const struct gt_ptx_reach *reach, int64_t stride, unsigned bytes);

/* The same for all lanes at a stride, lane 0 at `first`, in the space that the instruction says. */
int gt_ptx_trace_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride, unsigned bytes);

/* What all rows of an access without a cache policy have. */
struct gt_ptx_kept gt_ptx_row_of(const struct gt_ptx_op *op);

#define GT_NOTE(TARGET, VARIANT, ...)                                                                        \
	TARGET GT_INLINE int gt_ptx_note##VARIANT(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, \
						const struct gt_ptx_reach *reach, unsigned bytes)            \
	{                                                                                                    \
		if (!warp->core->traced)                                                                     \
			return 0;                                                                            \
		return gt_ptx_trace_reach(warp, op, mask, reach, gt_ptx_stride##VARIANT(reach->lanes, mask), bytes); \
	}
GT_VARIANTS(GT_NOTE, )

GT_INLINE int gt_ptx_note(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, const struct gt_ptx_reach *reach,
			  unsigned bytes)
{
	return gt_ptx_note_plain(warp, op, mask, reach, bytes);
}

/* The corresponding spaces of a trace. */
extern const unsigned char gt_ptx_traced_space[GT_PTX_SPACES];

/* The step of a load or store that is described completely, for this processor. */
gt_ptx_step *gt_ptx_load_step(const struct gt_ptx_access *access);
gt_ptx_step *gt_ptx_store_step(const struct gt_ptx_access *access);
/* Whether it is one of these: other accesses may have other sizes, and a prefetch has none. */
bool gt_ptx_is_moved(const struct gt_ptx_op *op, bool *loads);
/* The halves of cp.async: from global memory to the warp's buffer; op->a: slot of how many bytes are copied, op->b: of the
 * predicate that ignores all of them, 0: none. From there to shared memory. */
gt_ptx_step *gt_ptx_copy_step(bool stores);

#endif
