/* SPDX-License-Identifier: MIT */
/* Operations of integers that are several instructions, put together alike for AVX2 and AVX-512: upper halves of products, sums with a carry,
 * quotients; shifts of two words as one, fields, counts and permutations of bits; exchanges between lanes. Registers are read and taken before the free ones have
 * anything, since values that make room may be stored by way of these. */
#include <string.h>

#include "cuda/ptx/exec/warp.h"
#include "cuda/ptx/native/segment.h"

static const struct gt_native_op and_bits = {GT_0F, GT_66, 0, GT_VPAND}, without = {GT_0F, GT_66, 0, GT_VPANDN},
				 least_unsigned = {GT_0F38, GT_66, 0, GT_VPMINU}, most_unsigned = {GT_0F38, GT_66, 0, GT_VPMAXU},
				 least_signed = {GT_0F38, GT_66, 0, GT_VPMINS}, most_signed = {GT_0F38, GT_66, 0, GT_VPMAXS},
				 multiply = {GT_0F38, GT_66, 0, GT_VPMULL}, low_product = {GT_0F, GT_66, 1, GT_VPMULUDQ};
/* Of lanes of 32 bits, and of 64. */
static const struct gt_native_op add[] = {{GT_0F, GT_66, 0, GT_VPADDD}, {GT_0F, GT_66, 1, GT_VPADDQ}},
				 subtract[] = {{GT_0F, GT_66, 0, GT_VPSUBD}, {GT_0F, GT_66, 1, GT_VPSUBQ}};

/* Whether a source is a number, the same in all lanes. */
static bool is_number(const struct gt_native_needs *needs, uint32_t slot, uint32_t *number)
{
	if (!gt_native_is_constant(needs, slot))
		return false;
	memcpy(number, needs->code->image + (slot - needs->code->image_at), sizeof *number);
	return true;
}

/* d = x shifted by lanes of y. */
static void shift(struct gt_native_segment *segment, bool wide, enum gt_native_direction direction, unsigned d, unsigned x, unsigned y)
{
	static const uint8_t opcodes[] = {[GT_NATIVE_RIGHT] = GT_VPSRLV, [GT_NATIVE_RIGHT_BY_SIGNS] = GT_VPSRAV, [GT_NATIVE_LEFT] = GT_VPSLLV};
	const struct gt_native_rule rule = {NULL, GT_NATIVE_SHIFT, {GT_0F38, GT_66, wide, opcodes[direction]}, 0, false, 0};

	if (wide)
		segment->isa->shift(segment, &rule, d, x, y);
	else
		segment->isa->vector(segment, rule.op, d, x, y);
}

/* d = the upper half of the product, which of an odd lane is where it belongs; the first and the second register change. */
static void upper_product(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned odd = isa->first, even = isa->second;

	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, odd, x, 32);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, even, y, 32);
	isa->vector(segment, rule->op, odd, odd, even);
	isa->vector(segment, rule->op, even, x, y);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, odd, odd, 32);
	gt_native_shift_by(segment, true, GT_NATIVE_LEFT, odd, odd, 32);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, even, even, 32);
	isa->vector(segment, gt_native_or, d, odd, even);
}

/* The same of 64 bits, by the products of halves, of which three at most add up without a carry that is lost. d is neither x nor y; the three
 * free registers change. */
static void upper_product64(struct gt_native_segment *segment, bool is_signed, unsigned d, unsigned x, unsigned y)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned low = isa->first, middle = isa->second, other = isa->third, sources[] = {x, y, x};

	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, middle, x, 32);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, other, y, 32);
	isa->vector(segment, low_product, d, middle, other);
	isa->vector(segment, low_product, low, x, y);
	isa->vector(segment, low_product, middle, middle, y);
	isa->vector(segment, low_product, other, other, x);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, low, low, 32);
	isa->vector(segment, add[1], middle, middle, low);
	gt_native_shift_by(segment, true, GT_NATIVE_LEFT, low, middle, 32);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, low, low, 32);
	isa->vector(segment, add[1], other, other, low);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, middle, middle, 32);
	gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, other, other, 32);
	isa->vector(segment, add[1], d, d, middle);
	isa->vector(segment, add[1], d, d, other);
	for (unsigned i = 0; is_signed && i < 2; i++) { /* a negative number is 2^64 less than its bits */
		gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, low, sources[i], 63);
		isa->vector(segment, gt_native_xor, middle, middle, middle);
		isa->vector(segment, subtract[1], middle, middle, low);
		isa->vector(segment, and_bits, middle, middle, sources[i + 1]);
		isa->vector(segment, subtract[1], d, d, middle);
	}
}

