/* SPDX-License-Identifier: MIT */
/* One operation as vector instructions of AVX2, for eight lanes. ymm13 to ymm15 are free within it, as are eax, ecx and edx. */
#include <stddef.h>

#include "cuda/ptx/exec/warp.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"

/* ymm0 to ymm11 hold values. In a stretch ymm12 is free. */
enum { ACTIVE = 12, FIRST, SECOND, THIRD };

static const struct gt_native_op equal32 = {GT_0F, GT_66, 0, GT_VPCMPEQD};

/* ---- encodings: OP xmm_d, xmm_a, xmm_b and OP ymm_d, ymm_a, ymm_b, of 128 and 256 bits ---- */

static void vector128(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	gt_native_vex(code, op, false, d, a, b);
}

/* With [base + offset] in the place of b. */
static void memory256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset)
{
	gt_native_vex_memory(code, op, true, d, a, base, offset);
}

/* With a constant that is `at` bytes into the code in the place of b; `behind`: bytes of the immediate that follows. The offset counts
 * from the end of the instruction. */
static void constant256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, uint32_t at, unsigned behind)
{
	gt_native_begin_vex(code, op, true, d, a, 0);
	gt_native_byte(code, (d & 7) << 3 | 5);
	gt_native_word(code, at - ((uint32_t)code->n + 4 + behind));
}

