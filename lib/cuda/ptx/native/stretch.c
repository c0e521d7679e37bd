/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"
#include "cuda/ptx/native/stretch_move.h"

/* The machine code of a stretch. In it rbx is the warp, r12 how many instructions from its begin on the turn has, r13 the core,
 * r14 the arena, as are r8 to r10, rbp points to the words of shapes, and r15 to constants; rax, rcx, rdx, rsi, rdi and r11 are free at
 * every point. */

#define OF(STRUCT, MEMBER) offsetof(struct STRUCT, MEMBER)
#define FRAME 72 /* bytes, which with the registers that are pushed align the stack for C code */
_Static_assert(FRAME >= 4 * GT_STRETCH_SHAPES, "a word for each shape");

/* What C code does not keep. */
static void set_free_registers(const struct gt_native_isa *isa, struct gt_native_code *code)
{
	gt_native_text(code, "\x4d\x89\xf0\x4d\x89\xf1\x4d\x89\xf2"); /* mov r8, r14; mov r9, r14; mov r10, r14 */
	if (isa->set_constants)
		isa->set_constants(code);
}

static void write_shared(const struct gt_native_isa *isa, struct gt_native_code *code, struct gt_stretch_shared *shared)
{
	/* Called with the arena, the warp and the place to go on at: rdi, rsi, rdx. */
	shared->begin = code->n;
	gt_native_text(code, "\x55\x53\x41\x54\x41\x55\x41\x56\x41\x57"); /* push rbp, rbx, r12, r13, r14, r15 */
	gt_native_text(code, "\x48\x83\xec\x48\x48\x89\xe5");		 /* sub rsp, FRAME; mov rbp, rsp */
	gt_native_text(code, "\x48\x89\xf3\x49\x89\xfe");	       /* mov rbx, rsi; mov r14, rdi */
	gt_general_at(code, true, GT_MOVE, GT_R13, GT_RBX, OF(gt_ptx_warp, core));
	gt_general_at(code, true, GT_MOVE, GT_R12, GT_RBX, OF(gt_ptx_warp, until));
	gt_general_at(code, true, GT_SUB, GT_R12, GT_RBX, OF(gt_ptx_warp, issued));
	gt_general_address(code, GT_R15, gt_stretch_constants);
	set_free_registers(isa, code);
	gt_native_text(code, "\xff\xe2"); /* jmp rdx */

	/* Returns rax. */
	shared->end = code->n;
	gt_native_text(code, "\xc5\xf8\x77\x48\x83\xc4\x48");			     /* vzeroupper; add rsp, FRAME */
	gt_native_text(code, "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5b\x5d\xc3"); /* pop the same; ret */

	shared->row = code->n;
	gt_stretch_write_row(code);
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
	gt_general_jump_to(code, shared->end);
}

static void leave(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, size_t op, uint32_t instructions,
		  const struct gt_native_value *values)
{
	struct gt_native_code *code = stretch->segment.code;

	gt_native_store_values(&stretch->segment, values);
	set_issued(code, instructions);
	gt_general_address(code, GT_RAX, &stretch->code->ops[op]);
	gt_general_jump_to(code, shared->end);
}

/* How many operations from the first on are done for one part of the warp before the next one: where registers are few, those up to
 * one whose predicates are put together from all parts. */
static size_t alike(const struct gt_stretch *stretch, size_t first, size_t n)
{
	const struct gt_native_rule *rule;
	size_t i = 0;

	if (!stretch->segment.isa->few)
		return 1;
	while (i < n && gt_native_takes(&stretch->code->ops[first + i], &rule) && rule->kind != GT_NATIVE_COMPARE && rule->kind != GT_NATIVE_LOGIC)
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
			gt_native_takes(&stretch->code->ops[segment->op], &rule);
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
	bool fast = false;

	needed_from(segment, point->op);
	if (gt_stretch_moves(&stretch->code->ops[point->op], &fast) && fast) {
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
	stretch->ways[stretch->n_ways++] = (struct gt_stretch_way){gt_general_jump(stretch->segment.code, when), op};
}

static void write_branch(struct gt_stretch *stretch, struct gt_stretch_point *point)
{
	const struct gt_ptx_op *op = &stretch->code->ops[point->op];
	struct gt_native_code *code = stretch->segment.code;
	const uint32_t all = op->guarded == 1 ? GT_PTX_FULL : 0;
	const size_t target = point->op + (size_t)op->target;

	needed_from(&stretch->segment, point->op + 1);
	gt_native_store_all(&stretch->segment);
	if (op->guarded) {
		gt_general_at(code, false, GT_MOVE, GT_RAX, GT_R14, op->guard);
		gt_general(code, false, GT_MOVE, GT_RDX, GT_RAX);
		gt_general_number(code, false, GT_ADD_NUMBER, GT_RDX, 1);
		gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RDX, 1);
		point->leaves = gt_general_jump(code, GT_ABOVE);
	}
	gt_general_number(code, true, GT_ADD_NUMBER, GT_R12, 0U - (point->before + point->counts));
	if (op->guarded) {
		gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RAX, all);
		go(stretch, target, GT_EQUAL);
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
	case GT_STRETCH_JOIN: write_join(stretch, point); break;
	case GT_STRETCH_BRANCH: write_branch(stretch, point); break;
	}
}