static void emit_high(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->immediate & GT_NATIVE_WIDE ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);

	if (n == 1) {
		upper_product(segment, rule, d->at[0], x->at[0], y->at[0]);
		return;
	}
	const unsigned product = gt_native_take(segment);
	for (unsigned i = 0; i < 2; i++) {
		upper_product64(segment, rule->immediate & GT_NATIVE_SIGNED, product, x->at[i], y->at[i]);
		segment->isa->vector(segment, gt_native_move, d->at[i], 0, product);
	}
	segment->taken[product] = false;
}

/* The highest bit of `carry` = whether left + right has a carry: both have that bit, or one has and the sum has not. The first register changes. */
static void carry_of(struct gt_native_segment *segment, unsigned carry, unsigned left, unsigned right, unsigned sum)
{
	const struct gt_native_isa *isa = segment->isa;

	isa->vector(segment, gt_native_or, carry, left, right);
	isa->vector(segment, without, carry, sum, carry);
	isa->vector(segment, and_bits, isa->first, left, right);
	isa->vector(segment, gt_native_or, carry, carry, isa->first);
}

static const struct gt_native_rule invert = {NULL, GT_NATIVE_NOT, {GT_0F3A, GT_66, 0, GT_VPTERNLOG}, 0, false, 0};

/* A carry is subtracted, since all its bits are set: a number that is -1. A difference is a sum with the bits of y inverted, and 1, or a
 * carry. */
static void emit_carried32(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned how = rule->immediate, sum = isa->third;
	const bool product = rule->op.opcode != 0, difference = how & GT_NATIVE_DIFFERENCE;
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read(segment, op->b, 1)->at[0];
	const unsigned z = product ? gt_native_read(segment, op->c, 1)->at[0] : y;
	/* Before the first and the second register have anything: values that make room may be stored by way of them. */
	const unsigned in = how & GT_NATIVE_CARRY_IN ? gt_native_read(segment, op->q, 1)->at[0] : 0;
	const unsigned out = how & GT_NATIVE_CARRY_OUT ? gt_native_write_to(segment, op->q, 1)->at[0] : 0;
	const unsigned d = gt_native_write_to(segment, op->d, 1)->at[0];
	const unsigned left = product ? isa->first : x, right = difference ? isa->second : z;

	if (how & GT_NATIVE_UPPER)
		upper_product(segment, rule, left, x, y);
	else if (product)
		isa->vector(segment, rule->op, left, x, y);
	if (difference)
		isa->unary(segment, &invert, right, y);
	if (difference && !(how & GT_NATIVE_CARRY_IN))
		isa->vector(segment, subtract[0], sum, x, y);
	else
		isa->vector(segment, add[0], sum, left, right);
	if (how & GT_NATIVE_CARRY_IN)
		isa->vector(segment, subtract[0], sum, sum, in);
	if (how & GT_NATIVE_CARRY_OUT) {
		carry_of(segment, out, left, right, sum);
		gt_native_shift_by(segment, false, GT_NATIVE_RIGHT_BY_SIGNS, out, out, 31);
	}
	isa->vector(segment, gt_native_move, d, 0, sum);
}

/* The same of 64 bits: the highest bits of both halves are put together. */
static void emit_carried64(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned how = rule->immediate, sum = isa->second, other = isa->first;
	const bool product = rule->op.opcode != 0, difference = how & GT_NATIVE_DIFFERENCE;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *y = gt_native_read(segment, op->b, 2);
	const struct gt_native_value *z = product ? gt_native_read(segment, op->c, 2) : y;
	const unsigned in = how & GT_NATIVE_CARRY_IN ? gt_native_read(segment, op->q, 1)->at[0] : 0;
	const unsigned out = how & GT_NATIVE_CARRY_OUT ? gt_native_write_to(segment, op->q, 1)->at[0] : 0;
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);
	const unsigned at = gt_native_take(segment), carries[] = {gt_native_take(segment), gt_native_take(segment)};

	for (unsigned i = 0; i < 2; i++) {
		const unsigned left = product ? at : x->at[i], right = difference ? isa->third : z->at[i];
		if (how & GT_NATIVE_UPPER)
			upper_product64(segment, rule->op.opcode == GT_VPMULDQ, at, x->at[i], y->at[i]);
		else if (product)
			isa->binary(segment, rule, at, x->at[i], y->at[i]);
		if (difference)
			isa->unary(segment, &invert, right, y->at[i]);
		if (difference && !(how & GT_NATIVE_CARRY_IN))
			isa->vector(segment, subtract[1], sum, left, y->at[i]);
		else
			isa->vector(segment, add[1], sum, left, right);
		if (how & GT_NATIVE_CARRY_IN) {
			isa->widen(segment, gt_native_signs, other, in, i);
			isa->vector(segment, subtract[1], sum, sum, other);
		}
		carry_of(segment, carries[i], left, right, sum);
		isa->vector(segment, gt_native_move, d->at[i], 0, sum);
	}
	if (how & GT_NATIVE_CARRY_OUT) {
		isa->narrow(segment, out, carries[0], carries[1], true);
		gt_native_shift_by(segment, false, GT_NATIVE_RIGHT_BY_SIGNS, out, out, 31);
	}
	segment->taken[at] = segment->taken[carries[0]] = segment->taken[carries[1]] = false;
}

