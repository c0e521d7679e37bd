/* SPDX-License-Identifier: MIT */
/* Loads and stores of a whole warp in machine code. The commonest are of lanes side by side, or of all at one place, in the
 * allocation of the instruction's last access or in shared memory; others are left to the C code. */
#include <stddef.h>

#include "ptx/exec/access.h"
#include "ptx/native/stretch_lanes.h"

#define LANES(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15), \
	F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), F(25), F(26), F(27), F(28), F(29), F(30), F(31)
#define FOUR(I) 4 * (I)
#define EIGHT(I) 8 * (I)
#define SAME8(X) X, X, X, X, X, X, X, X
static const struct gt_stretch_constants constants = {
	{{LANES(FOUR)}, {LANES(EIGHT)}}, {{LANES(FOUR)}, {LANES(EIGHT)}}, {{SAME8(3)}, {SAME8(7)}}, {{SAME8(3), SAME8(3)}, {SAME8(7), SAME8(7)}},
};
const void *const gt_stretch_constants = &constants;

static const struct gt_native_op add32 = {GT_0F, GT_66, 0, 0xfe}, add64 = {GT_0F, GT_66, 1, 0xd4}, three = {GT_0F3A, GT_66, 1, 0x25},
				 test = {GT_0F38, GT_66, 1, 0x27}, none = {GT_0F, GT_NP, 0, 0x98}, load_lanes = {GT_0F, GT_F3, 0, 0x6f},
				 store_lanes = {GT_0F, GT_F3, 0, 0x7f};
#define DIFFERS 5 /* k5 */
#define OR_DIFFERENT 0xf6 /* of three sources: d | (a ^ b) */

/* Memory of the block or the launch, or global memory, whose addresses have 64 bits. */
static bool is_near(const struct gt_ptx_access *access)
{
	switch (access->space) {
	case GT_PTX_SHARED: return true;
	case GT_PTX_PARAM: return access->action == GT_LOAD;
	case GT_PTX_GLOBAL:
	case GT_PTX_GENERIC:
	case GT_PTX_CONST: return !access->narrow;
	default: return false;
	}
}

bool gt_stretch_moves(const struct gt_ptx_op *op, bool *fast)
{
	const struct gt_ptx_access *access = op->with.access;

	/* A prefetch has no size. */
	if (!op->accesses || op->guarded || access->size == 0 || access->size > 8 || (access->size & (access->size - 1)) != 0)
		return false;
	const bool loads = op->run == gt_ptx_load_step(access);
	if (!loads && op->run != gt_ptx_store_step(access))
		return false;
	*fast = access->size >= 4 && (loads ? access->n <= 4 : access->n == 1) && !access->in_frame && !access->policy &&
		access->offset == (int32_t)access->offset &&
		is_near(access);
	for (unsigned k = 0; k < access->n; k++)
		*fast = *fast && access->slots[k];
	return true;
}

/* Takes the registers of a slot for both halves of the warp. */
static unsigned take(struct gt_stretch *stretch, uint32_t slot, unsigned n, bool writes, unsigned *registers)
{
	struct gt_native_segment *segment = &stretch->segment;

	for (segment->half = 0; segment->half < 2; segment->half++) {
		const struct gt_native_value *value = writes ? gt_native_write_to(segment, slot, n) : gt_native_read(segment, slot, n);
		for (unsigned i = 0; i < n; i++)
			registers[n * segment->half + i] = value->at[i];
	}
	return 2 * n;
}

