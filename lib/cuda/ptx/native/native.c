/* SPDX-License-Identifier: MIT */
/* The machine code of a function that has been decoded: its segments, which are lane operations that follow each other, and its stretches,
 * which are segments, accesses and branches of whole warps. */
/* For MAP_ANONYMOUS, which is not in POSIX. */
#define _DEFAULT_SOURCE
#include "cuda/ptx/native/segment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grown.h"
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"

#define SHORTEST 2	 /* operations that are worth a call */
#define INSTRUCTIONS 200 /* of a segment at most: `counts` has a byte */

#define OF(STRUCT, MEMBER) offsetof(struct STRUCT, MEMBER)
#define GT_STRETCH_WAYS 2 /* of a stretch, at most */

/* A segment that has been written. */
struct gt_native_made {
	size_t op, n, instructions;
	size_t whole, part; /* offsets of their code */
};

/* Where points of stretches are in the code. */
struct gt_stretches {
	struct gt_stretch_shared shared;
	struct gt_ptx_entry *entries; /* until they are the function's */
	size_t *ops, *at[2]; /* for whole warps, and for others */
	size_t n;
};

/* ---- which accesses a stretch may have ---- */

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

/* True if the operation is a load or store that a stretch may have; *fast: one that has machine code. */
static bool is_move(const struct gt_ptx_op *op, bool *fast)
{
	const struct gt_ptx_access *access = op->with.access;
	bool loads;

	if (op->guarded || !gt_ptx_is_moved(op, &loads))
		return false;
	*fast = access->n <= 4 && (loads || access->size * access->n <= GT_STRETCH_VECTOR) && !access->in_frame && !access->policy &&
		access->offset == (int32_t)access->offset &&
		is_near(access);
	for (unsigned k = 0; k < access->n; k++)
		*fast = *fast && access->slots[k];
	return true;
}

/* ---- a row that is traced, added in machine code to those that are held for their order: exec/blockorder.h says the same in C ---- */

#define FAILS 5

_Static_assert(sizeof(struct gt_ptx_held) == 24, "a warp's list is found at three times eight bytes");
_Static_assert(sizeof(struct gt_ptx_kept) == 48, "what rows of an access have is copied in four words behind two");

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

/* The routine that adds a row to those held for their order: of the entry in rdx, first address rax, stride rcx. It leaves rdx as it
 * is if that has to be done by C code, else 0, rdi as the chunk, and rsi as the row there. r11 is free in it. */
static void write_row(struct gt_native_code *code)
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

/* ---- accesses by the same register, which share the test of how addresses are apart ---- */

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
	for (size_t i = 0; point->kind != GT_STRETCH_JOIN && i < point->n; i++)
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
		if (writes(stretch, point, access->address))
			return NULL;
		if (point->fast && stretch->code->ops[point->op].with.access->address == access->address)
			return point;
	}
	return NULL;
}

/* Finds accesses that can share their tests. */
static void find_shapes(struct gt_stretch *stretch)
{
	stretch->n_shapes = 0;
	for (size_t i = 0; i < stretch->n; i++) {
		if (!stretch->points[i].fast)
			continue;
		struct gt_stretch_point *like = find_like(stretch, i);
		if (like && like->shape == 0 && stretch->n_shapes < GT_STRETCH_SHAPES) {
			like->shape = ++stretch->n_shapes;
			like->finds_shape = true;
		}
		stretch->points[i].shape = like ? like->shape : 0;
	}
}

/* Code that forgets what was found. */
static void forget_shapes(const struct gt_stretch *stretch)
{
	for (unsigned shape = 1; shape <= stretch->n_shapes; shape++)
		gt_general_set_at(stretch->segment.code, GT_RBP, 4 * (shape - 1), GT_STRETCH_UNKNOWN);
}

/* ---- the code of a stretch ---- */

/* The machine code of a stretch. In it rbx is the warp, r12 how many instructions from its begin on the turn has, r13 the core,
 * r14 the arena, as are r8 to r10, rbp points to the words of shapes, and r15 to constants; rax, rcx, rdx, rsi, rdi and r11 are free at
 * every point. */

#define FRAME 72 /* bytes, which with the registers that are pushed align the stack for C code */
_Static_assert(FRAME >= 4 * GT_STRETCH_SHAPES, "a word for each shape");

/* A jump to what is written already. */
static void jump_to(struct gt_native_code *code, size_t place)
{
	gt_general_land_at(code, gt_general_jump(code, GT_ALWAYS), place);
}

static void set_bases(struct gt_native_code *code)
{
	gt_native_text(code, "\x4d\x89\xf0\x4d\x89\xf1\x4d\x89\xf2"); /* mov r8, r14; mov r9, r14; mov r10, r14 */
}