static void emit_carried(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	(rule->immediate & GT_NATIVE_CARRIED_64 ? emit_carried64 : emit_carried32)(segment, rule, op);
}

/* Half i of integers as doubles; an unsigned one is put into the fraction of 2^52. */
static void double_of(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, uint32_t slot, unsigned i)
{
	static const struct gt_native_op convert = {GT_0F, GT_F3, 0, GT_VCVTDQ2PD}, less = {GT_0F, GT_66, 1, GT_VSUB};
	const struct gt_native_isa *isa = segment->isa;

	gt_native_widen(segment, rule->immediate & GT_NATIVE_SIGNED ? convert : gt_native_zeros, d, slot, i);
	if (rule->immediate & GT_NATIVE_SIGNED)
		return;
	isa->fill(segment, 1, isa->third, UINT64_C(0x433) << 52);
	isa->vector(segment, gt_native_or, d, d, isa->third);
	isa->vector(segment, less, d, d, isa->third);
}

/* A quotient of doubles as integers, which is exact: it is never as near to an integer below it as its last bit is. An unsigned one
 * has 2^31 less meanwhile. */
static void integers_of(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x)
{
	static const struct gt_native_op convert = {GT_0F, GT_66, 1, GT_VCVTPD2DQ}, less = {GT_0F, GT_66, 1, GT_VSUB},
					 round = {GT_0F3A, GT_66, 1, GT_VROUNDPD};
	const struct gt_native_isa *isa = segment->isa;

	if (!(rule->immediate & GT_NATIVE_SIGNED)) {
		isa->vector(segment, round, x, 0, x);
		gt_native_byte(segment->code, 3); /* towards 0 */
		isa->fill(segment, 1, isa->third, UINT64_C(0x41e) << 52); /* 2^31 */
		isa->vector(segment, less, x, x, isa->third);
	}
	isa->vector(segment, convert, d, 0, x);
}

/* The processor gives the least integer for a quotient by 0, which becomes all ones, and for that of the least one and -1. */
static void emit_divide(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *y = gt_native_read(segment, op->b, 1);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 1);
	const unsigned quotient = gt_native_take(segment), to[] = {quotient, isa->first};

	for (unsigned i = 0; i < 2; i++) {
		double_of(segment, rule, isa->first, op->a, i);
		double_of(segment, rule, isa->second, op->b, i);
		isa->vector(segment, rule->op, isa->first, isa->first, isa->second);
		integers_of(segment, rule, to[i], isa->first);
	}
	isa->vector(segment, isa->insert, quotient, quotient, isa->first);
	gt_native_byte(segment->code, 1);
	if (!(rule->immediate & GT_NATIVE_SIGNED)) {
		isa->fill(segment, 0, isa->first, UINT64_C(1) << 31);
		isa->vector(segment, gt_native_xor, quotient, quotient, isa->first);
	}
	if (rule->immediate & GT_NATIVE_REMAINDER) {
		isa->vector(segment, multiply, isa->first, quotient, y->at[0]);
		isa->vector(segment, subtract[0], quotient, x->at[0], isa->first);
	}
	isa->is_zero(segment, isa->first, y->at[0]);
	isa->vector(segment, gt_native_or, d->at[0], quotient, isa->first);
	segment->taken[quotient] = false;
}

/* ---- shifts of two words as one, and fields ---- */

/* The upper word to the left, or the lower one to the right. A shift by 32 gives 0. */
static void emit_funnel(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const bool right = rule->immediate & GT_NATIVE_TO_RIGHT, clamps = rule->immediate & GT_NATIVE_CLAMPS;
	const enum gt_native_direction to = right ? GT_NATIVE_RIGHT : GT_NATIVE_LEFT, back = right ? GT_NATIVE_LEFT : GT_NATIVE_RIGHT;
	uint32_t count;
	const bool constant = is_number(segment->needs, op->c, &count);
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read(segment, op->b, 1)->at[0];
	const unsigned z = constant ? 0 : gt_native_read(segment, op->c, 1)->at[0], d = gt_native_write_to(segment, op->d, 1)->at[0];
	const unsigned stays = right ? x : y, enters = right ? y : x;

	if (constant) {
		count = !clamps ? count % 32 : count < 32 ? count : 32;
		if (x == y && isa->rotates && count < 32) {
			gt_native_shift_by(segment, false, right ? GT_NATIVE_ROTATE_RIGHT : GT_NATIVE_ROTATE_LEFT, d, x, count);
			return;
		}
		gt_native_shift_by(segment, false, to, isa->first, stays, count);
		gt_native_shift_by(segment, false, back, isa->second, enters, 32 - count);
	} else {
		isa->fill(segment, 0, isa->first, clamps ? 32 : 31);
		isa->vector(segment, clamps ? least_unsigned : and_bits, isa->first, isa->first, z);
		isa->fill(segment, 0, isa->second, 32);
		isa->vector(segment, subtract[0], isa->second, isa->second, isa->first);
		shift(segment, false, to, isa->first, stays, isa->first);
		shift(segment, false, back, isa->second, enters, isa->second);
	}
	isa->vector(segment, gt_native_or, d, isa->first, isa->second);
}

