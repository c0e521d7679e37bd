/* SPDX-License-Identifier: MIT */
/* The memory that the lanes of a warp access: addresses, their stride, and the bytes in this process. Used by loads, stores,
 * atomics and copies. */
#ifndef GT_PTX_ACCESS_H
#define GT_PTX_ACCESS_H

#include <string.h>

#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/exec/lanes.h"
#include "stream/op.h"

/* The addresses of any lanes at once, in each variant: whether all are in one window of memory, their stride, and
 * the moves between lanes and memory. */

/* The lanes whose address, lanes[i] + offset, is not in [low, low + room], or has one of `bits`; others than those in `mask` may be
 * among them. */
GT_INLINE uint32_t gt_ptx_outside_plain(const uint64_t *lanes, uint64_t offset, uint32_t mask, uint64_t low, uint64_t room,
					uint64_t bits)
{
	uint32_t outside = 0;

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		const uint64_t address = lanes[lane] + offset;
		outside |= (uint32_t)((address - low > room) | ((address & bits) != 0)) << lane;
	}
	return outside;
}

/* The stride of the first two lanes of `mask`, if that is a number. */
GT_INLINE bool gt_ptx_first_stride(const uint64_t *lanes, uint32_t mask, uint64_t *stride)
{
	const unsigned lowest = gt_ptx_lowest(mask), gap = gt_ptx_lowest(mask & (mask - 1)) - lowest;
	const int64_t distance = (int64_t)(lanes[lowest + gap] - lanes[lowest]);

	if (gap > 1 && distance % (int64_t)gap != 0)
		return false;
	*stride = (uint64_t)(gap > 1 ? distance / (int64_t)gap : distance);
	return true;
}

/* True if the lanes of `mask` are at first + i * stride. */
GT_INLINE bool gt_ptx_is_part64_plain(const uint64_t *lanes, uint32_t mask, uint64_t first, uint64_t stride)
{
	uint64_t differs = 0;

	for (uint32_t m = mask; m; m &= m - 1)
		differs |= lanes[gt_ptx_lowest(m)] ^ (first + stride * gt_ptx_lowest(m));
	return !differs;
}

/* Where lanes have their bytes: lane i at host + lanes[i] + from + i * apart, a sum modulo 2^64. */
struct gt_ptx_places {
	unsigned char *host;
	const uint64_t *lanes;
	uint64_t from, apart;
};

GT_INLINE unsigned char *gt_ptx_place_in(const struct gt_ptx_places *places, unsigned lane)
{
	return places->host + (places->lanes[lane] + places->from + lane * places->apart);
}

/* Moves what the lanes of `mask` have in memory. Of lanes at one place the last one is stored. */
#define GT_GATHER_LANES(N)                                                                                   \
	GT_INLINE void gt_ptx_gather##N##_plain(const struct gt_ptx_places *places, uint32_t mask, uint##N##_t *to) \
	{                                                                                                    \
		for (uint32_t m = mask; m; m &= m - 1)                                                       \
			memcpy(&to[gt_ptx_lowest(m)], gt_ptx_place_in(places, gt_ptx_lowest(m)), N / 8);     \
	}                                                                                                    \
	GT_INLINE void gt_ptx_scatter##N##_plain(const struct gt_ptx_places *places, uint32_t mask, const uint##N##_t *from) \
	{                                                                                                    \
		for (uint32_t m = mask; m; m &= m - 1)                                                       \
			memcpy(gt_ptx_place_in(places, gt_ptx_lowest(m)), &from[gt_ptx_lowest(m)], N / 8);   \
	}
GT_GATHER_LANES(8)
GT_GATHER_LANES(16)
GT_GATHER_LANES(32)
GT_GATHER_LANES(64)