/* Calls a step, or gt_ptx_trace_row, whose arguments have been set. `fails` is when it has. */
static void call(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, const struct gt_stretch_point *point,
		 void (*function)(void), bool fails_by_zero, size_t again)
{
	struct gt_native_code *code = stretch->segment.code;
	uint64_t address = 0;

	memcpy(&address, &function, sizeof function);
	set_issued(code, point->before + point->counts);
	gt_native_text(code, "\x48\x89\xdf"); /* mov rdi, rbx */
	gt_general_address(code, GT_RSI, &point->entry->inner);
	gt_general_constant(code, GT_RAX, address);
	gt_native_text(code, "\xc5\xf8\x77\xff\xd0"); /* vzeroupper; call rax */
	gt_general_number(code, fails_by_zero, GT_COMPARE_NUMBER, GT_RAX, 0);
	const size_t good = gt_general_jump(code, fails_by_zero ? GT_NOT_EQUAL : GT_EQUAL);
	gt_general_constant(code, GT_RAX, 0);
	gt_general_jump_to(code, shared->end);
	gt_general_land(code, good);
	set_free_registers(stretch->segment.isa, code);
	gt_native_load_values(&stretch->segment, point->at_end);
	gt_general_jump_to(code, again);
}

/* The access by its step. */
static void write_slow(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, const struct gt_stretch_point *point)
{
	struct gt_native_code *code = stretch->segment.code;

	for (size_t i = 0; i < point->n_slow; i++)
		gt_general_land(code, point->slow[i]);
	if (point->n_slow == 0)
		return;
	gt_native_store_values(&stretch->segment, point->at_move);
	gt_general_constant(code, GT_RDX, GT_PTX_FULL);
	call(stretch, shared, point, (void (*)(void))stretch->code->ops[point->op].run, true, point->again);
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
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RDX, GT_PTX_NOTES_WORK);
	const size_t slow = gt_general_jump(code, GT_NOT_BELOW);
	gt_native_text(code, "\xf7\xc2"); /* test edx, the space's bit */
	gt_native_word(code, access->untraced ? 0 : UINT32_C(1) << gt_ptx_traced_space[access->space]);
	const size_t some = gt_general_jump(code, GT_NOT_EQUAL);
	gt_general_jump_to(code, point->again);
	gt_general_land(code, some);
	gt_general_address(code, GT_RDX, point->entry);
	gt_general_call_to(code, shared->row);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RDX, 0);
	const size_t failed = gt_general_jump(code, GT_NOT_EQUAL);
	gt_general_jump_to(code, point->again);
	gt_general_land(code, slow);
	gt_general_land(code, failed);
	gt_native_store_values(&stretch->segment, point->at_end);
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
static size_t gt_stretch_write(struct gt_stretch *stretch, const struct gt_stretch_shared *shared, size_t *at)
{
	struct gt_native_code *code = stretch->segment.code;
	const struct gt_stretch_point *last = &stretch->points[stretch->n - 1];
	const size_t begin = code->n;

	gt_stretch_find_shapes(stretch);
	for (size_t i = 0; i < stretch->n; i++)
		write_point(stretch, &stretch->points[i]);
	if (last->kind != GT_STRETCH_BRANCH) {
		needed_from(&stretch->segment, last->op + last->n);
		gt_native_store_all(&stretch->segment);
		gt_general_number(code, true, GT_ADD_NUMBER, GT_R12, 0U - (last->before + last->counts));
		go(stretch, last->op + last->n, GT_ALWAYS);
	}
	for (size_t i = 0; i < stretch->n; i++) {
		const struct gt_stretch_point *point = &stretch->points[i];
		write_outside(stretch, shared, point);
		at[i] = code->n;
		gt_general_number(code, true, GT_ADD_NUMBER, GT_R12, point->before + point->counts);
		gt_stretch_forget_shapes(stretch);
		gt_native_load_values(&stretch->segment, point->at_begin);
		gt_general_jump_to(code, point->place);
	}
	return begin;
}

