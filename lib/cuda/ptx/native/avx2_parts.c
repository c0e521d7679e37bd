/* SPDX-License-Identifier: MIT */
/* What operations are put together from with AVX2, which compares signed integers only, has masks in vector registers, and lacks some
 * instructions on 64 bits. */
#include "cuda/ptx/native/avx2.h"
#include "cuda/ptx/native/general.h"

#define FIRST  GT_YMM_FIRST
#define SECOND GT_YMM_SECOND
#define THIRD  GT_YMM_THIRD
#define NANS 0	 /* constants, by their places in the code */
#define BITS 32	 /* 1, 2, 4 to 128 */

const struct gt_native_op gt_avx2_equal32 = {GT_0F, GT_66, 0, 0x76};
static const struct gt_native_op greater64 = {GT_0F38, GT_66, 0, 0x37}, multiply = {GT_0F, GT_66, 0, 0xf4},
				 add64 = {GT_0F, GT_66, 0, 0xd4};

void gt_avx2_open(struct gt_native_code *code)
{
	for (unsigned lane = 0; lane < 8; lane++)
		gt_native_word(code, 0x7fffffff);
	for (unsigned lane = 0; lane < 8; lane++)
		gt_native_word(code, 1U << lane);
}

void gt_avx2_mask_of_bits(struct gt_native_segment *segment, unsigned d)
{
	static const struct gt_native_op take = {GT_0F, GT_66, 0, 0x6e}, spread = {GT_0F38, GT_66, 0, 0x58}, both = {GT_0F, GT_66, 0, 0xdb};

	gt_native_vector128(segment->code, take, d, 0, GT_RAX);
	gt_avx2(segment, spread, d, 0, d);
	gt_native_constant256(segment->code, both, d, d, BITS, 0);
	gt_native_constant256(segment->code, gt_avx2_equal32, d, d, BITS, 0);
}

void gt_avx2_canonical(struct gt_native_segment *segment, unsigned d)
{
	static const struct gt_native_op unordered = {GT_0F, GT_NP, 0, 0xc2}, blend = {GT_0F3A, GT_66, 0, 0x4a};

	gt_avx2(segment, unordered, FIRST, d, d);
	gt_native_byte(segment->code, 3);
	gt_native_constant256(segment->code, blend, d, d, NANS, 1);
	gt_native_byte(segment->code, FIRST << 4);
}

void gt_avx2_fill(struct gt_native_segment *segment, unsigned wide, unsigned d, uint64_t bits)
{
	const struct gt_native_op take = {GT_0F, GT_66, (uint8_t)wide, 0x6e};
	const struct gt_native_op spread = {GT_0F38, GT_66, 0, wide ? 0x59 : 0x58};

	if (wide)
		gt_native_text(segment->code, "\x48\xb8"); /* mov rax, bits */
	else
		gt_native_byte(segment->code, 0xb8); /* mov eax, bits */
	gt_native_word(segment->code, (uint32_t)bits);
	if (wide)
		gt_native_word(segment->code, (uint32_t)(bits >> 32));
	gt_native_vector128(segment->code, take, d, 0, GT_RAX);
	gt_avx2(segment, spread, d, 0, d);
}

void gt_avx2_blend(struct gt_native_segment *segment, unsigned d, unsigned a, unsigned b, unsigned mask)
{
	gt_avx2(segment, (struct gt_native_op){GT_0F3A, GT_66, 0, 0x4c}, d, a, b);
	gt_native_byte(segment->code, mask << 4);
}

void gt_avx2_widen(struct gt_native_segment *segment, unsigned opcode, unsigned d, unsigned from, unsigned half)
{
	static const struct gt_native_op extract = {GT_0F3A, GT_66, 0, 0x39};

	if (half) {
		gt_avx2(segment, extract, from, 0, d);
		gt_native_byte(segment->code, 1);
	}
	gt_avx2(segment, (struct gt_native_op){GT_0F38, GT_66, 0, (uint8_t)opcode}, d, 0, half ? d : from);
}

