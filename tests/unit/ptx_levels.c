/* SPDX-License-Identifier: MIT */
/* Every lane operation, and the tests of whole warps, in each variant that this processor has instructions for: against
 * those for any processor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/lanes.h"

#define SLOT 256 /* bytes: 32 lanes of 8 */
enum { ONES, D, Q, A, B, C, E, SLOTS };

static _Alignas(64) unsigned char before[SLOTS * SLOT], arenas[2][SLOTS * SLOT];
static uint64_t state = 88172645463325252;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* A lane of `size` bytes: numbers that are special to some type as often as any. */
static uint64_t value(unsigned size)
{
	static const double doubles[] = {0.0, -0.0, 1.0, -1.5, 2147483648.0, -9.3e18, 1.9e19, 0x1p-1070, 1e308, INFINITY, NAN};
	static const float floats[] = {0.0F, -0.0F, 1.0F, -2.5F, 4294967296.0F, 0x1p-140F, 3e38F, -INFINITY, NAN};
	static const uint64_t integers[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0xffffffff80000000), INT32_MAX, 31, 32, 33, 63, 64, 0x7c00, 0xff};
	uint64_t bits = any();

	switch (any() % 6) {
	case 0: memcpy(&bits, &doubles[any() % (sizeof doubles / sizeof *doubles)], 8); break;
	case 1: {
		uint32_t low;
		memcpy(&low, &floats[any() % (sizeof floats / sizeof *floats)], 4);
		bits = low | (uint64_t)low << 32;
		break;
	}
	case 2: bits = integers[any() % (sizeof integers / sizeof *integers)]; break;
	case 3: bits %= 100; break;
	default: break;
	}
	return size == 8 ? bits : bits & ((UINT64_C(1) << 8 * size) - 1);
}

static void fill(uint8_t type, unsigned slot)
{
	unsigned char *at = before + slot * SLOT;
	unsigned size = gt_ptx_type_size((enum gt_ptx_type)type);

	for (unsigned i = 0; i < SLOT; i++)
		at[i] = (unsigned char)any();
	for (unsigned lane = 0; type != GT_PTX_PRED && size > 0 && lane < GT_WARP_SIZE; lane++) {
		uint64_t bits = value(size);
		memcpy(at + lane * size, &bits, size);
	}
}

/* Two doubles may be different NaNs. */
static bool alike(uint8_t type, const unsigned char *left, const unsigned char *right)
{
	for (unsigned lane = 0; lane < SLOT / 8; lane++) {
		double x, y;
		memcpy(&x, left + 8 * lane, 8);
		memcpy(&y, right + 8 * lane, 8);
		if (memcmp(left + 8 * lane, right + 8 * lane, 8) != 0 && (type != GT_PTX_F64 || x == x || y == y))
			return false;
	}
	return true;
}

static void run(const struct gt_ptx_form *form, enum gt_ptx_simd variant, const struct gt_ptx_op *op, uint32_t mask,
		    unsigned char *arena)
{
	static struct gt_ptx_warp warp;

	memcpy(arena, before, sizeof before);
	warp = (struct gt_ptx_warp){.arena = arena, .mask = mask, .live = GT_PTX_FULL};
	CHECK(form->run[variant](&warp, op, mask) == op + 1);
}

/* Bytes of two words, by any operation. */
static struct gt_ptx_video any_video(void)
{
	struct gt_ptx_video video = {.operation = any() % (GT_PTX_VIDEO_GE + 1), .end = any() % (GT_PTX_VIDEO_THEN_MAX + 1), .n = 1 + any() % 4,
				     .a_signed = any() & 1, .b_signed = any() & 1, .d_signed = any() & 1, .wraps = any() & 1,
				     .saturates = any() & 1, .least = -100, .most = 100, .turn = -(any() & 1), .shift = any() & 1 ? 7 : 0};

	video.b_signed &= video.operation != GT_PTX_VIDEO_SHL && video.operation != GT_PTX_VIDEO_SHR; /* they shift by unsigned numbers */
	for (unsigned i = 0; i < video.n; i++) {
		video.a[i] = (struct gt_ptx_part){(uint8_t)(any() % 8 * 8), 8};
		video.b[i] = (struct gt_ptx_part){(uint8_t)(any() % 8 * 8), 8};
		video.d[i] = (struct gt_ptx_part){(uint8_t)(8 * i), any() & 3 ? 8 : 0};
	}
	return video;
}