/* What C code does not keep. */
static void set_free_registers(const struct gt_native_isa *isa, struct gt_native_code *code, bool whole)
{
	set_bases(code);
	if (isa->set_constants)
		isa->set_constants(code);
	if (!whole)
		isa->set_active(code);
}

/* Called with the arena, the warp and the place to go on at: rdi, rsi, rdx. */
static size_t write_begin(const struct gt_native_isa *isa, struct gt_native_code *code, bool whole)
{
	const size_t begin = code->n;

	gt_native_text(code, "\x55\x53\x41\x54\x41\x55\x41\x56\x41\x57"); /* push rbp, rbx, r12, r13, r14, r15 */
	gt_native_text(code, "\x48\x83\xec\x48\x48\x89\xe5");		 /* sub rsp, FRAME; mov rbp, rsp */
	gt_native_text(code, "\x48\x89\xf3\x49\x89\xfe");	       /* mov rbx, rsi; mov r14, rdi */
	gt_general_at(code, true, GT_MOVE, GT_R13, GT_RBX, OF(gt_ptx_warp, core));
	gt_general_at(code, true, GT_MOVE, GT_R12, GT_RBX, OF(gt_ptx_warp, until));
	gt_general_at(code, true, GT_SUB, GT_R12, GT_RBX, OF(gt_ptx_warp, issued));
	gt_general_address(code, GT_R15, gt_stretch_constants);
	set_free_registers(isa, code, whole);
	gt_native_text(code, "\xff\xe2"); /* jmp rdx */
	return begin;
}

static void write_shared(const struct gt_native_isa *isa, struct gt_native_code *code, struct gt_stretch_shared *shared)
{
	shared->begin = write_begin(isa, code, true);

	/* Returns rax. */
	shared->end = code->n;
	gt_native_text(code, "\xc5\xf8\x77\x48\x83\xc4\x48");			     /* vzeroupper; add rsp, FRAME */
	gt_native_text(code, "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5b\x5d\xc3"); /* pop the same; ret */

	shared->row = code->n;
	write_row(code);
	shared->begin_active = write_begin(isa, code, false);
	for (unsigned i = 0; i < 2; i++) {
		shared->find_active[i] = code->n;
		gt_stretch_write_find(isa, code, i ? 8 : 4, shared->row);
	}
}

/* The warp has issued so many instructions since the stretch began. */
static void set_issued(struct gt_native_code *code, uint32_t instructions)
{
	gt_general_at(code, true, GT_MOVE, GT_R11, GT_RBX, OF(gt_ptx_warp, until));
	gt_general(code, true, GT_SUB, GT_R11, GT_R12);
	gt_general_number(code, true, GT_ADD_NUMBER, GT_R11, instructions);
	gt_general_store(code, true, GT_R11, GT_RBX, OF(gt_ptx_warp, issued));
}

/* Where a way ends that no stretch begins at. */
static void write_stop(struct gt_native_code *code, const struct gt_stretch_shared *shared, const struct gt_ptx_op *op)
{
	set_issued(code, 0);
	gt_general_address(code, GT_RAX, op);
	jump_to(code, shared->end);
}

static void leave(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, size_t op, uint32_t instructions,
		  const struct gt_native_value *values)
{
	struct gt_native_code *code = stretch->segment.code;

	gt_native_store_values(&stretch->segment, values, false);
	set_issued(code, instructions);
	gt_general_address(code, GT_RAX, &stretch->code->ops[op]);
	jump_to(code, shared->end);
}

/* How many operations from the first on are done for one part of the warp before the next one: where registers are few, those up to
 * one whose predicates are put together from all parts. */
static size_t alike(const struct gt_stretch *stretch, size_t first, size_t n)
{
	const struct gt_native_rule *rule;
	size_t i = 0;

	if (!stretch->segment.isa->few)
		return 1;
	while (i < n && gt_native_takes(stretch->segment.needs, &stretch->code->ops[first + i], &rule) && rule->kind != GT_NATIVE_COMPARE && rule->kind != GT_NATIVE_LOGIC)
		i++;
	return i > 0 ? i : 1;
}

static void write_parts(struct gt_stretch *stretch, size_t first, size_t n)
{
	struct gt_native_segment *segment = &stretch->segment;
	const struct gt_native_rule *rule;

	segment->first = first;
	segment->end = first + n;
	for (segment->part = 0; segment->part < gt_native_parts(segment->isa); segment->part++)
		for (segment->op = first; segment->op < segment->end; segment->op++) {
			gt_native_takes(segment->needs, &stretch->code->ops[segment->op], &rule);
			segment->now++;
			segment->n_predicated = 0;
			gt_native_emit(segment, rule, &stretch->code->ops[segment->op]);
		}
}

