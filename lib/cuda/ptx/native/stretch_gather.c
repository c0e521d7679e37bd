/* SPDX-License-Identifier: MIT */
/* Loads whose lanes are anywhere in the memory that lane 0 is in. */
#include <stddef.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/stretch_lanes.h"

static void with(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned a, unsigned i)
{
	gt_native_with(&move->stretch->segment, op, d, a, move->lanes[i]);
}

static struct gt_native_op add(const struct gt_stretch_move *move)
{
	return (struct gt_native_op){GT_0F, GT_66, !move->access->narrow, move->access->narrow ? 0xfe : 0xd4};
}

/* Every lane of d = a general register. */
static void broadcast(const struct gt_stretch_move *move, unsigned d, unsigned general)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const bool wide = !move->access->narrow;

	segment->isa->lane(segment, (struct gt_native_op){GT_0F, GT_66, wide, 0x6e}, d, general);
	gt_stretch_vector(move, segment->isa->broadcast[wide], d, 0, d);
}

/* The first register is what added to an address gives how far it is from the begin of the memory, as is r11, and the third the last
 * place of an element there. rdi is where the host has that begin. */
static void write_bounds(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const struct gt_native_isa *isa = move->stretch->segment.isa;
	const struct gt_stretch_window window = gt_stretch_window_of(move->access);

	gt_general(code, true, GT_MOVE, GT_R11, GT_RDI);
	if (window.base == GT_RDX)
		gt_general_address(code, GT_RDX, move->access);
	gt_general_at(code, true, GT_MOVE, GT_RDI, window.base, window.host);
	gt_general(code, true, GT_SUB, GT_R11, GT_RDI);
	gt_general(code, true, GT_ADD, GT_RSI, GT_R11);
	gt_general_number(code, true, GT_ADD_NUMBER, GT_RSI, 0U - move->bytes);
	gt_stretch_slow_if(move, GT_NEGATIVE);
	gt_native_text(code, "\x48\x83\xe6"); /* and rsi, -bytes */
	gt_native_byte(code, (0U - move->bytes) & 0xff);
	gt_native_text(code, "\x41\xf6\xc3"); /* test r11b, bytes - 1 */
	gt_native_byte(code, move->bytes - 1);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	gt_general(code, true, GT_SUB, GT_R11, GT_RAX);
	gt_general_number(code, true, GT_ADD_NUMBER, GT_R11, (uint32_t)move->access->offset);
	broadcast(move, isa->first, GT_R11);
	broadcast(move, isa->third, GT_RSI);
}

/* Whether a lane is outside: before the begin or behind the last place, so that a distance is negative, or between two places. */
static void write_tests(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_op subtract = {GT_0F, GT_66, wide, wide ? 0xfb : 0xfa};
	const size_t row = move->bytes == 8, outside = wide ? offsetof(struct gt_stretch_constants, outside[row])
							   : offsetof(struct gt_stretch_constants, outside_narrow[row]);

	gt_stretch_vector(move, gt_native_xor, isa->fourth, isa->fourth, isa->fourth);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		with(move, add(move), isa->second, isa->first, i);
		gt_stretch_vector(move, gt_native_or, isa->fourth, isa->fourth, isa->second);
		gt_stretch_vector(move, subtract, isa->second, isa->third, isa->second);
		gt_stretch_vector(move, gt_native_or, isa->fourth, isa->fourth, isa->second);
	}
	isa->load(segment, isa->second, GT_R15, (uint32_t)outside);
	isa->compare_zero(segment, isa->fourth, isa->second);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
}

static void write_loads(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow, halves = wide && move->access->size == 4;
	const struct gt_native_op gather = {GT_0F38, GT_66, move->access->size == 8, wide ? 0x91 : 0x90};

	for (unsigned i = 0; i < move->n_lanes; i++) {
		const unsigned to = move->data[0][halves ? i / 2 : i].at;
		const bool upper = halves && i % 2;
		with(move, add(move), isa->second, isa->first, i);
		isa->gather(segment, gather, upper ? isa->fourth : to, GT_RDI, isa->second);
		if (!upper)
			continue;
		gt_stretch_vector(move, isa->insert, to, to, isa->fourth);
		gt_native_byte(move->code, 1);
	}
}

/* Whether all lanes are at the stride of the first two, whose distance is rcx: the jump if they are. */
static size_t write_stride_test(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_op multiply = {GT_0F38, GT_66, wide, wide ? 0x28 : 0x40};

	gt_native_text(code, "\x48\x63\xd1"); /* movsxd rdx, ecx */
	if (wide) {
		gt_general(code, true, GT_COMPARE, GT_RDX, GT_RCX);
		gt_stretch_slow_if(move, GT_NOT_EQUAL);
	}
	gt_general(code, true, GT_MOVE, GT_RCX, GT_RDX);
	broadcast(move, isa->third, GT_RCX);
	gt_native_with(segment, isa->broadcast[wide], isa->first, 0, move->lanes[0]);
	gt_stretch_vector(move, gt_native_xor, isa->fourth, isa->fourth, isa->fourth);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		gt_stretch_constant(move, multiply, isa->second, isa->third, gt_stretch_apart(move, GT_STRETCH_APART1, i));
		gt_stretch_vector(move, add(move), isa->second, isa->second, isa->first);
		isa->differ(segment, isa->fourth, isa->second, move->lanes[i]);
	}
	broadcast(move, isa->first, GT_R11);
	isa->compare_zero(segment, isa->fourth, isa->fourth);
	return gt_general_jump(code, GT_EQUAL);
}

/* The addresses of all lanes behind the row at rsi. */
static void write_addresses(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;

	gt_general_constant(move->code, GT_R11, (uint64_t)move->access->offset);
	broadcast(move, isa->third, GT_R11);
	for (unsigned i = 0; i < 2 * gt_native_parts(isa); i++) {
		with(move, add(move), isa->second, isa->third, wide ? i : i / 2);
		if (!wide)
			isa->widen(segment, 0x35, isa->fourth, isa->second, i % 2);
		isa->memory(segment, gt_native_store, wide ? isa->second : isa->fourth, 0, GT_RSI, (uint32_t)(sizeof(struct gt_ptx_kept) + i * isa->bytes));
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
	move->point->noted = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, untraced);
	gt_general_land(code, strided);
	write_loads(move);
}
