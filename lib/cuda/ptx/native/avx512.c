/* SPDX-License-Identifier: MIT */
/* One operation as vector instructions of AVX-512, for sixteen lanes. zmm27 to zmm30 are free within it, zmm31 holds 0x7fffffff, the NaN
 * of f32. */
#include <stddef.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"

/* Registers that hold no value. The last one is 0x7fffffff in every lane of 32 bits. */
enum { FOURTH = 27, FIRST, SECOND, THIRD, NAN32 };

/* ---- encodings of instructions on vectors: Intel's manual, volume 2, chapter 2.7 ---- */

/* The prefix of EVEX: registers' bits 3 and 4 are inverted in it. `r` is in the byte behind the opcode, with `b` or a base. */
enum length { BITS128 = 0, BITS256 = 0x20, BITS512 = 0x40, ZEROS = 0x80 }; /* the last beside one of the others: elements that a mask leaves out become 0 */
static void begin_evex(struct gt_native_code *code, struct gt_native_op op, enum length length, unsigned r, unsigned k, unsigned a, unsigned b)
{
	unsigned high = ~((r & 8) << 4 | (b & 16) << 2 | (b & 8) << 2 | (r & 16)) & 0xf0;

	gt_native_byte(code, 0x62);
	gt_native_byte(code, high | op.map);
	gt_native_byte(code, (unsigned)op.wide << 7 | (~a & 15) << 3 | 4 | op.prefix);
	gt_native_byte(code, (unsigned)length | (~a & 16) >> 1 | k); /* L'L */
	gt_native_byte(code, op.opcode);
}

/* OP zmm_d{k}, zmm_a, zmm_b, of 512 bits. k 0: all elements. a 0 where an instruction has none. An immediate goes behind it. */
static void evex_vector(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned a, unsigned b)
{
	begin_evex(code, op, BITS512, d, k, a, b);
	gt_native_byte(code, 0xc0 | (d & 7) << 3 | (b & 7));
}