static void write_lanes(struct gt_stretch *stretch, const struct gt_stretch_point *point)
{
	for (size_t i = 0, n; i < point->n; i += n) {
		n = alike(stretch, point->op + i, point->n - i);
		write_parts(stretch, point->op + i, n);
	}
}

/* All parts are as far. */
static void needed_from(struct gt_native_segment *segment, size_t op)
{
	segment->first = segment->op = segment->end = op;
}

static void write_move(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	struct gt_native_segment *segment = &stretch->segment;

	needed_from(segment, point->op);
	if (point->fast && (segment->whole || gt_stretch_moves_active(stretch->code->ops[point->op].with.access))) {
		gt_stretch_write_move(stretch, point);
	} else {
		memcpy(point->at_move, segment->values, sizeof point->at_move);
		memset(segment->values, 0, sizeof segment->values);
		memset(segment->taken, 0, sizeof segment->taken);
		point->slow[point->n_slow++] = gt_general_jump(segment->code, GT_ALWAYS);
	}
	point->again = segment->code->n;
	memcpy(point->at_end, segment->values, sizeof point->at_end);
}

static void call_step(struct gt_native_code *code, void (*function)(void), const struct gt_ptx_op *op)
{
	uint64_t address = 0;

	memcpy(&address, &function, sizeof function);
	gt_native_text(code, "\x48\x89\xdf"); /* mov rdi, rbx */
	gt_general_address(code, GT_RSI, op);
	gt_general_constant(code, GT_RAX, address);
	gt_native_text(code, "\xc5\xf8\x77\xff\xd0"); /* vzeroupper; call rax */
}

/* edx = the active lanes. */
static void set_mask(const struct gt_native_segment *segment)
{
	if (segment->whole)
		gt_general_constant(segment->code, GT_RDX, GT_PTX_FULL);
	else
		gt_general_at(segment->code, false, GT_MOVE, GT_RDX, GT_RBX, OF(gt_ptx_warp, mask));
}

/* A lane operation by its step, which cannot fail, or an exchange of a whole warp. One of a group of lanes is left to the C code if some of these are elsewhere. */
static void write_call(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	const struct gt_ptx_op *op = &stretch->code->ops[point->op];
	struct gt_native_segment *segment = &stretch->segment;
	struct gt_native_code *code = segment->code;

	if (!segment->whole && op->run == gt_ptx_path_steps.sync_alike) {
		gt_general_at(code, false, GT_MOVE, GT_RAX, GT_RBX, OF(gt_ptx_warp, live));
		gt_general_at(code, false, GT_COMPARE, GT_RAX, GT_RBX, OF(gt_ptx_warp, mask));
		point->leaves = gt_general_jump(code, GT_NOT_EQUAL);
	}
	needed_from(segment, point->op);
	if (segment->whole && gt_native_exchanges(segment->isa, segment->needs, op)) {
		gt_native_exchange(segment, op);
		return;
	}
	gt_native_store_values(segment, segment->values, true);
	memset(segment->values, 0, sizeof segment->values);
	memset(segment->taken, 0, sizeof segment->taken);
	size_t none = 0;

	set_mask(segment);
	if (op->guarded) {
		gt_general_at(code, false, GT_MOVE, GT_RAX, GT_R14, op->guard);
		if (op->guarded != 1)
			gt_native_text(code, "\x83\xf0\xff"); /* xor eax, -1 */
		gt_general(code, false, GT_AND, GT_RDX, GT_RAX);
		none = gt_general_jump(code, GT_EQUAL);
	}
	call_step(code, (void (*)(void))op->run, &point->entry->inner);
	set_free_registers(segment->isa, code, segment->whole);
	if (op->guarded)
		gt_general_land(code, none);
}

/* The C code goes on where the turn may end: no instruction has been counted since then. */
static void write_join(const struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	struct gt_native_code *code = stretch->segment.code;

	gt_general_at(code, true, GT_MOVE, GT_RAX, GT_RBX, OF(gt_ptx_warp, path));
	gt_general_address(code, GT_RDX, &stretch->code->ops[point->op]);
	gt_general_at(code, true, GT_COMPARE, GT_RDX, GT_RAX, OF(gt_ptx_path, join));
	point->leaves = gt_general_jump(code, GT_EQUAL);
}

/* All values are in memory, and instructions count from the operation on. */
static void go(struct gt_stretch *stretch, size_t op, enum gt_jump when)
{
	stretch->ways[stretch->n_ways++] = (struct gt_stretch_way){gt_general_jump(stretch->segment.code, when), op, stretch->segment.whole};
}