void gt_avx2_read_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned general)
{
	const struct gt_native_place place = gt_native_predicate(segment, slot);

	gt_native_text(segment->code, "\x41\x0f\xb6"); /* movzx general, byte [base + offset] */
	gt_native_byte(segment->code, 0x80 | general << 3 | (place.base & 7));
	gt_native_word(segment->code, place.offset);
}

/* Parts are kept until all can be stored, since a load of what several stores wrote waits for them. The first predicate is in r11d,
 * the second in esi. */
static void keep_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned general)
{
	struct gt_native_code *code = segment->code;
	const unsigned kept = segment->n_predicated++ ? GT_RSI : GT_R11, extension = kept == GT_R11 ? 0x44 : 0x40;

	if (segment->part == 0) { /* movzx kept, the byte of general */
		gt_native_byte(code, extension);
		gt_native_text(code, "\x0f\xb6");
		gt_native_byte(code, 0xc0 | (kept & 7) << 3 | general);
		return;
	}
	gt_native_text(code, "\x0f\xb6"); /* movzx; shl general, 8 part; or kept, general */
	gt_native_byte(code, 0xc0 | general << 3 | general);
	gt_native_byte(code, 0xc1);
	gt_native_byte(code, 0xe0 | general);
	gt_native_byte(code, 8 * segment->part);
	gt_native_byte(code, extension);
	gt_native_byte(code, 0x0b);
	gt_native_byte(code, 0xc0 | (kept & 7) << 3 | general);
	if (segment->part == 3)
		gt_general_store(code, false, kept, GT_R10, slot);
}

void gt_avx2_write_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned general)
{
	if (segment->unrolled) {
		keep_predicate(segment, slot, general);
		return;
	}
	const struct gt_native_place place = gt_native_new_predicate(segment, slot);

	gt_native_text(segment->code, "\x41\x88"); /* mov byte [base + offset], general */
	gt_native_byte(segment->code, 0x80 | general << 3 | (place.base & 7));
	gt_native_word(segment->code, place.offset);
}

/* By shift 0x72 (of 32 bits) or 0x73 (of 64): to the right by 2, to the left by 6. */
static void shift(struct gt_native_segment *segment, unsigned opcode, unsigned way, unsigned d, unsigned x, unsigned count)
{
	gt_avx2(segment, (struct gt_native_op){GT_0F, GT_66, 0, (uint8_t)opcode}, way, d, x);
	gt_native_byte(segment->code, count);
}

/* Flips the sign, so that a signed comparison is one of unsigned numbers. */
static void flip(struct gt_native_segment *segment, unsigned wide, unsigned x, unsigned y)
{
	gt_avx2_fill(segment, wide, THIRD, wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31);
	gt_avx2(segment, gt_native_xor, FIRST, x, THIRD);
	gt_avx2(segment, gt_native_xor, SECOND, y, THIRD);
}

/* Numbers of AVX-512's comparisons. */
enum { EQUAL, LESS, LESS_OR_EQUAL, NOT_EQUAL = 4, GREATER_OR_EQUAL, GREATER };

bool gt_avx2_is_inverted(const struct gt_native_rule *rule)
{
	return rule->op.map == GT_0F3A && (rule->immediate == NOT_EQUAL || rule->immediate == LESS_OR_EQUAL || rule->immediate == GREATER_OR_EQUAL);
}

void gt_avx2_compare_integers(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
			      unsigned y)
{
	static const struct gt_native_op equal64 = {GT_0F38, GT_66, 0, 0x29}, greater32 = {GT_0F, GT_66, 0, 0x66};
	const unsigned wide = rule->op.wide;
	const bool swap = rule->immediate == LESS || rule->immediate == GREATER_OR_EQUAL, is_unsigned = rule->op.opcode == 0x1e;

	if (rule->immediate == EQUAL || rule->immediate == NOT_EQUAL) {
		gt_avx2(segment, wide ? equal64 : gt_avx2_equal32, d, x, y);
		return;
	}
	if (is_unsigned) {
		flip(segment, wide, x, y);
		x = FIRST;
		y = SECOND;
	}
	gt_avx2(segment, wide ? greater64 : greater32, d, swap ? y : x, swap ? x : y);
}

