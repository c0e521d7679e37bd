/* SPDX-License-Identifier: MIT */
/* The machine code of a segment: which values are needed, and which are in registers, as the code is written; operations that AVX2 and AVX-512
 * put together alike. */
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/native/segment.h"

/* How many sources operations of a kind have: 1 to 3. */
static unsigned gt_native_sources(enum gt_native_kind kind)
{
	switch (kind) {
	case GT_NATIVE_UNARY:
	case GT_NATIVE_MOVE:
	case GT_NATIVE_NOT:
	case GT_NATIVE_NEGATE:
	case GT_NATIVE_SIGN:
	case GT_NATIVE_FLUSH:
	case GT_NATIVE_RECIPROCAL: return 1;
	case GT_NATIVE_MULTIPLY_ADD:
	case GT_NATIVE_FUSED: return 3;
	default: return 2;
	}
}

/* ---- which slots are named, and up to where ---- */

static void name_slots(struct gt_native_needs *needs, const uint32_t *slots, size_t n, size_t op)
{
	for (size_t i = 0; i < n; i++)
		needs->named[slots[i] / GT_NATIVE_UNIT] = op + 1;
}

/* What a load found is kept in any case: by it a warp that waits is known from one that goes on (exec/block.c). */
static void name_access(struct gt_native_needs *needs, const struct gt_ptx_access *access, size_t op)
{
	name_slots(needs, &access->address, 1, op);
	name_slots(needs, access->slots, access->n, op);
	for (unsigned k = 0; k < access->n; k++)
		needs->kept[access->slots[k] / GT_NATIVE_UNIT] = needs->block + 1;
}

static void name(struct gt_native_needs *needs, size_t i)
{
	const struct gt_ptx_op *op = &needs->code->ops[i];
	const uint32_t slots[] = {op->d, op->q, op->a, op->b, op->c, op->e};
	bool loads;

	if (gt_ptx_is_moved(op, &loads))
		name_access(needs, op->with.access, i);
	else if (gt_native_is_lanes(needs->code, op))
		name_slots(needs, slots, sizeof slots / sizeof *slots, i);
	else if (op->run != gt_ptx_branch && op->run != gt_ptx_join)
		needs->others = i + 1;
}

void gt_native_needs_block(struct gt_native_needs *needs, size_t block, size_t first, size_t end)
{
	const struct gt_native_known *known = needs->known;

	needs->block = block;
	needs->others = 0;
	for (size_t w = 0; known->sets && w < known->n / 64 + 1; w++)
		for (uint64_t rest = known->sets[block * known->stride + w]; rest; rest &= rest - 1)
			needs->kept[known->slots[64 * w + (size_t)__builtin_ctzll(rest)] / GT_NATIVE_UNIT] = block + 1;
	needs->kept[needs->code->carry / GT_NATIVE_UNIT] = block + 1; /* it is no register */
	for (size_t i = first; i < end; i++)
		name(needs, i);
}

/* Whether what a slot has before operation `from` of the block is needed there or further on. */
static bool gt_native_needed(const struct gt_native_needs *needs, uint32_t slot, size_t from)
{
	const size_t unit = slot / GT_NATIVE_UNIT;

	return !needs->known->sets || needs->kept[unit] == needs->block + 1 || needs->named[unit] > from || needs->others > from;
}

/* Whether operation `from` or one further on names it. */
static bool is_named(const struct gt_native_needs *needs, uint32_t slot, size_t from)
{
	return needs->named[slot / GT_NATIVE_UNIT] > from;
}

/* ---- which slots are in which registers while a segment is written ---- */

/* Where register i of a value is in memory. */
static struct gt_native_place place_of(const struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i)
{
	const uint32_t offset = segment->isa->bytes * (i + value->n * value->part) / value->share;

	return (struct gt_native_place){value->n == 2 ? GT_R9 : GT_R8, value->slot + offset};
}

/* In a loop rax becomes the base, which goes on by half of what r8 does, or a quarter. */
static struct gt_native_place place_of_share(const struct gt_native_segment *segment, const struct gt_native_value *value)
{
	struct gt_native_place place = place_of(segment, value, 0);