/* The same with [base + offset] in the place of b. */
static void evex_memory(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned a, unsigned base,
		      uint32_t offset)
{
	begin_evex(code, op, BITS512, d, k, a, base);
	gt_native_byte(code, 0x80 | (d & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

/* The same of 256 bits, or of 128. */
static void evex_memory_share(struct gt_native_code *code, struct gt_native_op op, unsigned share, unsigned d, unsigned k, unsigned base, uint32_t offset)
{
	begin_evex(code, op, share == 2 ? BITS256 : BITS128, d, k, 0, base);
	gt_native_byte(code, 0x80 | (d & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

/* Between xmm_x and general register r. */
static void evex_lane(struct gt_native_code *code, struct gt_native_op op, unsigned x, unsigned r)
{
	begin_evex(code, op, BITS128, x, 0, 0, r);
	gt_native_byte(code, 0xc0 | (x & 7) << 3 | (r & 7));
}

/* OP zmm_d{k}, [base + zmm_index + offset]: what lanes have at places of their own. The index has its bits 3 and 4 where others have those of b
 * and of a. */
static void evex_gather(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned base, unsigned index,
		       uint32_t offset)
{
	begin_evex(code, op, BITS512, d, k, index & 16, (index & 8) << 1 | (base & 8));
	gt_native_byte(code, 0x84 | (d & 7) << 3);
	gt_native_byte(code, (index & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

/* The same with a constant that is `at` bytes into the code; the offset counts from the end of the instruction. */
static void evex_constant(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, uint32_t at)
{
	begin_evex(code, op, BITS512, d, 0, a, 0);
	gt_native_byte(code, (d & 7) << 3 | 5);
	gt_native_word(code, at - ((uint32_t)code->n + 4));
}

/* OP k_d, k_a, k_b, of the opmask registers; `large`: L is set. */
static void masks(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned b)
{
	gt_native_vex(code, op, large, d, a, b);
}

/* kmovw between k and [base + offset]. */
static void mask_memory(struct gt_native_code *code, unsigned opcode, unsigned k, unsigned base, uint32_t offset)
{
	gt_native_vex_memory(code, (struct gt_native_op){GT_0F, GT_NP, 0, (uint8_t)opcode}, false, k, 0, base, offset);
}

/* ---- what stretches need beside operations ---- */

#define MASK 5 /* k5 is free */

static void memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset)
{
	evex_memory(segment->code, op, d, 0, a, base, offset);
}

static void lane(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general)
{
	evex_lane(segment->code, op, x, general);
}

/* By a table of the three sources' bits. */
static void differ(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b)
{
	gt_native_with(segment, (struct gt_native_op){GT_0F3A, GT_66, 1, GT_VPTERNLOG}, d, a, b);
	gt_native_byte(segment->code, 0xf6);
}

static void compare_zero(struct gt_native_segment *segment, unsigned a, unsigned b)
{
	static const struct gt_native_op test = {GT_0F38, GT_66, 1, GT_VPTESTM}, none = {GT_0F, GT_NP, 0, GT_KORTEST};

	evex_vector(segment->code, test, MASK, 0, a, b);
	masks(segment->code, none, false, MASK, 0, MASK);
}

static void gather(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index, uint32_t offset)
{
	static const struct gt_native_op ones = {GT_0F, GT_NP, 0, GT_KXNOR};

	masks(segment->code, ones, true, MASK, MASK, MASK);
	evex_gather(segment->code, op, d, MASK, base, index, offset);
}

#define FOUND 5 /* k5 to k7 are free, too: what a comparison found, */
#define UPPER 6
#define WITH 7
#define LOWER 3 /* in a stretch k3 and k4 are predicates of the first half of the warp */

static const struct gt_native_op unordered = {GT_0F, GT_NP, 0, GT_VCMP}, extract = {GT_0F3A, GT_66, 1, GT_VEXTRACTI64X4},
				 insert = {GT_0F3A, GT_66, 1, GT_VINSERTI64X4}, broadcast32 = {GT_0F38, GT_66, 0, GT_VPBROADCAST_GENERAL},
				 broadcast64 = {GT_0F38, GT_66, 1, GT_VPBROADCAST_GENERAL}, shift_mask = {GT_0F3A, GT_66, 1, GT_KSHIFTRW},
				 unpack = {GT_0F, GT_66, 0, GT_KUNPCK}, from_general = {GT_0F, GT_NP, 0, GT_KMOV_FROM_GENERAL}, invert = {GT_0F, GT_NP, 0, GT_KNOT};

static void vector(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	evex_vector(segment->code, op, d, 0, a, b);
}

/* The instruction has the rounding in the place of the length. */
static void rounded(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b, unsigned rounding)
{
	begin_evex(segment->code, op, (enum length)(rounding << 5 | 0x10), d, 0, a, b);
	gt_native_byte(segment->code, 0xc0 | (d & 7) << 3 | (b & 7));
}

static void canonical(struct gt_native_segment *segment, unsigned d)
{
	evex_vector(segment->code, unordered, FOUND, 0, d, d);
	gt_native_byte(segment->code, 3);
	evex_vector(segment->code, gt_native_move, d, FOUND, 0, NAN32);
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

static void mask(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned x, unsigned y, unsigned how)
{
	evex_vector(segment->code, op, FOUND, 0, x, y);
	gt_native_byte(segment->code, how);
	vector(segment, (struct gt_native_op){GT_0F38, GT_F3, op.wide, GT_VPMOVM2}, d, 0, FOUND);
}

static void is_zero(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	static const struct gt_native_op test = {GT_0F38, GT_F3, 0, GT_VPTESTM}, spread = {GT_0F38, GT_F3, 0, GT_VPMOVM2};

	vector(segment, test, FOUND, x, x); /* VPTESTNMD */
	vector(segment, spread, d, 0, FOUND);
}

static void blend(struct gt_native_segment *segment, unsigned d, unsigned a, unsigned b, unsigned mask)
{
	static const struct gt_native_op signs = {GT_0F38, GT_F3, 0, GT_VPMOV2M}, choose = {GT_0F38, GT_66, 0, GT_VPBLENDM};

	vector(segment, signs, FOUND, 0, mask);
	evex_vector(segment->code, choose, d, FOUND, a, b);
}

static void widen(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned from, unsigned half)
{
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

	mask_memory(segment->code, GT_KMOV, k, place.base, place.offset);
}

/* The first half's are kept until they can be stored with the other's, since a load of what two stores wrote waits for them. */
static void keep_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k)
{
	static const struct gt_native_op move = {GT_0F, GT_NP, 0, GT_KMOV}, join = {GT_0F, GT_NP, 0, GT_KUNPCK}, to_general = {GT_0F, GT_F2, 0, GT_KMOV_TO_GENERAL};
	const unsigned lower = LOWER + segment->n_predicated++;

	if (segment->part == 0) {
		masks(segment->code, move, false, lower, 0, k);
		return;
	}
	masks(segment->code, join, true, lower, k, lower);
	masks(segment->code, to_general, false, GT_RAX, 0, lower);
	if (!segment->whole) { /* xor eax, [r10 + slot]; and eax, [rbx + mask]; xor eax, [r10 + slot] */
		gt_general_at(segment->code, false, GT_XOR, GT_RAX, GT_R10, slot);
		gt_general_at(segment->code, false, GT_AND, GT_RAX, GT_RBX, offsetof(struct gt_ptx_warp, mask));
		gt_general_at(segment->code, false, GT_XOR, GT_RAX, GT_R10, slot);
	}
	gt_general_store(segment->code, false, GT_RAX, GT_R10, slot);
}

static void write_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k)
{
	if (segment->unrolled) {
		keep_predicate(segment, slot, k);
		return;
	}
	const struct gt_native_place place = gt_native_new_predicate(segment, slot);
	mask_memory(segment->code, GT_KMOV_STORE, k, place.base, place.offset);
}

/* What a comparison found, combined with the predicate in k7 as the operation says. */
static void write_combined(struct gt_native_segment *segment, const struct gt_ptx_op *op, uint32_t slot, unsigned k)
{
	static const uint8_t opcodes[] = {[GT_PTX_AND] = GT_KAND, [GT_PTX_OR] = GT_KOR, [GT_PTX_XOR] = GT_KXOR};

	if (op->choice != GT_PTX_ALONE)
		masks(segment->code, (struct gt_native_op){GT_0F, GT_NP, 0, opcodes[op->choice]}, true, k, k, WITH);
	write_predicate(segment, slot, k);
}

static void emit_compare(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const unsigned n = rule->op.wide ? 2 : 1;
	const struct gt_native_value extended = {.at = {FIRST}}, other = {.at = {SECOND}}, *x = &extended, *y = &other;

	if (rule->halves) {
		gt_native_extend_both(segment, rule, op);
	} else {
		x = gt_native_read(segment, op->a, n);
		y = gt_native_read(segment, op->b, n);
	}
	for (unsigned i = 0; i < n; i++) {
		vector(segment, rule->op, FOUND + i, x->at[i], y->at[i]);
		gt_native_byte(segment->code, rule->immediate);
	}
	if (n == 2)
		masks(segment->code, unpack, true, FOUND, UPPER, FOUND);
	if (op->choice != GT_PTX_ALONE)
		read_predicate(segment, op->c, WITH);
	if (op->q) {
		masks(segment->code, invert, false, UPPER, 0, FOUND);
		write_combined(segment, op, op->q, UPPER);
	}
	write_combined(segment, op, op->d, FOUND);
}

static void select_halves(struct gt_native_segment *segment, const struct gt_ptx_op *op)
{
	static const struct gt_native_op choose = {GT_0F38, GT_66, 1, GT_VPBLENDMW};
	const unsigned x = gt_native_read_half(segment, op->a), y = gt_native_read_half(segment, op->b), d = gt_native_write_half(segment, op->d);

	read_predicate(segment, op->c, FOUND);
	evex_vector(segment->code, choose, d, FOUND, y, x);
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

	read_predicate(segment, op->c, FOUND);
	if (n == 2) {
		masks(segment->code, shift_mask, false, UPPER, 0, FOUND);
		gt_native_byte(segment->code, 8);
	}
	for (unsigned i = 0; i < n; i++)
		evex_vector(segment->code, rule->op, d->at[i], FOUND + i, y->at[i], x->at[i]);
}

static void emit_logic(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const bool binary = rule->op.opcode != GT_KNOT;

	read_predicate(segment, op->a, FOUND);
	if (binary)
		read_predicate(segment, op->b, UPPER);
	masks(segment->code, rule->op, binary, FOUND, binary ? FOUND : 0, binary ? UPPER : FOUND);
	write_predicate(segment, op->d, FOUND);
}

static void raise(struct gt_native_segment *segment, unsigned d, unsigned x)
{
	gt_native_shift_by(segment, true, GT_NATIVE_LEFT, d, x, 32);
}

/* The source of the instruction stands where others have their result. */
static void narrow(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, bool upper)
{
	static const struct gt_native_op cut_longs = {GT_0F38, GT_F3, 0, GT_VPMOVQD};
	const unsigned from[] = {x, y}, to[] = {d, FIRST};

	for (unsigned i = 0; i < 2; i++) {
		if (upper)
			gt_native_shift_by(segment, true, GT_NATIVE_RIGHT, THIRD, from[i], 32);
		vector(segment, cut_longs, upper ? THIRD : from[i], 0, to[i]);
	}
	vector(segment, insert, d, d, FIRST);
	gt_native_byte(segment->code, 1);
}

/* The processor gives the least integer where there is none. */
static void emit_truncate(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op)
{
	const struct gt_native_value *x = gt_native_read(segment, op->a, 1), *d = gt_native_write_to(segment, op->d, 1);
	const unsigned from = gt_native_rounded(segment, op, x->at[0], THIRD), to = d->at[0];

	vector(segment, rule->op, FIRST, 0, from);
	fill(segment, 0, SECOND, 0x4f000000); /* 2^31 */
	vector(segment, unordered, FOUND, from, SECOND);
	gt_native_byte(segment->code, 0x1d); /* not below it */
	vector(segment, unordered, UPPER, from, from);
	gt_native_byte(segment->code, 3);
	evex_vector(segment->code, gt_native_move, FIRST, FOUND, 0, NAN32); /* 0x7fffffff, the largest */
	vector(segment, gt_native_move, to, 0, FIRST);
	evex_vector(segment->code, gt_native_xor, to, UPPER, to, to);
}

static void set_nan(struct gt_native_code *code)
{
	gt_native_text(code, "\xb8\xff\xff\xff\x7f"); /* mov eax, 0x7fffffff */
	evex_vector(code, broadcast32, NAN32, 0, 0, GT_RAX);
}

static void open(struct gt_native_code *code)
{
	gt_native_open_bytes(code, 4);
}

static void bytes_of(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, enum gt_native_bytes_of which)
{
	evex_constant(segment->code, op, d, a, 64 * (uint32_t)which);
}

/* The result takes the place of the numbers. */
static void exchange(struct gt_native_segment *segment, unsigned d, const unsigned *from, unsigned part, uint32_t at)
{
	(void)part;
	evex_constant(segment->code, (struct gt_native_op){GT_0F, GT_F3, 0, GT_VMOVDQA}, d, 0, at);
	vector(segment, (struct gt_native_op){GT_0F38, GT_66, 0, GT_VPERMI2D}, d, from[0], from[1]);
}

static void lookup(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, unsigned z, unsigned table)
{
	const unsigned to = d == y || d == z ? FIRST : d;

	if (to != x)
		vector(segment, gt_native_move, to, 0, x);
	vector(segment, (struct gt_native_op){GT_0F3A, GT_66, 0, GT_VPTERNLOG}, to, y, z);
	gt_native_byte(segment->code, table);
	if (to != d)
		vector(segment, gt_native_move, d, 0, to);
}

static void leading_zeros(struct gt_native_segment *segment, bool wide, unsigned d, unsigned x)
{
	vector(segment, (struct gt_native_op){GT_0F38, GT_66, wide, GT_VPLZCNT}, d, 0, x);
}

/* ---- accesses of warps of which some lanes are active ---- */

#define ADDRESSES offsetof(struct gt_ptx_core, addresses)
#define APART(BYTES) offsetof(struct gt_stretch_constants, wide[gt_stretch_apart_by(BYTES)])
#define QUARTERS 4 /* of a warp: their addresses fill a register */

/* k1 and k2 are the masks of the active lanes of the warp's halves. */
static void set_active(struct gt_native_code *code)
{
	gt_general_at(code, false, GT_MOVE, GT_RAX, GT_RBX, offsetof(struct gt_ptx_warp, mask));
	masks(code, from_general, false, 1, 0, GT_RAX);
	gt_native_text(code, "\xc1\xe8\x10"); /* shr eax, 16 */
	masks(code, from_general, false, 2, 0, GT_RAX);
}

/* The opmask register of those in register i of a half: k6 for the second of 64-bit lanes. */
static unsigned active(struct gt_native_code *code, unsigned half, unsigned i)
{
	if (i == 0)
		return 1 + half;
	masks(code, shift_mask, false, UPPER, 0, 1 + half);
	gt_native_byte(code, 8);
	return UPPER;
}

static void active_memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned part, unsigned i, unsigned base, uint32_t offset)
{
	const unsigned k = active(segment->code, part, i);

	begin_evex(segment->code, op, op.opcode == GT_VMOVDQU_STORE ? BITS512 : (enum length)(BITS512 | ZEROS), d, k, 0, base);
	gt_native_byte(segment->code, 0x80 | (d & 7) << 3 | (base & 7));
	gt_native_word(segment->code, offset);
}

static void load_addresses(struct gt_native_code *code, unsigned d, unsigned q)
{
	evex_memory(code, (struct gt_native_op){GT_0F, GT_F3, 1, GT_VMOVDQA}, d, 0, 0, GT_R13, (uint32_t)(ADDRESSES + 64 * q));
}

static void gather_active(struct gt_native_segment *segment, bool wide, unsigned d, unsigned q, unsigned base)
{
	static const struct gt_native_op copy = {GT_0F, GT_NP, 0, GT_KMOV};

	const bool upper = !wide && q % 2;

	load_addresses(segment->code, SECOND, q);
	masks(segment->code, copy, false, MASK, 0, active(segment->code, q / 2, q % 2)); /* the instruction clears it */
	evex_gather(segment->code, (struct gt_native_op){GT_0F38, GT_66, wide, GT_VPGATHERQ}, upper ? FOURTH : d, MASK, base, SECOND, 0);
	if (!upper)
		return;
	vector(segment, insert, d, d, FOURTH);
	gt_native_byte(segment->code, 1);
}

static const struct gt_native_op not_equal = {GT_0F3A, GT_66, 1, GT_VPCMP}, above = {GT_0F3A, GT_66, 1, GT_VPCMPU}, add64 = {GT_0F, GT_66, 1, GT_VPADDQ};

/* k5 has the active lanes of a quarter for which the comparison of a and b holds, beside what it had unless the quarter is the first. */
static void compare_active(struct gt_native_code *code, struct gt_native_op op, unsigned how, unsigned q, unsigned first, unsigned a, unsigned b)
{
	static const struct gt_native_op either = {GT_0F, GT_NP, 0, GT_KOR};
	const unsigned k = active(code, q / 2, q % 2), d = q == first ? FOUND : UPPER;

	evex_vector(code, op, d, k, a, b);
	gt_native_byte(code, how);
	if (q != first)
		masks(code, either, true, FOUND, FOUND, UPPER);
}

/* The jump if k5 has any. */
static size_t jump_if_any(struct gt_native_code *code)
{
	static const struct gt_native_op none = {GT_0F, GT_NP, 0, GT_KORTEST};

	masks(code, none, false, FOUND, 0, FOUND);
	return gt_general_jump(code, GT_NOT_EQUAL);
}

static size_t jump_if_apart(struct gt_native_code *code, enum gt_native_lie lie, unsigned bytes, unsigned base)
{
	static const struct gt_native_op multiply = {GT_0F38, GT_66, 1, GT_VPMULDQ};
	const unsigned first = lie == GT_NATIVE_SECOND_HALF ? 2 : 0, end = lie == GT_NATIVE_FIRST_HALF ? 2 : QUARTERS;

	evex_vector(code, broadcast64, FIRST, 0, 0, base);
	if (lie == GT_NATIVE_STRIDE)
		evex_vector(code, broadcast64, FOURTH, 0, 0, GT_RSI);
	for (unsigned q = first; q < end; q++) {
		if (lie == GT_NATIVE_STRIDE) {
			evex_memory(code, multiply, SECOND, 0, FOURTH, GT_R15, (uint32_t)(APART(1) + 64 * q));
			evex_vector(code, add64, SECOND, 0, SECOND, FIRST);
		} else if (lie != GT_NATIVE_ONE_PLACE) {
			evex_memory(code, add64, SECOND, 0, FIRST, GT_R15, (uint32_t)(APART(bytes) + 64 * (q - first)));
		}
		load_addresses(code, THIRD, q);
		compare_active(code, not_equal, 4, q, first, lie == GT_NATIVE_ONE_PLACE ? FIRST : SECOND, THIRD);
	}
	return jump_if_any(code);
}

/* A distance from the begin, turned to the right so that a multiple of the bytes is its number, is above that of the last place. */
static size_t jump_if_outside(struct gt_native_code *code, unsigned bytes)
{
	static const struct gt_native_op subtract = {GT_0F, GT_66, 1, GT_VPSUBQ}, turn = {GT_0F, GT_66, 1, GT_VPSHIFTD};
	const unsigned shift = bytes == 8 ? 3 : 2;

	gt_native_text(code, "\x49\xc1\xe9"); /* shr r9 */
	gt_native_byte(code, shift);
	evex_vector(code, broadcast64, FIRST, 0, 0, GT_R8);
	evex_vector(code, broadcast64, THIRD, 0, 0, GT_R9);
	for (unsigned q = 0; q < QUARTERS; q++) {
		load_addresses(code, SECOND, q);
		evex_vector(code, subtract, SECOND, 0, SECOND, FIRST);
		evex_vector(code, turn, 0, 0, SECOND, SECOND); /* vprorq */
		gt_native_byte(code, shift);
		compare_active(code, above, 6, q, 0, SECOND, THIRD);
	}
	return jump_if_any(code);
}

static void list_active(struct gt_native_code *code)
{
	static const struct gt_native_op compress = {GT_0F38, GT_66, 1, GT_VPCOMPRESSQ}, write = {GT_0F, GT_F3, 1, GT_VMOVDQU_STORE};

	for (unsigned q = 0; q < QUARTERS; q++) {
		load_addresses(code, FIRST, q);
		evex_vector(code, compress, FIRST, active(code, q / 2, q % 2), 0, SECOND); /* the source stands first */
		evex_memory(code, write, SECOND, 0, 0, GT_RSI, 0);
		gt_native_text(code, "\x0f\xb6\x83"); /* movzx eax, byte [rbx + mask + q] */
		gt_native_word(code, (uint32_t)offsetof(struct gt_ptx_warp, mask) + q);
		gt_native_text(code, "\xf3\x0f\xb8\xc0\x48\x8d\x34\xc6"); /* popcnt eax, eax; lea rsi, [rsi + 8 rax] */
	}
}

/* ---- the loop around them: esi is the mask of the active lanes, edx the halves that are left ---- */

static void begin(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	gt_native_text(code, "\xba\x02\x00\x00\x00\x89\xf1"); /* mov edx, 2; mov ecx, esi */
	set_nan(code);
	segment->loop = code->n;
	if (segment->whole)
		return;
	gt_native_text(code, "\x66\x85\xc9\x0f\x84\x00\x00\x00\x00"); /* test cx, cx; jz behind the half */
	segment->skip = code->n;
	masks(code, from_general, false, 1, 0, GT_RCX); /* kmovw k1, ecx; kshiftrw k2, k1, 8 */
	masks(code, shift_mask, false, 2, 0, 1);
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
	static const struct gt_native_op op = {GT_0F, GT_F3, 0, GT_VMOVDQA};

	evex_memory(segment->code, op, at, 0, 0, base, offset);
}

/* k1 is the mask of the active lanes, for the second register of 64-bit lanes k2; in a stretch they are those of the warp's halves. */
static void store(struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i, unsigned base, uint32_t offset)
{
	const struct gt_native_op op = {GT_0F, GT_F3, value->n == 2, GT_VMOVDQU_STORE};

	evex_memory(segment->code, op, value->at[i], segment->whole ? 0 : segment->unrolled ? active(segment->code, value->part, i) : 1 + i, 0, base, offset);
}

static void load_share(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset)
{
	evex_memory_share(segment->code, (struct gt_native_op){GT_0F, GT_F2, share == 2, GT_VMOVDQA}, share, at, 0, base, offset);
}

static void store_share(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset, unsigned active)
{
	evex_memory_share(segment->code, (struct gt_native_op){GT_0F, GT_F2, share == 2, GT_VMOVDQU_STORE}, share, at, active, base, offset);
}

static void cut(struct gt_native_segment *segment, enum gt_vector_opcode how, unsigned d, unsigned x)
{
	vector(segment, (struct gt_native_op){GT_0F38, GT_F3, 0, (uint8_t)how}, x, 0, d); /* the source stands first */
}

const struct gt_native_isa gt_native_avx512 = {
	.registers = FOURTH,
	.bytes = 64,
	.first = FIRST,
	.second = SECOND,
	.third = THIRD,
	.fourth = FOURTH,
	.open = open,
	.begin = begin,
	.end = end,
	.load = load,
	.store = store,
	.load_share = load_share,
	.store_share = store_share,
	.cut = cut,
	.vector = vector,
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
	.shift = binary,
	.rotates = true,
	.bytes_of = bytes_of,
	.lookup = lookup,
	.leading_zeros = leading_zeros,
	.emitters = {[GT_NATIVE_COMPARE] = emit_compare, [GT_NATIVE_SELECT] = emit_select, [GT_NATIVE_LOGIC] = emit_logic, [GT_NATIVE_TRUNCATE] = emit_truncate},
	.integers = gt_native_integers,
	.broadcast = {{GT_0F38, GT_66, 0, GT_VPBROADCASTD}, {GT_0F38, GT_66, 1, GT_VPBROADCASTQ}},
	.insert = {GT_0F3A, GT_66, 1, GT_VINSERTI64X4},
	.set_constants = set_nan,
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