/* rax = the address of lane 0, rcx = how far lane 1 is from it; the same in the lanes of FIRST, without the offset. */
static void write_first(const struct gt_stretch_move *move)
{
	const bool wide = !move->access->narrow;
	const struct gt_native_op lowest = {GT_0F, GT_66, wide, 0x7e}, other = {GT_0F3A, GT_66, wide, 0x16},
				  broadcast = {GT_0F38, GT_66, wide, wide ? 0x59 : 0x58};

	gt_native_lane(move->code, lowest, move->lanes[0], GT_RAX);
	gt_native_lane(move->code, other, move->lanes[0], GT_RCX);
	gt_native_byte(move->code, 1);
	gt_stretch_vector(move, broadcast, GT_ZMM_FIRST, 0, move->lanes[0]);
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

/* Whether all lanes are side by side, or at one place, as their first two are: the jump if not. */
static size_t write_tests(const struct gt_stretch_move *move, bool next)
{
	const bool wide = !move->access->narrow;
	const size_t row = move->bytes == 8, from = wide ? offsetof(struct gt_stretch_constants, wide[row]) : offsetof(struct gt_stretch_constants, narrow[row]);

	for (unsigned i = 0; i < move->n_lanes; i++) {
		const unsigned expected = next ? GT_ZMM_SECOND : GT_ZMM_FIRST;
		if (next)
			gt_native_memory(move->code, wide ? add64 : add32, expected, 0, GT_ZMM_FIRST, GT_R15, (uint32_t)(from + 64 * i));
		if (i == 0) {
			gt_stretch_vector(move, gt_native_xor, GT_ZMM_THIRD, expected, move->lanes[0]);
		} else {
			gt_stretch_vector(move, three, GT_ZMM_THIRD, expected, move->lanes[i]);
			gt_native_byte(move->code, OR_DIFFERENT);
		}
	}
	gt_stretch_vector(move, test, DIFFERS, GT_ZMM_THIRD, GT_ZMM_THIRD);
	gt_native_mask(move->code, none, false, DIFFERS, 0, DIFFERS);
	const size_t differ = gt_general_jump(move->code, GT_NOT_EQUAL);
	gt_general_number(move->code, true, GT_COMPARE_NUMBER, GT_RSI, next ? GT_WARP_SIZE * move->bytes : move->bytes);
	gt_stretch_slow_if(move, GT_BELOW);
	return differ;
}

static void move_lanes(const struct gt_stretch_move *move, bool stores)
{
	for (unsigned i = 0; i < move->access->size / 2U; i++)
		gt_native_memory(move->code, stores ? store_lanes : load_lanes, move->data[0][i], 0, 0, GT_RDI, 64 * i);
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
	const bool wide = move->access->size == 8;
	const struct gt_native_op broadcast = {GT_0F38, GT_66, wide, wide ? 0x59 : 0x58};

	for (unsigned k = 0; k < move->access->n; k++)
		for (unsigned i = 0; i < move->access->size / 2U; i++)
			if (i == 0)
				gt_native_memory(move->code, broadcast, move->data[k][0], 0, 0, GT_RDI, k * move->access->size);
			else
				gt_stretch_vector(move, gt_native_move, move->data[k][i], 0, move->data[k][0]);
}

static void load_vectors(const struct gt_stretch_move *move)
{
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	gt_stretch_slow(move, write_tests(move, false));
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
	others[1] = write_tests(move, true);
	move_lanes(move, false);
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
	others[0] = write_tests(move, false);
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
	if (move->access->n == 1)
		load_elements(move);
	else
		load_vectors(move);
}

static void write_store(const struct gt_stretch_move *move)
{
	gt_general_number(move->code, true, GT_COMPARE_NUMBER, GT_RCX, move->bytes);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	gt_stretch_slow(move, write_tests(move, true));
	move_lanes(move, true);
}

void gt_stretch_write_move(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	const struct gt_ptx_access *access = stretch->code->ops[point->op].with.access;
	struct gt_native_segment *segment = &stretch->segment;
	struct gt_stretch_move move = {.stretch = stretch, .point = point, .code = segment->code, .access = access, .bytes = access->size * access->n};
	const bool stores = access->action == GT_STORE;

	segment->now++;
	move.n_lanes = take(stretch, access->address, access->narrow ? 1 : 2, false, move.lanes);
	if (stores)
		take(stretch, access->slots[0], access->size / 4U, false, move.data[0]);
	memcpy(point->at_move, segment->values, sizeof point->at_move);
	for (unsigned k = 0; !stores && k < access->n; k++)
		take(stretch, access->slots[k], access->size / 4U, true, move.data[k]);
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
