/* SPDX-License-Identifier: MIT */
/* Loads whose lanes are anywhere in the memory that lane 0 is in. */
#include <stddef.h>

#include "ptx/exec/access.h"
#include "ptx/native/stretch_lanes.h"

#define OUTSIDE 5 /* k5 to k7 are free */
#define ODD 6
#define FAR 7

static void either(const struct gt_stretch_move *move, unsigned d, unsigned a, unsigned b)
{
	gt_native_mask(move->code, (struct gt_native_op){GT_0F, GT_NP, 0, 0x45}, true, d, a, b);
}

/* How far the lanes in register i are from lane 0, in the last register. */
static void write_distances(const struct gt_stretch_move *move, unsigned i)
{
	const bool wide = !move->access->narrow;

	gt_stretch_vector(move, (struct gt_native_op){GT_0F, GT_66, wide, wide ? 0xfb : 0xfa}, GT_ZMM_NAN, move->lanes[i], GT_ZMM_FIRST);
}

/* The second register has where lane 0 is in its memory, the third the last place of an element there. */
static void write_bounds(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const struct gt_native_op broadcast = {GT_0F38, GT_66, !move->access->narrow, 0x7c};
	const struct gt_stretch_window window = gt_stretch_window_of(move->access);

	gt_general(code, true, GT_MOVE, GT_R11, GT_RDI);
	if (window.base == GT_RDX)
		gt_general_address(code, GT_RDX, move->access);
	gt_general_at(code, true, GT_SUB, GT_R11, window.base, window.host);
	gt_general(code, true, GT_ADD, GT_RSI, GT_R11);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RSI, move->bytes);
	gt_stretch_slow_if(move, GT_BELOW);
	gt_general_number(code, true, GT_ADD_NUMBER, GT_RSI, 0U - move->bytes);
	gt_stretch_vector(move, broadcast, GT_ZMM_SECOND, 0, GT_R11);
	gt_stretch_vector(move, broadcast, GT_ZMM_THIRD, 0, GT_RSI);
}

static void write_tests(const struct gt_stretch_move *move)
{
	const bool wide = !move->access->narrow;
	const struct gt_native_op test = {GT_0F38, GT_66, wide, 0x27}, add = {GT_0F, GT_66, wide, wide ? 0xd4 : 0xfe},
				  compare = {GT_0F3A, GT_66, wide, 0x1e};
	const size_t row = move->bytes == 8, odd = wide ? offsetof(struct gt_stretch_constants, odd[row]) : offsetof(struct gt_stretch_constants, odd_narrow[row]);

	for (unsigned i = 0; i < move->n_lanes; i++) {
		write_distances(move, i);
		gt_native_memory(move->code, test, ODD, 0, GT_ZMM_NAN, GT_R15, (uint32_t)odd);
		gt_stretch_vector(move, add, GT_ZMM_NAN, GT_ZMM_NAN, GT_ZMM_SECOND);
		gt_stretch_vector(move, compare, FAR, GT_ZMM_NAN, GT_ZMM_THIRD);
		gt_native_byte(move->code, 6); /* above */
		either(move, ODD, ODD, FAR);
		either(move, OUTSIDE, i ? OUTSIDE : ODD, ODD);
	}
	gt_native_mask(move->code, (struct gt_native_op){GT_0F, GT_NP, 0, 0x98}, false, OUTSIDE, 0, OUTSIDE);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
}

static void write_loads(const struct gt_stretch_move *move)
{
	static const struct gt_native_op ones = {GT_0F, GT_NP, 0, 0x46}, insert = {GT_0F3A, GT_66, 1, 0x3a};
	const bool wide = !move->access->narrow, halves = wide && move->access->size == 4;
	const struct gt_native_op gather = {GT_0F38, GT_66, move->access->size == 8, wide ? 0x91 : 0x90};

	for (unsigned i = 0; i < move->n_lanes; i++) {
		const unsigned to = move->data[0][halves ? i / 2 : i];
		const bool upper = halves && i % 2;
		write_distances(move, i);
		gt_native_mask(move->code, ones, true, OUTSIDE, OUTSIDE, OUTSIDE);
		gt_native_gather(move->code, gather, upper ? GT_ZMM_SECOND : to, OUTSIDE, GT_RDI, GT_ZMM_NAN);
		if (!upper)
			continue;
		gt_stretch_vector(move, insert, to, to, GT_ZMM_SECOND);
		gt_native_byte(move->code, 1);
	}
}

/* Whether all lanes are at the stride of the first two, whose distance is rcx: the jump if they are. Four times the distances are
 * compared, as the constants are. */