/* d = a position or a length of lanes of 32 bits: GPUs take its low 8 bits. */
static void of_field(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	gt_native_shift_by(segment, false, GT_NATIVE_LEFT, d, x, 24);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, d, d, 24);
}

/* A field whose place is a number, in two shifts: to the left end, and back. False: it is none, or none within x. */
static bool emit_field_at(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const bool wide = rule->op.wide, is_signed = rule->immediate & GT_NATIVE_SIGNED;
	const unsigned n = wide ? 2 : 1, width = 32 * n;
	uint32_t position, length;

	if (!is_number(segment->needs, op->b, &position) || !is_number(segment->needs, op->c, &length) || (wide && is_signed) || position >= width || length == 0 ||
	    length > width - position)
		return false;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *d = gt_native_write_to(segment, op->d, n);
	for (unsigned i = 0; i < n; i++) {
		gt_native_shift_by(segment, wide, GT_NATIVE_LEFT, d->at[i], x->at[i], width - position - length);
		gt_native_shift_by(segment, wide, is_signed ? GT_NATIVE_RIGHT_BY_SIGNS : GT_NATIVE_RIGHT, d->at[i], d->at[i], width - length);
	}
	return true;
}

/* Else to the right end; then to the left one, and back, by its sign or by zeros. */
static void emit_field(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned n = rule->op.wide ? 2 : 1, width = 32 * n;
	const enum gt_native_direction right = rule->immediate & GT_NATIVE_SIGNED ? GT_NATIVE_RIGHT_BY_SIGNS : GT_NATIVE_RIGHT;

	if (emit_field_at(segment, rule, op))
		return;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n);
	const unsigned y = gt_native_read(segment, op->b, 1)->at[0], z = gt_native_read(segment, op->c, 1)->at[0];
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);
	const unsigned position = gt_native_take(segment), rest = gt_native_take(segment);

	if (n == 1) {
		of_field(segment, position, y);
		of_field(segment, rest, z);
	}
	isa->fill(segment, 0, isa->first, width);
	isa->vector(segment, least_unsigned, rest, isa->first, n == 1 ? rest : z);
	isa->vector(segment, subtract[0], rest, isa->first, rest);
	for (unsigned i = 0; i < n; i++) {
		if (n == 2)
			isa->widen(segment, gt_native_zeros, isa->first, y, i);
		shift(segment, n == 2, right, d->at[i], x->at[i], n == 2 ? isa->first : position);
		if (n == 2)
			isa->widen(segment, gt_native_zeros, isa->first, rest, i);
		shift(segment, n == 2, GT_NATIVE_LEFT, d->at[i], d->at[i], n == 2 ? isa->first : rest);
		shift(segment, n == 2, right, d->at[i], d->at[i], n == 2 ? isa->first : rest);
	}
	segment->taken[position] = segment->taken[rest] = false;
}

/* y, and the lower bits of x in the field. */
static void emit_insert(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read(segment, op->b, 1)->at[0];
	const unsigned at = gt_native_read(segment, op->c, 1)->at[0], length = gt_native_read(segment, op->e, 1)->at[0];
	const unsigned d = gt_native_write_to(segment, op->d, 1)->at[0];

	(void)rule;
	of_field(segment, isa->first, length);
	isa->fill(segment, 0, isa->third, UINT32_MAX);
	shift(segment, false, GT_NATIVE_LEFT, isa->second, isa->third, isa->first);
	isa->vector(segment, gt_native_xor, isa->third, isa->third, isa->second); /* so many ones */
	of_field(segment, isa->first, at);
	shift(segment, false, GT_NATIVE_LEFT, isa->third, isa->third, isa->first);
	shift(segment, false, GT_NATIVE_LEFT, isa->first, x, isa->first);
	isa->vector(segment, gt_native_xor, isa->first, isa->first, y);
	isa->vector(segment, and_bits, isa->first, isa->first, isa->third);
	isa->vector(segment, gt_native_xor, d, y, isa->first);
}

