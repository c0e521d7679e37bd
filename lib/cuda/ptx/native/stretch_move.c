/* SPDX-License-Identifier: MIT */
/* Loads and stores of a whole warp in machine code. The commonest are of lanes side by side, or of all at one place, in the
 * allocation of the instruction's last access or in shared memory; others are left to the C code. */
#include <stddef.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/hold.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"
#include "cuda/ptx/native/stretch_move.h"

struct gt_stretch_window gt_stretch_window_of(const struct gt_ptx_access *access)
{
	switch (access->space) {
	case GT_PTX_SHARED:
		return (struct gt_stretch_window){GT_R13, offsetof(struct gt_ptx_core, shared), offsetof(struct gt_ptx_core, shared_bytes)};
	case GT_PTX_PARAM:
		return (struct gt_stretch_window){GT_R13, offsetof(struct gt_ptx_core, parameters), offsetof(struct gt_ptx_core, parameter_bytes)};
	default: return (struct gt_stretch_window){GT_RDX, offsetof(struct gt_ptx_access, host), 0};
	}
}

/* Which accesses a stretch may have. */

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
	bool loads;

	if (op->guarded || !gt_ptx_is_moved(op, &loads))
		return false;
	*fast = access->size >= 4 && (loads ? access->n <= 4 : access->n == 1) && !access->in_frame && !access->policy &&
		access->offset == (int32_t)access->offset &&
		is_near(access);
	for (unsigned k = 0; k < access->n; k++)
		*fast = *fast && access->slots[k];
	return true;
}

/* A row that is traced, added in machine code to those that are held for their order: exec/hold.h says the same in C. */

#define OF(STRUCT, MEMBER) offsetof(struct STRUCT, MEMBER)
#define FAILS 5

_Static_assert(sizeof(struct gt_ptx_held) == 24, "a warp's list is found at three times eight bytes");
_Static_assert(sizeof(struct gt_ptx_kept) == 40, "what rows of an access have is copied in three words behind two");

/* In the routine rdi is the hold, rsi the warp's number, r8 the chunk of its rows, r9 the new row. */
static void find_chunk(struct gt_native_code *code, size_t fails[FAILS])
{
	const size_t room = sizeof ((struct gt_ptx_held_chunk *)0)->bytes - sizeof(struct gt_ptx_kept) - GT_WARP_SIZE * sizeof(uint64_t);

	gt_general_at(code, true, GT_MOVE, GT_RDI, GT_R13, OF(gt_ptx_core, hold));
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RDI, 0);
	fails[0] = gt_general_jump(code, GT_EQUAL);
	gt_general_number_at(code, true, GT_COMPARE_NUMBER, GT_RDI, OF(gt_ptx_hold, room), 0);
	fails[1] = gt_general_jump(code, GT_EQUAL);
	gt_general_at(code, false, GT_MOVE, GT_RSI, GT_R13, OF(gt_ptx_core, block));
	gt_general_at(code, false, GT_COMPARE, GT_RSI, GT_RDI, OF(gt_ptx_hold, block));
	fails[2] = gt_general_jump(code, GT_NOT_EQUAL);
	gt_general_at(code, false, GT_MOVE, GT_RSI, GT_RBX, OF(gt_ptx_warp, index));
	gt_native_text(code, "\x4c\x8d\x04\x76\x4e\x8b\x84\xc7"); /* lea r8, [3 rsi]; mov r8, [rdi + 8 r8 + held.last] */
	gt_native_word(code, (uint32_t)(OF(gt_ptx_hold, held) + OF(gt_ptx_held, last)));
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_R8, 0);
	fails[3] = gt_general_jump(code, GT_EQUAL);
	gt_general_at(code, true, GT_MOVE, GT_R9, GT_R8, OF(gt_ptx_held_chunk, written));
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_R9, (uint32_t)room);
	fails[4] = gt_general_jump(code, GT_ABOVE);
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_R8, OF(gt_ptx_held_chunk, written), sizeof(struct gt_ptx_kept));
	gt_native_text(code, "\x4f\x8d\x8c\x08"); /* lea r9, [r8 + r9 + bytes] */
	gt_native_word(code, OF(gt_ptx_held_chunk, bytes));
}