/* OP d, [base + ymm_index + offset], mask: what lanes have at places of their own. Bit 3 of the index is where bit 4 of b would be. */
static void gather256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned mask, unsigned base, unsigned index,
		      uint32_t offset)
{
	gt_native_begin_vex(code, op, true, d, mask, (index & 8) << 1 | (base & 8));
	gt_native_byte(code, 0x84 | (d & 7) << 3);
	gt_native_byte(code, (index & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

/* OP ymm_d, ymm_a, ymm_b */
static inline void vector256(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	gt_native_vex(segment->code, op, true, d, a, b);
}

/* ---- what stretches need beside operations ---- */

static void memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset)
{
	memory256(segment->code, op, d, a, base, offset);
}

static void lane(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general)
{
	vector128(segment->code, op, x, 0, general);
}

static void differ(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b)
{
	gt_native_with(segment, gt_native_xor, SECOND, a, b);
	vector256(segment, gt_native_or, d, d, SECOND);
}

static void compare_zero(struct gt_native_segment *segment, unsigned a, unsigned b)
{
	static const struct gt_native_op test = {GT_0F38, GT_66, 0, GT_VPTEST};

	vector256(segment, test, a, 0, b);
}

/* The instruction takes the lanes from the mask as it loads them. */
static void gather(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index, uint32_t offset)
{
	vector256(segment, equal32, THIRD, THIRD, THIRD);
	gather256(segment->code, op, d, THIRD, base, index, offset);
}

/* ---- what operations are put together from: AVX2 compares signed integers only, has masks in vector registers, and lacks some
 * instructions on 64 bits ---- */

#define NANS 0	 /* constants, by their places in the code */
#define BITS 32	 /* 1, 2, 4 to 128 */
#define CUTS 64	 /* the bytes of the lower halves of lanes, in both halves of a register, */
#define CUTS_TO_BYTES 96 /* the lowest ones of lanes of 32 bits, */
#define CUTS_OF_HALVES 128 /* and of lanes of 16 */
#define BYTES 160 /* of enum gt_native_bytes_of */

static const struct gt_native_op greater64 = {GT_0F38, GT_66, 0, GT_VPCMPGTQ}, multiply = {GT_0F, GT_66, 0, GT_VPMULUDQ},
				 add64 = {GT_0F, GT_66, 0, GT_VPADDQ};

static void open(struct gt_native_code *code)
{
	for (unsigned lane = 0; lane < 8; lane++)
		gt_native_word(code, 0x7fffffff);
	for (unsigned lane = 0; lane < 8; lane++)
		gt_native_word(code, 1U << lane);
	for (unsigned half = 0; half < 2; half++)
		gt_native_bytes(code, "\x00\x01\x04\x05\x08\x09\x0c\x0d\x80\x80\x80\x80\x80\x80\x80\x80", 16);
	for (unsigned half = 0; half < 2; half++)
		gt_native_bytes(code, "\x00\x04\x08\x0c\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 16);
	for (unsigned half = 0; half < 2; half++)
		gt_native_bytes(code, "\x00\x02\x04\x06\x08\x0a\x0c\x0e\x80\x80\x80\x80\x80\x80\x80\x80", 16);
	gt_native_open_bytes(code, 2);
}

static void bytes_of(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, enum gt_native_bytes_of which)
{
	constant256(segment->code, op, d, a, BYTES + 32 * (uint32_t)which, 0);
}

static void cut(struct gt_native_segment *segment, enum gt_vector_opcode how, unsigned d, unsigned x)
{
	static const struct gt_native_op shuffle = {GT_0F38, GT_66, 0, GT_VPSHUFB}, permute = {GT_0F3A, GT_66, 1, GT_VPERMQ}, words = {GT_0F, GT_66, 0, GT_VPSHUFD};

	constant256(segment->code, shuffle, d, x, how == GT_VPMOVDW ? CUTS : how == GT_VPMOVDB ? CUTS_TO_BYTES : CUTS_OF_HALVES, 0);
	if (how == GT_VPMOVWB)
		return;
	vector256(segment, permute, d, 0, d);
	gt_native_byte(segment->code, 0x08);
	if (how == GT_VPMOVDW)
		return;
	vector256(segment, words, d, 0, d);
	gt_native_byte(segment->code, 0x08);
}

/* The instruction takes the lower three bits of the numbers. */
static void exchange(struct gt_native_segment *segment, unsigned d, const unsigned *from, unsigned part, uint32_t at)
{
	constant256(segment->code, (struct gt_native_op){GT_0F, GT_F3, 0, GT_VMOVDQA}, d, 0, at, 0);
	vector256(segment, (struct gt_native_op){GT_0F38, GT_66, 0, GT_VPERMD}, d, d, from[part]);
}

/* All ones in the lanes whose bit is set in al. */
static void mask_of_bits(struct gt_native_segment *segment, unsigned d)
{
	static const struct gt_native_op move = {GT_0F, GT_66, 0, GT_VMOV_FROM_GENERAL}, spread = {GT_0F38, GT_66, 0, GT_VPBROADCASTD}, both = {GT_0F, GT_66, 0, GT_VPAND};

	vector128(segment->code, move, d, 0, GT_RAX);
	vector256(segment, spread, d, 0, d);
	constant256(segment->code, both, d, d, BITS, 0);
	constant256(segment->code, equal32, d, d, BITS, 0);
}

/* The processor's rounding is set meanwhile. What is below the stack has room for two words above the predicates of a segment. */
static void rounded(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b, unsigned rounding)
{
	struct gt_native_code *code = segment->code;

	gt_native_text(code, "\x0f\xae\x5c\x24\xfc\xc7\x44\x24\xf8"); /* stmxcsr [rsp - 4]; mov dword [rsp - 8], */
	gt_native_word(code, 0x1f80 | rounding << 13);
	gt_native_text(code, "\x0f\xae\x54\x24\xf8"); /* ldmxcsr [rsp - 8] */
	vector256(segment, op, d, a, b);
	gt_native_text(code, "\x0f\xae\x54\x24\xfc"); /* ldmxcsr [rsp - 4] */
}

static void canonical(struct gt_native_segment *segment, unsigned d)
{
	static const struct gt_native_op unordered = {GT_0F, GT_NP, 0, GT_VCMP}, blend_nan = {GT_0F3A, GT_66, 0, GT_VBLENDVPS};

	vector256(segment, unordered, FIRST, d, d);
	gt_native_byte(segment->code, 3);
	constant256(segment->code, blend_nan, d, d, NANS, 1);
	gt_native_byte(segment->code, FIRST << 4);
}

static void fill(struct gt_native_segment *segment, unsigned wide, unsigned d, uint64_t bits)
{
	const struct gt_native_op move = {GT_0F, GT_66, (uint8_t)wide, GT_VMOV_FROM_GENERAL};
	const struct gt_native_op spread = {GT_0F38, GT_66, 0, wide ? GT_VPBROADCASTQ : GT_VPBROADCASTD};

	if (wide)
		gt_native_text(segment->code, "\x48\xb8"); /* mov rax, bits */
	else
		gt_native_byte(segment->code, 0xb8); /* mov eax, bits */
	gt_native_word(segment->code, (uint32_t)bits);
	if (wide)
		gt_native_word(segment->code, (uint32_t)(bits >> 32));
	vector128(segment->code, move, d, 0, GT_RAX);
	vector256(segment, spread, d, 0, d);
}

/* Lanes of b where the mask is set, of a elsewhere. */
static void blend(struct gt_native_segment *segment, unsigned d, unsigned a, unsigned b, unsigned mask)
{
	vector256(segment, (struct gt_native_op){GT_0F3A, GT_66, 0, GT_VPBLENDVB}, d, a, b);
	gt_native_byte(segment->code, mask << 4);
}

static void mask(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned x, unsigned y, unsigned how)
{
	vector256(segment, op, d, x, y);
	gt_native_byte(segment->code, how);
}

static void is_zero(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	vector256(segment, gt_native_xor, THIRD, THIRD, THIRD);
	vector256(segment, equal32, d, x, THIRD);
}

static void widen(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned from, unsigned half)
{
	static const struct gt_native_op extract = {GT_0F3A, GT_66, 0, GT_VEXTRACTI128};

	if (half) {
		vector256(segment, extract, from, 0, d);
		gt_native_byte(segment->code, 1);
	}
	vector256(segment, op, d, 0, half ? d : from);
}

/* A part of a predicate into eax, ecx or edx, and back. */
static void read_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned general)
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
	if (segment->part < 3)
		return;
	if (!segment->whole) { /* what lanes that are not active have stays */
		gt_general_at(code, false, GT_XOR, kept, GT_R10, slot);
		gt_general_at(code, false, GT_AND, kept, GT_RBX, offsetof(struct gt_ptx_warp, mask));
		gt_general_at(code, false, GT_XOR, kept, GT_R10, slot);
	}
	gt_general_store(code, false, kept, GT_R10, slot);
}

static void write_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned general)
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