	if (segment->unrolled)
		return place;
	if (value->share == 2)
		gt_native_text(segment->code, "\x49\x8d\x04\x38\x48\xd1\xe8"); /* lea rax, [r8 + rdi]; shr rax */
	else
		gt_native_text(segment->code, "\x49\x8d\x04\x78\x48\x01\xf8\x48\xc1\xe8\x02"); /* lea rax, [r8 + 2 rdi]; add rax, rdi; shr rax, 2 */
	place.base = GT_RAX;
	return place;
}

static void store(struct gt_native_segment *segment, const struct gt_native_value *value)
{
	if (value->share > 1) {
		const struct gt_native_place share = place_of_share(segment, value);
		segment->isa->store_share(segment, value->share, value->at[0], share.base, share.offset, segment->whole ? 0 : 1 + value->part);
		return;
	}
	for (unsigned i = 0; i < value->n; i++) {
		const struct gt_native_place place = place_of(segment, value, i);
		segment->isa->store(segment, value, i, place.base, place.offset);
	}
}

static void load(struct gt_native_segment *segment, const struct gt_native_value *value)
{
	if (value->share > 1) {
		const struct gt_native_place share = place_of_share(segment, value);
		segment->isa->load_share(segment, value->share, value->at[0], share.base, share.offset);
		return;
	}
	for (unsigned i = 0; i < value->n; i++) {
		const struct gt_native_place place = place_of(segment, value, i);
		segment->isa->load(segment, value->at[i], place.base, place.offset);
	}
}

/* Whether somebody reads a value later on, which is not asked in a loop for some lanes; parts before the one under way are further, and
 * those behind it less far. */
static bool is_needed(const struct gt_native_segment *segment, const struct gt_native_value *value)
{
	size_t from = segment->op;

	if (!segment->whole && !segment->unrolled)
		return true;
	if (segment->unrolled && value->part != segment->part)
		from = value->part < segment->part ? segment->end : segment->first;
	return gt_native_needed(segment->needs, value->slot, from);
}

static void release(struct gt_native_segment *segment, struct gt_native_value *value)
{
	if (value->dirty && is_needed(segment, value))
		store(segment, value);
	for (unsigned i = 0; i < value->n; i++)
		segment->taken[value->at[i]] = false;
	value->n = 0;
}

/* The one whose last use is the longest ago; of those that nobody reads any more, if there are any. */
static struct gt_native_value *oldest(struct gt_native_segment *segment)
{
	struct gt_native_value *found = NULL;
	bool found_needed = true;

	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++) {
		struct gt_native_value *value = &segment->values[i];
		if (value->n == 0 || value->used == segment->now)
			continue;
		const bool needed = is_needed(segment, value);
		if (!found || needed < found_needed || (needed == found_needed && value->used < found->used)) {
			found = value;
			found_needed = needed;
		}
	}
	return found;
}

unsigned gt_native_take(struct gt_native_segment *segment)
{
	for (;;) {
		for (unsigned i = 0; i < segment->isa->registers; i++)
			if (!segment->taken[i]) {
				segment->taken[i] = true;
				return i;
			}
		release(segment, oldest(segment));
	}
}

static struct gt_native_value *find(struct gt_native_segment *segment, uint32_t slot)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (segment->values[i].n && segment->values[i].slot == slot && segment->values[i].part == segment->part) {
			segment->values[i].used = segment->now;
			return &segment->values[i];
		}
	return NULL;
}

static struct gt_native_value *enter(struct gt_native_segment *segment, uint32_t slot, unsigned n)
{
	struct gt_native_value *value = segment->values;
	const unsigned registers = gt_native_registers(n);
	unsigned at[2];

	for (unsigned i = 0; i < registers; i++)
		at[i] = gt_native_take(segment);
	while (value->n)
		value++;
	*value = (struct gt_native_value){slot, segment->part, registers, gt_native_share(n), {at[0], at[registers - 1]}, false, segment->now};
	return value;
}

const struct gt_native_value *gt_native_read(struct gt_native_segment *segment, uint32_t slot, unsigned n)
{
	struct gt_native_value *value = find(segment, slot);

	if (value)
		return value;
	value = enter(segment, slot, n);
	load(segment, value);
	return value;
}

const struct gt_native_value *gt_native_write_to(struct gt_native_segment *segment, uint32_t slot, unsigned n)
{
	struct gt_native_value *value = find(segment, slot);

	if (!value)
		value = enter(segment, slot, n);
	value->dirty = true;
	return value;
}

