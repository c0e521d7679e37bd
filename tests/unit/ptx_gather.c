/* SPDX-License-Identifier: MIT */
/* Addresses of any lanes, and the moves to and from them, in each variant that this processor has instructions for: against loops
 * over the lanes. */
#include <string.h>

#include "check.h"
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/code.h"
#include "stream/rows.h"

#define TIMES 3000
#define BYTES 4096 /* of the memory */

static uint64_t state = 88172645463325252;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint32_t any_mask(void)
{
	const uint32_t one = UINT32_C(1) << any() % GT_WARP_SIZE;

	switch (any() % 4) {
	case 0: return GT_PTX_FULL;
	case 1: return one;
	case 2: return one | UINT32_C(1) << any() % GT_WARP_SIZE;
	default: return (uint32_t)any() | one;
	}
}

/* Lanes at a stride, some of them moved. */
static void fill(uint64_t lanes[GT_WARP_SIZE], uint64_t first, uint64_t stride)
{
	const uint32_t moved = any() % 2 ? 0 : any_mask() & any_mask();

	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		lanes[lane] = first + lane * stride + (moved >> lane & 1 ? any() % 16 : 0);
}

static uint32_t outside_of(const uint64_t *lanes, uint64_t offset, uint32_t mask, uint64_t low, uint64_t high, unsigned bytes)
{
	uint32_t outside = 0;

	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
		const uint64_t address = lanes[lane] + offset;
		if (mask >> lane & 1 && (address < low || address > high || high - address < bytes || address % bytes != 0))
			outside |= UINT32_C(1) << lane;
	}
	return outside;
}

#define EXTENTS(TARGET, VARIANT, ...)                                                                        \
	TARGET static void extents##VARIANT(void)                                                            \
	{                                                                                                    \
		for (unsigned i = 0; i < TIMES; i++) {                                                       \
			const uint64_t low = i % 2 ? 0 : UINT64_C(0x7fffffffffffff00) + any() % 512, high = low + 256 + any() % 256; \
			const uint64_t offset = i % 3 ? any() : 0, stride = any() % 3 ? any() % 9 : 0 - any() % 9; \
			const unsigned bytes = 1U << any() % 5;                                              \
			const uint32_t mask = any_mask();                                                    \
			uint64_t lanes[GT_WARP_SIZE];                                                        \
			fill(lanes, low + any() % 512 / bytes * bytes - offset, stride * bytes);             \
			CHECK_EQUAL(gt_ptx_outside##VARIANT(lanes, offset, mask, low, high - low - bytes, bytes - 1) & mask, \
				    outside_of(lanes, offset, mask, low, high, bytes));                      \
		}                                                                                            \
	}
GT_VARIANTS(EXTENTS, )

#define STRIDES(TARGET, VARIANT, ...)                                                                        \
	TARGET static void strides##VARIANT(void)                                                            \
	{                                                                                                    \
		for (unsigned i = 0; i < TIMES; i++) {                                                       \
			const uint32_t mask = any_mask();                                                    \
			uint64_t lanes[GT_WARP_SIZE], active[GT_WARP_SIZE];                                  \
			fill(lanes, any(), i % 3 ? any() % 64 : 0 - any() % 64);                             \
			unsigned n = 0;                                                                      \
			for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)                                 \
				if (mask >> lane & 1)                                                        \
					active[n++] = lanes[lane];                                           \
			CHECK_EQUAL(gt_ptx_stride##VARIANT(lanes, mask), gt_common_stride(mask, active));    \
		}                                                                                            \
	}
GT_VARIANTS(STRIDES, )

static void fill_memory(unsigned char *memory)
{
	for (unsigned i = 0; i < BYTES; i++)
		memory[i] = (unsigned char)any();
}

#define MOVES(TARGET, VARIANT, N)                                                                            \
	TARGET static void move##N##VARIANT(void)                                                            \
	{                                                                                                    \
		for (unsigned i = 0; i < TIMES; i++) {                                                       \
			unsigned char memory[BYTES], expected[BYTES];                                        \
			uint##N##_t values[GT_WARP_SIZE], loaded[GT_WARP_SIZE];                              \
			uint64_t lanes[GT_WARP_SIZE], from = any(), apart = any() % 2 ? any() % 32 : 0;      \
			const uint32_t mask = any_mask();                                                    \
			fill(lanes, any() % 1024 - from, i % 2 ? any() % 32 : 0);                            \
			fill_memory(memory);                                                                 \
			memcpy(expected, memory, BYTES);                                                     \
			const struct gt_ptx_places places = {memory, lanes, from, apart};                    \
			for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)                                 \
				values[lane] = (uint##N##_t)any();                                           \
			memcpy(loaded, values, sizeof loaded);                                               \
			gt_ptx_gather##N##VARIANT(&places, mask, loaded);                                    \
			for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {                               \
				uint##N##_t value = values[lane];                                            \
				if (mask >> lane & 1)                                                        \
					memcpy(&value, memory + (lanes[lane] + from + lane * apart), N / 8); \
				CHECK_EQUAL(loaded[lane], value);                                            \
			}                                                                                    \
			gt_ptx_scatter##N##VARIANT(&places, mask, values);                                   \
			for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)                                 \
				if (mask >> lane & 1)                                                        \
					memcpy(expected + (lanes[lane] + from + lane * apart), &values[lane], N / 8); \
			CHECK(memcmp(memory, expected, BYTES) == 0);                                         \
		}                                                                                            \
	}
GT_VARIANTS(MOVES, 8)
GT_VARIANTS(MOVES, 16)
GT_VARIANTS(MOVES, 32)
GT_VARIANTS(MOVES, 64)

#define RUN_VARIANT(VARIANT)                                                                                   \
	do {                                                                                                   \
		RUN(extents##VARIANT);                                                                         \
		RUN(strides##VARIANT);                                                                         \
		RUN(move8##VARIANT);                                                                           \
		RUN(move16##VARIANT);                                                                          \
		RUN(move32##VARIANT);                                                                          \
		RUN(move64##VARIANT);                                                                          \
	} while (0)

int main(void)
{
	RUN_VARIANT(_plain);
#if defined __x86_64__
	if (gt_ptx_simd_variant() >= GT_PTX_AVX2)
		RUN_VARIANT(_fast);
#endif
	return check_report();
}