/* eax = the active lanes for which the guard holds. Returns the jump if it does for some and not for others. */
static size_t write_guard(const struct gt_stretch *stretch, const struct gt_ptx_op *op)
{
	struct gt_native_code *code = stretch->segment.code;

	gt_general_at(code, false, GT_MOVE, GT_RAX, GT_R14, op->guard);
	if (stretch->segment.whole) {
		gt_general(code, false, GT_MOVE, GT_RDX, GT_RAX);
		gt_general_number(code, false, GT_ADD_NUMBER, GT_RDX, 1);
		gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RDX, 1);
		return gt_general_jump(code, GT_ABOVE);
	}
	gt_general_at(code, false, GT_MOVE, GT_RDX, GT_RBX, OF(gt_ptx_warp, mask));
	gt_general(code, false, GT_AND, GT_RAX, GT_RDX);
	const size_t none = gt_general_jump(code, GT_EQUAL);
	gt_general(code, false, GT_COMPARE, GT_RAX, GT_RDX);
	const size_t some = gt_general_jump(code, GT_NOT_EQUAL);
	gt_general_land(code, none);
	return some;
}

static void write_branch(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	const struct gt_ptx_op *op = &stretch->code->ops[point->op];
	struct gt_native_code *code = stretch->segment.code;
	const size_t target = point->op + (size_t)op->target;

	needed_from(&stretch->segment, point->op + 1);
	gt_native_store_values(&stretch->segment, stretch->segment.values, true);
	if (op->guarded)
		point->leaves = write_guard(stretch, op);
	gt_general_number(code, true, GT_ADD_NUMBER, GT_R12, 0U - (point->before + point->counts));
	if (op->guarded) {
		gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RAX, 0);
		go(stretch, target, op->guarded == 1 ? GT_NOT_EQUAL : GT_EQUAL);
	}
	go(stretch, op->guarded ? point->op + 1 : target, GT_ALWAYS);
}

/* The turn may end before a point. */
static void write_point(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	struct gt_native_code *code = stretch->segment.code;

	memcpy(point->at_begin, stretch->segment.values, sizeof point->at_begin);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_R12, point->before);
	point->ends = gt_general_jump(code, GT_NOT_GREATER);
	point->place = code->n;
	switch (point->kind) {
	case GT_STRETCH_LANES: write_lanes(stretch, point); break;
	case GT_STRETCH_MOVE: write_move(stretch, point); break;
	case GT_STRETCH_CALL: write_call(stretch, point); break;
	case GT_STRETCH_JOIN: write_join(stretch, point); break;
	case GT_STRETCH_BRANCH: write_branch(stretch, point); break;
	}
}

/* Calls a step, or gt_ptx_trace_row, whose arguments have been set. `fails` is when it has. */
static void call(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, const struct gt_stretch_point *point,
		 void (*function)(void), bool fails_by_zero, size_t again)
{
	struct gt_native_code *code = stretch->segment.code;

	set_issued(code, point->before + point->counts);
	call_step(code, function, &point->entry->inner);
	gt_general_number(code, fails_by_zero, GT_COMPARE_NUMBER, GT_RAX, 0);
	const size_t good = gt_general_jump(code, fails_by_zero ? GT_NOT_EQUAL : GT_EQUAL);
	gt_general_constant(code, GT_RAX, 0);
	jump_to(code, shared->end);
	gt_general_land(code, good);
	set_free_registers(stretch->segment.isa, code, stretch->segment.whole);
	gt_native_load_values(&stretch->segment, point->at_end);
	jump_to(code, again);
}

/* The access by its step. */
static void write_slow(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, const struct gt_stretch_point *point)
{
	struct gt_native_code *code = stretch->segment.code;

	for (size_t i = 0; i < point->n_slow; i++)
		gt_general_land(code, point->slow[i]);
	if (point->n_slow == 0)
		return;
	if (!stretch->segment.whole)
		set_bases(code);
	gt_native_store_values(&stretch->segment, point->at_move, false);
	set_mask(&stretch->segment);
	call(stretch, shared, point, (void (*)(void))stretch->code->ops[point->op].run, true, point->again);
}

/* The bit of core->traced that says whether an access is. */
static uint32_t traced_by(const struct gt_ptx_access *access)
{
	return access->untraced ? 0 : UINT32_C(1) << gt_ptx_traced_space[access->space];
}