struct gt_native_operand gt_native_where(const struct gt_native_segment *segment, uint32_t slot, unsigned n, unsigned part, unsigned i)
{
	const struct gt_native_value wanted = {.slot = slot, .part = part, .n = gt_native_registers(n), .share = gt_native_share(n)};

	for (unsigned v = 0; v < GT_NATIVE_VALUES; v++) {
		const struct gt_native_value *value = &segment->values[v];
		if (value->n && value->slot == slot && value->part == part)
			return (struct gt_native_operand){.in_register = true, .at = value->at[i]};
	}
	return (struct gt_native_operand){.place = place_of(segment, &wanted, i)};
}

void gt_native_with(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, struct gt_native_operand b)
{
	if (b.in_register)
		segment->isa->vector(segment, op, d, a, b.at);
	else
		segment->isa->memory(segment, op, d, a, b.place.base, b.place.offset);
}

void gt_native_release(struct gt_native_segment *segment, uint32_t slot)
{
	for (unsigned v = 0; v < GT_NATIVE_VALUES; v++) {
		struct gt_native_value *value = &segment->values[v];
		if (value->n && value->slot == slot)
			release(segment, value);
	}
}

void gt_native_store_values(struct gt_native_segment *segment, const struct gt_native_value *values, bool needed_only)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (values[i].n && values[i].dirty && (!needed_only || is_needed(segment, &values[i])))
			store(segment, &values[i]);
}

void gt_native_load_values(struct gt_native_segment *segment, const struct gt_native_value *values)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (values[i].n)
			load(segment, &values[i]);
}

/* ---- predicates ---- */

static size_t index_of(const struct gt_native_segment *segment, uint32_t slot)
{
	size_t i = 0;

	while (i < segment->n_predicates && segment->predicates[i] != slot)
		i++;
	return i;
}

struct gt_native_place gt_native_predicate(const struct gt_native_segment *segment, uint32_t slot)
{
	const size_t i = index_of(segment, slot);

	if (segment->unrolled)
		return (struct gt_native_place){GT_R10, slot + segment->part * segment->isa->bytes / 32};
	return i < segment->n_predicates ? (struct gt_native_place){GT_R11, (uint32_t)(4 * i)} : (struct gt_native_place){GT_R10, slot};
}

struct gt_native_place gt_native_new_predicate(struct gt_native_segment *segment, uint32_t slot)
{
	const size_t i = index_of(segment, slot);

	if (i == segment->n_predicates)
		segment->predicates[segment->n_predicates++] = slot;
	return (struct gt_native_place){GT_R11, (uint32_t)(4 * i)};
}

/* Reads a predicate into eax, part by part, since a load of what several stores wrote waits for them. r11 is behind the last part. */
static void join_parts(struct gt_native_segment *segment, uint32_t i)
{
	const unsigned lanes = segment->isa->bytes / 4, parts = GT_WARP_SIZE / lanes;
	struct gt_native_code *code = segment->code;
	const char *first = lanes == 16 ? "\x41\x0f\xb7\x83" : "\x41\x0f\xb6\x83"; /* movzx eax, word or byte [r11 + offset] */
	const char *other = lanes == 16 ? "\x45\x0f\xb7\x83" : "\x45\x0f\xb6\x83"; /* movzx r8d */

	gt_native_bytes(code, first, 4);
	gt_native_word(code, 4 * i - 4);
	for (unsigned part = 1; part < parts; part++) {
		gt_native_bytes(code, other, 4);
		gt_native_word(code, 4 * i - 4 + part * lanes / 8);
		gt_native_text(code, "\x41\xc1\xe0"); /* shl r8d */
		gt_native_byte(code, part * lanes);
		gt_native_text(code, "\x44\x09\xc0"); /* or eax, r8d */
	}
}

/* Behind the loop: the slots of predicates. */
static void store_predicates(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	for (uint32_t i = 0; i < segment->n_predicates; i++) {
		join_parts(segment, i);
		if (!segment->whole) { /* xor eax, [rdi + slot]; and eax, esi; xor eax, [rdi + slot] */
			gt_native_text(code, "\x33\x87");
			gt_native_word(code, segment->predicates[i]);
			gt_native_text(code, "\x21\xf0\x33\x87");
			gt_native_word(code, segment->predicates[i]);
		}
		gt_native_text(code, "\x89\x87"); /* mov [rdi + slot], eax */
		gt_native_word(code, segment->predicates[i]);
	}
}

