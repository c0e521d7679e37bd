/* SPDX-License-Identifier: MIT */
/* One operation as vector instructions. zmm27 to zmm30 are free within it, zmm31 holds 0x7fffffff, the NaN of f32. What stretches
 * need beside that is in avx512_lanes.c. */
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/segment.h"

/* Registers that hold no value. The last one is 0x7fffffff in every lane of 32 bits. */
enum { GT_ZMM_FOURTH = 27, GT_ZMM_FIRST, GT_ZMM_SECOND, GT_ZMM_THIRD, GT_ZMM_NAN };

/* What stretches need of AVX-512 beside operations. */

#define MASK 5 /* k5 is free */

/* Of gt_native_isa, for stretches. */
static void avx512_memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset)
{
	gt_native_memory(segment->code, op, d, 0, a, base, offset);
}

static void avx512_lane(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general)
{
	gt_native_lane(segment->code, op, x, general);
}

/* By a table of the three sources' bits. */
static void avx512_differ(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b)
{
	gt_native_with(segment, (struct gt_native_op){GT_0F3A, GT_66, 1, 0x25}, d, a, b);
	gt_native_byte(segment->code, 0xf6);
}

static void avx512_compare_zero(struct gt_native_segment *segment, unsigned a, unsigned b)
{
	static const struct gt_native_op test = {GT_0F38, GT_66, 1, 0x27}, none = {GT_0F, GT_NP, 0, 0x98};

	gt_native_vector(segment->code, test, MASK, 0, a, b);
	gt_native_mask(segment->code, none, false, MASK, 0, MASK);
}

static void avx512_gather(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index)
{
	static const struct gt_native_op ones = {GT_0F, GT_NP, 0, 0x46};

	gt_native_mask(segment->code, ones, true, MASK, MASK, MASK);
	gt_native_gather(segment->code, op, d, MASK, base, index);
}

#define FIRST GT_ZMM_FIRST
#define SECOND GT_ZMM_SECOND
#define NAN32 GT_ZMM_NAN
#define HELD 5 /* k5 to k7 are free, too */
#define UPPER 6
#define WITH 7
#define LOWER 3 /* in a stretch k3 and k4 are predicates of the first half of the warp */

static const struct gt_native_op unordered = {GT_0F, GT_NP, 0, 0xc2}, extract = {GT_0F3A, GT_66, 1, 0x3b},
				 insert = {GT_0F3A, GT_66, 1, 0x3a}, broadcast32 = {GT_0F38, GT_66, 0, 0x7c},
				 broadcast64 = {GT_0F38, GT_66, 1, 0x7c}, shift_mask = {GT_0F3A, GT_66, 1, 0x30},
				 unpack = {GT_0F, GT_66, 0, 0x4b}, invert = {GT_0F, GT_NP, 0, 0x44};

static void vector(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	gt_native_vector(segment->code, op, d, 0, a, b);
}

static void canonical(struct gt_native_segment *segment, unsigned d)
{
	gt_native_vector(segment->code, unordered, HELD, 0, d, d);
	gt_native_byte(segment->code, 3);
	gt_native_vector(segment->code, gt_native_move, d, HELD, 0, NAN32);
}

static void fill(struct gt_native_segment *segment, unsigned wide, unsigned d, uint64_t bits)
{
	if (wide)
		gt_native_bytes(segment->code, "\x48\xb8", 2); /* mov rax, bits */
	else
		gt_native_byte(segment->code, 0xb8); /* mov eax, bits */
	gt_native_word(segment->code, (uint32_t)bits);
	if (wide)
		gt_native_word(segment->code, (uint32_t)(bits >> 32));
	vector(segment, wide ? broadcast64 : broadcast32, d, 0, GT_RAX);
}

static void widen(struct gt_native_segment *segment, unsigned opcode, unsigned d, unsigned from, unsigned half)
{
	const struct gt_native_op op = {GT_0F38, GT_66, 0, (uint8_t)opcode};

	if (half) {
		vector(segment, extract, from, 0, d);
		gt_native_byte(segment->code, 1);
	}
	vector(segment, op, d, 0, half ? d : from);
}

static void binary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y)
{
	vector(segment, rule->op, d, x, y);
}

