/* SPDX-License-Identifier: MIT */
/* The addresses of any lanes at once, in each variant: whether all are in one window of memory, their stride, and
 * the moves between lanes and memory. */
#ifndef GT_PTX_GATHER_H
#define GT_PTX_GATHER_H

#include <string.h>

#include "cuda/ptx/exec/simd.h"
#include "stream/op.h"

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
	return gt_ptx_is_part64_plain(lanes, mask, first, stride);
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

#endif