/* The row of an access whose launch is traced, or looked at for spinning. */
static void write_traced(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, const struct gt_stretch_point *point)
{
	struct gt_native_code *code = stretch->segment.code;
	const struct gt_ptx_access *access = stretch->code->ops[point->op].with.access;

	if (!point->row)
		return;
	gt_general_land(code, point->row);
	gt_general_at(code, false, GT_MOVE, GT_RDX, GT_R13, OF(gt_ptx_core, traced));
	gt_stretch_write_counted(stretch, point);
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RDX, GT_PTX_NOTES_LEAST);
	const size_t slow = gt_general_jump(code, GT_NOT_BELOW);
	gt_stretch_write_test(code, traced_by(access));
	const size_t some = gt_general_jump(code, GT_NOT_EQUAL);
	jump_to(code, point->again);
	gt_general_land(code, some);
	gt_general_address(code, GT_RDX, point->entry);
	gt_general_call_to(code, shared->row);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RDX, 0);
	const size_t failed = gt_general_jump(code, GT_NOT_EQUAL);
	jump_to(code, point->again);
	gt_general_land(code, slow);
	gt_general_land(code, failed);
	gt_native_store_values(&stretch->segment, point->at_end, false);
	gt_native_text(code, "\x48\x89\xc2\x41\xb8"); /* mov rdx, rax; mov r8d, bytes */
	gt_native_word(code, access->size * (uint32_t)access->n);
	call(stretch, shared, point, (void (*)(void))gt_ptx_trace_row, false, point->again);
}

/* Behind the code of all points: where they leave it, and where they are entered. */
static void write_outside(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, const struct gt_stretch_point *point)
{
	struct gt_native_code *code = stretch->segment.code;

	write_slow(stretch, shared, point);
	write_traced(stretch, shared, point);
	gt_general_land(code, point->ends);
	if (point->leaves)
		gt_general_land(code, point->leaves);
	leave(stretch, shared, point->op, point->before, point->at_begin);
}

/* Writes a stretch. at[i]: where point i is entered. Returns where another stretch goes on with it. */
static size_t write_stretch(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, size_t *at)
{
	struct gt_native_code *code = stretch->segment.code;
	const struct gt_stretch_point *last = &stretch->points[stretch->n - 1];
	const size_t begin = code->n;

	if (stretch->segment.whole)
		find_shapes(stretch);
	for (size_t i = 0; i < stretch->n; i++)
		write_point(stretch, &stretch->points[i]);
	if (last->kind != GT_STRETCH_BRANCH) {
		needed_from(&stretch->segment, last->op + last->n);
		gt_native_store_values(&stretch->segment, stretch->segment.values, true);
		gt_general_number(code, true, GT_ADD_NUMBER, GT_R12, 0U - (last->before + last->counts));
		go(stretch, last->op + last->n, GT_ALWAYS);
	}
	for (size_t i = 0; i < stretch->n; i++) {
		const struct gt_stretch_point *point = &stretch->points[i];
		write_outside(stretch, shared, point);
		at[i] = code->n;
		gt_general_number(code, true, GT_ADD_NUMBER, GT_R12, point->before + point->counts);
		forget_shapes(stretch);
		gt_native_load_values(&stretch->segment, point->at_begin);
		jump_to(code, point->place);
	}
	return begin;
}

/* ---- which stretches a function has ---- */

struct search {
	struct gt_stretches *stretches;
	struct gt_stretch stretch;
	const struct gt_native_made *made, *made_end; /* segments from here on */
	const struct gt_native_isa *isa;
	struct gt_native_needs *needs;
	struct gt_native_code *native;
	size_t *begins[2]; /* by operation: the code of the stretch that begins with it; 0: none does; the same for some lanes */
};

static const struct gt_ptx_op *run_stretch(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_entry *entry = op->with.entry;
	const struct gt_ptx_point_code *code = warp->mask == GT_PTX_FULL ? &entry->whole : &entry->active;

	(void)mask; /* the code looks at guards itself */
	return code->run(warp->arena, warp, code->at);
}

/* The point that begins at an operation; false: a stretch ends before it. */
static bool find_point(struct search *search, size_t i, struct gt_stretch_point *point)
{
	const struct gt_ptx_op *op = &search->stretch.code->ops[i];
	const struct gt_native_rule *rule;

	while (search->made < search->made_end && search->made->op < i)
		search->made++;
	*point = (struct gt_stretch_point){.op = i, .n = 1, .counts = op->counts};
	if (search->made < search->made_end && search->made->op == i) {
		point->n = search->made->n;
		point->counts = (uint32_t)search->made->instructions;
		return true;
	}
	point->kind = op->run == gt_ptx_branch ? GT_STRETCH_BRANCH : op->run == gt_ptx_join ? GT_STRETCH_JOIN
		      : is_move(op, &point->fast) ? GT_STRETCH_MOVE : GT_STRETCH_LANES;
	if (point->kind == GT_STRETCH_LANES && !gt_native_takes(search->needs, op, &rule)) {
		point->kind = GT_STRETCH_CALL;
		return gt_native_is_lanes(search->stretch.code, op);
	}
	return true;
}