static void unary(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x)
{
	if (rule->kind == GT_NATIVE_NOT) { /* by a table of the three sources' bits */
		vector(segment, rule->op, d, x, x);
		gt_native_byte(segment->code, 0x55);
	} else {
		vector(segment, rule->op, d, 0, x);
	}
}

/* Moves a predicate into an opmask register, and back. */
static void read_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k)
{
	const struct gt_native_place place = gt_native_predicate(segment, slot);

	gt_native_mask_memory(segment->code, 0x90, k, place.base, place.offset);
}

/* The first half's are kept until they can be stored with the other's, since a load of what two stores wrote waits for them. */
static void keep_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k)
{
	static const struct gt_native_op move = {GT_0F, GT_NP, 0, 0x90}, join = {GT_0F, GT_NP, 0, 0x4b}, to_general = {GT_0F, GT_F2, 0, 0x93};
	const unsigned lower = LOWER + segment->n_predicated++;

	if (segment->part == 0) {
		gt_native_mask(segment->code, move, false, lower, 0, k);
		return;
	}
	gt_native_mask(segment->code, join, true, lower, k, lower);
	gt_native_mask(segment->code, to_general, false, GT_RAX, 0, lower);
	gt_general_store(segment->code, false, GT_RAX, GT_R10, slot);
}

static void write_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k)
{
	if (segment->unrolled) {
		keep_predicate(segment, slot, k);
		return;
	}
	const struct gt_native_place place = gt_native_new_predicate(segment, slot);
	gt_native_mask_memory(segment->code, 0x91, k, place.base, place.offset);
}

/* What a comparison found, combined with the predicate in k7 as the operation says. */
static void write_combined(struct gt_native_segment *segment, const struct gt_ptx_op *op, uint32_t slot, unsigned k)
{
	static const uint8_t opcodes[] = {[GT_PTX_AND] = 0x41, [GT_PTX_OR] = 0x45, [GT_PTX_XOR] = 0x47};

	if (op->choice != GT_PTX_ALONE)
		gt_native_mask(segment->code, (struct gt_native_op){GT_0F, GT_NP, 0, opcodes[op->choice]}, true, k, k, WITH);
	write_predicate(segment, slot, k);
}

static void emit_compare(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);

	for (unsigned i = 0; i < n; i++) {
		vector(segment, rule->op, HELD + i, x->at[i], y->at[i]);
		gt_native_byte(segment->code, rule->immediate);
	}
	if (n == 2)
		gt_native_mask(segment->code, unpack, true, HELD, UPPER, HELD);
	if (op->choice != GT_PTX_ALONE)
		read_predicate(segment, op->c, WITH);
	if (op->q) {
		gt_native_mask(segment->code, invert, false, UPPER, 0, HELD);
		write_combined(segment, op, op->q, UPPER);
	}
	write_combined(segment, op, op->d, HELD);
}

static void emit_select(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value *x = gt_native_read(segment, op->a, n), *y = gt_native_read(segment, op->b, n);
	const struct gt_native_value *d = gt_native_write_to(segment, op->d, n);

	read_predicate(segment, op->c, HELD);
	if (n == 2) {
		gt_native_mask(segment->code, shift_mask, false, UPPER, 0, HELD);
		gt_native_byte(segment->code, 8);
	}
	for (unsigned i = 0; i < n; i++)
		gt_native_vector(segment->code, rule->op, d->at[i], HELD + i, y->at[i], x->at[i]);
}

static void emit_logic(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const bool binary = rule->op.opcode != 0x44;

	read_predicate(segment, op->a, HELD);
	if (binary)
		read_predicate(segment, op->b, UPPER);
	gt_native_mask(segment->code, rule->op, binary, HELD, binary ? HELD : 0, binary ? UPPER : HELD);
	write_predicate(segment, op->d, HELD);
}

/* The source of this instruction stands where others have their result. */
static void emit_narrow(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *x = gt_native_read(segment, op->a, 2), *d = gt_native_write_to(segment, op->d, 1);

	vector(segment, rule->op, x->at[0], 0, d->at[0]);
	vector(segment, rule->op, x->at[1], 0, FIRST);
	vector(segment, insert, d->at[0], d->at[0], FIRST);
	gt_native_byte(segment->code, 1);
}