struct search {
	struct gt_stretches *stretches;
	struct gt_stretch stretch;
	const struct gt_native_made *made, *made_end; /* segments from here on */
	const struct gt_native_isa *isa;
	struct gt_native_needs *needs;
	struct gt_native_code *native;
	size_t *begins; /* by operation: the code of the stretch that begins with it; 0: none does */
};

static const struct gt_ptx_op *run_stretch(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_entry *entry = op->with.entry;

	if (mask == GT_PTX_FULL)
		return entry->run(warp->arena, warp, entry->at);
	return entry->inner.run(warp, &entry->inner, mask) ? op + entry->n : NULL;
}

/* The point that begins at an operation; false: a stretch ends before it. */
static bool find_point(struct search *search, size_t i, struct gt_stretch_point *point, bool *fast)
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
		      : gt_stretch_moves(op, fast) ? GT_STRETCH_MOVE : GT_STRETCH_LANES;
	return point->kind != GT_STRETCH_LANES || gt_native_takes(op, &rule);
}

/* Adds the points from operation `first` on that make a stretch; returns where it ends. It is worth it if it has an access, or is on the
 * way to another one: lane operations alone need fewer registers as a segment. */
static size_t collect(struct search *search, size_t first, size_t end, bool *worth)
{
	struct gt_stretch *stretch = &search->stretch;
	uint32_t before = 0;
	size_t i = first;

	stretch->n = 0;
	bool some = false, only_ways = true;

	while (i < end) {
		struct gt_stretch_point *point = &stretch->points[stretch->n];
		bool fast = false;
		if (!find_point(search, i, point, &fast))
			break;
		some |= fast;
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

static void write(struct search *search)
{
	struct gt_stretches *stretches = search->stretches;
	struct gt_stretch *stretch = &search->stretch;

	stretch->segment = (struct gt_native_segment){.isa = search->isa, .code = search->native, .needs = search->needs, .whole = true, .unrolled = true};
	search->begins[stretch->points[0].op] = gt_stretch_write(stretch, &stretches->shared, stretches->at + stretches->n);
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
		if (search->begins[way->op]) {
			gt_general_land_at(search->native, way->jump, search->begins[way->op]);
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

int gt_stretches_make(struct gt_stretches *stretches, const struct gt_ptx_code *code, const size_t *starts, size_t n_starts,
		      const struct gt_native_made *made, size_t n_made, const struct gt_native_isa *isa, struct gt_native_needs *needs,
		      struct gt_native_code *native, struct gt_error *error)
{
	struct search search = {stretches, {.shared = &stretches->shared, .code = code}, made, made + n_made, isa, needs, native,
				calloc(code->n_ops + 1, sizeof(size_t))};
	size_t most = 1;

	for (size_t b = 0; b < n_starts; b++)
		most = starts[b + 1] - starts[b] > most ? starts[b + 1] - starts[b] : most;
	search.stretch.points = calloc(most + 1, sizeof *search.stretch.points);
	search.stretch.ways = calloc(GT_STRETCH_WAYS * (code->n_ops + 1), sizeof *search.stretch.ways);
	stretches->entries = calloc(code->n_ops + 1, sizeof *stretches->entries);
	stretches->ops = calloc(code->n_ops + 1, sizeof *stretches->ops);
	stretches->at = calloc(code->n_ops + 1, sizeof *stretches->at);
	const bool room = search.begins && search.stretch.points && search.stretch.ways && stretches->entries && stretches->ops &&
			  stretches->at;
	if (room)
		write_all(&search, starts, n_starts);
	free(search.begins);
	free(search.stretch.ways);
	free(search.stretch.points);
	return room && !native->failed ? 0 : gt_fail_memory(error, "machine code");
}

/* An operation that counts no instruction is part of another one, and entered from there only. Branches and joins are known by
 * where they are, so they stay as they are. */
void gt_stretches_use(struct gt_stretches *stretches, struct gt_ptx_code *code)
{
	const unsigned char *begin = code->native + stretches->shared.begin;

	for (size_t i = 0; i < stretches->n; i++) {
		struct gt_ptx_entry *entry = &stretches->entries[i];
		struct gt_ptx_op *op = &code->ops[stretches->ops[i]];
		bool fast;
		if (gt_stretch_moves(op, &fast))
			entry->row = gt_ptx_row_of(op);
		entry->inner = *op;
		entry->at = code->native + stretches->at[i];
		memcpy(&entry->run, &begin, sizeof begin);
		if (op->counts == 0 || op->run == gt_ptx_branch || op->run == gt_ptx_join)
			continue;
		op->run = run_stretch;
		op->with.entry = entry;
	}
	code->entries = stretches->entries;
	stretches->entries = NULL;
}

void gt_stretches_free(struct gt_stretches *stretches)
{
	free(stretches->entries);
	free(stretches->ops);
	free(stretches->at);
}