/* Flips the sign, so that a signed comparison is one of unsigned numbers. */
static void flip(struct gt_native_segment *segment, unsigned wide, unsigned x, unsigned y)
{
	fill(segment, wide, THIRD, wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31);
	vector256(segment, gt_native_xor, FIRST, x, THIRD);
	vector256(segment, gt_native_xor, SECOND, y, THIRD);
}

/* Numbers of AVX-512's comparisons. */
enum { EQUAL, LESS, LESS_OR_EQUAL, NOT_EQUAL = 4, GREATER_OR_EQUAL, GREATER };

static bool is_inverted(const struct gt_native_rule *rule)
{
	return rule->op.map == GT_0F3A && (rule->immediate == NOT_EQUAL || rule->immediate == LESS_OR_EQUAL || rule->immediate == GREATER_OR_EQUAL);
}

/* Of integers: all ones in lanes for which the comparison holds, or, if the rule's is inverted, does not. */
static void compare_integers(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
				  unsigned y)
{
	static const struct gt_native_op equal64 = {GT_0F38, GT_66, 0, GT_VPCMPEQQ}, greater32 = {GT_0F, GT_66, 0, GT_VPCMPGTD};
	const unsigned wide = rule->op.wide;
	const bool swap = rule->immediate == LESS || rule->immediate == GREATER_OR_EQUAL, is_unsigned = rule->op.opcode == GT_VPCMPU;

	if (rule->immediate == EQUAL || rule->immediate == NOT_EQUAL) {
		vector256(segment, wide ? equal64 : equal32, d, x, y);
		return;
	}
	if (is_unsigned) {
		flip(segment, wide, x, y);
		x = FIRST;
		y = SECOND;
	}
	vector256(segment, wide ? greater64 : greater32, d, swap ? y : x, swap ? x : y);
}

/* The products of the halves, without that of the upper ones. */
static void product64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y)
{
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, FIRST, x, 32);
	vector256(segment, multiply, FIRST, FIRST, y);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, SECOND, y, 32);
	vector256(segment, multiply, SECOND, SECOND, x);
	vector256(segment, add64, FIRST, FIRST, SECOND);
	gt_native_shift_by(segment, true, GT_NATIVE_LEFT, FIRST, FIRST, 32);
	vector256(segment, multiply, SECOND, x, y);
	vector256(segment, add64, d, FIRST, SECOND);
}

static void extreme64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, bool is_signed, bool most)
{
	if (!is_signed)
		flip(segment, 1, x, y);
	vector256(segment, greater64, FIRST, is_signed ? x : FIRST, is_signed ? y : SECOND);
	blend(segment, d, most ? y : x, most ? x : y, FIRST);
}

/* A negative number is shifted as its complement. */
static void shift_signed64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned count)
{
	static const struct gt_native_op shift_right = {GT_0F38, GT_66, 1, GT_VPSRLV};

	vector256(segment, gt_native_xor, SECOND, SECOND, SECOND);
	vector256(segment, greater64, SECOND, SECOND, x);
	vector256(segment, gt_native_xor, THIRD, SECOND, x);
	vector256(segment, shift_right, THIRD, THIRD, count);
	vector256(segment, gt_native_xor, d, THIRD, SECOND);
}

/* Each half is put into the fraction of a float whose exponent is that of its lowest bit; one sum, of which both terms are exact,
 * rounds. 0x4b000000 is 2^23, 0x53000000 is 2^39, 0x53000080 their sum. */
static void float_of_u32(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	static const struct gt_native_op words = {GT_0F3A, GT_66, 0, GT_VPBLENDW}, subtract = {GT_0F, GT_NP, 0, GT_VSUB},
					 add = {GT_0F, GT_NP, 0, GT_VADD};

	fill(segment, 0, FIRST, 0x4b000000);
	vector256(segment, words, FIRST, x, FIRST); /* the upper 16 bits of each lane from the second */
	gt_native_byte(segment->code, 0xaa);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, SECOND, x, 16);
	fill(segment, 0, THIRD, 0x53000000);
	vector256(segment, gt_native_or, SECOND, SECOND, THIRD);
	fill(segment, 0, THIRD, 0x53000080);
	vector256(segment, subtract, SECOND, SECOND, THIRD);
	vector256(segment, add, d, FIRST, SECOND);
}

