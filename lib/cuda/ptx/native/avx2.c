/* SPDX-License-Identifier: MIT */
/* One operation as vector instructions of AVX2, for eight lanes. ymm13 to ymm15 are free within it, as are eax, ecx and edx. What
 * AVX-512 has one instruction for is put together in avx2_parts.c, what stretches need beside
 * that is in avx2_lanes.c. */
#include "cuda/ptx/native/avx2.h"

static void binary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y)
{
	const bool wide = rule->op.wide && rule->op.map == GT_0F38;

	switch (wide ? rule->op.opcode : 0) {
	case 0x40: gt_avx2_product64(segment, d, x, y); break;
	case 0x39: gt_avx2_extreme64(segment, d, x, y, true, false); break;
	case 0x3d: gt_avx2_extreme64(segment, d, x, y, true, true); break;
	case 0x3b: gt_avx2_extreme64(segment, d, x, y, false, false); break;
	case 0x3f: gt_avx2_extreme64(segment, d, x, y, false, true); break;
	default: gt_avx2(segment, rule->op, d, x, y); break;
	}
}

static void unary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x)
{
	const bool converts = rule->kind == GT_NATIVE_UNARY, from_unsigned = converts && rule->op.opcode == 0x7a;

	if (rule->kind == GT_NATIVE_NOT) {
		gt_avx2(segment, gt_avx2_equal32, GT_YMM_FIRST, GT_YMM_FIRST, GT_YMM_FIRST);
		gt_avx2(segment, gt_native_xor, d, GT_YMM_FIRST, x);
	} else if (from_unsigned && !rule->op.wide) {
		gt_avx2_float_of_u32(segment, d, x);
	} else if (from_unsigned || (converts && rule->op.opcode == 0xe6)) {
		gt_avx2_double_of_64(segment, d, x, !from_unsigned);
	} else {
		gt_avx2(segment, rule->op, d, 0, x);
	}
}

static void shift(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned count)
{
	if (rule->op.opcode == 0x46)
		gt_avx2_shift_signed64(segment, d, x, count);
	else
		gt_avx2(segment, rule->op, d, x, count);
}

/* One bit a lane of x compared with y, into a general register. */
static void compare(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned general, unsigned x, unsigned y)
{
	const unsigned wide = rule->op.wide;
	const struct gt_native_op bits = {GT_0F, wide ? GT_66 : GT_NP, 0, 0x50}; /* vmovmskps, vmovmskpd */

	if (rule->op.map == GT_0F3A) {
		gt_avx2_compare_integers(segment, rule, GT_YMM_FIRST, x, y);
	} else {
		gt_avx2(segment, rule->op, GT_YMM_FIRST, x, y);
		gt_native_byte(segment->code, rule->immediate);
	}
	gt_avx2(segment, bits, general, 0, GT_YMM_FIRST);
}

/* What a comparison found, which is in `general`, combined with the predicate in edx as the operation says. */
static void write_combined(struct gt_native_segment *segment, const struct gt_ptx_op *op, uint32_t slot, unsigned general)
{
	static const uint8_t opcodes[] = {[GT_PTX_AND] = 0x21, [GT_PTX_OR] = 0x09, [GT_PTX_XOR] = 0x31};

	if (op->choice != GT_PTX_ALONE) { /* OP general, edx */
		gt_native_byte(segment->code, opcodes[op->choice]);
		gt_native_byte(segment->code, 0xd0 | general);
	}
	gt_avx2_write_predicate(segment, slot, general);
}

static void emit_compare(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);

	if (n == 2) /* first, since a comparison may change rax */
		compare(segment, rule, GT_RCX, x->at[1], y->at[1]);
	compare(segment, rule, GT_RAX, x->at[0], y->at[0]);
	if (n == 2)
		gt_native_text(segment->code, "\xc1\xe1\x04\x09\xc8"); /* shl ecx, 4; or eax, ecx */
	if (gt_avx2_is_inverted(rule))
		gt_native_text(segment->code, "\x83\xf0\xff"); /* xor eax, -1 */
	if (op->choice != GT_PTX_ALONE)
		gt_avx2_read_predicate(segment, op->c, GT_RDX);
	if (op->q) {
		gt_native_text(segment->code, "\x89\xc1\x83\xf1\xff"); /* mov ecx, eax; xor ecx, -1 */
		write_combined(segment, op, op->q, GT_RCX);
	}
	write_combined(segment, op, op->d, GT_RAX);
}