#if defined __x86_64__
/* Unsigned numbers are compared as signed ones, both turned. */
GT_FAST GT_INLINE uint32_t gt_ptx_outside_fast(const uint64_t *lanes, uint64_t offset, uint32_t mask, uint64_t low, uint64_t room,
					       uint64_t bits)
{
	const __m256i turned = _mm256_set1_epi64x(INT64_MIN), zero = _mm256_setzero_si256();
	const __m256i add = _mm256_set1_epi64x((int64_t)offset), from = _mm256_set1_epi64x((int64_t)low);
	const __m256i most = _mm256_xor_si256(_mm256_set1_epi64x((int64_t)room), turned), odd = _mm256_set1_epi64x((int64_t)bits);
	uint32_t outside = 0;

	(void)mask;
	for (int i = 0; i < 8; i++) {
		__m256i address = _mm256_add_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(lanes + 4 * i)), add);
		__m256i far = _mm256_cmpgt_epi64(_mm256_xor_si256(_mm256_sub_epi64(address, from), turned), most);
		__m256i even = _mm256_cmpeq_epi64(_mm256_and_si256(address, odd), zero);
		int good = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_andnot_si256(far, even)));
		outside |= (uint32_t)(good ^ 15) << 4 * i;
	}
	return outside;
}

GT_FAST GT_INLINE bool gt_ptx_is_part64_fast(const uint64_t *lanes, uint32_t mask, uint64_t first, uint64_t stride)
{
	const __m256i step = _mm256_set1_epi64x((int64_t)(4 * stride));
	__m256i expected = _mm256_setr_epi64x((int64_t)first, (int64_t)(first + stride), (int64_t)(first + 2 * stride), (int64_t)(first + 3 * stride));
	uint32_t same = 0;

	for (int i = 0; i < 8; i++) {
		__m256i equal = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(lanes + 4 * i)), expected);
		same |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) << 4 * i;
		expected = _mm256_add_epi64(expected, step);
	}
	return !(mask & ~same);
}
/* Eight lanes at a time: those of whole warps are often side by side, or at one place, even if the warp's are not. `at` is a
 * number, since it is in no object before a lane's address is added. */
#define GT_GATHER_EIGHT(N)                                                                                   \
	GT_FAST GT_INLINE void gt_ptx_gather##N##_eight(uintptr_t at, const uint64_t *lanes, uint64_t apart, uint##N##_t *to) \
	{                                                                                                    \
		uint##N##_t value;                                                                           \
		if (!apart && gt_ptx_is_next_eight(lanes, N / 8)) {                                          \
			memcpy(to, (const void *)(at + lanes[0]), N);                                        \
		} else if (!apart && gt_ptx_is_next_eight(lanes, 0)) {                                       \
			memcpy(&value, (const void *)(at + lanes[0]), N / 8);                                \
			for (int i = 0; i < 8; i++)                                                          \
				to[i] = value;                                                               \
		} else {                                                                                     \
			for (int i = 0; i < 8; i++, at += apart)                                             \
				memcpy(&to[i], (const void *)(at + lanes[i]), N / 8);                        \
		}                                                                                            \
	}                                                                                                    \
	GT_FAST GT_INLINE void gt_ptx_scatter##N##_eight(uintptr_t at, const uint64_t *lanes, uint64_t apart, const uint##N##_t *from) \
	{                                                                                                    \
		if (!apart && gt_ptx_is_next_eight(lanes, N / 8))                                            \
			memcpy((void *)(at + lanes[0]), from, N);                                            \
		else                                                                                         \
			for (int i = 0; i < 8; i++, at += apart)                                             \
				memcpy((void *)(at + lanes[i]), &from[i], N / 8);                            \
	}
/* The same of the lanes in `mask`. */
#define GT_MOVE_EIGHTS(TARGET, VARIANT, WHAT, N, LANE)                                                       \
	TARGET GT_INLINE void gt_ptx_##WHAT##N##VARIANT(const struct gt_ptx_places *places, uint32_t mask, LANE *lanes) \
	{                                                                                                    \
		for (unsigned i = 0; i < GT_WARP_SIZE; i += 8) {                                             \
			const uint32_t eight = mask & UINT32_C(0xff) << i;                                   \
			if (eight == UINT32_C(0xff) << i)                                                    \
				gt_ptx_##WHAT##N##_eight((uintptr_t)places->host + places->from + i * places->apart, \
							 places->lanes + i, places->apart, lanes + i);       \
			else if (eight)                                                                      \
				gt_ptx_##WHAT##N##_plain(places, eight, lanes);                              \
		}                                                                                            \
	}