/* The same with doubles: 0x4330... is 2^52, 0x4530... 2^84; a signed number's upper half is made positive by adding 2^31. */
static void double_of_64(struct gt_native_segment *segment, unsigned d, unsigned x, bool is_signed)
{
	static const struct gt_native_op dwords = {GT_0F3A, GT_66, 0, GT_VPBLENDD}, subtract = {GT_0F, GT_66, 0, GT_VSUB},
					 add = {GT_0F, GT_66, 0, GT_VADD};

	fill(segment, 1, FIRST, UINT64_C(0x4330) << 48);
	vector256(segment, dwords, FIRST, x, FIRST); /* the upper 32 bits of each lane from the second */
	gt_native_byte(segment->code, 0xaa);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, SECOND, x, 32);
	fill(segment, 1, THIRD, UINT64_C(0x4530) << 48 | (is_signed ? UINT64_C(0x80000000) : 0));
	vector256(segment, gt_native_xor, SECOND, SECOND, THIRD);
	/* 2^84 + 2^52, and 2^63 of a signed number */
	fill(segment, 1, THIRD, UINT64_C(0x4530000000100000) | (is_signed ? UINT64_C(0x80000000) : 0));
	vector256(segment, subtract, SECOND, SECOND, THIRD);
	vector256(segment, add, d, FIRST, SECOND);
}

/* d = bit 2 y + z of a table of four, which is turned if its first bit is set; the third register may change. */
static void look_up_two(struct gt_native_segment *segment, unsigned d, unsigned y, unsigned z, unsigned table)
{
	static const struct gt_native_op both = {GT_0F, GT_66, 0, GT_VPAND}, without = {GT_0F, GT_66, 0, GT_VPANDN};

	switch (table & 1 ? table ^ 15 : table) {
	case 0: vector256(segment, gt_native_xor, d, d, d); break;
	case 2: vector256(segment, without, d, y, z); break;
	case 4: vector256(segment, without, d, z, y); break;
	case 6: vector256(segment, gt_native_xor, d, y, z); break;
	case 8: vector256(segment, both, d, y, z); break;
	case 10: vector256(segment, gt_native_move, d, 0, z); break;
	case 12: vector256(segment, gt_native_move, d, 0, y); break;
	default: vector256(segment, gt_native_or, d, y, z); break;
	}
	if (!(table & 1))
		return;
	vector256(segment, equal32, THIRD, THIRD, THIRD);
	vector256(segment, gt_native_xor, d, d, THIRD);
}

/* By the half of the table where x is 0, and by where the other half differs. */
static void lookup(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, unsigned z, unsigned table)
{
	look_up_two(segment, FIRST, y, z, table & 15);
	look_up_two(segment, SECOND, y, z, (table ^ table >> 4) & 15);
	vector256(segment, (struct gt_native_op){GT_0F, GT_66, 0, GT_VPAND}, SECOND, SECOND, x);
	vector256(segment, gt_native_xor, d, FIRST, SECOND);
}

/* By the exponent of a float: of the upper bits alone, so that it is not rounded up, and too large if the number is negative. In 158 bits are
 * counted from 2^31 down. */
static void leading_zeros32(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	static const struct gt_native_op without = {GT_0F, GT_66, 0, GT_VPANDN}, convert = {GT_0F, GT_NP, 0, GT_VCVTDQ2PS},
					 less = {GT_0F, GT_66, 0, GT_VPSUBUSW}, least = {GT_0F, GT_66, 0, GT_VPMINSW};

	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, SECOND, x, 8);
	vector256(segment, without, SECOND, SECOND, x);
	vector256(segment, convert, SECOND, 0, SECOND);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, SECOND, SECOND, 23);
	fill(segment, 0, THIRD, 158);
	vector256(segment, less, SECOND, THIRD, SECOND);
	fill(segment, 0, THIRD, 32);
	vector256(segment, least, d, SECOND, THIRD);
}

/* Those of the lower half count where the upper one has nothing else. */
static void leading_zeros(struct gt_native_segment *segment, bool wide, unsigned d, unsigned x)
{
	static const struct gt_native_op both = {GT_0F, GT_66, 0, GT_VPAND};

	leading_zeros32(segment, d, x);
	if (!wide)
		return;
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, SECOND, d, 32);
	vector256(segment, equal32, THIRD, SECOND, THIRD); /* which is 32 */
	vector256(segment, both, d, d, THIRD);
	vector256(segment, add64, d, d, SECOND);
}

/* ---- the loop over the four quarters of a warp, those with an active lane. ymm12 has all ones in lanes that are active ---- */

static void begin(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	segment->loop = code->n;
	if (segment->whole)
		return;
	gt_native_text(code, "\x44\x89\xd1\x29\xf9\xc1\xe1\x03"); /* mov ecx, r10d; sub ecx, edi; shl ecx, 3: the first lane */
	gt_native_text(code, "\x89\xf0\xd3\xe8");		  /* mov eax, esi; shr eax, cl */
	gt_native_text(code, "\x84\xc0\x0f\x84\x00\x00\x00\x00"); /* test al, al; jz behind the quarter */
	segment->skip = code->n;
	mask_of_bits(segment, ACTIVE);
}

