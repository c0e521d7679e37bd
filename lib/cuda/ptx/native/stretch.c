/* SPDX-License-Identifier: MIT */
/* The loads and stores of a stretch in machine code. The commonest are of lanes side by side, or of all at one place, in the allocation
 * of the instruction's last access or in shared memory; some loads of other addresses are gathered, stores may be of runs, and the rest is left to
 * the C code. */
#include <stddef.h>
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"
#include "stream/op.h"
#include "stream/shared.h"

static void vector(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	move->stretch->segment.isa->vector(&move->stretch->segment, op, d, a, b);
}

/* OP d, a, a constant that is `at` bytes into those that r15 points to. */
static void with_constant(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned a, size_t at)
{
	move->stretch->segment.isa->memory(&move->stretch->segment, op, d, a, GT_R15, (uint32_t)at);
}

/* Where the constants of addresses in register i are. */
static size_t apart_at(const struct gt_stretch_move *move, enum gt_stretch_apart apart, unsigned i)
{
	const size_t from = move->access->narrow ? offsetof(struct gt_stretch_constants, narrow[apart]) : offsetof(struct gt_stretch_constants, wide[apart]);

	return from + i * move->stretch->segment.isa->bytes;
}

/* ---- tests whether the addresses of lanes are side by side, or one place ---- */

/* Accesses by the same register, as of neighbours in an array, differ in
 * their offsets only, so that the first one tests for all: a word of the stack has the stride that it found. */

/* Before an access: forgets what was known of its addresses if it is the first by them. */
static void begin_shape(const struct gt_stretch_move *move)
{
	if (move->point->finds_shape)
		gt_general_set_at(move->code, GT_RBP, 4 * (move->point->shape - 1), GT_STRETCH_UNKNOWN);
}

/* Whether all addresses are the same constant. */
static bool is_constant(const struct gt_stretch_move *move)
{
	return gt_native_is_constant(move->stretch->segment.needs, move->access->address);
}

/* The jump if lanes are not as expected. */
static size_t write_comparisons(const struct gt_stretch_move *move, bool next)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_op add = {GT_0F, GT_66, wide, wide ? GT_VPADDQ : GT_VPADDD};
	const enum gt_stretch_apart apart = gt_stretch_apart_by(move->bytes);

	vector(move, gt_native_xor, isa->third, isa->third, isa->third);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		if (next)
			with_constant(move, add, isa->second, isa->first, apart_at(move, apart, i));
		isa->differ(segment, isa->third, next ? isa->second : isa->first, move->lanes[i]);
	}
	isa->compare_zero(segment, isa->third, isa->third);
	return gt_general_jump(move->code, GT_NOT_EQUAL);
}

/* Whether all lanes are side by side, or at one place, as their first two are, and within their memory: the jump if lanes are not; 0:
 * they always are, at a constant. */
static size_t write_shape_tests(const struct gt_stretch_move *move, bool next)
{
	struct gt_native_code *code = move->code;
	const unsigned shape = move->point->shape;
	const uint32_t stride = next ? move->bytes : 0;
	size_t known = 0, differ = 0;

	if (shape) {
		gt_general_number_at(code, false, GT_COMPARE_NUMBER, GT_RBP, 4 * (shape - 1), stride);
		known = gt_general_jump(code, GT_EQUAL);
	}
	if (next || !is_constant(move))
		differ = write_comparisons(move, next);
	if (shape) {
		gt_general_set_at(code, GT_RBP, 4 * (shape - 1), stride);
		gt_general_land(code, known);
	}
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RSI, next ? GT_WARP_SIZE * move->bytes : move->bytes);
	gt_stretch_slow_if(move, GT_BELOW);
	return differ;
}

/* A general register = the first lane of a register of addresses. */
static void read_first(const struct gt_stretch_move *move, unsigned i, unsigned general)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const bool wide = !move->access->narrow;

	if (move->lanes[i].in_register)
		segment->isa->lane(segment, (struct gt_native_op){GT_0F, GT_66, wide, GT_VMOV_TO_GENERAL}, move->lanes[i].at, general);
	else
		gt_general_at(move->code, wide, GT_MOVE, general, move->lanes[i].place.base, move->lanes[i].place.offset);
}

/* ---- loads whose lanes are anywhere in the memory that lane 0 is in ---- */

