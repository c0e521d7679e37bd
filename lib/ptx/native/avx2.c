/* SPDX-License-Identifier: MIT */
/* One operation as vector instructions of AVX2, for eight lanes. ymm13 to ymm15 are free within it, as are eax, ecx and edx. What
 * AVX-512 has one instruction for is put together in avx2_parts.c. */
#include "ptx/native/avx2.h"

static void emit_fused(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y,
		       unsigned z)
{
	const unsigned sum = d == x || d == y ? GT_YMM_FIRST : d;

	if (sum != z)
		gt_avx2(segment, gt_avx2_move, sum, 0, z);
	gt_avx2(segment, rule->op, sum, x, y);
	if (sum != d)
		gt_avx2(segment, gt_avx2_move, d, 0, sum);
}

/* d = x OP y, of integers. */
static void emit_binary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y)
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

static void emit_unary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x)
{
	const bool from_unsigned = rule->op.opcode == 0x7a;

	if (from_unsigned && !rule->op.wide)
		gt_avx2_float_of_u32(segment, d, x);
	else if (from_unsigned || rule->op.opcode == 0xe6)
		gt_avx2_double_of_64(segment, d, x, !from_unsigned);
	else
		gt_avx2(segment, rule->op, d, 0, x);
}

static void emit_part(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y,
		      unsigned z)
{
	static const struct gt_native_op add[] = {{GT_0F, GT_66, 0, 0xfe}, {GT_0F, GT_66, 1, 0xd4}};
	const unsigned wide = rule->op.wide;

	switch (rule->kind) {
	case GT_NATIVE_UNARY: emit_unary(segment, rule, d, x); break;
	case GT_NATIVE_MOVE: gt_avx2(segment, rule->op, d, 0, x); break;
	case GT_NATIVE_NOT:
		gt_avx2(segment, gt_avx2_equal32, GT_YMM_FIRST, GT_YMM_FIRST, GT_YMM_FIRST);
		gt_avx2(segment, gt_avx2_xor, d, GT_YMM_FIRST, x);
		break;
	case GT_NATIVE_NEGATE:
		gt_avx2(segment, gt_avx2_xor, GT_YMM_FIRST, GT_YMM_FIRST, GT_YMM_FIRST);
		gt_avx2(segment, rule->op, d, GT_YMM_FIRST, x);
		break;
	case GT_NATIVE_SIGN:
		gt_avx2_fill(segment, wide, GT_YMM_FIRST, wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31);
		gt_avx2(segment, rule->op, d, GT_YMM_FIRST, x);
		break;
	case GT_NATIVE_RECIPROCAL:
		gt_avx2_fill(segment, wide, GT_YMM_FIRST, wide ? UINT64_C(0x3ff) << 52 : UINT64_C(0x7f) << 23);
		gt_avx2(segment, rule->op, d, GT_YMM_FIRST, x);
		break;
	case GT_NATIVE_MULTIPLY_ADD:
		emit_binary(segment, rule, GT_YMM_FIRST, x, y);
		gt_avx2(segment, add[wide], d, GT_YMM_FIRST, z);
		break;
	case GT_NATIVE_FUSED: emit_fused(segment, rule, d, x, y, z); break;
	default: emit_binary(segment, rule, d, x, y); break;
	}
	if (rule->canonical)
		gt_avx2_canonical(segment, d);
}

static void emit_shift(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *y = gt_native_read(segment, op->b, 1);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);
	const bool arithmetic = rule->op.opcode == 0x46;

	for (unsigned i = 0; i < 2; i++) {
		gt_avx2_widen(segment, 0x35, GT_YMM_FIRST, y->at[0], i);
		if (arithmetic)
			gt_avx2_shift_signed64(segment, d->at[i], x->at[i], GT_YMM_FIRST);
		else
			gt_avx2(segment, rule->op, d->at[i], x->at[i], GT_YMM_FIRST);
	}
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

static void emit_widen(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++)
		gt_avx2_widen(segment, rule->op.opcode, d->at[i], x->at[0], i);
}

static void emit_narrow(struct gt_native_segment *segment, const struct gt_ptx_op *op)
{
	static const struct gt_native_op shuffle = {GT_0F, GT_NP, 0, 0xc6}, permute = {GT_0F3A, GT_66, 1, 0x00};
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *d = gt_native_write_to(segment, op->d, 1);

	gt_avx2(segment, shuffle, GT_YMM_FIRST, x->at[0], x->at[1]); /* the lower words, in the order 0 1 4 5 2 3 6 7 */
	gt_native_byte(segment->code, 0x88);
	gt_avx2(segment, permute, d->at[0], 0, GT_YMM_FIRST);
	gt_native_byte(segment->code, 0xd8);
}

static void emit_wide_product(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op add = {GT_0F, GT_66, 1, 0xd4};
	const bool adds = rule->kind == GT_NATIVE_WIDE_MULTIPLY_ADD;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *y = gt_native_read(segment, op->b, 1);
	const struct gt_native_value *z = adds ? gt_native_read(segment, op->c, 2) : NULL;
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++) {
		gt_avx2_widen(segment, rule->immediate, GT_YMM_FIRST, x->at[0], i);
		gt_avx2_widen(segment, rule->immediate, GT_YMM_SECOND, y->at[0], i);
		gt_avx2(segment, rule->op, adds ? GT_YMM_FIRST : d->at[i], GT_YMM_FIRST, GT_YMM_SECOND);
		if (adds)
			gt_avx2(segment, add, d->at[i], GT_YMM_FIRST, z->at[i]);
	}
}

void gt_avx2_emit(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	switch (rule->kind) {
	case GT_NATIVE_SHIFT: emit_shift(segment, rule, op); break;
	case GT_NATIVE_COMPARE: emit_compare(segment, rule, op); break;
	case GT_NATIVE_SELECT: emit_select(segment, rule, op); break;
	case GT_NATIVE_LOGIC: emit_logic(segment, rule, op); break;
	case GT_NATIVE_WIDEN: emit_widen(segment, rule, op); break;
	case GT_NATIVE_NARROW: emit_narrow(segment, op); break;
	case GT_NATIVE_WIDE_PRODUCT:
	case GT_NATIVE_WIDE_MULTIPLY_ADD: emit_wide_product(segment, rule, op); break;
	default: gt_native_emit_alike(segment, rule, op, emit_part); break;
	}
}