/* Of a stretch: each has some kilobytes while it is written. */
#define MOST_POINTS 1024

/* Adds the points from operation `first` on that make a stretch; returns where it ends. It is worth it if it has an access or an exchange, or is on the
 * way to another one: lane operations alone need fewer registers as a segment. */
static size_t collect(struct search *search, size_t first, size_t end, bool *worth)
{
	struct gt_stretch *stretch = &search->stretch;
	uint32_t before = 0;
	size_t i = first;

	stretch->n = 0;
	bool some = false, only_ways = true;

	while (i < end && stretch->n < MOST_POINTS) {
		struct gt_stretch_point *point = &stretch->points[stretch->n];
		if (!find_point(search, i, point))
			break;
		some |= point->fast || (point->kind == GT_STRETCH_CALL && gt_native_exchanges(search->isa, search->needs, &stretch->code->ops[i]));
		only_ways &= point->kind >= GT_STRETCH_JOIN;
		point->before = before;
		point->entry = &search->stretches->entries[search->stretches->n + stretch->n];
		before += point->counts;
		i += point->n;
		stretch->n++;
	}
	*worth = some || (only_ways && stretch->n > 0);
	return i;
}

/* A point as it was before it was written. */
static void write_again(struct gt_stretch_point *point)
{
	point->shape = 0;
	point->finds_shape = false;
	point->ends = point->leaves = point->row = point->noted = point->n_slow = 0;
}

static void write(struct search *search)
{
	struct gt_stretches *stretches = search->stretches;
	struct gt_stretch *stretch = &search->stretch;

	for (unsigned some = 0; some < 2; some++) {
		stretch->segment = (struct gt_native_segment){.isa = search->isa, .code = search->native, .needs = search->needs, .whole = !some, .unrolled = true};
		search->begins[some][stretch->points[0].op] = write_stretch(stretch, &stretches->shared, stretches->at[some] + stretches->n);
		for (size_t i = 0; i < stretch->n; i++)
			write_again(&stretch->points[i]);
		stretch->n_shapes = 0;
	}
	for (size_t i = 0; i < stretch->n; i++) {
		stretches->ops[stretches->n + i] = stretch->points[i].op;
		stretches->entries[stretches->n + i].n = stretch->points[i].n;
	}
	stretches->n += stretch->n;
}

/* Lets the ways of stretches go on in others. */
static void join_ways(struct search *search)
{
	const struct gt_stretch *stretch = &search->stretch;

	for (size_t i = 0; i < stretch->n_ways; i++) {
		const struct gt_stretch_way *way = &stretch->ways[i];
		const size_t begin = search->begins[!way->whole][way->op];
		if (begin) {
			gt_general_land_at(search->native, way->jump, begin);
			continue;
		}
		gt_general_land(search->native, way->jump);
		write_stop(search->native, &search->stretches->shared, &stretch->code->ops[way->op]);
	}
}

static void write_all(struct search *search, const size_t *starts, size_t n_starts)
{
	write_shared(search->isa, search->native, &search->stretches->shared);
	for (size_t b = 0; b < n_starts; b++) {
		gt_native_needs_block(search->needs, b, starts[b], starts[b + 1]);
		for (size_t i = starts[b]; i < starts[b + 1];) {
			bool worth;
			size_t end = collect(search, i, starts[b + 1], &worth);
			if (worth)
				write(search);
			i = end > i ? end : i + 1;
		}
	}
	join_ways(search);
}

/* Writes the code of all stretches of a function, whose segments are the list `made`, behind the code there is. */
static int make_stretches(struct gt_stretches *stretches, const struct gt_ptx_code *code, const size_t *starts, size_t n_starts,
		      const struct gt_native_made *made, size_t n_made, const struct gt_native_isa *isa, struct gt_native_needs *needs,
		      struct gt_native_code *native, struct gt_error *error)
{
	struct search search = {stretches, {.shared = &stretches->shared, .code = code}, made, n_made > 0 ? made + n_made : made, isa, needs, native,
				{calloc(code->n_ops + 1, sizeof(size_t)), calloc(code->n_ops + 1, sizeof(size_t))}};