static void end(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	gt_native_text(code, "\x49\x83\xc0\x20\x49\x83\xc1\x40"); /* add r8, 32; add r9, 64 */
	gt_native_text(code, "\x49\xff\xc2\x49\xff\xc3");	  /* inc r10; inc r11 */
	gt_native_text(code, "\x44\x89\xd0\x29\xf8\x83\xf8\x04"); /* mov eax, r10d; sub eax, edi; cmp eax, 4 */
	gt_native_text(code, "\x0f\x85");			  /* jne begin */
	gt_native_word(code, (uint32_t)(segment->loop - (code->n + 4)));
}

static void load(struct gt_native_segment *segment, unsigned at, unsigned base, uint32_t offset)
{
	static const struct gt_native_op op = {GT_0F, GT_F3, 0, GT_VMOVDQA};

	memory256(segment->code, op, at, 0, base, offset);
}

/* In a stretch memory has all ones for the lanes that are active. The second register becomes those of register i of `n` of a part. */
static unsigned load_active(struct gt_native_segment *segment, unsigned part, unsigned n, unsigned i)
{
	if (n == 2)
		load(segment, SECOND, GT_R13, (uint32_t)offsetof(struct gt_ptx_core, active) + 32 * (2 * part + i));
	else
		load(segment, SECOND, GT_R13, (uint32_t)offsetof(struct gt_ptx_core, active_words) + 32 * part);
	return SECOND;
}

/* Of a part of the lanes the others keep what is in memory. */
static void store(struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i, unsigned base, uint32_t offset)
{
	static const struct gt_native_op op = {GT_0F, GT_F3, 0, GT_VMOVDQU_STORE};
	unsigned from = value->at[i];

	if (!segment->whole) {
		if (segment->unrolled)
			load_active(segment, value->part, value->n, i);
		else if (value->n == 2)
			widen(segment, gt_native_signs, SECOND, ACTIVE, i);
		load(segment, FIRST, base, offset);
		blend(segment, FIRST, FIRST, from, segment->unrolled || value->n == 2 ? SECOND : ACTIVE);
		from = FIRST;
	}
	memory256(segment->code, op, from, 0, base, offset);
}

static void load_share(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset)
{
	static const struct gt_native_op half = {GT_0F, GT_F3, 0, GT_VMOVDQA}, quarter = {GT_0F, GT_F3, 0, GT_VMOV_TO_GENERAL}; /* VMOVQ */

	gt_native_vex_memory(segment->code, share == 2 ? half : quarter, false, at, 0, base, offset);
}

static void store_share(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset, unsigned active)
{
	static const struct gt_native_op quarter = {GT_0F, GT_66, 0, GT_VMOVQ_STORE};
	unsigned from = at;

	if (active) {
		cut(segment, share == 2 ? GT_VPMOVDW : GT_VPMOVDB, SECOND, segment->unrolled ? load_active(segment, active - 1, 1, 0) : ACTIVE);
		load_share(segment, share, FIRST, base, offset);
		blend(segment, FIRST, FIRST, from, SECOND);
		from = FIRST;
	}
	gt_native_vex_memory(segment->code, share == 2 ? gt_native_store : quarter, false, from, 0, base, offset);
}

/* ---- accesses of warps of which some lanes are active ---- */

#define ADDRESSES ((uint32_t)offsetof(struct gt_ptx_core, addresses))
#define APART(BYTES) ((uint32_t)offsetof(struct gt_stretch_constants, wide[gt_stretch_apart_by(BYTES)]))
#define EIGHTHS 8 /* of a warp: their addresses fill a register */

static void set_active(struct gt_native_code *code)
{
	struct gt_native_segment segment = {.code = code};

	for (unsigned part = 0; part < 4; part++) {
		gt_native_text(code, "\x0f\xb6\x83"); /* movzx eax, byte [rbx + mask + part] */
		gt_native_word(code, (uint32_t)offsetof(struct gt_ptx_warp, mask) + part);
		mask_of_bits(&segment, FIRST);
		memory256(code, gt_native_store, FIRST, 0, GT_R13, (uint32_t)offsetof(struct gt_ptx_core, active_words) + 32 * part);
		for (unsigned i = 0; i < 2; i++) {
			widen(&segment, gt_native_signs, SECOND, FIRST, i);
			memory256(code, gt_native_store, SECOND, 0, GT_R13, (uint32_t)offsetof(struct gt_ptx_core, active) + 32 * (2 * part + i));
		}
	}
}

/* The mask stands where others have their first source. */
static void active_memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned part, unsigned i, unsigned base, uint32_t offset)
{
	const struct gt_native_op move = {GT_0F38, GT_66, op.wide, op.opcode == GT_VMOVDQU_STORE ? GT_VPMASKMOV_STORE : GT_VPMASKMOV};

	memory256(segment->code, move, d, load_active(segment, part, op.wide ? 2 : 1, i), base, offset);
}