static void emit_lookup(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read(segment, op->b, 1)->at[0], z = gt_native_read(segment, op->c, 1)->at[0];
	uint32_t table = 0;

	(void)rule;
	is_number(segment->needs, op->e, &table);
	segment->isa->lookup(segment, gt_native_write_to(segment, op->d, 1)->at[0], x, y, z, table & 0xff);
}

/* ---- bytes: an instruction selects those of a table of 16, or, of a register, among the 16 of which they are; 0 where bit 7 is set ---- */

static const unsigned char bytes_of[GT_NATIVE_BYTES][16] = {
	[GT_NATIVE_FIRST_BYTES] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12},
	[GT_NATIVE_SWAPPED] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12},
	[GT_NATIVE_SWAPPED_64] = {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8},
	[GT_NATIVE_ONES] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4},
	[GT_NATIVE_REVERSED] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15},
};
static const struct gt_native_op select_bytes = {GT_0F38, GT_66, 0, GT_VPSHUFB}, load = {GT_0F, GT_F3, 0, GT_VMOVDQA};

void gt_native_open_bytes(struct gt_native_code *code, unsigned copies)
{
	for (unsigned which = 0; which < GT_NATIVE_BYTES; which++)
		for (unsigned copy = 0; copy < copies; copy++)
			gt_native_bytes(code, bytes_of[which], sizeof bytes_of[which]);
}

/* Bit 7 of a byte of d where the nibble of z for it has that bit, from 0 on; its other bits are 0. The first register has the nibbles as bytes. */
static void bit_of_nibbles(struct gt_native_segment *segment, unsigned d, unsigned bit)
{
	const struct gt_native_isa *isa = segment->isa;

	isa->fill(segment, 0, isa->third, 0x80808080);
	gt_native_shift_by(segment, false, GT_NATIVE_LEFT, d, isa->first, 7 - bit);
	isa->vector(segment, and_bits, d, d, isa->third);
}

/* Which bytes of x and of y are selected, and, by bit 7, of which the sign is copied. */
static void read_choices(struct gt_native_segment *segment, uint32_t slot, const unsigned of[2], unsigned signs)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned z = gt_native_read(segment, slot, 1)->at[0], first = isa->first, second = isa->second;

	gt_native_shift_by(segment, false, GT_NATIVE_LEFT, first, z, 16);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, first, first, 16);
	for (unsigned by = 8; by > 2; by /= 2) { /* from 16 bits 8 in each half, from 8 bits 4 in each byte */
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, second, first, by);
		isa->vector(segment, gt_native_or, first, first, second);
		isa->fill(segment, 0, second, by == 8 ? 0x00ff00ff : 0x0f0f0f0f);
		isa->vector(segment, and_bits, first, first, second);
	}
	bit_of_nibbles(segment, signs, 3);
	bit_of_nibbles(segment, of[0], 2);
	isa->vector(segment, gt_native_xor, of[1], of[0], isa->third);
	isa->fill(segment, 0, second, 0x03030303);
	isa->vector(segment, and_bits, first, first, second);
	for (unsigned i = 0; i < 2; i++)
		isa->vector(segment, gt_native_or, of[i], of[i], first);
}

/* The same of a number. False: no sign is copied. */
static bool fill_choices(struct gt_native_segment *segment, uint32_t number, const unsigned of[2], unsigned signs, bool used[2])
{
	uint32_t choices[2] = {0, 0}, copied = 0;

	for (unsigned i = 0; i < 4; i++) {
		const uint32_t nibble = number >> 4 * i & 15, from_y = nibble >> 2 & 1;
		choices[from_y] |= (nibble & 3) << 8 * i;
		choices[!from_y] |= UINT32_C(0x80) << 8 * i;
		copied |= (nibble >> 3) << (8 * i + 7);
		used[from_y] = true;
	}
	for (unsigned i = 0; i < 2; i++)
		if (used[i])
			segment->isa->fill(segment, 0, of[i], choices[i]);
	if (copied)
		segment->isa->fill(segment, 0, signs, copied);
	return copied;
}

/* The bytes of the first register that bit 7 of `signs` marks become copies of their own bit 7: 0x80 - 1 is the other bits. */
static void copy_signs(struct gt_native_segment *segment, unsigned signs)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned first = isa->first, second = isa->second, third = isa->third;

	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, second, signs, 7);
	isa->vector(segment, subtract[0], second, signs, second);
	isa->vector(segment, gt_native_or, second, second, signs); /* all bits of what is copied */
	isa->vector(segment, and_bits, third, first, signs);
	isa->vector(segment, without, first, second, first);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, second, third, 7);
	isa->vector(segment, subtract[0], second, third, second);
	isa->vector(segment, gt_native_or, second, second, third);
	isa->vector(segment, gt_native_or, first, first, second);
}