/* The processor gives the least integer where there is none. */
static void emit_truncate(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 1);
	const unsigned from = x->at[0], to = d->at[0];

	vector(segment, rule->op, FIRST, 0, from);
	fill(segment, 0, SECOND, 0x4f000000); /* 2^31 */
	vector(segment, unordered, HELD, from, SECOND);
	gt_native_byte(segment->code, 0x1d); /* not below it */
	vector(segment, unordered, UPPER, from, from);
	gt_native_byte(segment->code, 3);
	gt_native_vector(segment->code, gt_native_move, FIRST, HELD, 0, NAN32); /* 0x7fffffff, the largest */
	vector(segment, gt_native_move, to, 0, FIRST);
	gt_native_vector(segment->code, gt_native_xor, to, UPPER, to, to);
}

static void avx512_set_nan(struct gt_native_code *code)
{
	gt_native_text(code, "\xb8\xff\xff\xff\x7f"); /* mov eax, 0x7fffffff */
	gt_native_vector(code, broadcast32, NAN32, 0, 0, GT_RAX);
}

/* ---- the loop around them: esi is the mask of the active lanes, edx the halves that are left ---- */

static void begin(struct gt_native_segment *segment)
{
	static const struct gt_native_op from_general = {GT_0F, GT_NP, 0, 0x92}, shift = {GT_0F3A, GT_66, 1, 0x30};
	struct gt_native_code *code = segment->code;

	gt_native_text(code, "\xba\x02\x00\x00\x00\x89\xf1"); /* mov edx, 2; mov ecx, esi */
	avx512_set_nan(code);
	segment->loop = code->n;
	if (segment->whole)
		return;
	gt_native_text(code, "\x66\x85\xc9\x0f\x84\x00\x00\x00\x00"); /* test cx, cx; jz behind the half */
	segment->skip = code->n;
	gt_native_mask(code, from_general, false, 1, 0, GT_RCX); /* kmovw k1, ecx; kshiftrw k2, k1, 8 */
	gt_native_mask(code, shift, false, 2, 0, 1);
	gt_native_byte(code, 8);
}

static void end(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	gt_native_text(code, "\x49\x83\xc0\x40\x49\x81\xc1\x80\x00\x00\x00"); /* add r8, 64; add r9, 128 */
	gt_native_text(code, "\x49\x83\xc2\x02\x49\x83\xc3\x02");		     /* add r10, 2; add r11, 2 */
	gt_native_text(code, "\xc1\xe9\x10\xff\xca\x0f\x85");		     /* shr ecx, 16; dec edx; jnz begin */
	gt_native_word(code, (uint32_t)(segment->loop - (code->n + 4)));
}

static void load(struct gt_native_segment *segment, unsigned at, unsigned base, uint32_t offset)
{
	static const struct gt_native_op op = {GT_0F, GT_F3, 0, 0x6f};

	gt_native_memory(segment->code, op, at, 0, 0, base, offset);
}

/* k1 is the mask of the active lanes, for the second register of 64-bit lanes k2. */
static void store(struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i, unsigned base, uint32_t offset)
{
	const struct gt_native_op op = {GT_0F, GT_F3, value->n == 2, 0x7f};

	gt_native_memory(segment->code, op, value->at[i], segment->whole ? 0 : 1 + i, 0, base, offset);
}

const struct gt_native_isa gt_native_avx512 = {
	.registers = GT_ZMM_FOURTH,
	.bytes = 64,
	.first = FIRST,
	.second = SECOND,
	.third = GT_ZMM_THIRD,
	.fourth = GT_ZMM_FOURTH,
	.begin = begin,
	.end = end,
	.load = load,
	.store = store,
	.vector = vector,
	.fill = fill,
	.widen = widen,
	.canonical = canonical,
	.binary = binary,
	.unary = unary,
	.shift = binary,
	.emitters = {[GT_NATIVE_COMPARE] = emit_compare, [GT_NATIVE_SELECT] = emit_select, [GT_NATIVE_LOGIC] = emit_logic,
		     [GT_NATIVE_NARROW] = emit_narrow, [GT_NATIVE_TRUNCATE] = emit_truncate},
	.broadcast = {{GT_0F38, GT_66, 0, 0x58}, {GT_0F38, GT_66, 1, 0x59}},
	.insert = {GT_0F3A, GT_66, 1, 0x3a},
	.set_constants = avx512_set_nan,
	.memory = avx512_memory,
	.lane = avx512_lane,
	.differ = avx512_differ,
	.compare_zero = avx512_compare_zero,
	.gather = avx512_gather,
};