static void write_contents(struct gt_native_code *code)
{
	gt_general_store(code, true, GT_RAX, GT_R9, OF(gt_ptx_kept, base));
	gt_general_store(code, true, GT_RCX, GT_R9, OF(gt_ptx_kept, stride));
	for (size_t at = OF(gt_ptx_kept, an); at < sizeof(struct gt_ptx_kept); at += sizeof(uint64_t)) {
		gt_general_at(code, true, GT_MOVE, GT_R11, GT_RDX, OF(gt_ptx_entry, row) + at);
		gt_general_store(code, true, GT_R11, GT_R9, at);
	}
	gt_general_at(code, false, GT_MOVE, GT_R11, GT_RBX, OF(gt_ptx_warp, an));
	gt_general_store(code, false, GT_R11, GT_R9, OF(gt_ptx_kept, an));
	gt_native_text(code, "\x66\x41\x89\xb1"); /* mov [r9 + warp], si */
	gt_native_word(code, OF(gt_ptx_kept, warp));
	gt_general_number(code, true, GT_ADD_NUMBER, GT_R11, 1);
	gt_general_store(code, false, GT_R11, GT_RBX, OF(gt_ptx_warp, an));
	gt_native_text(code, "\x4c\x89\x9c\xf7"); /* mov [rdi + 8 rsi + next], r11 */
	gt_native_word(code, OF(gt_ptx_hold, next));
}

/* mov byte [rdi + offset], value */
static void set_byte(struct gt_native_code *code, size_t offset, unsigned value)
{
	gt_native_text(code, "\xc6\x87");
	gt_native_word(code, (uint32_t)offset);
	gt_native_byte(code, value);
}

static void count(struct gt_native_code *code)
{
	gt_general_number(code, false, GT_ADD_NUMBER, GT_RSI, 1);
	gt_general_at(code, false, GT_COMPARE, GT_RSI, GT_RDI, OF(gt_ptx_hold, warps));
	const size_t known = gt_general_jump(code, GT_NOT_ABOVE);
	gt_general_store(code, false, GT_RSI, GT_RDI, OF(gt_ptx_hold, warps));
	gt_general_land(code, known);
	gt_native_text(code, "\x66\x83\xba"); /* cmp word [rdx + row.hint], 0 */
	gt_native_word(code, (uint32_t)(OF(gt_ptx_entry, row) + OF(gt_ptx_kept, hint)));
	gt_native_byte(code, 0);
	const size_t none = gt_general_jump(code, GT_EQUAL);
	set_byte(code, OF(gt_ptx_hold, has_hints), 1);
	gt_general_land(code, none);
	set_byte(code, OF(gt_ptx_hold, has_work), 0);
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RDI, OF(gt_ptx_hold, room), UINT32_MAX); /* -1 */
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RDI, OF(gt_ptx_hold, n), 1);
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_R13, OF(gt_ptx_core, accesses), 1);
}

void gt_stretch_write_row(struct gt_native_code *code)
{
	size_t fails[FAILS];

	find_chunk(code, fails);
	write_contents(code);
	count(code);
	gt_general_constant(code, GT_RDX, 0);
	for (unsigned i = 0; i < FAILS; i++)
		gt_general_land(code, fails[i]);
	gt_native_text(code, "\x4c\x89\xc7\x4c\x89\xce\x4d\x89\xf0\x4d\x89\xf1\xc3"); /* mov rdi, r8; mov rsi, r9; mov r8, r14; mov r9, r14; ret */
}

/* Whether the addresses of lanes are side by side, or one place. Accesses by the same register, as of neighbours in an array, differ in
 * their offsets only, so that the first one tests for all: a word of the stack has the stride that it found. */

#define UNKNOWN UINT32_MAX
#define FARTHEST 32 /* points back that an access is looked for: a bound for long blocks */

