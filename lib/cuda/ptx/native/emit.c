/* SPDX-License-Identifier: MIT */
/* Operations that every set of instructions puts together alike. */
#include "cuda/ptx/native/segment.h"

const struct gt_native_op gt_native_move = {GT_0F, GT_66, 0, 0x6f}, gt_native_xor = {GT_0F, GT_66, 0, 0xef},
			  gt_native_or = {GT_0F, GT_66, 0, 0xeb},
			  gt_native_store = {GT_0F, GT_F3, 0, 0x7f};

/* Of lanes of 32 bits, and of 64. */
static const struct gt_native_op add[] = {{GT_0F, GT_66, 0, 0xfe}, {GT_0F, GT_66, 1, 0xd4}};

static void emit_fused(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
		       struct gt_native_operand y, struct gt_native_operand z)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned sum = d == x || (y.held && d == y.at) ? isa->first : d;

	if (!z.held)
		isa->load(segment, sum, z.place.base, z.place.offset);
	else if (sum != z.at)
		isa->vector(segment, gt_native_move, sum, 0, z.at);
	gt_native_with(segment, rule->op, sum, x, y);
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

/* Integers of 64 bits whose operation is not an instruction of every set. */
static bool is_composed(const struct gt_native_rule *rule)
{
	return rule->op.wide && rule->op.map == GT_0F38 && rule->kind != GT_NATIVE_FUSED;
}

static void emit_binary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
			struct gt_native_operand y)
{
	if (is_composed(rule))
		segment->isa->binary(segment, rule, d, x, y.at);
	else
		gt_native_with(segment, rule->op, d, x, y);
}

/* One register of a result that has as many as its sources. */
static void emit_part(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
		      struct gt_native_operand y, struct gt_native_operand z)
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
		emit_binary(segment, rule, isa->first, x, y);
		gt_native_with(segment, add[wide], d, isa->first, z);
		break;
	case GT_NATIVE_FUSED: emit_fused(segment, rule, d, x, y, z); break;
	default: emit_binary(segment, rule, d, x, y); break;
	}
	if (rule->canonical)
		isa->canonical(segment, d);
}

/* A source that may be in memory is read into registers if it is used again, or the result would take its place. */
static void read_for(struct gt_native_segment *segment, const struct gt_ptx_op *op, uint32_t slot, unsigned n, bool from_memory)
{
	if (!from_memory || slot == op->d || gt_native_is_named(segment->needs, slot, segment->op + 1))
		gt_native_read(segment, slot, n);
}

static struct gt_native_operand source(const struct gt_native_segment *segment, uint32_t slot, unsigned n, unsigned i)
{
	return gt_native_where(segment, slot, n, segment->part, i);
}

static void emit_parts(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1, sources = gt_native_sources(rule->kind);
	const struct gt_native_value *x = gt_native_read(segment, op->a, n);
	const struct gt_native_operand none = {.held = false};

	if (sources > 1)
		read_for(segment, op, op->b, n, !is_composed(rule));
	if (sources > 2)
		read_for(segment, op, op->c, n, true);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);
	for (unsigned i = 0; i < n; i++)
		emit_part(segment, rule, d->at[i], x->at[i], sources > 1 ? source(segment, op->b, n, i) : none,
			  sources > 2 ? source(segment, op->c, n, i) : none);
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

/* Half i of a source of 32-bit lanes, widened. */
static void widen(struct gt_native_segment *segment, unsigned opcode, unsigned d, uint32_t slot, unsigned i)
{
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_operand from = source(segment, slot, 1, 0);

	if (from.held)
		isa->widen(segment, opcode, d, from.at, i);
	else
		isa->memory(segment, (struct gt_native_op){GT_0F38, GT_66, 0, (uint8_t)opcode}, d, 0, from.place.base,
			    from.place.offset + i * isa->bytes / 2);
}

static void emit_widen(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++)
		widen(segment, rule->op.opcode, d->at[i], op->a, i);
}

/* Of lanes of 64 bits only the lower halves are multiplied, so that a constant need not be widened. */
static void emit_wide_product(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const bool adds = rule->kind == GT_NATIVE_WIDE_MULTIPLY_ADD, constant = gt_native_is_constant(segment->needs, op->b);
	const struct gt_native_operand second = {.held = true, .at = isa->second};

	if (adds)
		read_for(segment, op, op->c, 2, true);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);
	for (unsigned i = 0; i < 2; i++) {
		const unsigned to = adds ? isa->first : d->at[i];
		widen(segment, rule->immediate, isa->first, op->a, i);
		if (!constant)
			widen(segment, rule->immediate, isa->second, op->b, i);
		gt_native_with(segment, rule->op, to, isa->first, constant ? source(segment, op->b, 1, 0) : second);
		if (adds)
			gt_native_with(segment, add[1], d->at[i], isa->first, source(segment, op->c, 2, i));
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