static void with(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned a, unsigned i)
{
	gt_native_with(&move->stretch->segment, op, d, a, move->lanes[i]);
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
	gt_stretch_broadcast(move, isa->first, GT_R11);
	gt_stretch_broadcast(move, isa->third, GT_RSI);
}

/* Whether a lane is outside: before the begin or behind the last place, so that a distance is negative, or between two places. */
static void write_tests(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_op subtract = {GT_0F, GT_66, wide, wide ? GT_VPSUBQ : GT_VPSUBD};
	const size_t row = gt_stretch_apart_by(move->bytes) - GT_STRETCH_APART4, outside = wide ? offsetof(struct gt_stretch_constants, outside[row])
							   : offsetof(struct gt_stretch_constants, outside_narrow[row]);

	vector(move, gt_native_xor, isa->fourth, isa->fourth, isa->fourth);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		with(move, gt_stretch_add(move), isa->second, isa->first, i);
		vector(move, gt_native_or, isa->fourth, isa->fourth, isa->second);
		vector(move, subtract, isa->second, isa->third, isa->second);
		vector(move, gt_native_or, isa->fourth, isa->fourth, isa->second);
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
	const struct gt_native_op gather = {GT_0F38, GT_66, move->access->size == 8, wide ? GT_VPGATHERQ : GT_VPGATHERD};

	for (unsigned i = 0; i < move->n_lanes; i++) {
		const bool upper = halves && i % 2;
		with(move, gt_stretch_add(move), isa->second, isa->first, i);
		for (unsigned k = 0; k < move->access->n; k++) {
			const unsigned to = move->data[k][halves ? i / 2 : i].at;
			isa->gather(segment, gather, upper ? isa->fourth : to, GT_RDI, isa->second, k * move->access->size);
			if (!upper)
				continue;
			vector(move, isa->insert, to, to, isa->fourth);
			gt_native_byte(move->code, 1);
		}
	}
}

/* Whether all lanes are at the stride of the first two, whose distance is rcx: the jump if they are. */
static size_t write_stride_test(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_op multiply = {GT_0F38, GT_66, wide, wide ? GT_VPMULDQ : GT_VPMULL};

	gt_native_text(code, "\x48\x63\xd1"); /* movsxd rdx, ecx */
	if (wide) {
		gt_general(code, true, GT_COMPARE, GT_RDX, GT_RCX);
		gt_stretch_slow_if(move, GT_NOT_EQUAL);
	}
	gt_general(code, true, GT_MOVE, GT_RCX, GT_RDX);
	gt_stretch_broadcast(move, isa->third, GT_RCX);
	gt_native_with(segment, isa->broadcast[wide], isa->first, 0, move->lanes[0]);
	vector(move, gt_native_xor, isa->fourth, isa->fourth, isa->fourth);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		with_constant(move, multiply, isa->second, isa->third, apart_at(move, GT_STRETCH_APART1, i));
		vector(move, gt_stretch_add(move), isa->second, isa->second, isa->first);
		isa->differ(segment, isa->fourth, isa->second, move->lanes[i]);
	}
	gt_stretch_broadcast(move, isa->first, GT_R11);
	isa->compare_zero(segment, isa->fourth, isa->fourth);
	return gt_general_jump(code, GT_EQUAL);
}

/* A general register = how far the first lane of a register of addresses is from rax, the address of lane 0. */
static void write_distance(const struct gt_stretch_move *move, unsigned i, unsigned general)
{
	const bool wide = !move->access->narrow;

	read_first(move, i, general);
	gt_general_number(move->code, wide, GT_ADD_NUMBER, general, (uint32_t)move->access->offset);
	gt_general(move->code, wide, GT_SUB, general, GT_RAX);
	if (!wide)
		gt_native_bytes(move->code, general == GT_RDX ? "\x48\x63\xd2" : "\x48\x63\xf6", 3); /* movsxd rdx, edx; movsxd rsi, esi */
}

/* Whether the warp is rows of lanes at a stride, which is rcx, of 32 bits; so many registers have the addresses of one. The jumps if not; rdx is
 * their pitch, and rsi may change. */