static void emit_permute(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	uint32_t number;
	const bool constant = is_number(segment->needs, op->c, &number);
	const unsigned sources[] = {gt_native_read(segment, op->a, 1)->at[0], gt_native_read(segment, op->b, 1)->at[0]};
	bool copies = true, used[] = {!constant, !constant};

	if (!constant)
		gt_native_read(segment, op->c, 1);
	const unsigned d = gt_native_write_to(segment, op->d, 1)->at[0];
	const unsigned of[] = {gt_native_take(segment), gt_native_take(segment)}, signs = gt_native_take(segment);
	(void)rule;
	if (constant)
		copies = fill_choices(segment, number, of, signs, used);
	else
		read_choices(segment, op->c, of, signs);
	for (unsigned i = 0; i < 2; i++) {
		const bool alone = !used[!i];
		if (!used[i])
			continue;
		isa->bytes_of(segment, gt_native_or, of[i], of[i], GT_NATIVE_FIRST_BYTES);
		isa->vector(segment, select_bytes, alone || i == 0 ? isa->first : isa->second, sources[i], of[i]);
	}
	if (used[0] && used[1])
		isa->vector(segment, gt_native_or, isa->first, isa->first, isa->second);
	if (copies)
		copy_signs(segment, signs);
	isa->vector(segment, gt_native_move, d, 0, isa->first);
	segment->taken[of[0]] = segment->taken[of[1]] = segment->taken[signs] = false;
}

/* The first and the second register = what a table has for the lower and the upper nibbles of x. */
static void look_up_nibbles(struct gt_native_segment *segment, enum gt_native_bytes_of table, unsigned x)
{
	const struct gt_native_isa *isa = segment->isa;

	isa->fill(segment, 0, isa->third, 0x0f0f0f0f);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, isa->second, x, 4);
	isa->vector(segment, and_bits, isa->first, x, isa->third);
	isa->vector(segment, and_bits, isa->second, isa->second, isa->third);
	isa->bytes_of(segment, load, isa->third, 0, table);
	isa->vector(segment, select_bytes, isa->first, isa->third, isa->first);
	isa->vector(segment, select_bytes, isa->second, isa->third, isa->second);
}

static void emit_count(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op pairs_of_bytes = {GT_0F38, GT_66, 0, GT_VPMADDUBSW}, pairs_of_words = {GT_0F, GT_66, 0, GT_VPMADDWD};
	const struct gt_native_isa *isa = segment->isa;
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], d = gt_native_write_to(segment, op->d, 1)->at[0];

	(void)rule;
	look_up_nibbles(segment, GT_NATIVE_ONES, x);
	isa->vector(segment, add[0], isa->first, isa->first, isa->second);
	isa->fill(segment, 0, isa->second, 0x01010101);
	isa->vector(segment, pairs_of_bytes, isa->first, isa->first, isa->second);
	isa->fill(segment, 0, isa->second, 0x00010001);
	isa->vector(segment, pairs_of_words, d, isa->first, isa->second);
}

/* An instruction adds up eight bytes. */
static void emit_count64(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op apart = {GT_0F, GT_66, 0, GT_VPSADBW};
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *d = gt_native_write_to(segment, op->d, 1);
	const unsigned sums[] = {gt_native_take(segment), gt_native_take(segment)};

	(void)rule;
	for (unsigned i = 0; i < 2; i++) {
		look_up_nibbles(segment, GT_NATIVE_ONES, x->at[i]);
		isa->vector(segment, add[0], isa->first, isa->first, isa->second);
		isa->vector(segment, gt_native_xor, isa->second, isa->second, isa->second);
		isa->vector(segment, apart, sums[i], isa->first, isa->second);
	}
	isa->narrow(segment, d->at[0], sums[0], sums[1], false);
	segment->taken[sums[0]] = segment->taken[sums[1]] = false;
}

static void emit_reverse(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *d = gt_native_write_to(segment, op->d, n);

	for (unsigned i = 0; i < n; i++) {
		look_up_nibbles(segment, GT_NATIVE_REVERSED, x->at[i]);
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, isa->first, isa->first, 4);
		isa->vector(segment, gt_native_or, isa->first, isa->first, isa->second);
		isa->bytes_of(segment, load, isa->second, 0, n == 2 ? GT_NATIVE_SWAPPED_64 : GT_NATIVE_SWAPPED);
		isa->vector(segment, select_bytes, d->at[i], isa->first, isa->second);
	}
}