static void emit_select(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);

	gt_avx2_read_predicate(segment, op->c, GT_RAX);
	gt_avx2_mask_of_bits(segment, GT_YMM_FIRST);
	for (unsigned i = 0; i < n; i++) {
		if (n == 2)
			gt_avx2_widen(segment, 0x25, GT_YMM_SECOND, GT_YMM_FIRST, i);
		gt_avx2_blend(segment, d->at[i], y->at[i], x->at[i], n == 2 ? GT_YMM_SECOND : GT_YMM_FIRST);
	}
}

static void emit_logic(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	gt_avx2_read_predicate(segment, op->a, GT_RAX);
	if (rule->op.opcode != 0x44)
		gt_avx2_read_predicate(segment, op->b, GT_RCX);
	switch (rule->op.opcode) {
	case 0x41: gt_native_text(segment->code, "\x21\xc8"); break; /* and eax, ecx */
	case 0x45: gt_native_text(segment->code, "\x09\xc8"); break; /* or */
	case 0x47: gt_native_text(segment->code, "\x31\xc8"); break; /* xor */
	default: gt_native_text(segment->code, "\x83\xf0\xff"); break; /* xor eax, -1 */
	}
	gt_avx2_write_predicate(segment, op->d, GT_RAX);
}

static void emit_narrow(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op shuffle = {GT_0F, GT_NP, 0, 0xc6}, permute = {GT_0F3A, GT_66, 1, 0x00};
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *d = gt_native_write_to(segment, op->d, 1);

	(void)rule;
	gt_avx2(segment, shuffle, GT_YMM_FIRST, x->at[0], x->at[1]); /* the lower words, in the order 0 1 4 5 2 3 6 7 */
	gt_native_byte(segment->code, 0x88);
	gt_avx2(segment, permute, d->at[0], 0, GT_YMM_FIRST);
	gt_native_byte(segment->code, 0xd8);
}

/* The processor gives the least integer where there is none: all bits of it turned are the largest one. */
static void emit_truncate(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op compare_floats = {GT_0F, GT_NP, 0, 0xc2}, both = {GT_0F, GT_66, 0, 0xdb};
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 1);
	const unsigned from = x->at[0];

	gt_avx2(segment, rule->op, GT_YMM_FIRST, 0, from);
	gt_avx2_fill(segment, 0, GT_YMM_SECOND, 0x4f000000); /* 2^31 */
	gt_avx2(segment, compare_floats, GT_YMM_SECOND, from, GT_YMM_SECOND);
	gt_native_byte(segment->code, 0x1d); /* not below it */
	gt_avx2(segment, gt_native_xor, GT_YMM_FIRST, GT_YMM_FIRST, GT_YMM_SECOND);
	gt_avx2(segment, compare_floats, GT_YMM_SECOND, from, from);
	gt_native_byte(segment->code, 7); /* no NaN */
	gt_avx2(segment, both, d->at[0], GT_YMM_FIRST, GT_YMM_SECOND);
}

const struct gt_native_isa gt_native_avx2 = {
	.registers = GT_YMM_ACTIVE,
	.bytes = 32,
	.first = GT_YMM_FIRST,
	.second = GT_YMM_SECOND,
	.third = GT_YMM_THIRD,
	.fourth = GT_YMM_ACTIVE,
	.open = gt_avx2_open,
	.begin = gt_avx2_begin,
	.end = gt_avx2_end,
	.load = gt_avx2_load,
	.store = gt_avx2_store,
	.vector = gt_avx2,
	.fill = gt_avx2_fill,
	.widen = gt_avx2_widen,
	.canonical = gt_avx2_canonical,
	.binary = binary,
	.unary = unary,
	.shift = shift,
	.emitters = {[GT_NATIVE_COMPARE] = emit_compare, [GT_NATIVE_SELECT] = emit_select, [GT_NATIVE_LOGIC] = emit_logic,
		     [GT_NATIVE_NARROW] = emit_narrow, [GT_NATIVE_TRUNCATE] = emit_truncate},
	.few = true,
	.broadcast = {{GT_0F38, GT_66, 0, 0x58}, {GT_0F38, GT_66, 0, 0x59}},
	.insert = {GT_0F3A, GT_66, 0, 0x38},
	.memory = gt_avx2_memory,
	.lane = gt_avx2_lane,
	.differ = gt_avx2_differ,
	.compare_zero = gt_avx2_compare_zero,
	.gather = gt_avx2_gather,
};