static unsigned write_pitch_test(const struct gt_stretch_move *move, unsigned row, size_t others[3])
{
	struct gt_native_code *code = move->code;
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_op multiply = {GT_0F38, GT_66, wide, wide ? GT_VPMULDQ : GT_VPMULL};
	unsigned n = 0;

	gt_stretch_broadcast(move, isa->third, GT_RCX);
	vector(move, gt_native_xor, isa->fourth, isa->fourth, isa->fourth);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		if (i % row == 0)
			gt_native_with(segment, isa->broadcast[wide], isa->first, 0, move->lanes[i]);
		with_constant(move, multiply, isa->second, isa->third, apart_at(move, GT_STRETCH_APART1, i % row));
		vector(move, gt_stretch_add(move), isa->second, isa->second, isa->first);
		isa->differ(segment, isa->fourth, isa->second, move->lanes[i]);
	}
	gt_stretch_broadcast(move, isa->first, GT_R11);
	isa->compare_zero(segment, isa->fourth, isa->fourth);
	others[n++] = gt_general_jump(code, GT_NOT_EQUAL);
	write_distance(move, row, GT_RDX);
	for (unsigned i = 2; i < move->n_lanes / row; i++) {
		write_distance(move, i * row, GT_RSI);
		for (unsigned k = 0; k < i; k++)
			gt_general(code, true, GT_SUB, GT_RSI, GT_RDX);
		others[n++] = gt_general_jump(code, GT_NOT_EQUAL);
	}
	return n;
}

/* The row of rows of so many lanes: first address rax, stride rcx, pitch rdx. */
static void write_pitched_row(const struct gt_stretch_move *move, unsigned width)
{
	struct gt_native_code *code = move->code;

	gt_native_text(code, "\x57\x52"); /* push rdi; push rdx */
	gt_general_address(code, GT_RDX, move->point->entry);
	gt_general_call_to(code, move->stretch->shared->row);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RDX, 0);
	const size_t added = gt_general_jump(code, GT_EQUAL);
	gt_native_text(code, "\x5a\x5f"); /* pop rdx; pop rdi */
	gt_stretch_slow(move, gt_general_jump(code, GT_ALWAYS));
	gt_general_land(code, added);
	gt_native_byte(code, 0x5a); /* pop rdx */
	gt_general_store(code, true, GT_RDX, GT_RSI, sizeof(struct gt_ptx_kept));
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RDI, offsetof(struct gt_ptx_held_chunk, written), sizeof(uint64_t));
	gt_native_text(code, "\x66\xc7\x86"); /* mov word [rsi + words], 1 and the width */
	gt_native_word(code, offsetof(struct gt_ptx_kept, words));
	gt_native_byte(code, 1);
	gt_native_byte(code, width);
	gt_general_at(code, true, GT_MOVE, GT_RDX, GT_R13, offsetof(struct gt_ptx_core, hold));
	gt_native_text(code, "\xc6\x82"); /* mov byte [rdx + has_pitch], 1 */
	gt_native_word(code, offsetof(struct gt_ptx_hold, has_pitch));
	gt_native_byte(code, 1);
	gt_native_byte(code, 0x5f); /* pop rdi */
}

/* The row of lanes without a stride for all. */
static void write_row(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	size_t others[3], done[2];
	unsigned n_done = 0;

	/* By the registers that a row of 16 lanes has, and then one of 8, if that has some of its own. */
	for (unsigned width = 16; width >= 8 && move->n_lanes * width / GT_WARP_SIZE > 0; width /= 2) {
		const unsigned n = write_pitch_test(move, move->n_lanes * width / GT_WARP_SIZE, others);
		write_pitched_row(move, width);
		done[n_done++] = gt_general_jump(code, GT_ALWAYS);
		for (unsigned i = 0; i < n; i++)
			gt_general_land(code, others[i]);
	}
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
	gt_native_text(code, "\x66\xc7\x86"); /* mov word [rsi + words], 32: no width */
	gt_native_word(code, offsetof(struct gt_ptx_kept, words));
	gt_native_text(code, "\x20\x00");
	gt_stretch_write_addresses(move, GT_RSI, sizeof(struct gt_ptx_kept));
	gt_native_byte(code, 0x5f);
	for (unsigned i = 0; i < n_done; i++)
		gt_general_land(code, done[i]);
}