/* The third register = how many zeros are before the first bit: all if there is none. */
static void count_leading(struct gt_native_segment *segment, const struct gt_native_value *x)
{
	const struct gt_native_isa *isa = segment->isa;

	if (x->n == 1) {
		isa->leading_zeros(segment, false, isa->third, x->at[0]);
		return;
	}
	const unsigned zeros[] = {gt_native_take(segment), gt_native_take(segment)};
	for (unsigned i = 0; i < 2; i++)
		isa->leading_zeros(segment, true, zeros[i], x->at[i]);
	isa->narrow(segment, isa->third, zeros[0], zeros[1], false);
	segment->taken[zeros[0]] = segment->taken[zeros[1]] = false;
}

static void emit_leading(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned n = rule->op.wide ? 2 : 1, zeros = isa->third, other = isa->second;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n);
	const unsigned d = gt_native_write_to(segment, op->d, 1)->at[0];

	count_leading(segment, x);
	if (rule->immediate == GT_NATIVE_LEADING_ZEROS) {
		isa->vector(segment, gt_native_move, d, 0, zeros);
	} else if (rule->immediate == GT_NATIVE_SHIFT_AMOUNT) { /* all bits for 0 */
		isa->vector(segment, gt_native_move, isa->first, 0, zeros);
		isa->fill(segment, 0, other, 32 * n);
		isa->vector(segment, gt_native_xor, other, other, zeros);
		isa->is_zero(segment, other, other);
		isa->vector(segment, gt_native_or, d, isa->first, other);
	} else {
		isa->fill(segment, 0, other, 32 * n - 1);
		isa->vector(segment, subtract[0], d, other, zeros);
	}
}

/* ---- products and differences of parts ---- */

/* The even or the odd bytes of x as words. */
static void words_of(struct gt_native_segment *segment, unsigned d, unsigned x, bool odd, bool is_signed)
{
	static const struct gt_native_op by_words = {GT_0F, GT_66, 0, GT_VPSHIFTW};
	const enum gt_native_direction back = is_signed ? GT_NATIVE_RIGHT_BY_SIGNS : GT_NATIVE_RIGHT;

	if (!odd) {
		segment->isa->vector(segment, by_words, GT_NATIVE_LEFT, d, x);
		gt_native_byte(segment->code, 8);
	}
	segment->isa->vector(segment, by_words, (unsigned)back, d, odd ? x : d);
	gt_native_byte(segment->code, 8);
}

static void emit_dot(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op products = {GT_0F, GT_66, 0, GT_VPMADDWD};
	const struct gt_native_isa *isa = segment->isa;
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read(segment, op->b, 1)->at[0], z = gt_native_read(segment, op->c, 1)->at[0];
	const unsigned d = gt_native_write_to(segment, op->d, 1)->at[0], to[] = {isa->first, isa->third};

	for (unsigned odd = 0; odd < 2; odd++) {
		words_of(segment, to[odd], x, odd, rule->immediate & GT_NATIVE_FIRST_SIGNED);
		words_of(segment, isa->second, y, odd, rule->immediate & GT_NATIVE_SECOND_SIGNED);
		isa->vector(segment, products, to[odd], to[odd], isa->second);
	}
	isa->vector(segment, add[0], isa->first, isa->first, isa->third);
	isa->vector(segment, add[0], d, isa->first, z);
}

/* Of the lower 24 bits. */
static void emit_product24(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const bool adds = rule->immediate & GT_NATIVE_ADDS;
	const enum gt_native_direction back = rule->immediate & GT_NATIVE_SIGNED ? GT_NATIVE_RIGHT_BY_SIGNS : GT_NATIVE_RIGHT;
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read(segment, op->b, 1)->at[0];
	const unsigned z = adds ? gt_native_read(segment, op->c, 1)->at[0] : 0, d = gt_native_write_to(segment, op->d, 1)->at[0];
	const unsigned to[] = {isa->first, isa->second}, from[] = {x, y};

	for (unsigned i = 0; i < 2; i++) {
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, to[i], from[i], 8);
		gt_native_shift_by(segment, false, back, to[i], to[i], 8);
	}
	isa->vector(segment, multiply, adds ? isa->first : d, isa->first, isa->second);
	if (adds)
		isa->vector(segment, add[0], d, isa->first, z);
}

static void emit_difference(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const bool is_signed = rule->immediate & GT_NATIVE_SIGNED;
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read(segment, op->b, 1)->at[0], z = gt_native_read(segment, op->c, 1)->at[0];
	const unsigned d = gt_native_write_to(segment, op->d, 1)->at[0];

	isa->vector(segment, is_signed ? most_signed : most_unsigned, isa->first, x, y);
	isa->vector(segment, is_signed ? least_signed : least_unsigned, isa->second, x, y);
	isa->vector(segment, subtract[0], isa->first, isa->first, isa->second);
	isa->vector(segment, add[0], d, isa->first, z);
}