/* ---- operations that every set of instructions puts together alike ---- */

const struct gt_native_op gt_native_move = {GT_0F, GT_66, 0, GT_VMOVDQA}, gt_native_xor = {GT_0F, GT_66, 0, GT_VPXOR},
			  gt_native_or = {GT_0F, GT_66, 0, GT_VPOR}, gt_native_zeros = {GT_0F38, GT_66, 0, GT_VPMOVZXDQ},
			  gt_native_signs = {GT_0F38, GT_66, 0, GT_VPMOVSXDQ},
			  gt_native_store = {GT_0F, GT_F3, 0, GT_VMOVDQU_STORE};

/* Of lanes of 32 bits, and of 64. */
static const struct gt_native_op add[] = {{GT_0F, GT_66, 0, GT_VPADDD}, {GT_0F, GT_66, 1, GT_VPADDQ}};

static void emit_fused(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
		       struct gt_native_operand y, struct gt_native_operand z)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned sum = d == x || (y.in_register && d == y.at) ? isa->first : d;

	if (!z.in_register)
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
	if (!from_memory || slot == op->d || is_named(segment->needs, slot, segment->op + 1))
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
	const struct gt_native_operand none = {.in_register = false};

	if (sources > 1)
		read_for(segment, op, op->b, n, !is_composed(rule));
	if (sources > 2)
		read_for(segment, op, op->c, n, true);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);
	for (unsigned i = 0; i < n; i++)
		emit_part(segment, rule, d->at[i], x->at[i], sources > 1 ? source(segment, op->b, n, i) : none,
			  sources > 2 ? source(segment, op->c, n, i) : none);
}

/* The same of lanes of 16 bits. */
static void emit_packed(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_operand none = {.in_register = false};
	const unsigned x = gt_native_read_half(segment, op->a);
	const bool two = gt_native_sources(rule->kind) > 1;
	const struct gt_native_operand y = {.in_register = true, .at = two ? gt_native_read_half(segment, op->b) : 0};

	emit_part(segment, rule, gt_native_write_half(segment, op->d), x, two ? y : none, none);
}

static void emit_shift(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *y = gt_native_read(segment, op->b, 1);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++) {
		isa->widen(segment, gt_native_zeros, isa->first, y->at[0], i);
		isa->shift(segment, rule, d->at[i], x->at[i], isa->first);
	}
}

static void emit_widen(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++)
		gt_native_widen(segment, rule->op, d->at[i], op->a, i);
}

/* Of lanes of 64 bits only the lower halves are multiplied, so that a constant need not be widened. */
static void emit_wide_product(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const bool adds = rule->kind == GT_NATIVE_WIDE_MULTIPLY_ADD, constant = gt_native_is_constant(segment->needs, op->b);
	const struct gt_native_operand second = {.in_register = true, .at = isa->second};
	const struct gt_native_op by = rule->immediate == GT_VPMOVSXDQ ? gt_native_signs : gt_native_zeros;

	if (adds)
		read_for(segment, op, op->c, 2, true);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, 2);
	for (unsigned i = 0; i < 2; i++) {
		const unsigned to = adds ? isa->first : d->at[i];
		gt_native_widen(segment, by, isa->first, op->a, i);
		if (!constant)
			gt_native_widen(segment, by, isa->second, op->b, i);
		gt_native_with(segment, rule->op, to, isa->first, constant ? source(segment, op->b, 1, 0) : second);
		if (adds)
			gt_native_with(segment, add[1], d->at[i], isa->first, source(segment, op->c, 2, i));
	}
}

static void emit_narrow(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *d = gt_native_write_to(segment, op->d, 1);

	segment->isa->narrow(segment, d->at[0], x->at[0], x->at[1], rule->kind == GT_NATIVE_PART && op->choice == 32);
}

static void emit_join(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *d = gt_native_write_to(segment, op->d, 2);

	for (unsigned i = 0; i < 2; i++) {
		gt_native_widen(segment, gt_native_zeros, isa->first, op->b, i);
		if (op->choice == 32)
			isa->raise(segment, isa->first, isa->first);
		isa->vector(segment, rule->op, d->at[i], x->at[i], isa->first);
	}
}