/* eax = the passes of 32 words in shared memory, at a stride of rcx within halves of the warp and a pitch of rdx between them. */
static void find_passes(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	size_t found[4];

	gt_native_text(code, "\x48\x89\xc8\x48\xc1\xe0\x04\x48\x39\xd0"); /* mov rax, rcx; shl rax, 4; cmp rax, rdx */
	const size_t strided = gt_general_jump(code, GT_EQUAL);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RCX, 0);
	const size_t runs = gt_general_jump(code, GT_NOT_EQUAL);
	/* Two words: one pass, unless they are in one bank. */
	gt_native_text(code, "\x83\xe2\x7f\x83\xfa\x01\xb8\x01\x00\x00\x00\x83\xd0\x00"); /* and edx, 127; cmp edx, 1; mov eax, 1; adc eax, 0 */
	found[0] = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, runs);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RCX, move->bytes);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	/* Two runs of 16 words: one pass if they touch, or are in different banks. */
	gt_native_text(code, "\x48\x8d\x42\x40\x48\x3d\x80\x00\x00\x00\xb8\x01\x00\x00\x00"); /* lea rax, [rdx + 64]; cmp rax, 128; mov eax, 1 */
	found[1] = gt_general_jump(code, GT_NOT_ABOVE);
	gt_native_text(code, "\x83\xe2\x7f\x83\xfa\x40"); /* and edx, 127; cmp edx, 64 */
	found[2] = gt_general_jump(code, GT_EQUAL);
	gt_general_constant(code, GT_RAX, 2);
	found[3] = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, strided);
	/* As many as the lanes whose words are in one bank: the greatest power of two in the stride, of words, up to 32. */
	gt_native_text(code, "\x48\x89\xc8\x48\xf7\xd8\x21\xc8\xc1\xe8\x02\x83\xf8\x20"); /* mov rax, rcx; neg rax; and eax, ecx; shr eax, 2; cmp eax, 32 */
	const size_t fewer = gt_general_jump(code, GT_NOT_ABOVE);
	gt_general_constant(code, GT_RAX, GT_WARP_SIZE);
	gt_general_land(code, fewer);
	for (unsigned i = 0; i < 4; i++)
		gt_general_land(code, found[i]);
}

/* Counts an access to shared memory of so many passes, or whose passes are in rax, for the column shared. */
static void count_passes(struct gt_native_code *code, unsigned passes)
{
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RBX, offsetof(struct gt_ptx_warp, shared_accesses), 1);
	if (passes) {
		gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RBX, offsetof(struct gt_ptx_warp, shared_passes), passes);
	} else {
		gt_native_text(code, "\x48\x01\x83"); /* add [rbx + shared_passes], rax */
		gt_native_word(code, offsetof(struct gt_ptx_warp, shared_passes));
	}
}

/* Where accesses to shared memory are counted for the column shared, and none is a row: counts this one. Returns the jump if it did; 0: it is
 * no such access. */
static size_t write_counted(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	size_t others[3]; /* of two rows there is one */

	if (move->access->space != GT_PTX_SHARED || move->bytes != 4)
		return 0;
	gt_general_at(code, false, GT_MOVE, GT_RDX, GT_R13, offsetof(struct gt_ptx_core, traced));
	gt_stretch_write_test(code, GT_PTX_NOTES_WORK);
	const size_t none = gt_general_jump(code, GT_EQUAL);
	gt_stretch_write_test(code, GT_PTX_NOTES_SPIN | GT_PTX_NOTES_WRITTEN | UINT32_C(1) << GT_SHARED);
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	gt_native_text(code, "\x48\x63\xd1"); /* movsxd rdx, ecx */
	if (!move->access->narrow) {
		gt_general(code, true, GT_COMPARE, GT_RDX, GT_RCX);
		gt_stretch_slow_if(move, GT_NOT_EQUAL);
	}
	gt_general(code, true, GT_MOVE, GT_RCX, GT_RDX);
	write_pitch_test(move, move->n_lanes / 2, others);
	gt_stretch_slow(move, others[0]);
	find_passes(move);
	count_passes(code, 0);
	const size_t counted = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, none);
	return counted;
}

/* Goes on if a row is to be noted; rows that the C code must look at go there before anything is done. Returns the jump if none is. */
static size_t write_untraced(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;

	gt_general_at(code, false, GT_MOVE, GT_RDX, GT_R13, offsetof(struct gt_ptx_core, traced));
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RDX, GT_PTX_NOTES_LEAST);
	gt_stretch_slow_if(move, GT_NOT_BELOW);
	gt_stretch_write_test(code, move->access->untraced ? 0 : UINT32_C(1) << gt_ptx_traced_space[move->access->space]);
	return gt_general_jump(code, GT_EQUAL);
}