/* ---- exchanges between the lanes of a whole warp, at distances that are numbers ---- */

/* From which lane each has its value, and which are in range: what the operation does with the numbers of lanes. False: it depends on more
 * than numbers. */
static bool find_sources(const struct gt_native_needs *needs, const struct gt_ptx_op *op, uint32_t sources[GT_WARP_SIZE], uint32_t *in_range)
{
	enum { SOURCES, LANES, DISTANCES, LIMITS, IN_RANGE, ROWS };
	static const size_t row = GT_WARP_SIZE * sizeof(uint32_t);
	uint32_t arena[ROWS][GT_WARP_SIZE] = {{0}}, distance, limits;
	struct gt_ptx_warp warp = {.arena = (unsigned char *)arena};
	const struct gt_ptx_op like = {.choice = op->choice, .d = SOURCES, .a = LANES * row, .b = DISTANCES * row, .c = LIMITS * row, .q = IN_RANGE * row};

	if (!is_number(needs, op->b, &distance) || !is_number(needs, op->c, &limits))
		return false;
	for (uint32_t lane = 0; lane < GT_WARP_SIZE; lane++) {
		arena[LANES][lane] = lane;
		arena[DISTANCES][lane] = distance;
		arena[LIMITS][lane] = limits;
	}
	gt_ptx_form_step(gt_ptx_form_named("shfl"))(&warp, &like, GT_PTX_FULL);
	memcpy(sources, arena[SOURCES], row);
	*in_range = arena[IN_RANGE][0];
	return true;
}

bool gt_native_exchanges(const struct gt_native_isa *isa, const struct gt_native_needs *needs, const struct gt_ptx_op *op)
{
	const unsigned lanes = GT_WARP_SIZE / gt_native_parts(isa);
	gt_ptx_step *run = op->run == gt_ptx_path_steps.sync_alike ? op->with.inner : op->run;
	uint32_t sources[GT_WARP_SIZE], in_range;

	if (op->guarded || run != gt_ptx_form_step(gt_ptx_form_named("shfl")) || !find_sources(needs, op, sources, &in_range))
		return false;
	for (unsigned i = 0; isa->few && i < GT_WARP_SIZE; i++) /* one register has all that a part needs */
		if (sources[i] / lanes != sources[i / lanes * lanes] / lanes)
			return false;
	return true;
}

void gt_native_exchange(struct gt_native_segment *segment, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned parts = gt_native_parts(isa), lanes = GT_WARP_SIZE / parts, temporary[] = {isa->first, isa->second, isa->third, isa->fourth};
	struct gt_native_code *code = segment->code;
	uint32_t sources[GT_WARP_SIZE], in_range;
	unsigned from[4], to[4];

	if (!find_sources(segment->needs, op, sources, &in_range))
		return;
	segment->now++;
	for (segment->part = 0; segment->part < parts; segment->part++)
		from[segment->part] = gt_native_read(segment, op->a, 1)->at[0];
	for (segment->part = 0; segment->part < parts; segment->part++)
		to[segment->part] = gt_native_write_to(segment, op->d, 1)->at[0];
	segment->part = 0;
	const size_t behind = gt_general_jump(code, GT_ALWAYS), at = code->n;
	gt_native_bytes(code, sources, sizeof sources);
	gt_general_land(code, behind);
	for (unsigned part = 0; part < parts; part++)
		isa->exchange(segment, temporary[part], from, sources[part * lanes] / lanes, (uint32_t)(at + part * isa->bytes));
	for (unsigned part = 0; part < parts; part++)
		isa->vector(segment, gt_native_move, to[part], 0, temporary[part]);
	if (op->q)
		gt_general_set_at(code, GT_R10, op->q, in_range);
}

gt_native_emitter *const gt_native_integers[GT_NATIVE_KINDS] = {
	[GT_NATIVE_HIGH] = emit_high,
	[GT_NATIVE_CARRIED] = emit_carried,
	[GT_NATIVE_DIVIDE] = emit_divide,
	[GT_NATIVE_FUNNEL] = emit_funnel,
	[GT_NATIVE_FIELD] = emit_field,
	[GT_NATIVE_INSERT] = emit_insert,
	[GT_NATIVE_LOOKUP] = emit_lookup,
	[GT_NATIVE_PERMUTE] = emit_permute,
	[GT_NATIVE_COUNT] = emit_count,
	[GT_NATIVE_COUNT_64] = emit_count64,
	[GT_NATIVE_REVERSE] = emit_reverse,
	[GT_NATIVE_LEADING] = emit_leading,
	[GT_NATIVE_DOT] = emit_dot,
	[GT_NATIVE_PRODUCT24] = emit_product24,
	[GT_NATIVE_DIFFERENCE_SUM] = emit_difference,
};