/* Instructions that convert to an integer give the least one where there is none, which is right but for what is too large. */
static void emit_narrow_float(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op least = {GT_0F, GT_66, 1, GT_VMIN};
	const struct gt_native_isa *isa = segment->isa;
	const bool to_integer = !rule->canonical;
	const struct gt_native_op truncates = {GT_0F, GT_66, 1, GT_VCVTPD2DQ}, rounds = {GT_0F, GT_F2, 1, GT_VCVTPD2DQ};
	const struct gt_native_op convert = !to_integer ? rule->op : op->choice == GT_PTX_RN ? rounds : truncates;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *d = gt_native_write_to(segment, op->d, 1);
	const unsigned to[] = {d->at[0], isa->first};

	if (to_integer)
		isa->fill(segment, 1, isa->second, UINT64_C(0x41dfffffffc00000)); /* 2^31 - 1 */
	for (unsigned i = 0; i < 2; i++) {
		if (to_integer)
			isa->vector(segment, least, isa->first, isa->second, x->at[i]); /* the latter of NaN */
		isa->vector(segment, convert, to[i], 0, to_integer ? isa->first : x->at[i]);
	}
	isa->vector(segment, isa->insert, d->at[0], d->at[0], isa->first);
	gt_native_byte(segment->code, 1);
	if (rule->canonical)
		isa->canonical(segment, d->at[0]);
}

/* The instruction's number for a rounding. */
static const uint8_t modes[] = {[GT_PTX_AS_IT_IS] = 3, [GT_PTX_RN] = 0, [GT_PTX_RM] = 1, [GT_PTX_RP] = 2, [GT_PTX_RZ] = 3};

unsigned gt_native_rounded(struct gt_native_segment *segment, const struct gt_ptx_op *op, unsigned x, unsigned free)
{
	static const struct gt_native_op round = {GT_0F3A, GT_66, 0, GT_VROUNDPS};

	if (modes[op->choice] == modes[GT_PTX_RZ])
		return x;
	segment->isa->vector(segment, round, free, 0, x);
	gt_native_byte(segment->code, modes[op->choice]);
	return free;
}

static void emit_round(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *d = gt_native_write_to(segment, op->d, n);

	for (unsigned i = 0; i < n; i++) {
		segment->isa->vector(segment, rule->op, d->at[i], 0, x->at[i]);
		gt_native_byte(segment->code, modes[op->choice]);
		if (rule->canonical)
			segment->isa->canonical(segment, d->at[i]);
	}
}

/* From 2^31 on 2^31 is taken away, and put back as a bit. */
static void emit_truncate_unsigned(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op not_negative = {GT_0F, GT_NP, 0, GT_VMAX}, less = {GT_0F, GT_NP, 0, GT_VSUB},
					 compares = {GT_0F, GT_NP, 0, GT_VCMP}, both = {GT_0F, GT_66, 0, GT_VPAND};
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 1);
	const unsigned at = isa->first, limit = isa->second, large = isa->third, from = gt_native_rounded(segment, op, x->at[0], at);

	isa->vector(segment, gt_native_xor, large, large, large);
	isa->vector(segment, not_negative, at, from, large); /* the latter of NaN */
	isa->fill(segment, 0, limit, 0x4f000000); /* 2^31 */
	isa->mask(segment, compares, large, at, limit, 0x1d);
	isa->vector(segment, both, limit, limit, large);
	isa->vector(segment, less, at, at, limit);
	isa->fill(segment, 0, limit, 0x4f000000);
	isa->mask(segment, compares, limit, at, limit, 0x1d); /* too large */
	isa->vector(segment, rule->op, at, 0, at);
	gt_native_shift_by(segment, false, GT_NATIVE_LEFT, large, large, 31);
	isa->vector(segment, gt_native_xor, at, at, large);
	isa->vector(segment, gt_native_or, d->at[0], at, limit);
}

/* d = the lesser or the greater of x and y, in `found` until the last. The instruction gives the latter of two zeros or if one is NaN: both orders
 * together have the sign of either zero. `test` may change. */