	/* Each point begins at an operation of its own. */
	search.stretch.points = calloc(code->n_ops < MOST_POINTS ? code->n_ops + 1 : MOST_POINTS, sizeof *search.stretch.points);
	search.stretch.ways = calloc(2 * GT_STRETCH_WAYS * (code->n_ops + 1), sizeof *search.stretch.ways);
	stretches->entries = calloc(code->n_ops + 1, sizeof *stretches->entries);
	stretches->ops = calloc(code->n_ops + 1, sizeof *stretches->ops);
	for (unsigned i = 0; i < 2; i++)
		stretches->at[i] = calloc(code->n_ops + 1, sizeof *stretches->at[i]);
	const bool room = search.begins[0] && search.begins[1] && search.stretch.points && search.stretch.ways && stretches->entries &&
			  stretches->ops && stretches->at[0] && stretches->at[1];
	if (room)
		write_all(&search, starts, n_starts);
	free(search.begins[0]);
	free(search.begins[1]);
	free(search.stretch.ways);
	free(search.stretch.points);
	return room && !native->failed ? 0 : gt_fail_memory(error, "machine code");
}

static void set_code(struct gt_ptx_point_code *code, const unsigned char *native, size_t begin, size_t at)
{
	const unsigned char *address = native + begin;

	memcpy(&code->run, &address, sizeof address);
	code->at = native + at;
}

/* Lets operations run them, once code->native is there and operations run segments. An operation that counts no instruction is part of another one, and entered from there only. Branches, joins and operations
 * of groups are known by where they are, so they stay as they are. */
static void use_stretches(struct gt_stretches *stretches, struct gt_ptx_code *code)
{
	for (size_t i = 0; i < stretches->n; i++) {
		struct gt_ptx_entry *entry = &stretches->entries[i];
		struct gt_ptx_op *op = &code->ops[stretches->ops[i]];
		bool fast;
		if (is_move(op, &fast)) {
			entry->row = gt_ptx_row_of(op);
			entry->traces = traced_by(op->with.access);
		}
		entry->inner = *op;
		set_code(&entry->whole, code->native, stretches->shared.begin, stretches->at[0][i]);
		set_code(&entry->active, code->native, stretches->shared.begin_active, stretches->at[1][i]);
		if (op->counts == 0 || op->run == gt_ptx_branch || op->run == gt_ptx_join || op->run == gt_ptx_path_steps.sync_alike)
			continue;
		op->run = run_stretch;
		op->with.entry = entry;
	}
	code->entries = stretches->entries;
	stretches->entries = NULL;
}

static void free_stretches(struct gt_stretches *stretches)
{
	free(stretches->entries);
	free(stretches->ops);
	free(stretches->at[0]);
	free(stretches->at[1]);
}

/* ---- segments, and all that a function has ---- */

struct making {
	struct gt_native_code code;
	struct gt_native_made *list;
	size_t n, capacity;
	const struct gt_native_isa *isa; /* of the machine code; NULL: none is made */
	struct gt_native_needs needs;
	struct gt_stretches stretches;
};

/* How many operations from the first on make a segment; 0: they do not. */
static size_t extent(const struct gt_native_needs *needs, size_t first, size_t end, size_t *instructions)
{
	const struct gt_ptx_code *code = needs->code;
	const struct gt_native_rule *rule;
	size_t predicates = 0, i = first;

	*instructions = 0;
	for (; i < end && gt_native_takes(needs, &code->ops[i], &rule); i++) {
		predicates += rule->kind == GT_NATIVE_COMPARE ? 2 : rule->kind == GT_NATIVE_LOGIC;
		if (predicates > GT_NATIVE_PREDICATES || *instructions + code->ops[i].counts > INSTRUCTIONS)
			break;
		*instructions += code->ops[i].counts;
	}
	return i - first >= SHORTEST && code->ops[first].counts ? i - first : 0;
}

static int write_segment(struct making *making, const struct gt_ptx_code *code, size_t first, size_t n, size_t instructions,
			 struct gt_error *error)
{
	struct gt_native_made *grown = gt_grown(making->list, making->n, &making->capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "machine code");
	making->list = grown;
	struct gt_native_made *made = &making->list[making->n++];
	*made = (struct gt_native_made){first, n, instructions, making->code.n, 0};
	if (!making->isa)
		return 0;
	struct gt_native_segment whole = {.isa = making->isa, .code = &making->code, .needs = &making->needs, .whole = true, .op = first};
	gt_native_write(&whole, code->ops, n);
	made->part = making->code.n;
	struct gt_native_segment part = {.isa = making->isa, .code = &making->code, .needs = &making->needs, .op = first};
	gt_native_write(&part, code->ops, n);
	return making->code.failed ? gt_fail_memory(error, "machine code") : 0;
}