static void gather_active(struct gt_native_segment *segment, bool wide, unsigned d, unsigned v, unsigned base)
{
	static const struct gt_native_op move = {GT_0F, GT_F3, 0, GT_VMOVDQA}, insert = {GT_0F3A, GT_66, 0, GT_VINSERTI128};
	const bool upper = !wide && v % 2;

	load(segment, SECOND, GT_R13, ADDRESSES + 32 * v);
	if (wide)
		load(segment, THIRD, GT_R13, (uint32_t)offsetof(struct gt_ptx_core, active) + 32 * v);
	else
		gt_native_vex_memory(segment->code, move, false, THIRD, 0, GT_R13, (uint32_t)offsetof(struct gt_ptx_core, active_words) + 16 * v);
	gather256(segment->code, (struct gt_native_op){GT_0F38, GT_66, wide, GT_VPGATHERQ}, upper ? ACTIVE : d, THIRD, base, SECOND, 0);
	if (!upper)
		return;
	vector256(segment, insert, d, d, ACTIVE);
	gt_native_byte(segment->code, 1);
}

static void broadcast(struct gt_native_code *code, unsigned d, unsigned general)
{
	vector128(code, (struct gt_native_op){GT_0F, GT_66, 1, GT_VMOV_FROM_GENERAL}, d, 0, general);
	gt_native_vex(code, (struct gt_native_op){GT_0F38, GT_66, 0, GT_VPBROADCASTQ}, true, d, 0, d);
}

/* The third register gets the bits that the second one has in active lanes, too. */
static void collect(struct gt_native_code *code, unsigned v)
{
	static const struct gt_native_op both = {GT_0F, GT_66, 0, GT_VPAND};

	memory256(code, both, SECOND, SECOND, GT_R13, (uint32_t)offsetof(struct gt_ptx_core, active) + 32 * v);
	gt_native_vex(code, gt_native_or, true, THIRD, THIRD, SECOND);
}

static size_t jump_if_apart(struct gt_native_code *code, enum gt_native_lie lie, unsigned bytes, unsigned base)
{
	static const struct gt_native_op signed_product = {GT_0F38, GT_66, 0, GT_VPMULDQ};
	struct gt_native_segment segment = {.code = code};
	const unsigned first = lie == GT_NATIVE_SECOND_HALF ? EIGHTHS / 2 : 0, end = lie == GT_NATIVE_FIRST_HALF ? EIGHTHS / 2 : EIGHTHS;

	broadcast(code, FIRST, base);
	if (lie == GT_NATIVE_STRIDE)
		broadcast(code, ACTIVE, GT_RSI);
	gt_native_vex(code, gt_native_xor, true, THIRD, THIRD, THIRD);
	for (unsigned v = first; v < end; v++) {
		if (lie == GT_NATIVE_STRIDE) {
			memory256(code, signed_product, SECOND, ACTIVE, GT_R15, APART(1) + 32 * v);
			gt_native_vex(code, add64, true, SECOND, SECOND, FIRST);
		} else if (lie != GT_NATIVE_ONE_PLACE) {
			memory256(code, add64, SECOND, FIRST, GT_R15, APART(bytes) + 32 * (v - first));
		}
		memory256(code, gt_native_xor, SECOND, lie == GT_NATIVE_ONE_PLACE ? FIRST : SECOND, GT_R13, ADDRESSES + 32 * v);
		collect(code, v);
	}
	compare_zero(&segment, THIRD, THIRD);
	return gt_general_jump(code, GT_NOT_EQUAL);
}

/* A distance from the begin, or to the last place, is negative, or odd. */
static size_t jump_if_outside(struct gt_native_code *code, unsigned bytes)
{
	static const struct gt_native_op subtract = {GT_0F, GT_66, 0, GT_VPSUBQ};
	struct gt_native_segment segment = {.code = code};

	gt_native_text(code, "\x49\x83\xe1"); /* and r9, -bytes */
	gt_native_byte(code, (0U - bytes) & 0xff);
	gt_general(code, true, GT_ADD, GT_R9, GT_R8);
	broadcast(code, FIRST, GT_R9);
	broadcast(code, ACTIVE, GT_R8);
	gt_native_vex(code, gt_native_xor, true, THIRD, THIRD, THIRD);
	for (unsigned v = 0; v < EIGHTHS; v++) {
		memory256(code, subtract, SECOND, FIRST, GT_R13, ADDRESSES + 32 * v);
		collect(code, v);
		load(&segment, SECOND, GT_R13, ADDRESSES + 32 * v);
		gt_native_vex(code, subtract, true, SECOND, SECOND, ACTIVE);
		collect(code, v);
	}
	load(&segment, SECOND, GT_R15, (uint32_t)offsetof(struct gt_stretch_constants, outside[bytes == 8]));
	compare_zero(&segment, THIRD, SECOND);
	return gt_general_jump(code, GT_NOT_EQUAL);
}

