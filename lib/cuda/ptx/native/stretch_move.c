/* SPDX-License-Identifier: MIT */
/* Loads and stores of a whole warp in machine code. The commonest are of lanes side by side, or of all at one place, in the
 * allocation of the instruction's last access or in shared memory; others are left to the C code. */
#include <stddef.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/stretch_lanes.h"

#define LANES(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15), \
	F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), F(25), F(26), F(27), F(28), F(29), F(30), F(31)
#define ONE(I) I
#define FOUR(I) 4 * (I)
#define EIGHT(I) 8 * (I)
#define SAME8(X) X, X, X, X, X, X, X, X
#define OUTSIDE64 UINT64_C(1) << 63
#define OUTSIDE32 UINT32_C(1) << 31
static const struct gt_stretch_constants constants = {
	{{LANES(ONE)}, {LANES(FOUR)}, {LANES(EIGHT)}}, {{LANES(ONE)}, {LANES(FOUR)}, {LANES(EIGHT)}},
	{{SAME8(OUTSIDE64 | 3)}, {SAME8(OUTSIDE64 | 7)}},
	{{SAME8(OUTSIDE32 | 3), SAME8(OUTSIDE32 | 3)}, {SAME8(OUTSIDE32 | 7), SAME8(OUTSIDE32 | 7)}},
};
const void *const gt_stretch_constants = &constants;

/* Finds where the registers of a slot are, of all parts of the warp. */
static unsigned find(const struct gt_stretch *stretch, uint32_t slot, unsigned n, struct gt_native_operand *operands)
{
	const unsigned parts = gt_native_parts(stretch->segment.isa);

	for (unsigned part = 0; part < parts; part++)
		for (unsigned i = 0; i < n; i++)
			operands[n * part + i] = gt_native_where(&stretch->segment, slot, n, part, i);
	return n * parts;
}

/* Takes registers for the elements of a load if there are enough. */
static void take(struct gt_stretch_move *move)
{
	const struct gt_ptx_access *access = move->access;
	struct gt_native_segment *segment = &move->stretch->segment;
	const unsigned n = access->size / 4U, parts = gt_native_parts(segment->isa);
	const bool room = n * parts * access->n <= segment->isa->registers;

	for (unsigned k = 0; k < access->n; k++) {
		if (!room)
			gt_native_release(segment, access->slots[k]);
		for (segment->part = 0; room && segment->part < parts; segment->part++)
			gt_native_write_to(segment, access->slots[k], n);
	}
	for (unsigned k = 0; k < access->n; k++)
		move->n_data = find(move->stretch, access->slots[k], n, move->data[k]);
}

/* rax = the address of lane 0, rcx = how far lane 1 is from it; the same in the lanes of the first register, without the offset. */
static void write_first(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_operand *first = &move->lanes[0];

	if (first->held) {
		isa->lane(segment, (struct gt_native_op){GT_0F, GT_66, wide, 0x7e}, first->at, GT_RAX);
		isa->lane(segment, (struct gt_native_op){GT_0F3A, GT_66, wide, 0x16}, first->at, GT_RCX);
		gt_native_byte(move->code, 1);
	} else {
		gt_general_at(move->code, wide, GT_MOVE, GT_RAX, first->place.base, first->place.offset);
		gt_general_at(move->code, wide, GT_MOVE, GT_RCX, first->place.base, first->place.offset + (wide ? 8 : 4));
	}
	gt_native_with(segment, isa->broadcast[wide], isa->first, 0, *first);
	gt_general(move->code, wide, GT_SUB, GT_RCX, GT_RAX);
	if (move->access->offset)
		gt_general_number(move->code, wide, GT_ADD_NUMBER, GT_RAX, (uint32_t)move->access->offset);
}

/* rdi = the host's place of lane 0; rsi = the bytes from there to the end of its memory. */
static void write_window(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const struct gt_stretch_window window = gt_stretch_window_of(move->access);

	gt_general(code, true, GT_MOVE, GT_RDI, GT_RAX);
	if (window.base == GT_R13) {
		gt_general_at(code, true, GT_MOVE, GT_RSI, GT_R13, window.bytes);
	} else {
		gt_general_address(code, GT_RDX, move->access);
		gt_general_at(code, true, GT_SUB, GT_RDI, GT_RDX, offsetof(struct gt_ptx_access, low));
		gt_general_at(code, true, GT_MOVE, GT_RSI, GT_RDX, offsetof(struct gt_ptx_access, high));
		gt_general_at(code, true, GT_SUB, GT_RSI, GT_RDX, offsetof(struct gt_ptx_access, low));
		gt_stretch_slow_if(move, GT_BELOW);
	}
	gt_general(code, true, GT_SUB, GT_RSI, GT_RDI);
	gt_stretch_slow_if(move, GT_BELOW);
	gt_general_at(code, true, GT_ADD, GT_RDI, window.base, window.host);
	gt_native_byte(code, 0xa8); /* test al, bytes - 1 */
	gt_native_byte(code, move->bytes - 1);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
}

static void load_lanes(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;

	for (unsigned i = 0; i < move->n_data; i++)
		segment->isa->load(segment, move->data[0][i].at, GT_RDI, segment->isa->bytes * i);
}