static size_t write_stride_test(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const bool wide = !move->access->narrow;
	const struct gt_native_op multiply = {GT_0F38, GT_66, wide, wide ? 0x28 : 0x40}, shift = {GT_0F, GT_66, wide, wide ? 0x73 : 0x72},
				  compare = {GT_0F3A, GT_66, wide, 0x1f};
	const size_t lanes = wide ? offsetof(struct gt_stretch_constants, wide) : offsetof(struct gt_stretch_constants, narrow);

	gt_native_text(code, "\x48\x63\xd1"); /* movsxd rdx, ecx */
	if (wide) {
		gt_general(code, true, GT_COMPARE, GT_RDX, GT_RCX);
		gt_stretch_slow_if(move, GT_NOT_EQUAL);
	}
	gt_general(code, true, GT_MOVE, GT_RCX, GT_RDX);
	gt_stretch_vector(move, (struct gt_native_op){GT_0F38, GT_66, wide, 0x7c}, GT_ZMM_SECOND, 0, GT_RCX);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		write_distances(move, i);
		gt_stretch_vector(move, shift, 6, GT_ZMM_NAN, GT_ZMM_NAN);
		gt_native_byte(code, 2);
		gt_native_memory(code, multiply, GT_ZMM_THIRD, 0, GT_ZMM_SECOND, GT_R15, (uint32_t)(lanes + 64 * i));
		gt_stretch_vector(move, compare, ODD, GT_ZMM_NAN, GT_ZMM_THIRD);
		gt_native_byte(code, 4); /* differs */
		either(move, OUTSIDE, i ? OUTSIDE : ODD, ODD);
	}
	gt_native_mask(code, (struct gt_native_op){GT_0F, GT_NP, 0, 0x98}, false, OUTSIDE, 0, OUTSIDE);
	return gt_general_jump(code, GT_EQUAL);
}

/* The addresses of all lanes behind the row at rsi. */
static void write_addresses(const struct gt_stretch_move *move)
{
	static const struct gt_native_op store = {GT_0F, GT_F3, 1, 0x7f};
	struct gt_native_segment *segment = &move->stretch->segment;
	const bool wide = !move->access->narrow;
	const struct gt_native_op add = {GT_0F, GT_66, wide, wide ? 0xd4 : 0xfe}, broadcast = {GT_0F38, GT_66, wide, 0x7c};

	gt_general_constant(move->code, GT_R11, (uint64_t)move->access->offset);
	gt_stretch_vector(move, broadcast, GT_ZMM_SECOND, 0, GT_R11);
	for (unsigned i = 0; i < 4; i++) {
		gt_stretch_vector(move, add, GT_ZMM_NAN, move->lanes[wide ? i : i / 2], GT_ZMM_SECOND);
		if (!wide)
			segment->isa->widen(segment, 0x35, GT_ZMM_THIRD, GT_ZMM_NAN, i % 2);
		gt_native_memory(move->code, store, wide ? GT_ZMM_NAN : GT_ZMM_THIRD, 0, 0, GT_RSI, (uint32_t)(sizeof(struct gt_ptx_kept) + 64 * i));
	}
}

/* The row of lanes without a stride. */
static void write_row(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;

	gt_general_constant(code, GT_RAX, 0);
	gt_general_constant(code, GT_RCX, (uint64_t)GT_STRIDE_LANES);
	gt_general_address(code, GT_RDX, move->point->entry);
	gt_native_byte(code, 0x57); /* push rdi */
	gt_general_call_to(code, move->stretch->shared->row);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RDX, 0);
	const size_t added = gt_general_jump(code, GT_EQUAL);
	gt_native_byte(code, 0x5f); /* pop rdi */
	gt_stretch_slow_if(move, GT_ALWAYS);
	gt_general_land(code, added);
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RDI, offsetof(struct gt_ptx_held_chunk, written), GT_WARP_SIZE * sizeof(uint64_t));
	gt_native_text(code, "\x66\xc7\x86"); /* mov word [rsi + lanes], 32 */
	gt_native_word(code, offsetof(struct gt_ptx_kept, lanes));
	gt_native_text(code, "\x20\x00");
	write_addresses(move);
	gt_native_byte(code, 0x5f);
}

/* NaN's register is one of those that are free above. */
static void end(const struct gt_stretch_move *move)
{
	gt_native_text(move->code, "\x41\xbb\xff\xff\xff\x7f"); /* mov r11d, 0x7fffffff */
	gt_stretch_vector(move, (struct gt_native_op){GT_0F38, GT_66, 0, 0x7c}, GT_ZMM_NAN, 0, GT_R11);
}

/* Rows that the C code must look at go there before anything is done. A row with a stride is added behind the load, as others are. */
void gt_stretch_write_gather(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const struct gt_ptx_access *access = move->access;

	write_bounds(move);
	write_tests(move);
	gt_general_at(code, false, GT_MOVE, GT_RDX, GT_R13, offsetof(struct gt_ptx_core, traced));
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RDX, GT_PTX_NOTES_WORK);
	gt_stretch_slow_if(move, GT_NOT_BELOW);
	gt_native_text(code, "\xf7\xc2"); /* test edx, the space's bit */
	gt_native_word(code, access->untraced ? 0 : UINT32_C(1) << gt_ptx_traced_space[access->space]);
	const size_t untraced = gt_general_jump(code, GT_EQUAL), strided = write_stride_test(move);
	write_row(move);
	write_loads(move);
	end(move);
	move->point->noted = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, untraced);
	gt_general_land(code, strided);
	write_loads(move);
	end(move);
}