#define GT_GATHER_FAST(TARGET, VARIANT, N) \
	GT_MOVE_EIGHTS(TARGET, VARIANT, gather, N, uint##N##_t) GT_MOVE_EIGHTS(TARGET, VARIANT, scatter, N, const uint##N##_t)

GT_FAST GT_INLINE bool gt_ptx_is_next_eight(const uint64_t *lanes, unsigned bytes)
{
	const int64_t b = bytes;
	const __m256i first = _mm256_set1_epi64x((int64_t)lanes[0]), low = _mm256_setr_epi64x(0, b, 2 * b, 3 * b);
	__m256i x, y;

	if (lanes[7] - lanes[0] != 7 * (uint64_t)bytes)
		return false;
	x = _mm256_xor_si256(_mm256_sub_epi64(_mm256_loadu_si256((const __m256i *)(const void *)lanes), first), low);
	y = _mm256_xor_si256(_mm256_sub_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(lanes + 4)), first), _mm256_add_epi64(low, _mm256_set1_epi64x(4 * b)));
	x = _mm256_or_si256(x, y);
	return _mm256_testz_si256(x, x);
}
GT_GATHER_EIGHT(8)
GT_GATHER_EIGHT(16)
GT_GATHER_EIGHT(32)
GT_GATHER_EIGHT(64)
GT_GATHER_FAST(GT_FAST, _fast, 8)
GT_GATHER_FAST(GT_FAST, _fast, 16)
GT_GATHER_FAST(GT_FAST, _fast, 32)
GT_GATHER_FAST(GT_FAST, _fast, 64)
#endif

/* The stride of the addresses of the lanes in `mask`, or GT_STRIDE_LANES. */
#define GT_STRIDE_OF(TARGET, VARIANT, ...)                                                                   \
	TARGET GT_INLINE int64_t gt_ptx_stride##VARIANT(const uint64_t *lanes, uint32_t mask)                \
	{                                                                                                    \
		uint64_t stride = lanes[1] - lanes[0];                                                       \
		if (mask == GT_PTX_FULL)                                                                     \
			return gt_ptx_is_row64##VARIANT(lanes, stride) ? (int64_t)stride : GT_STRIDE_LANES;  \
		const unsigned lowest = gt_ptx_lowest(mask);                                                 \
		if (!(mask & (mask - 1)))                                                                    \
			return 0;                                                                            \
		return gt_ptx_first_stride(lanes, mask, &stride) &&                                          \
				       gt_ptx_is_part64##VARIANT(lanes, mask, lanes[lowest] - stride * lowest, stride) \
			       ? (int64_t)stride                                                             \
			       : GT_STRIDE_LANES;                                                            \
	}
GT_VARIANTS(GT_STRIDE_OF, )

/* ---- accesses ---- */

struct gt_ptx_reach {
	const uint64_t *lanes; /* lane i accesses lanes[i] + offset */
	uint64_t offset;
	uint64_t low; /* an address, */
	unsigned char *host; /* its place in this process, */
	uint64_t apart; /* and how much further on it is for each next lane. host NULL: each lane's place is in `where` */
	enum gt_ptx_space space; /* of the lowest lane, and of all unless each has its place */
	uint64_t widened[GT_WARP_SIZE];
	unsigned char *where[GT_WARP_SIZE], spaces[GT_WARP_SIZE]; /* with generic addresses, lanes may be in several spaces */
};

/* The lanes of `mask` that are in a space. */
GT_INLINE uint32_t gt_ptx_lanes_in(const struct gt_ptx_reach *reach, uint32_t mask, enum gt_ptx_space space)
{
	uint32_t found = 0;

	if (reach->host)
		return reach->space == space ? mask : 0;
	for (uint32_t m = mask; m; m &= m - 1)
		found |= (uint32_t)(reach->spaces[gt_ptx_lowest(m)] == space) << gt_ptx_lowest(m);
	return found;
}

