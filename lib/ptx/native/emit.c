/* SPDX-License-Identifier: MIT */
/* Operations that every set of instructions puts together alike. */
#include "ptx/native/segment.h"

const struct gt_native_op gt_native_move = {GT_0F, GT_66, 0, 0x6f}, gt_native_xor = {GT_0F, GT_66, 0, 0xef},
			  gt_native_or = {GT_0F, GT_66, 0, 0xeb},
			  gt_native_store = {GT_0F, GT_F3, 0, 0x7f};

/* Of lanes of 32 bits, and of 64. */
static const struct gt_native_op add[] = {{GT_0F, GT_66, 0, 0xfe}, {GT_0F, GT_66, 1, 0xd4}};

static void emit_fused(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y,
		       unsigned z)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned sum = d == x || d == y ? isa->first : d;

	if (sum != z)
		isa->vector(segment, gt_native_move, sum, 0, z);
	isa->vector(segment, rule->op, sum, x, y);
	if (sum != d)
		isa->vector(segment, gt_native_move, d, 0, sum);
}

/* d = constant OP x */
static void emit_with_constant(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
			       uint64_t constant)
{
	segment->isa->fill(segment, rule->op.wide, segment->isa->first, constant);
	segment->isa->vector(segment, rule->op, d, segment->isa->first, x);
}

/* One register of a result that has as many as its sources. */
static void emit_part(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y,
		      unsigned z)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned wide = rule->op.wide;

	switch (rule->kind) {
	case GT_NATIVE_UNARY:
	case GT_NATIVE_NOT: isa->unary(segment, rule, d, x); break;
	case GT_NATIVE_MOVE: isa->vector(segment, rule->op, d, 0, x); break;
	case GT_NATIVE_NEGATE:
		isa->vector(segment, gt_native_xor, isa->first, isa->first, isa->first);
		isa->vector(segment, rule->op, d, isa->first, x);
		break;
	case GT_NATIVE_SIGN:
		emit_with_constant(segment, rule, d, x, wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31);
		break;
	case GT_NATIVE_RECIPROCAL:
		emit_with_constant(segment, rule, d, x, wide ? UINT64_C(0x3ff) << 52 : UINT64_C(0x7f) << 23);
		break;
	case GT_NATIVE_MULTIPLY_ADD:
		isa->binary(segment, rule, isa->first, x, y);
		isa->vector(segment, add[wide], d, isa->first, z);
		break;
	case GT_NATIVE_FUSED: emit_fused(segment, rule, d, x, y, z); break;
	default: isa->binary(segment, rule, d, x, y); break;
	}
	if (rule->canonical)
		isa->canonical(segment, d);
}

static void emit_parts(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1, sources = gt_native_sources(rule->kind);
	const struct gt_native_value *x = gt_native_read(segment, op->a, n);
	const struct gt_native_value *y = sources > 1 ? gt_native_read(segment, op->b, n) : x;
	const struct gt_native_value *z = sources > 2 ? gt_native_read(segment, op->c, n) : x;
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);

	for (unsigned i = 0; i < n; i++)
		emit_part(segment, rule, d->at[i], x->at[i], y->at[i], z->at[i]);
}

static void emit_shift(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *y = gt_native_read(segment, op->b, 1);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++) {
		isa->widen(segment, 0x35, isa->first, y->at[0], i);
		isa->shift(segment, rule, d->at[i], x->at[i], isa->first);
	}
}

static void emit_widen(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++)
		segment->isa->widen(segment, rule->op.opcode, d->at[i], x->at[0], i);
}

static void emit_wide_product(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const bool adds = rule->kind == GT_NATIVE_WIDE_MULTIPLY_ADD;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *y = gt_native_read(segment, op->b, 1);
	const struct gt_native_value *z = adds ? gt_native_read(segment, op->c, 2) : NULL;
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++) {
		isa->widen(segment, rule->immediate, isa->first, x->at[0], i);
		isa->widen(segment, rule->immediate, isa->second, y->at[0], i);
		isa->vector(segment, rule->op, adds ? isa->first : d->at[i], isa->first, isa->second);
		if (adds)
			isa->vector(segment, add[1], d->at[i], isa->first, z->at[i]);
	}
}

void gt_native_emit(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static gt_native_emitter *const emitters[GT_NATIVE_KINDS] = {
		[GT_NATIVE_SHIFT] = emit_shift,
		[GT_NATIVE_WIDEN] = emit_widen,
		[GT_NATIVE_WIDE_PRODUCT] = emit_wide_product,
		[GT_NATIVE_WIDE_MULTIPLY_ADD] = emit_wide_product,
	};
	gt_native_emitter *own = segment->isa->emitters[rule->kind], *alike = emitters[rule->kind];

	(own ? own : alike ? alike : emit_parts)(segment, rule, op);
}