/* A row with a stride is added behind the load, as others are. `runs` is a jump behind a load whose row is added; 0: there is none. */
static void write_gather(const struct gt_stretch_move *move, size_t runs)
{
	struct gt_native_code *code = move->code;

	write_bounds(move);
	write_tests(move);
	const size_t counted = write_counted(move), untraced = write_untraced(move), strided = write_stride_test(move);
	write_row(move);
	if (counted)
		gt_general_land(code, counted);
	write_loads(move);
	if (runs)
		gt_general_land(code, runs);
	move->point->noted = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, untraced);
	gt_general_land(code, strided);
	write_loads(move);
}

/* ---- runs: the lanes of each register are side by side, as those of a tile's rows of 16 are ---- */

/* How many registers of addresses there are for one of elements. */
static unsigned addresses_each(const struct gt_stretch_move *move)
{
	return move->n_lanes / move->n_data;
}

/* The jump if a lane is not where it is expected from the first one of its register. */
static size_t write_run_tests(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const enum gt_stretch_apart apart = move->bytes == 8 ? GT_STRETCH_APART8 : GT_STRETCH_APART4;
	const unsigned each = addresses_each(move);

	vector(move, gt_native_xor, isa->third, isa->third, isa->third);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		gt_native_with(segment, isa->broadcast[wide], isa->second, 0, move->lanes[i / each * each]);
		with_constant(move, gt_stretch_add(move), isa->second, isa->second, apart_at(move, apart, i % each));
		isa->differ(segment, isa->third, isa->second, move->lanes[i]);
	}
	isa->compare_zero(segment, isa->third, isa->third);
	return gt_general_jump(move->code, GT_NOT_EQUAL);
}

static void move_run(const struct gt_stretch_move *move, unsigned i, bool stores)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_operand *data = &move->data[0][i];

	if (!stores) {
		isa->load(segment, data->at, GT_RAX, 0);
		return;
	}
	if (!data->in_register)
		isa->load(segment, isa->second, data->place.base, data->place.offset);
	isa->memory(segment, gt_native_store, data->in_register ? data->at : isa->second, 0, GT_RAX, 0);
}

static void move_runs(const struct gt_stretch_move *move, bool stores)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;

	for (unsigned i = 0; i < move->n_data; i++) {
		with(move, gt_stretch_add(move), isa->second, isa->first, i * addresses_each(move));
		isa->lane(segment, (struct gt_native_op){GT_0F, GT_66, wide, GT_VMOV_TO_GENERAL}, isa->second, GT_RAX);
		gt_general(move->code, true, GT_ADD, GT_RAX, GT_RDI);
		move_run(move, i, stores);
	}
}

/* Returns the jump if there are none; rax, rdi and rsi are as they were, then. */
static size_t write_runs(const struct gt_stretch_move *move, bool stores)
{
	const size_t others = write_run_tests(move);

	write_bounds(move);
	write_tests(move);
	const size_t counted = write_counted(move), untraced = write_untraced(move);
	write_row(move);
	gt_general_land(move->code, untraced);
	if (counted)
		gt_general_land(move->code, counted);
	move_runs(move, stores);
	return others;
}

/* ---- a load or store as a whole ---- */

#define LANES(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15), \
	F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23), F(24), F(25), F(26), F(27), F(28), F(29), F(30), F(31)
#define ONE(I) I
#define TWO(I) 2 * (I)
#define FOUR(I) 4 * (I)
#define EIGHT(I) 8 * (I)
#define SIXTEEN(I) 16 * (I)
#define SAME8(X) X, X, X, X, X, X, X, X
#define OUTSIDE64 UINT64_C(1) << 63
#define OUTSIDE32 UINT32_C(1) << 31
static const struct gt_stretch_constants stretch_constants = {
	{{LANES(ONE)}, {LANES(TWO)}, {LANES(FOUR)}, {LANES(EIGHT)}, {LANES(SIXTEEN)}},
	{{LANES(ONE)}, {LANES(TWO)}, {LANES(FOUR)}, {LANES(EIGHT)}, {LANES(SIXTEEN)}},
	{{SAME8(OUTSIDE64 | 3)}, {SAME8(OUTSIDE64 | 7)}, {SAME8(OUTSIDE64 | 15)}},
	{{SAME8(OUTSIDE32 | 3), SAME8(OUTSIDE32 | 3)}, {SAME8(OUTSIDE32 | 7), SAME8(OUTSIDE32 | 7)}, {SAME8(OUTSIDE32 | 15), SAME8(OUTSIDE32 | 15)}},
};
const void *const gt_stretch_constants = &stretch_constants;