/* Finds the places of an access of `bytes` a lane; -1 after a fault. */
int gt_ptx_reach_slow(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		      struct gt_ptx_reach *reach, unsigned bytes);

/* The place of a lane's generic [address, address + bytes) in this process, or NULL. What is there counts as written. */
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

/* Where the lanes are, and how many bytes there are in the memory that the lowest one is in. */
GT_INLINE uint64_t gt_ptx_reach_begin(struct gt_ptx_warp *warp, const struct gt_ptx_access *access, uint32_t mask, struct gt_ptx_reach *reach,
				      unsigned bytes)
{
	reach->lanes = gt_ptx_lanes(warp, access->address);
	gt_ptx_widen(warp, access, reach);
	if (access->keeps && !access->narrow)
		reach->lanes = memcpy(reach->widened, reach->lanes, sizeof reach->widened);
	return gt_ptx_window(warp, access, reach->lanes[gt_ptx_lowest(mask)] + reach->offset, bytes, reach) - reach->low;
}

/* Whether lanes at a stride are within `room` of the begin of their memory, at multiples of bits + 1. */
GT_INLINE bool gt_ptx_ends_inside(const struct gt_ptx_reach *reach, uint32_t mask, int64_t stride, uint64_t room, uint64_t bits)
{
	const unsigned lowest = gt_ptx_lowest(mask), highest = 31 - (unsigned)__builtin_clz(mask);
	const uint64_t first = reach->lanes[lowest] + reach->offset, last = reach->lanes[highest] + reach->offset;

	return stride <= INT64_C(1) << 56 && stride >= -(INT64_C(1) << 56) && first - reach->low <= room && last - reach->low <= room &&
	       ((first | (uint64_t)stride) & bits) == 0;
}

/* The fast path: all lanes are in the memory that the lowest one is in. */
#define GT_REACH(TARGET, VARIANT, ...)                                                                       \
	TARGET GT_INLINE int gt_ptx_reach##VARIANT(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, \
						 struct gt_ptx_reach *reach, unsigned bytes)                 \
	{                                                                                                    \
		const uint64_t room = gt_ptx_reach_begin(warp, op->with.access, mask, reach, bytes);         \
		if (reach->host && room >= bytes &&                                                          \
		    !(gt_ptx_outside##VARIANT(reach->lanes, reach->offset, mask, reach->low, room - bytes, bytes - 1) & mask)) \
			return 0;                                                                            \
		reach->space = op->with.access->space;                                                       \
		return gt_ptx_reach_slow(warp, op, mask, reach, bytes);                                      \
	}                                                                                                    \
	/* The same, and what their stride is: of lanes that have one, the two ends tell where all are. */   \
	TARGET GT_INLINE int gt_ptx_reach_row##VARIANT(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, \
						     struct gt_ptx_reach *reach, unsigned bytes, int64_t *stride) \
	{                                                                                                    \
		const uint64_t room = gt_ptx_reach_begin(warp, op->with.access, mask, reach, bytes);         \
		*stride = gt_ptx_stride##VARIANT(reach->lanes, mask);                                        \
		if (reach->host && room >= bytes &&                                                          \
		    (*stride == GT_STRIDE_LANES                                                              \
			     ? !(gt_ptx_outside##VARIANT(reach->lanes, reach->offset, mask, reach->low, room - bytes, bytes - 1) & mask) \
			     : gt_ptx_ends_inside(reach, mask, *stride, room - bytes, bytes - 1)))           \
			return 0;                                                                            \
		reach->space = op->with.access->space;                                                       \
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

/* With GT_PTX_MEMCHECK: marks what an access writes, and reports the instruction if it reads what nothing has written; of the lanes in
 * `mask`, or of all, at a stride. */
void gt_ptx_look_at_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, const struct gt_ptx_reach *reach,
			  unsigned bytes);
void gt_ptx_look_at_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride, unsigned bytes);

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