/* The products of the halves, without that of the upper ones. */
void gt_avx2_product64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y)
{
	shift(segment, 0x73, 2, FIRST, x, 32);
	gt_avx2(segment, multiply, FIRST, FIRST, y);
	shift(segment, 0x73, 2, SECOND, y, 32);
	gt_avx2(segment, multiply, SECOND, SECOND, x);
	gt_avx2(segment, add64, FIRST, FIRST, SECOND);
	shift(segment, 0x73, 6, FIRST, FIRST, 32);
	gt_avx2(segment, multiply, SECOND, x, y);
	gt_avx2(segment, add64, d, FIRST, SECOND);
}

void gt_avx2_extreme64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, bool is_signed, bool most)
{
	if (!is_signed)
		flip(segment, 1, x, y);
	gt_avx2(segment, greater64, FIRST, is_signed ? x : FIRST, is_signed ? y : SECOND);
	gt_avx2_blend(segment, d, most ? y : x, most ? x : y, FIRST);
}

/* A negative number is shifted as its complement. */
void gt_avx2_shift_signed64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned count)
{
	static const struct gt_native_op shift_right = {GT_0F38, GT_66, 1, 0x45};

	gt_avx2(segment, gt_native_xor, SECOND, SECOND, SECOND);
	gt_avx2(segment, greater64, SECOND, SECOND, x);
	gt_avx2(segment, gt_native_xor, THIRD, SECOND, x);
	gt_avx2(segment, shift_right, THIRD, THIRD, count);
	gt_avx2(segment, gt_native_xor, d, THIRD, SECOND);
}

/* Each half is put into the fraction of a float whose exponent is that of its lowest bit; one sum, of which both terms are exact,
 * rounds. 0x4b000000 is 2^23, 0x53000000 is 2^39, 0x53000080 their sum. */
void gt_avx2_float_of_u32(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	static const struct gt_native_op words = {GT_0F3A, GT_66, 0, 0x0e}, subtract = {GT_0F, GT_NP, 0, 0x5c},
					 add = {GT_0F, GT_NP, 0, 0x58};

	gt_avx2_fill(segment, 0, FIRST, 0x4b000000);
	gt_avx2(segment, words, FIRST, x, FIRST); /* the upper 16 bits of each lane from the second */
	gt_native_byte(segment->code, 0xaa);
	shift(segment, 0x72, 2, SECOND, x, 16);
	gt_avx2_fill(segment, 0, THIRD, 0x53000000);
	gt_avx2(segment, gt_native_or, SECOND, SECOND, THIRD);
	gt_avx2_fill(segment, 0, THIRD, 0x53000080);
	gt_avx2(segment, subtract, SECOND, SECOND, THIRD);
	gt_avx2(segment, add, d, FIRST, SECOND);
}

/* The same with doubles: 0x4330... is 2^52, 0x4530... 2^84; a signed number's upper half is made positive by adding 2^31. */
void gt_avx2_double_of_64(struct gt_native_segment *segment, unsigned d, unsigned x, bool is_signed)
{
	static const struct gt_native_op dwords = {GT_0F3A, GT_66, 0, 0x02}, subtract = {GT_0F, GT_66, 0, 0x5c},
					 add = {GT_0F, GT_66, 0, 0x58};

	gt_avx2_fill(segment, 1, FIRST, UINT64_C(0x4330) << 48);
	gt_avx2(segment, dwords, FIRST, x, FIRST); /* the upper 32 bits of each lane from the second */
	gt_native_byte(segment->code, 0xaa);
	shift(segment, 0x73, 2, SECOND, x, 32);
	gt_avx2_fill(segment, 1, THIRD, UINT64_C(0x4530) << 48 | (is_signed ? UINT64_C(0x80000000) : 0));
	gt_avx2(segment, gt_native_xor, SECOND, SECOND, THIRD);
	/* 2^84 + 2^52, and 2^63 of a signed number */
	gt_avx2_fill(segment, 1, THIRD, UINT64_C(0x4530000000100000) | (is_signed ? UINT64_C(0x80000000) : 0));
	gt_avx2(segment, subtract, SECOND, SECOND, THIRD);
	gt_avx2(segment, add, d, FIRST, SECOND);
}