static void find_extreme(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned x, unsigned y, unsigned found, unsigned test)
{
	static const struct gt_native_op both = {GT_0F, GT_66, 0, GT_VPAND};
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_op unordered = {GT_0F, op.prefix, op.wide, GT_VCMP};

	isa->vector(segment, op, found, x, y);
	isa->vector(segment, op, test, y, x);
	isa->vector(segment, op.opcode == GT_VMIN ? gt_native_or : both, found, found, test);
	isa->mask(segment, unordered, test, y, y, 3);
	isa->blend(segment, found, found, x, test);
	isa->mask(segment, unordered, test, x, x, 3);
	isa->blend(segment, d, found, y, test);
}

static void emit_extreme(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);

	for (unsigned i = 0; i < n; i++) {
		find_extreme(segment, rule->op, d->at[i], x->at[i], y->at[i], isa->first, isa->second);
		if (rule->canonical)
			isa->canonical(segment, d->at[i]);
	}
}

static void emit_flush(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static const struct gt_native_op both = {GT_0F, GT_66, 0, GT_VPAND};
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 1);

	isa->fill(segment, 0, isa->first, 0x7f800000);
	isa->vector(segment, both, isa->first, isa->first, x->at[0]);
	isa->is_zero(segment, isa->second, isa->first);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, isa->second, isa->second, 1); /* but the sign */
	isa->vector(segment, rule->op, d->at[0], isa->second, x->at[0]);
}

/* Arithmetic that rounds otherwise than to nearest. */
static void emit_rounded(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const unsigned n = rule->op.wide ? 2 : 1, sources = gt_native_sources(rule->kind), rounding = modes[op->choice];
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);
	const struct gt_native_value *z = sources > 2 ? gt_native_read(segment, op->c, n) : NULL, *d = gt_native_write_to(segment, op->d, n);

	for (unsigned i = 0; i < n; i++) {
		if (z)
			isa->vector(segment, gt_native_move, isa->first, 0, z->at[i]);
		isa->rounded(segment, rule->op, z ? isa->first : d->at[i], x->at[i], y->at[i], rounding);
		if (z)
			isa->vector(segment, gt_native_move, d->at[i], 0, isa->first);
		if (rule->canonical)
			isa->canonical(segment, d->at[i]);
	}
}

/* ---- lanes of 16 bits ---- */

static const struct gt_native_op float_of_half = {GT_0F38, GT_66, 0, GT_VCVTPH2PS};

void gt_native_extend(struct gt_native_segment *segment, enum gt_native_halves by, unsigned d, unsigned x)
{
	static const struct gt_native_op zeros = {GT_0F38, GT_66, 0, GT_VPMOVZXWD}, ops[] = {
		[GT_NATIVE_BY_SIGNS] = {GT_0F38, GT_66, 0, GT_VPMOVSXWD}, [GT_NATIVE_BYTES_BY_ZEROS] = {GT_0F38, GT_66, 0, GT_VPMOVZXBD},
		[GT_NATIVE_BYTES_BY_SIGNS] = {GT_0F38, GT_66, 0, GT_VPMOVSXBD}, [GT_NATIVE_F16] = {GT_0F38, GT_66, 0, GT_VCVTPH2PS}, [GT_NATIVE_BF16] = {0}};

	segment->isa->vector(segment, ops[by].map ? ops[by] : zeros, d, 0, x);
	if (by == GT_NATIVE_BF16)
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, d, d, 16);
}

void gt_native_extend_both(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned x = gt_native_read_half(segment, op->a), y = gt_native_read_half(segment, op->b);

	gt_native_extend(segment, rule->halves, segment->isa->first, x);
	gt_native_extend(segment, rule->halves, segment->isa->second, y);
}

static void emit_extend(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const bool bytes = rule->halves == GT_NATIVE_BYTES_BY_ZEROS || rule->halves == GT_NATIVE_BYTES_BY_SIGNS;
	const unsigned x = gt_native_read(segment, op->a, bytes ? GT_NATIVE_QUARTER : GT_NATIVE_HALF)->at[0];
	const unsigned d = gt_native_write_to(segment, op->d, rule->immediate ? GT_NATIVE_HALF : 1)->at[0];

	if (rule->immediate) {
		segment->isa->vector(segment, rule->op, d, 0, x);
		return;
	}
	gt_native_extend(segment, rule->halves, d, x);
	if (rule->op.opcode == GT_VCVTDQ2PS)
		segment->isa->vector(segment, rule->op, d, 0, d);
	if (rule->canonical)
		segment->isa->canonical(segment, d);
}