/* Whether a point writes to a slot. */
static bool writes(const struct gt_stretch *stretch, const struct gt_stretch_point *point, uint32_t slot)
{
	const struct gt_ptx_op *ops = &stretch->code->ops[point->op];

	if (point->kind == GT_STRETCH_MOVE) {
		for (unsigned k = 0; ops->with.access->action == GT_LOAD && k < ops->with.access->n; k++)
			if (ops->with.access->slots[k] == slot)
				return true;
		return false;
	}
	for (size_t i = 0; point->kind == GT_STRETCH_LANES && i < point->n; i++)
		if (ops[i].d == slot)
			return true;
	return false;
}

/* The last access before point i by a register that has the same since; NULL: there is none. */
static struct gt_stretch_point *find_like(const struct gt_stretch *stretch, size_t i)
{
	const struct gt_ptx_access *access = stretch->code->ops[stretch->points[i].op].with.access;

	for (size_t j = i; j-- > 0 && i - j <= FARTHEST;) {
		struct gt_stretch_point *point = &stretch->points[j];
		bool fast = false;
		if (writes(stretch, point, access->address))
			return NULL;
		if (point->kind != GT_STRETCH_MOVE || !gt_stretch_moves(&stretch->code->ops[point->op], &fast) || !fast)
			continue;
		if (stretch->code->ops[point->op].with.access->address == access->address)
			return point;
	}
	return NULL;
}

void gt_stretch_find_shapes(struct gt_stretch *stretch)
{
	stretch->n_shapes = 0;
	for (size_t i = 0; i < stretch->n; i++) {
		bool fast = false;
		if (stretch->points[i].kind != GT_STRETCH_MOVE || !gt_stretch_moves(&stretch->code->ops[stretch->points[i].op], &fast) || !fast)
			continue;
		struct gt_stretch_point *like = find_like(stretch, i);
		if (like && like->shape == 0 && stretch->n_shapes < GT_STRETCH_SHAPES) {
			like->shape = ++stretch->n_shapes;
			like->finds_shape = true;
		}
		stretch->points[i].shape = like ? like->shape : 0;
	}
}

/* mov dword [rbp + offset], stride */
static void set(struct gt_native_code *code, unsigned shape, uint32_t stride)
{
	gt_native_text(code, "\xc7\x85");
	gt_native_word(code, 4 * (shape - 1));
	gt_native_word(code, stride);
}

void gt_stretch_forget_shapes(const struct gt_stretch *stretch)
{
	for (unsigned shape = 1; shape <= stretch->n_shapes; shape++)
		set(stretch->segment.code, shape, UNKNOWN);
}

/* Before an access: forgets what was known of its addresses if it is the first by them. */
static void begin_shape(const struct gt_stretch_move *move)
{
	if (move->point->finds_shape)
		set(move->code, move->point->shape, UNKNOWN);
}

/* stretch_shape.c. Whether all addresses are the same constant. */
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
	const struct gt_native_op add = {GT_0F, GT_66, wide, wide ? 0xd4 : 0xfe};
	const enum gt_stretch_apart apart = move->bytes == 8 ? GT_STRETCH_APART8 : GT_STRETCH_APART4;

	gt_stretch_vector(move, gt_native_xor, isa->third, isa->third, isa->third);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		if (next)
			gt_stretch_constant(move, add, isa->second, isa->first, gt_stretch_apart(move, apart, i));
		isa->differ(segment, isa->third, next ? isa->second : isa->first, move->lanes[i]);
	}
	isa->compare_zero(segment, isa->third, isa->third);
	return gt_general_jump(move->code, GT_NOT_EQUAL);
}

/* Whether all lanes are side by side, or at one place, as their first two are, and within their memory: the jump if lanes are not; 0:
 * they always are, at a constant. */
static size_t gt_stretch_write_tests(const struct gt_stretch_move *move, bool next)
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
		set(code, shape, stride);
		gt_general_land(code, known);
	}
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RSI, next ? GT_WARP_SIZE * move->bytes : move->bytes);
	gt_stretch_slow_if(move, GT_BELOW);
	return differ;
}

/* Loads whose lanes are anywhere in the memory that lane 0 is in. */

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
static void write_gather(const struct gt_stretch_move *move)
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
		write_gather(move);
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
	if (move->access->n == 1 && !is_constant(move))
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