static int open_needs(struct gt_native_needs *needs, const struct gt_ptx_code *code, const struct gt_native_known *known,
		      struct gt_error *error)
{
	const size_t units = code->arena_bytes / GT_NATIVE_UNIT + 1;

	*needs = (struct gt_native_needs){.code = code, .known = known};
	needs->named = calloc(units, sizeof *needs->named);
	needs->kept = calloc(units, sizeof *needs->kept);
	return needs->named && needs->kept ? 0 : gt_fail_memory(error, "machine code");
}

static void close_needs(struct gt_native_needs *needs)
{
	free(needs->named);
	free(needs->kept);
}

/* Moves the bytes, from the last on, and gives back what is moved: code of hundreds of megabytes is not there twice. */
static void move_bytes(struct gt_native_code *code, unsigned char *to)
{
	const size_t at_once = 1 << 20;

	for (size_t n = code->n; n > 0;) {
		size_t first = n > at_once ? n - at_once : 0;
		memcpy(to + first, code->bytes + first, n - first);
		unsigned char *shorter = first > 0 ? gt_resized(code->bytes, first, 1) : NULL;
		code->bytes = shorter ? shorter : code->bytes;
		n = first;
	}
}

/* Puts the code where it can be executed; NULL where that is forbidden. */
static unsigned char *map_code(struct gt_native_code *code)
{
	unsigned char *map = mmap(NULL, code->n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	move_bytes(code, map);
	if (mprotect(map, code->n, PROT_READ | PROT_EXEC) == 0)
		return map;
	munmap(map, code->n);
	return NULL;
}

/* A conversion that C leaves open, and POSIX asks for. */
static void function_at(gt_ptx_segment_code **function, const unsigned char *code)
{
	memcpy(function, &code, sizeof code);
}

static const struct gt_ptx_op *run_segment(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_segment *segment = op->with.segment;

	(mask == GT_PTX_FULL ? segment->whole : segment->part)(warp->arena, mask);
	return op + segment->n;
}

/* The same without machine code. */
static const struct gt_ptx_op *run_steps(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_segment *segment = op->with.segment;

	segment->first.run(warp, &segment->first, mask);
	for (size_t i = 1; i < segment->n; i++)
		op[i].run(warp, &op[i], mask);
	return op + segment->n;
}

static int use(struct gt_ptx_code *code, struct making *making, struct gt_error *error)
{
	code->segments = calloc(making->n + 1, sizeof *code->segments);
	if (!code->segments)
		return gt_fail_memory(error, "machine code");
	code->native = making->isa ? map_code(&making->code) : NULL;
	code->native_bytes = making->code.n;
	for (size_t i = 0; i < making->n; i++) {
		const struct gt_native_made *made = &making->list[i];
		struct gt_ptx_op *op = &code->ops[made->op];
		code->segments[i].n = made->n;
		code->segments[i].first = *op;
		if (code->native) {
			function_at(&code->segments[i].whole, code->native + made->whole);
			function_at(&code->segments[i].part, code->native + made->part);
		}
		op->run = code->native ? run_segment : run_steps;
		op->with.segment = &code->segments[i];
		op->counts = (uint8_t)made->instructions;
	}
	if (code->native)
		use_stretches(&making->stretches, code);
	return 0;
}

static const struct gt_native_isa *isa_of_processor(void)
{
#if defined __x86_64__
	if (gt_ptx_makes_native())
		return gt_ptx_uses_avx512() ? &gt_native_avx512 : &gt_native_avx2;
#endif
	return NULL;
}

int gt_ptx_native_make(struct gt_ptx_code *code, const size_t *starts, size_t n, const struct gt_native_known *known,
		       struct gt_error *error)
{
	struct making making = {.isa = isa_of_processor()};
	int result = open_needs(&making.needs, code, known, error);

	if (making.isa)
		making.isa->open(&making.code);
	for (size_t b = 0; result == 0 && b < n; b++) {
		gt_native_needs_block(&making.needs, b, starts[b], starts[b + 1]);
		for (size_t i = starts[b]; result == 0 && i < starts[b + 1];) {
			size_t instructions, length = extent(&making.needs, i, starts[b + 1], &instructions);
			if (length > 0)
				result = write_segment(&making, code, i, length, instructions, error);
			i += length ? length : 1;
		}
	}
	if (result == 0 && making.isa)
		result = make_stretches(&making.stretches, code, starts, n, making.list, making.n, making.isa, &making.needs, &making.code, error);
	if (result == 0 && (making.n > 0 || making.stretches.n > 0))
		result = use(code, &making, error);
	free(making.code.bytes);
	free(making.list);
	close_needs(&making.needs);
	free_stretches(&making.stretches);
	return result;
}