static void emit_cut(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const enum gt_vector_opcode how = rule->op.opcode;
	const unsigned x = gt_native_read(segment, op->a, how == GT_VPMOVWB ? GT_NATIVE_HALF : 1)->at[0], first = segment->isa->first;
	const unsigned d = gt_native_write_to(segment, op->d, how == GT_VPMOVDW ? GT_NATIVE_HALF : GT_NATIVE_QUARTER)->at[0];
	const bool upper = how == GT_VPMOVDW && op->choice == 16;

	if (upper)
		gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, first, x, 16);
	segment->isa->cut(segment, how, d, upper ? first : x);
}

static void emit_put(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], y = gt_native_read_half(segment, op->b);
	const unsigned d = gt_native_write_to(segment, op->d, 1)->at[0], first = segment->isa->first;

	gt_native_extend(segment, rule->halves, first, y);
	if (op->choice == 16)
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, first, first, 16);
	segment->isa->vector(segment, rule->op, d, x, first);
}

static void emit_half_shift(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned x = gt_native_read_half(segment, op->a), y = gt_native_read(segment, op->b, 1)->at[0], d = gt_native_write_half(segment, op->d);

	gt_native_extend(segment, rule->halves, segment->isa->first, x);
	segment->isa->vector(segment, rule->op, segment->isa->first, segment->isa->first, y);
	segment->isa->cut(segment, GT_VPMOVDW, d, segment->isa->first);
}

/* The lower 16 bits of each lane of d = a float as bf16, to the nearest even: half of the last bit's value, or less by the least bit, is
 * added. The float stays as it is; d is none of the free registers. */
static void round_to_bf16(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	static const struct gt_native_op add_words = {GT_0F, GT_66, 0, GT_VPADDD}, unordered = {GT_0F, GT_NP, 0, GT_VCMP};
	const struct gt_native_isa *isa = segment->isa;

	gt_native_shift_by(segment, false, GT_NATIVE_LEFT, isa->first, x, 15); /* the last bit that stays */
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, isa->first, isa->first, 31);
	isa->vector(segment, add_words, isa->first, isa->first, x);
	isa->fill(segment, 0, isa->second, 0x7fff);
	isa->vector(segment, add_words, isa->first, isa->first, isa->second);
	isa->mask(segment, unordered, isa->second, x, x, 3);
	isa->fill(segment, 0, isa->third, 0x7fffffff);
	isa->blend(segment, d, isa->first, isa->third, isa->second);
	gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, d, d, 16);
}

/* Half a register of f16; the float changes. */
static void round_to_f16(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned mode)
{
	static const struct gt_native_op convert = {GT_0F3A, GT_66, 0, GT_VCVTPS2PH};

	segment->isa->canonical(segment, x);
	segment->isa->vector(segment, convert, x, 0, d); /* the source stands first */
	gt_native_byte(segment->code, mode);
}

static void emit_half_float(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned x = gt_native_read(segment, op->a, 1)->at[0], d = gt_native_write_half(segment, op->d), second = segment->isa->second;

	if (rule->halves == GT_NATIVE_BF16) {
		round_to_bf16(segment, d, x);
		segment->isa->cut(segment, GT_VPMOVDW, d, d);
		return;
	}
	segment->isa->vector(segment, gt_native_move, second, 0, x);
	round_to_f16(segment, d, second, op->choice == GT_PTX_AS_IT_IS ? 0 : modes[op->choice]);
}

/* The floats of lane half i of a register; alone, there is one. */
static void float_of(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned i)
{
	if (!rule->immediate) {
		gt_native_extend(segment, rule->halves, d, x);
	} else if (rule->halves == GT_NATIVE_F16) {
		segment->isa->widen(segment, float_of_half, d, x, i);
	} else if (i == 0) {
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, d, x, 16);
	} else {
		gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, d, x, 16);
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, d, d, 16);
	}
}