/* How many registers an element of all lanes of a part takes. */
static unsigned registers_of(const struct gt_ptx_access *access)
{
	return access->size == 1 ? GT_NATIVE_QUARTER : access->size == 2 ? GT_NATIVE_HALF : access->size / 4U;
}

/* Finds where the registers of a slot are, of all parts of the warp. */
static unsigned find(const struct gt_stretch *stretch, uint32_t slot, unsigned n, struct gt_native_operand *operands)
{
	const unsigned parts = gt_native_parts(stretch->segment.isa), each = gt_native_registers(n);

	for (unsigned part = 0; part < parts; part++)
		for (unsigned i = 0; i < each; i++)
			operands[each * part + i] = gt_native_where(&stretch->segment, slot, n, part, i);
	return each * parts;
}

/* A load whose result replaces its own addresses: they are read into registers first, since a register of the result would be taken for one that has an
 * address. This comes before `at_move` is noted: a test behind it may leave the access to the C code, and registers then have what `at_move` says. */
static void read_own_addresses(const struct gt_stretch_move *move)
{
	const struct gt_ptx_access *access = move->access;
	struct gt_native_segment *segment = &move->stretch->segment;
	bool own = false;

	for (unsigned k = 0; k < access->n; k++)
		own = own || access->slots[k] == access->address;
	for (segment->part = 0; own && segment->part < gt_native_parts(segment->isa); segment->part++)
		gt_native_read(segment, access->address, registers_of(access));
}

/* Finds where the elements are. */
static void find_data(struct gt_stretch_move *move)
{
	for (unsigned k = 0; k < move->access->n; k++)
		move->n_data = find(move->stretch, move->access->slots[k], registers_of(move->access), move->data[k]);
}

/* Takes registers for the elements of a load if there are enough. */
static void take(struct gt_stretch_move *move)
{
	const struct gt_ptx_access *access = move->access;
	struct gt_native_segment *segment = &move->stretch->segment;
	const unsigned n = registers_of(access), parts = gt_native_parts(segment->isa);
	const bool room = gt_native_registers(n) * parts * access->n <= segment->isa->registers;

	for (unsigned k = 0; k < access->n; k++) {
		if (!room)
			gt_native_release(segment, access->slots[k]);
		for (segment->part = 0; room && segment->part < parts; segment->part++)
			gt_native_write_to(segment, access->slots[k], n);
	}
	find_data(move);
}

/* rax = the address of lane 0, rcx = how far lane 1 is from it; the same in the lanes of the first register, without the offset. */
static void write_first(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_operand *first = &move->lanes[0];

	if (first->in_register) {
		isa->lane(segment, (struct gt_native_op){GT_0F, GT_66, wide, GT_VMOV_TO_GENERAL}, first->at, GT_RAX);
		isa->lane(segment, (struct gt_native_op){GT_0F3A, GT_66, wide, GT_VPEXTR}, first->at, GT_RCX);
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

/* Whether there is code for lanes anywhere in their memory: elements have no more bits than addresses, of which each has one; what is loaded is
 * gathered into registers, and of vectors nothing is stored so. */
static bool is_scattered(const struct gt_stretch_move *move)
{
	const struct gt_ptx_access *access = move->access;
	const bool fits = access->size == 4 || (access->size == 8 && !access->narrow);

	return fits && (access->n == 1 || (access->action == GT_LOAD && move->data[access->n - 1][0].in_register));
}

/* Behind a comparison of the first two lanes' distance with 0. */
static void load_elements(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const bool gathers = is_scattered(move);
	const size_t one = gt_general_jump(code, GT_EQUAL);
	size_t done[2], others[2], gather = 0;

	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RCX, move->bytes);
	others[0] = gt_general_jump(code, GT_NOT_EQUAL);
	others[1] = write_shape_tests(move, true);
	gt_stretch_move_elements(move, GT_STRETCH_LOAD);
	if (gt_stretch_window_of(move->access).base != GT_R13)
		prefetch(move);
	done[0] = gt_general_jump(code, GT_ALWAYS);
	for (unsigned i = 0; i < 2 && !gathers; i++)
		gt_stretch_slow(move, others[i]);
	if (gathers) {
		gt_general_land(code, others[1]);
		size_t runs = 0;
		if (move->access->n == 1) {
			const size_t scattered = write_runs(move, false);
			runs = gt_general_jump(code, GT_ALWAYS);
			gt_general_land(code, scattered);
		}
		gt_general_land(code, others[0]);
		gather = code->n;
		write_gather(move, runs);
	}
	done[1] = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, one);
	others[0] = write_shape_tests(move, false);
	if (gathers)
		gt_general_land_at(code, others[0], gather);
	else
		gt_stretch_slow(move, others[0]);
	gt_stretch_move_elements(move, GT_STRETCH_LOAD_ONE);
	gt_general_land(code, done[0]);
	gt_general_land(code, done[1]);
}