static void list_active(struct gt_native_code *code)
{
	gt_general_at(code, false, GT_MOVE, GT_RDX, GT_RBX, offsetof(struct gt_ptx_warp, mask));
	const size_t next = code->n;
	gt_native_text(code, "\x0f\xbc\xca\x4d\x8b\x84\xcd"); /* bsf ecx, edx; mov r8, [r13 + 8 rcx + addresses] */
	gt_native_word(code, ADDRESSES);
	gt_native_text(code, "\x4c\x89\x06\x48\x83\xc6\x08"); /* mov [rsi], r8; add rsi, 8 */
	gt_native_text(code, "\x8d\x4a\xff\x21\xca");	     /* lea ecx, [rdx - 1]; and edx, ecx */
	gt_general_land_at(code, gt_general_jump(code, GT_NOT_EQUAL), next);
}

static void binary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y)
{
	const bool wide = rule->op.wide && rule->op.map == GT_0F38;

	switch (wide ? rule->op.opcode : 0) {
	case GT_VPMULL: product64(segment, d, x, y); break;
	case GT_VPMINS: extreme64(segment, d, x, y, true, false); break;
	case GT_VPMAXS: extreme64(segment, d, x, y, true, true); break;
	case GT_VPMINU: extreme64(segment, d, x, y, false, false); break;
	case GT_VPMAXU: extreme64(segment, d, x, y, false, true); break;
	default: vector256(segment, rule->op, d, x, y); break;
	}
}

static void unary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x)
{
	const bool converts = rule->kind == GT_NATIVE_UNARY, from_unsigned = converts && rule->op.opcode == GT_VCVTU;

	if (rule->kind == GT_NATIVE_NOT) {
		vector256(segment, equal32, FIRST, FIRST, FIRST);
		vector256(segment, gt_native_xor, d, FIRST, x);
	} else if (from_unsigned && !rule->op.wide) {
		float_of_u32(segment, d, x);
	} else if (from_unsigned || (converts && rule->op.opcode == GT_VCVTQQ2PD)) {
		double_of_64(segment, d, x, !from_unsigned);
	} else {
		vector256(segment, rule->op, d, 0, x);
	}
}

static void shift(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned count)
{
	if (rule->op.opcode == GT_VPSRAV)
		shift_signed64(segment, d, x, count);
	else
		vector256(segment, rule->op, d, x, count);
}

/* One bit a lane of x compared with y, into a general register. */
static void compare(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned general, unsigned x, unsigned y)
{
	const unsigned wide = rule->op.wide;
	const struct gt_native_op bits = {GT_0F, wide ? GT_66 : GT_NP, 0, GT_VMOVMSK};

	if (rule->op.map == GT_0F3A) {
		compare_integers(segment, rule, FIRST, x, y);
	} else {
		vector256(segment, rule->op, FIRST, x, y);
		gt_native_byte(segment->code, rule->immediate);
	}
	vector256(segment, bits, general, 0, FIRST);
}

/* What a comparison found, which is in `general`, combined with the predicate in edx as the operation says. */
static void write_combined(struct gt_native_segment *segment, const struct gt_ptx_op *op, uint32_t slot, unsigned general)
{
	static const uint8_t opcodes[] = {[GT_PTX_AND] = 0x21, [GT_PTX_OR] = 0x09, [GT_PTX_XOR] = 0x31};

	if (op->choice != GT_PTX_ALONE) { /* OP general, edx */
		gt_native_byte(segment->code, opcodes[op->choice]);
		gt_native_byte(segment->code, 0xd0 | general);
	}
	write_predicate(segment, slot, general);
}

static void emit_compare(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1;

	if (rule->halves) {
		gt_native_extend_both(segment, rule, op);
		compare(segment, rule, GT_RAX, FIRST, SECOND);
	} else {
		const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);
		if (n == 2) /* first, since a comparison may change rax */
			compare(segment, rule, GT_RCX, x->at[1], y->at[1]);
		compare(segment, rule, GT_RAX, x->at[0], y->at[0]);
	}
	if (n == 2)
		gt_native_text(segment->code, "\xc1\xe1\x04\x09\xc8"); /* shl ecx, 4; or eax, ecx */
	if (is_inverted(rule))
		gt_native_text(segment->code, "\x83\xf0\xff"); /* xor eax, -1 */
	if (op->choice != GT_PTX_ALONE)
		read_predicate(segment, op->c, GT_RDX);
	if (op->q) {
		gt_native_text(segment->code, "\x89\xc1\x83\xf1\xff"); /* mov ecx, eax; xor ecx, -1 */
		write_combined(segment, op, op->q, GT_RCX);
	}
	write_combined(segment, op, op->d, GT_RAX);
}