/* Sums, products and extremes of floats of 16 bits are found in floats of 32. */
static void emit_half_sum(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_isa *isa = segment->isa;
	const bool pair = rule->immediate;
	const unsigned n = pair ? 1 : GT_NATIVE_HALF;
	const unsigned x = gt_native_read(segment, op->a, n)->at[0], y = gt_native_read(segment, op->b, n)->at[0];
	const unsigned d = gt_native_write_to(segment, op->d, n)->at[0], sum = gt_native_take(segment);
	const unsigned results[] = {pair ? gt_native_take(segment) : d, sum};

	for (unsigned i = 0; i <= pair; i++) {
		float_of(segment, rule, isa->first, x, i);
		float_of(segment, rule, isa->second, y, i);
		if (rule->op.opcode == GT_VMIN || rule->op.opcode == GT_VMAX)
			find_extreme(segment, rule->op, sum, isa->first, isa->second, sum, isa->third);
		else
			isa->vector(segment, rule->op, sum, isa->first, isa->second);
		if (rule->halves == GT_NATIVE_F16)
			round_to_f16(segment, results[i], sum, 0);
		else
			round_to_bf16(segment, results[i], sum);
	}
	if (!pair && rule->halves == GT_NATIVE_BF16) {
		isa->cut(segment, GT_VPMOVDW, d, d);
	} else if (pair && rule->halves == GT_NATIVE_BF16) {
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, sum, sum, 16);
		isa->vector(segment, gt_native_or, d, results[0], sum);
	} else if (pair) {
		isa->vector(segment, isa->insert, d, results[0], sum);
		gt_native_byte(segment->code, 1);
	}
	segment->taken[sum] = false;
	if (pair)
		segment->taken[results[0]] = false;
}

void gt_native_emit(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	static gt_native_emitter *const emitters[GT_NATIVE_KINDS] = {
		[GT_NATIVE_SHIFT] = emit_shift,
		[GT_NATIVE_WIDEN] = emit_widen,
		[GT_NATIVE_WIDE_PRODUCT] = emit_wide_product,
		[GT_NATIVE_WIDE_MULTIPLY_ADD] = emit_wide_product,
		[GT_NATIVE_NARROW] = emit_narrow,
		[GT_NATIVE_PART] = emit_narrow,
		[GT_NATIVE_JOIN] = emit_join,
		[GT_NATIVE_NARROW_FLOAT] = emit_narrow_float,
		[GT_NATIVE_ROUND] = emit_round,
		[GT_NATIVE_TRUNCATE_UNSIGNED] = emit_truncate_unsigned,
		[GT_NATIVE_EXTREME] = emit_extreme,
		[GT_NATIVE_FLUSH] = emit_flush,
		[GT_NATIVE_EXTEND] = emit_extend,
		[GT_NATIVE_CUT] = emit_cut,
		[GT_NATIVE_PUT] = emit_put,
		[GT_NATIVE_HALF_FLOAT] = emit_half_float,
		[GT_NATIVE_HALF_SHIFT] = emit_half_shift,
		[GT_NATIVE_HALF_SUM] = emit_half_sum,
	};
	const struct gt_native_isa *isa = segment->isa;
	gt_native_emitter *special = isa->emitters[rule->kind], *alike = emitters[rule->kind] ? emitters[rule->kind] : isa->integers[rule->kind];

	if (op->run == gt_ptx_rounded)
		emit_rounded(segment, rule, op);
	else
		(special ? special : alike ? alike : rule->halves ? emit_packed : emit_parts)(segment, rule, op);
}

void gt_native_write(struct gt_native_segment *segment, const struct gt_ptx_op *ops, size_t n)
{
	struct gt_native_code *code = segment->code;
	const size_t end = segment->op + n;
	const struct gt_native_rule *rule;

	gt_native_text(code, "\x49\x89\xf8\x49\x89\xf9\x49\x89\xfa"); /* mov r8, rdi; mov r9, rdi; mov r10, rdi */
	gt_native_text(code, "\x4c\x8d\x5c\x24\x80");		      /* lea r11, [rsp - 128] */
	segment->isa->begin(segment);
	for (; segment->op < end; segment->op++) {
		gt_native_takes(segment->needs, &ops[segment->op], &rule);
		segment->now++;
		gt_native_emit(segment, rule, &ops[segment->op]);
	}
	gt_native_store_values(segment, segment->values, true);
	if (segment->skip)
		gt_general_land(code, segment->skip);
	segment->isa->end(segment);
	store_predicates(segment);
	gt_native_text(code, "\xc5\xf8\x77\xc3"); /* vzeroupper; ret */
}