static void write_load(const struct gt_stretch_move *move)
{
	gt_general_number(move->code, true, GT_COMPARE_NUMBER, GT_RCX, 0);
	if (move->bytes <= GT_STRETCH_VECTOR && !is_constant(move)) {
		load_elements(move);
		return;
	}
	gt_stretch_slow_if(move, GT_NOT_EQUAL);
	const size_t differ = write_shape_tests(move, false);
	if (differ)
		gt_stretch_slow(move, differ);
	gt_stretch_move_elements(move, GT_STRETCH_LOAD_ONE);
}

static void write_store(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	size_t others[2], done;

	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RCX, move->bytes);
	others[0] = gt_general_jump(code, GT_NOT_EQUAL);
	others[1] = write_shape_tests(move, true);
	gt_stretch_move_elements(move, GT_STRETCH_STORE);
	gt_stretch_slow(move, others[0]);
	if (!is_scattered(move)) {
		gt_stretch_slow(move, others[1]);
		return;
	}
	done = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, others[1]);
	gt_stretch_slow(move, write_runs(move, true));
	move->point->noted = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, done);
}

void gt_stretch_write_move(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	const struct gt_ptx_access *access = stretch->code->ops[point->op].with.access;
	struct gt_native_segment *segment = &stretch->segment;
	struct gt_stretch_move move = {.stretch = stretch, .point = point, .code = segment->code, .access = access, .bytes = access->size * access->n};
	const bool stores = access->action == GT_STORE;

	segment->now++;
	if (!stores)
		read_own_addresses(&move);
	memcpy(point->at_move, segment->values, sizeof point->at_move);
	if (stores)
		find_data(&move);
	else
		take(&move);
	move.n_lanes = find(stretch, access->address, access->narrow ? 1 : 2, move.lanes);
	if (!segment->whole) {
		gt_stretch_write_active(&move, stores);
		return;
	}
	begin_shape(&move);
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

void gt_stretch_write_counted(struct gt_stretch *stretch, const struct gt_stretch_point *point)
{
	struct gt_native_code *code = stretch->segment.code;
	const struct gt_ptx_access *access = stretch->code->ops[point->op].with.access;
	const unsigned bytes = access->size * access->n;
	size_t others[3];

	if (access->space != GT_PTX_SHARED)
		return;
	gt_stretch_write_test(code, GT_PTX_NOTES_WORK);
	others[0] = gt_general_jump(code, GT_EQUAL);
	gt_stretch_write_test(code, GT_PTX_NOTES_SPIN | GT_PTX_NOTES_WRITTEN | UINT32_C(1) << GT_SHARED);
	others[1] = gt_general_jump(code, GT_NOT_EQUAL);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RCX, 0);
	const size_t one = gt_general_jump(code, GT_EQUAL);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RCX, bytes);
	others[2] = gt_general_jump(code, GT_NOT_EQUAL);
	count_passes(code, gt_bank_passes_usual(GT_PTX_FULL, bytes, 0, bytes, NULL, access->action == GT_LOAD));
	gt_general_land_at(code, gt_general_jump(code, GT_ALWAYS), point->again);
	gt_general_land(code, one);
	count_passes(code, gt_bank_passes_usual(GT_PTX_FULL, bytes, 0, 0, NULL, access->action == GT_LOAD));
	gt_general_land_at(code, gt_general_jump(code, GT_ALWAYS), point->again);
	for (unsigned i = 0; i < 3; i++)
		gt_general_land(code, others[i]);
}