static void select_halves(struct gt_native_segment *segment, const struct gt_ptx_op *op)
{
	const unsigned x = gt_native_read_half(segment, op->a), y = gt_native_read_half(segment, op->b), d = gt_native_write_half(segment, op->d);

	read_predicate(segment, op->c, GT_RAX);
	mask_of_bits(segment, FIRST);
	cut(segment, GT_VPMOVDW, FIRST, FIRST);
	blend(segment, d, y, x, FIRST);
}

static void emit_select(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	if (rule->halves) {
		select_halves(segment, op);
		return;
	}
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);

	read_predicate(segment, op->c, GT_RAX);
	mask_of_bits(segment, FIRST);
	for (unsigned i = 0; i < n; i++) {
		if (n == 2)
			widen(segment, gt_native_signs, SECOND, FIRST, i);
		blend(segment, d->at[i], y->at[i], x->at[i], n == 2 ? SECOND : FIRST);
	}
}

static void emit_logic(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	read_predicate(segment, op->a, GT_RAX);
	if (rule->op.opcode != GT_KNOT)
		read_predicate(segment, op->b, GT_RCX);
	switch (rule->op.opcode) {
	case GT_KAND: gt_native_text(segment->code, "\x21\xc8"); break; /* and eax, ecx */
	case GT_KOR: gt_native_text(segment->code, "\x09\xc8"); break; /* or */
	case GT_KXOR: gt_native_text(segment->code, "\x31\xc8"); break; /* xor */
	default: gt_native_text(segment->code, "\x83\xf0\xff"); break; /* xor eax, -1 */
	}
	write_predicate(segment, op->d, GT_RAX);
}

static void narrow(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, bool upper)
{
	static const struct gt_native_op shuffle = {GT_0F, GT_NP, 0, GT_VSHUFPS}, permute = {GT_0F3A, GT_66, 1, GT_VPERMQ};

	vector256(segment, shuffle, FIRST, x, y); /* in the order 0 1 4 5 2 3 6 7 */
	gt_native_byte(segment->code, upper ? 0xdd : 0x88);
	vector256(segment, permute, d, 0, FIRST);
	gt_native_byte(segment->code, 0xd8);
}

static void raise(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	gt_native_shift_by(segment, true, GT_NATIVE_LEFT, d, x, 32);
}

/* The processor gives the least integer where there is none: all bits of it turned are the largest one. */
static void emit_truncate(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op compare_floats = {GT_0F, GT_NP, 0, GT_VCMP}, both = {GT_0F, GT_66, 0, GT_VPAND};
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 1);
	const unsigned from = gt_native_rounded(segment, op, x->at[0], THIRD);

	vector256(segment, rule->op, FIRST, 0, from);
	fill(segment, 0, SECOND, 0x4f000000); /* 2^31 */
	vector256(segment, compare_floats, SECOND, from, SECOND);
	gt_native_byte(segment->code, 0x1d); /* not below it */
	vector256(segment, gt_native_xor, FIRST, FIRST, SECOND);
	vector256(segment, compare_floats, SECOND, from, from);
	gt_native_byte(segment->code, 7); /* no NaN */
	vector256(segment, both, d->at[0], FIRST, SECOND);
}

const struct gt_native_isa gt_native_avx2 = {
	.registers = ACTIVE,
	.bytes = 32,
	.first = FIRST,
	.second = SECOND,
	.third = THIRD,
	.fourth = ACTIVE,
	.open = open,
	.begin = begin,
	.end = end,
	.load = load,
	.store = store,
	.load_share = load_share,
	.store_share = store_share,
	.cut = cut,
	.vector = vector256,
	.fill = fill,
	.widen = widen,
	.narrow = narrow,
	.raise = raise,
	.canonical = canonical,
	.rounded = rounded,
	.mask = mask,
	.is_zero = is_zero,
	.blend = blend,
	.binary = binary,
	.unary = unary,
	.shift = shift,
	.bytes_of = bytes_of,
	.lookup = lookup,
	.leading_zeros = leading_zeros,
	.emitters = {[GT_NATIVE_COMPARE] = emit_compare, [GT_NATIVE_SELECT] = emit_select, [GT_NATIVE_LOGIC] = emit_logic, [GT_NATIVE_TRUNCATE] = emit_truncate},
	.integers = gt_native_integers,
	.few = true,
	.broadcast = {{GT_0F38, GT_66, 0, GT_VPBROADCASTD}, {GT_0F38, GT_66, 0, GT_VPBROADCASTQ}},
	.insert = {GT_0F3A, GT_66, 0, GT_VINSERTI128},
	.exchange = exchange,
	.memory = memory,
	.lane = lane,
	.differ = differ,
	.compare_zero = compare_zero,
	.gather = gather,
	.set_active = set_active,
	.active_memory = active_memory,
	.gather_active = gather_active,
	.jump_if_apart = jump_if_apart,
	.jump_if_outside = jump_if_outside,
	.list_active = list_active,
};