static void store_lanes(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;

	for (unsigned i = 0; i < move->n_data; i++) {
		const struct gt_native_operand *from = &move->data[0][i];
		if (!from->held)
			isa->load(segment, isa->first, from->place.base, from->place.offset);
		isa->memory(segment, gt_native_store, from->held ? from->at : isa->first, 0, GT_RDI, isa->bytes * i);
	}
}

/* Memory is accessed at strides that processors do not foresee, such as the rows of a matrix. From the distance to the access
 * before, of this warp or another, the one after the next is brought into the cache. */
static void prefetch(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;

	gt_general_address(code, GT_RDX, move->point->entry);
	gt_general(code, true, GT_MOVE, GT_R11, GT_RDI);
	gt_general_at(code, true, GT_SUB, GT_R11, GT_RDX, offsetof(struct gt_ptx_entry, last));
	gt_general_store(code, true, GT_RDI, GT_RDX, offsetof(struct gt_ptx_entry, last));
	gt_native_text(code, "\xba\x00\x00\x00\x00\x4c\x0f\x42\xda"); /* mov edx, 0; cmovb r11, rdx */
	gt_native_text(code, "\x42\x0f\x18\x4c\x5f\x00\x42\x0f\x18\x4c\x5f\x40"); /* prefetcht0 [rdi + 2 r11], [rdi + 2 r11 + 64] */
}

static void load_one(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;

	for (unsigned k = 0; k < move->access->n; k++) {
		const unsigned from = move->data[k][0].held ? move->data[k][0].at : isa->first;
		isa->memory(segment, isa->broadcast[move->access->size == 8], from, 0, GT_RDI, k * move->access->size);
		for (unsigned i = 0; i < move->n_data; i++) {
			const struct gt_native_operand *to = &move->data[k][i];
			if (!to->held)
				isa->memory(segment, gt_native_store, from, 0, to->place.base, to->place.offset);
			else if (i > 0)
				gt_stretch_vector(move, gt_native_move, to->at, 0, from);
		}
	}
}

static void load_vectors(const struct gt_stretch_move *move)
{
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	const size_t differ = gt_stretch_write_tests(move, false);
	if (differ)
		gt_stretch_slow(move, differ);
	load_one(move);
}

/* Behind a comparison of the first two lanes' distance with 0. */
static void load_elements(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const bool gathers = !move->access->narrow || move->access->size == 4;
	const size_t one = gt_general_jump(code, GT_EQUAL);
	size_t done[2], others[2] = {0}, gather = 0;

	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RCX, move->bytes);
	others[0] = gt_general_jump(code, GT_NOT_EQUAL);
	others[1] = gt_stretch_write_tests(move, true);
	load_lanes(move);
	if (gt_stretch_window_of(move->access).base != GT_R13)
		prefetch(move);
	done[0] = gt_general_jump(code, GT_ALWAYS);
	for (unsigned i = 0; i < 2 && !gathers; i++)
		gt_stretch_slow(move, others[i]);
	if (gathers) {
		gt_general_land(code, others[0]);
		gt_general_land(code, others[1]);
		gather = code->n;
		gt_stretch_write_gather(move);
	}
	done[1] = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, one);
	others[0] = gt_stretch_write_tests(move, false);
	if (gathers)
		gt_general_land_at(code, others[0], gather);
	else
		gt_stretch_slow(move, others[0]);
	load_one(move);
	gt_general_land(code, done[0]);
	gt_general_land(code, done[1]);
}

static void write_load(const struct gt_stretch_move *move)
{
	gt_general_number(move->code, true, GT_COMPARE_NUMBER, GT_RCX, 0);
	if (move->access->n == 1 && !gt_stretch_is_constant(move))
		load_elements(move);
	else
		load_vectors(move);
}

static void write_store(const struct gt_stretch_move *move)
{
	gt_general_number(move->code, true, GT_COMPARE_NUMBER, GT_RCX, move->bytes);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	gt_stretch_slow(move, gt_stretch_write_tests(move, true));
	store_lanes(move);
}

void gt_stretch_write_move(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	const struct gt_ptx_access *access = stretch->code->ops[point->op].with.access;
	struct gt_native_segment *segment = &stretch->segment;
	struct gt_stretch_move move = {.stretch = stretch, .point = point, .code = segment->code, .access = access, .bytes = access->size * access->n};
	const bool stores = access->action == GT_STORE;

	segment->now++;
	memcpy(point->at_move, segment->values, sizeof point->at_move);
	if (stores)
		move.n_data = find(stretch, access->slots[0], access->size / 4U, move.data[0]);
	else
		take(&move);
	move.n_lanes = find(stretch, access->address, access->narrow ? 1 : 2, move.lanes);
	gt_stretch_begin_shape(&move);
	write_first(&move);
	write_window(&move);
	if (stores)
		write_store(&move);
	else
		write_load(&move);
	gt_general_number_at(move.code, false, GT_COMPARE_NUMBER, GT_R13, offsetof(struct gt_ptx_core, traced), 0);
	point->row = gt_general_jump(move.code, GT_NOT_EQUAL);
	if (point->noted)
		gt_general_land(move.code, point->noted);
}