/* `with_q`: the operation has slot q in any case, as that of the carry. */
static void try_form(const struct gt_ptx_form *form, enum gt_ptx_simd variant, bool with_q)
{
	const bool is_video = strcmp(form->name, GT_PTX_VIDEO) == 0;
	const uint32_t masks[] = {GT_PTX_FULL, 1, 0x80000000, (uint32_t)any() | 1};

	for (unsigned i = 0; i < 8; i++) {
		struct gt_ptx_op op = {.d = D * SLOT, .q = with_q || i & 1 ? Q * SLOT : 0, .a = A * SLOT, .b = B * SLOT, .c = C * SLOT,
				       .e = E * SLOT, .choice = (uint8_t)(i / 2), .with.immediate = any() & 3};
		const unsigned slots[] = {A, B, C, E};
		const struct gt_ptx_video video = any_video();
		if (is_video)
			op.with.video = &video;
		fill(form->d, D);
		fill(GT_PTX_PRED, Q);
		for (unsigned s = 0; s < GT_PTX_SOURCES; s++)
			fill(form->sources[s], slots[s]);
		run(form, GT_PTX_PLAIN, &op, masks[i % 4], arenas[0]);
		run(form, variant, &op, masks[i % 4], arenas[1]);
		if (alike(form->d, arenas[0] + D * SLOT, arenas[1] + D * SLOT) &&
		    memcmp(arenas[0] + Q * SLOT, arenas[1] + Q * SLOT, SLOT) == 0)
			continue;
		printf("# %s differs in variant %d, mask %08x\n", form->name, (int)variant, (unsigned)masks[i % 4]);
		CHECK(0);
		return;
	}
}

static void every_form(void)
{
	static const struct gt_ptx_forms *const tables[] = {
		&gt_ptx_integer_forms, &gt_ptx_wide_forms, &gt_ptx_bit_forms, &gt_ptx_float_forms, &gt_ptx_compare_forms,
		&gt_ptx_convert_forms, &gt_ptx_half_forms, &gt_ptx_move_forms, &gt_ptx_lane_forms,
	};

	for (int variant = GT_PTX_PLAIN + 1; variant <= (int)gt_ptx_simd_variant(); variant++)
		for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
			for (size_t i = 0; i < tables[t]->n; i++)
				try_form(&tables[t]->rows[i], (enum gt_ptx_simd)variant, tables[t] == &gt_ptx_wide_forms);
}

/* rsqrt.f32 of every float from 1 to 4: those of other exponents differ by powers of two. */
static void every_root(void)
{
	const struct gt_ptx_form *form = gt_ptx_form_named("rsqrt.f32");
	const struct gt_ptx_op op = {.d = D * SLOT, .a = A * SLOT};
	float x[GT_WARP_SIZE];

	for (uint32_t bits = 0x3f800000; bits < 0x40800000; bits += GT_WARP_SIZE) {
		for (uint32_t lane = 0; lane < GT_WARP_SIZE; lane++)
			memcpy(&x[lane], &(uint32_t){bits + lane}, sizeof *x);
		for (int variant = 0; variant <= (int)gt_ptx_simd_variant(); variant++) {
			struct gt_ptx_warp warp = {.arena = arenas[variant > 0]};
			memcpy(arenas[variant > 0] + A * SLOT, x, sizeof x);
			form->run[variant](&warp, &op, GT_PTX_FULL);
			if (variant > 0 && memcmp(arenas[0] + D * SLOT, arenas[1] + D * SLOT, sizeof x) != 0) {
				CHECK(0);
				return;
			}
		}
	}
}

/* A row is one; with any lane changed it is none. */
#define ROWS(TARGET, VARIANT, ...)                                                                 \
	TARGET static void rows##VARIANT(void)                                                     \
	{                                                                                          \
		for (unsigned i = 0; i < 2000; i++) {                                              \
			uint64_t wide[GT_WARP_SIZE], first = any(), stride = i % 5 ? any() % 64 : any(); \
			uint32_t narrow[GT_WARP_SIZE];                                             \
			unsigned wrong = i % 3 ? GT_WARP_SIZE : (unsigned)(any() % GT_WARP_SIZE);  \
			for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {                     \
				wide[lane] = first + lane * stride + (lane == wrong);              \
				narrow[lane] = (uint32_t)wide[lane];                               \
			}                                                                          \
			CHECK_EQUAL(gt_ptx_is_row64##VARIANT(wide, wide[1] - wide[0]), wrong == GT_WARP_SIZE); \
			CHECK_EQUAL(gt_ptx_is_row32##VARIANT(narrow, narrow[1] - narrow[0]), wrong == GT_WARP_SIZE); \
		}                                                                                  \
	}
GT_VARIANTS(ROWS, )

int main(void)
{
	RUN(every_form);
	RUN(every_root);
	RUN(rows_plain);
#if defined __x86_64__
	if (gt_ptx_simd_variant() >= GT_PTX_AVX2)
		RUN(rows_fast);
#endif
	return check_report();
}
