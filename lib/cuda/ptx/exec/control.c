/* SPDX-License-Identifier: MIT */
/* Calls, with the frames of functions in the arena and in local memory; branches, returns and exits. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/paths.h"

/* ---- calls ---- */

/* Active functions: their parts of the arena and of local memory, and their parameters and results. Paths of a warp may be in
 * several functions at a time; each has its own part of the arena. */

#define HOST_LINE ((size_t)64) /* bytes of a line of the host's caches */

/* Room for the arena and the local memory of one more function. */
static int make_room(struct gt_ptx_warp *warp, size_t arena_end, size_t local_end, struct gt_error *error)
{
	if (arena_end > warp->arena_bytes) {
		void *grown;
		if (posix_memalign(&grown, 64, 2 * arena_end) != 0)
			return gt_fail_memory(error, "the arena of a warp");
		memset(grown, 0, 2 * arena_end);
		if (warp->arenas)
			memcpy(grown, warp->arenas, warp->arena_bytes);
		free(warp->arenas);
		warp->arenas = grown;
		warp->arena_bytes = 2 * arena_end;
	}
	if (local_end > warp->local_stride) {
		/* An odd number of cache lines: where lanes access the same variable, each has a set of the host's caches of its own. */
		const size_t stride = ((2 * local_end + HOST_LINE - 1) / HOST_LINE | 1) * HOST_LINE;
		unsigned char *grown = calloc(GT_WARP_SIZE, stride);
		if (!grown)
			return gt_fail_memory(error, "the local memory of a warp");
		for (size_t lane = 0; warp->local && lane < GT_WARP_SIZE; lane++)
			memcpy(grown + lane * stride, warp->local + lane * warp->local_stride,
			       warp->local_stride);
		free(warp->local);
		warp->local = grown;
		warp->local_stride = stride;
	}
	return 0;
}

static struct gt_ptx_frame *take_free(struct gt_ptx_warp *warp)
{
	struct gt_ptx_frame *frame = warp->free_frames;

	if (frame)
		warp->free_frames = frame->before;
	else
		frame = malloc(sizeof *frame);
	return frame;
}

/* Places a frame after its caller's, where no other active function has its registers. */
static void place_frame(struct gt_ptx_frame *frame)
{
	struct gt_ptx_frame *before = frame->caller;

	while (before) {
		frame->arena = (before->arena + before->code->arena_bytes + 63) / 64 * 64;
		if (!before->after || before->after->arena >= frame->arena + frame->code->arena_bytes)
			break;
		before = before->after;
	}
	frame->before = before;
	frame->after = before ? before->after : NULL;
	if (before)
		before->after = frame;
	if (frame->after)
		frame->after->before = frame;
}

/* Whether a part of the arena has been the function's since its slots were filled there; it is the function's from now on. */
static bool was_filled(struct gt_ptx_warp *warp, const struct gt_ptx_code *code, size_t begin)
{
	const size_t end = begin + code->arena_bytes;

	for (unsigned i = 0; i < GT_PTX_FILLS; i++)
		if (warp->fills[i].code == code && warp->fills[i].begin == begin)
			return true;
	for (unsigned i = 0; i < GT_PTX_FILLS; i++)
		if (warp->fills[i].begin < end && begin < warp->fills[i].end)
			warp->fills[i].code = NULL;
	warp->fills[warp->next_fill++ % GT_PTX_FILLS] = (struct gt_ptx_filled){code, begin, end};
	return false;
}

/* The kernel's part of the arena is no other function's, so what it had in an earlier block is still there. */
static bool kernel_was_filled(struct gt_ptx_warp *warp, const struct gt_ptx_code *code)
{
	if (warp->filled == code)
		return true;
	warp->filled = code;
	memset(warp->fills, 0, sizeof warp->fills);
	return false;
}

/* Sets what is in slots before a function begins, but for what is there if they were filled. */
static void fill_frame(struct gt_ptx_warp *warp, const struct gt_ptx_code *code, bool filled)
{
	if (!filled) {
		memset(warp->arena + GT_PTX_ALL_ONES, 0xff, sizeof(uint32_t));
		if (code->image)
			memcpy(warp->arena + code->image_at, code->image, code->arena_bytes - code->image_at);
	}
	for (size_t i = 0; i < code->n_unset; i++)
		memset(warp->arena + code->unset[i].at, 0, code->unset[i].bytes);
	for (size_t i = 0; i < code->n_specials; i++) {
		const enum gt_ptx_life life = code->specials[i].special->life;
		if (life == GT_PTX_OF_BLOCK || (life == GT_PTX_OF_LAUNCH && !filled))
			gt_ptx_fill_special(warp, code->specials[i].special, gt_ptx_lanes(warp, code->specials[i].slot));
	}
}

/* ---- registers that may not be written, with GT_PTX_MEMCHECK ---- */

/* Lanes in which a value is missing that decides something: reports the first. They are taken to be written then. */
static void tell_missing(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t lanes, const struct gt_ptx_followed *of,
			 const char *decides)
{
	struct gt_ptx_core *core = warp->core;
	struct gt_ptx_notes *notes = core->machine->notes;
	const bool itself = strcmp(of->name, of->origin) == 0;

	if (!lanes)
		return;
	if (!op->with.follow->told)
		gt_ptx_fault(warp, op, gt_ptx_lowest(lanes), "the value of %.64s%s%.64s, which nothing has written, %s", of->name,
			     itself ? "" : ", from that of ", itself ? "" : of->origin, decides);
	gt_ptx_go_on(core, &op->with.follow->told);
	if (notes)
		notes->accesses += (uint64_t)__builtin_popcount(lanes);
	gt_ptx_set_predicate(warp, of->written, lanes, GT_PTX_FULL);
}

static void tell_uses(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_followed_list *list, uint32_t mask)
{
	for (size_t i = 0; i < list->n; i++)
		tell_missing(warp, op, mask & ~gt_ptx_predicate(warp, list->of[i].written), &list->of[i], list->of[i].decides);
}

/* The same where one source may settle the result without the others. */
static uint32_t written_by_choice(const struct gt_ptx_warp *warp, const struct gt_ptx_follow *follow)
{
	const uint32_t x = gt_ptx_predicate(warp, follow->masks[0]), y = gt_ptx_predicate(warp, follow->masks[1]);

	if (follow->need == GT_PTX_NEEDS_CHOSEN) {
		const uint32_t first = gt_ptx_predicate(warp, follow->slots[2]);
		return gt_ptx_predicate(warp, follow->masks[2]) & ((first & x) | (~first & y));
	}
	const uint32_t turned = follow->need == GT_PTX_NEEDS_AND ? GT_PTX_FULL : 0;
	return (x & y) | (x & (gt_ptx_predicate(warp, follow->slots[0]) ^ turned)) | (y & (gt_ptx_predicate(warp, follow->slots[1]) ^ turned));
}

/* The lanes in which the results are written. */
static uint32_t written_by(const struct gt_ptx_warp *warp, const struct gt_ptx_follow *follow)
{
	uint32_t one = 0, all = GT_PTX_FULL;

	for (size_t i = 0; i < follow->sources.n; i++) {
		one |= gt_ptx_predicate(warp, follow->sources.of[i].written);
		all &= gt_ptx_predicate(warp, follow->sources.of[i].written);
	}
	switch (follow->need) {
	case GT_PTX_NEEDS_ONE: return follow->sources.n > 0 ? one : GT_PTX_FULL;
	case GT_PTX_NEEDS_ALL: return all;
	case GT_PTX_NEEDS_NONE: return GT_PTX_FULL;
	default: return written_by_choice(warp, follow);
	}
}

const struct gt_ptx_op *gt_ptx_follow_written(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_follow *follow = op->with.follow;
	uint32_t one = 0;

	tell_uses(warp, op, &follow->guards, mask);
	if (follow->guarded)
		mask &= follow->guarded == 1 ? gt_ptx_predicate(warp, follow->guard) : ~gt_ptx_predicate(warp, follow->guard);
	tell_uses(warp, op, &follow->uses, mask);
	for (size_t i = 0; follow->stores && i < follow->sources.n; i++)
		one |= gt_ptx_predicate(warp, follow->sources.of[i].written);
	if (follow->stores)
		tell_missing(warp, op, mask & ~one, &follow->sources.of[0], "is stored");
	const uint32_t written = written_by(warp, follow);
	for (size_t i = 0; i < follow->results.n; i++)
		gt_ptx_set_predicate(warp, follow->results.of[i].written, mask, written);
	return op + 1;
}

/* ---- frames ---- */

/* Where the local memory of a function that this one calls begins; with a gap behind what alloca took, too. */
static size_t frame_end_of(const struct gt_ptx_frame *frame)
{
	const size_t end = frame->local + gt_ptx_local_span(frame->code);

	return frame->stack ? end + (frame->stack->most.bytes + 16U) / 16 * 16 : end;
}

/* Begins a function for some lanes, whose path is on top then. */
static int enter(struct gt_ptx_warp *warp, const struct gt_ptx_code *code, const struct gt_ptx_op *call,
		 struct gt_ptx_path *parent, uint32_t mask)
{
	struct gt_ptx_frame *caller = parent ? parent->frame : NULL, *frame;
	size_t depth = caller ? caller->depth + 1 : 0;
	size_t local = caller ? frame_end_of(caller) : 0;

	if (depth == GT_PTX_FRAMES_MAX || local + code->local_bytes > GT_PTX_LOCAL_MAX) {
		gt_ptx_fault(warp, call, gt_ptx_lowest(mask),
			     "call of '%s': no stack is left (%zu calls deep, %zu bytes of local memory)",
			     code->function->name, depth, local);
		return -1;
	}
	if (!(frame = take_free(warp))) {
		warp->core->failed = true;
		return gt_fail_memory(warp->core->error, "the functions of a warp");
	}
	*frame = (struct gt_ptx_frame){
		.code = code, .call = call, .caller = caller, .local = local, .depth = depth};
	place_frame(frame);
	if (make_room(warp, frame->arena + code->arena_bytes, local + code->local_bytes, warp->core->error) !=
		    0 ||
	    !gt_ptx_path_new(warp, parent, frame, code->ops, NULL, mask)) {
		gt_ptx_frame_end(warp, frame);
		warp->core->failed = true;
		return -1;
	}
	warp->frame = NULL; /* the arena may have moved */
	gt_ptx_path_select(warp, warp->top);
	fill_frame(warp, code, caller ? was_filled(warp, code, frame->arena) : kernel_was_filled(warp, code));
	return 0;
}

const struct gt_ptx_op *gt_ptx_begin(struct gt_ptx_warp *warp, const struct gt_ptx_code *code)
{
	return enter(warp, code, NULL, NULL, warp->live) == 0 ? warp->at : NULL;
}

/* Copies values between the places of a caller and its callee. */
struct side {
	const struct gt_ptx_frame *frame;
	const struct gt_ptx_place *places;
	size_t n;
};

/* Where lane 0 has a value, and how much further on each next lane. */
static unsigned char *lane_at(const struct gt_ptx_warp *warp, const struct side *side, size_t i, size_t *apart)
{
	const struct gt_ptx_place *place = &side->places[i];

	*apart = place->in_slot ? place->bytes : warp->local_stride;
	return (place->in_slot ? warp->arenas + side->frame->arena : warp->local + side->frame->local) + place->at;
}

/* Inlined for the commonest sizes. What all lanes hand from slot to slot is copied at once. */
GT_INLINE void hand_lanes(unsigned char *to, size_t to_apart, const unsigned char *from, size_t from_apart, size_t bytes, uint32_t mask)
{
	if (mask == GT_PTX_FULL && to_apart == bytes && from_apart == bytes) {
		memcpy(to, from, GT_WARP_SIZE * bytes);
		return;
	}
	for (uint32_t m = mask; m; m &= m - 1)
		memcpy(to + gt_ptx_lowest(m) * to_apart, from + gt_ptx_lowest(m) * from_apart, bytes);
}

static void hand_over(struct gt_ptx_warp *warp, const struct side *to, const struct side *from, uint32_t mask)
{
	for (size_t i = 0; i < to->n && i < from->n; i++) {
		const size_t bytes = to->places[i].bytes < from->places[i].bytes ? to->places[i].bytes : from->places[i].bytes;
		size_t to_apart, from_apart;
		unsigned char *target = lane_at(warp, to, i, &to_apart);
		const unsigned char *source = lane_at(warp, from, i, &from_apart);
		if (bytes == 8)
			hand_lanes(target, to_apart, source, from_apart, 8, mask);
		else if (bytes == 4)
			hand_lanes(target, to_apart, source, from_apart, 4, mask);
		else
			hand_lanes(target, to_apart, source, from_apart, bytes, mask);
	}
}

/* Hands what the running function returns to its caller, for lanes that leave it. */
static void return_values(struct gt_ptx_warp *warp, uint32_t mask)
{
	const struct gt_ptx_frame *frame = warp->frame;
	const struct gt_ptx_call *call = frame->call->with.call;
	struct side caller = {frame->caller, call->returns, call->n_returns};
	struct side callee = {frame, frame->code->returns, frame->code->n_returns};

	hand_over(warp, &caller, &callee, mask);
}

/* The function at an address, or NULL after a fault. */
static const struct gt_ptx_code *code_at(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t address,
					 unsigned lane)
{
	const struct gt_ptx_core *core = warp->core;
	uint64_t index = (address - GT_PTX_FUNCTION_BASE) / GT_PTX_FUNCTION_STEP;

	if (address >= GT_PTX_FUNCTION_BASE && index < core->machine->module->n_functions &&
	    core->program->codes[index])
		return core->program->codes[index];
	gt_ptx_fault(warp, op, lane, "call of 0x%llx, where no function is", (unsigned long long)address);
	return NULL;
}

/* The function that the lowest of these lanes calls, by name or by address, and who calls it too. */
static const struct gt_ptx_code *callee_of(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
					   uint32_t *same)
{
	const struct gt_ptx_call *call = op->with.call;
	const struct gt_ptx_core *core = warp->core;

	*same = mask;
	if (call->callee)
		return core->program->codes[call->callee - core->machine->module->functions];
	const uint64_t *address = gt_ptx_lanes(warp, call->address);
	unsigned lane = gt_ptx_lowest(mask);
	for (uint32_t m = mask; m; m &= m - 1)
		if (address[gt_ptx_lowest(m)] != address[lane])
			*same &= ~(UINT32_C(1) << gt_ptx_lowest(m));
	return code_at(warp, op, address[lane], lane);
}

static const struct gt_ptx_op *step_call(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_path *path = warp->path;
	uint32_t same;

	path->next = op + 1;
	path->state = GT_PTX_PATH_JOINS;
	for (uint32_t left = mask; left; left &= ~same) {
		gt_ptx_path_select(warp, path);
		const struct gt_ptx_code *code = callee_of(warp, op, left, &same);
		if (!code || enter(warp, code, op, path, same) != 0)
			return NULL;
		struct side caller = {path->frame, op->with.call->arguments, op->with.call->n_arguments};
		struct side callee = {warp->frame, code->parameters, code->n_parameters};
		hand_over(warp, &callee, &caller, same);
	}
	return warp->at;
}

const struct gt_ptx_op *gt_ptx_local_address(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					     uint32_t mask)
{
	uint64_t *lanes = gt_ptx_lanes(warp, op->d);

	for (uint32_t m = mask; m; m &= m - 1)
		lanes[gt_ptx_lowest(m)] = warp->local_at + op->with.immediate;
	return op + 1;
}

/* ---- the stack ---- */

/* alloca takes local memory behind the function's variables until the function ends. Each lane has a stack pointer of its own, which
 * stacksave reads and stackrestore sets. */

static struct gt_ptx_stack *stack_of(struct gt_ptx_warp *warp)
{
	struct gt_ptx_frame *frame = warp->frame;

	if (!frame->stack && (frame->stack = calloc(1, sizeof *frame->stack))) {
		frame->stack->most.name = "alloca";
		frame->stack->most.at = gt_ptx_local_span(frame->code);
	}
	if (!frame->stack) {
		warp->core->failed = true;
		gt_fail_memory(warp->core->error, "the stack of a warp");
	}
	return frame->stack;
}

static void set_most(struct gt_ptx_stack *stack)
{
	stack->most.bytes = 0;
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		stack->most.bytes = stack->bytes[lane] > stack->most.bytes ? stack->bytes[lane] : stack->most.bytes;
}

/* d: the address; a: the bytes; the immediate: the alignment, a power of 2. */
static const struct gt_ptx_op *step_alloca(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_stack *stack = stack_of(warp);
	uint64_t *lanes = gt_ptx_lanes(warp, op->d);
	const uint64_t *bytes = gt_ptx_lanes(warp, op->a), alignment = op->with.immediate;

	if (!stack)
		return NULL;
	const uint64_t begin = warp->frame->local + stack->most.at;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		const uint64_t at = (begin + stack->bytes[lane] + alignment - 1) / alignment * alignment, taken = bytes[lane];
		if (at > GT_PTX_LOCAL_MAX || taken > GT_PTX_LOCAL_MAX - at)
			return gt_ptx_fault(warp, op, lane, "alloca of %" PRIu64 " bytes: no stack is left (%" PRIu64 " bytes are taken)",
					    taken, at);
		stack->bytes[lane] = (uint32_t)(at + taken - begin);
		lanes[lane] = at;
	}
	set_most(stack);
	if (make_room(warp, 0, begin + stack->most.bytes, warp->core->error) == 0)
		return op + 1;
	warp->core->failed = true;
	return NULL;
}

static const struct gt_ptx_op *step_stack_save(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_stack *stack = stack_of(warp);
	uint64_t *lanes = gt_ptx_lanes(warp, op->d);

	for (uint32_t m = mask; m && stack; m &= m - 1)
		lanes[gt_ptx_lowest(m)] = warp->frame->local + stack->most.at + stack->bytes[gt_ptx_lowest(m)];
	return stack ? op + 1 : NULL;
}

static const struct gt_ptx_op *step_stack_restore(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_stack *stack = stack_of(warp);
	const uint64_t *lanes = gt_ptx_lanes(warp, op->a);

	if (!stack)
		return NULL;
	const uint64_t begin = warp->frame->local + stack->most.at;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		if (lanes[lane] < begin || lanes[lane] > begin + stack->bytes[lane])
			return gt_ptx_fault(warp, op, lane, "stackrestore of 0x%" PRIx64 ", which no stacksave of this function gave",
					    lanes[lane]);
		stack->bytes[lane] = (uint32_t)(lanes[lane] - begin);
	}
	set_most(stack);
	warp->frame->low = warp->frame->high = 0;
	return op + 1;
}

/* ---- branches and exits ---- */

/* Control flow of lanes: branches and their joins, returns and exits. */

/* One of the ways; lanes that are at the meeting point already need none. */
static int take(struct gt_ptx_warp *warp, const struct gt_ptx_op *to, const struct gt_ptx_op *join,
		uint32_t mask)
{
	struct gt_ptx_path *path = warp->path;
	/* Where others wait for this path to join already, its ways join them. */
	struct gt_ptx_path *parent = path->join == join ? path->parent : path;

	if (to == join || !mask)
		return 0;
	return gt_ptx_path_new(warp, parent, path->frame, to, join, mask) ? 0 : -1;
}

/* The path that has parted waits where its lanes meet, or is no more. */
static const struct gt_ptx_op *part(struct gt_ptx_warp *warp, const struct gt_ptx_op *join)
{
	struct gt_ptx_path *path = warp->path, *waits = path;

	if (path->join == join) {
		waits = path->parent;
		gt_ptx_path_end(warp, path);
	} else {
		path->next = join;
		path->state = GT_PTX_PATH_JOINS;
	}
	gt_ptx_path_settle(warp, waits);
	return gt_ptx_path_pick(warp);
}

/* A path whose ways meet where it ends itself: it goes one way, and lanes that jump another, below
 * it, unless they are there already. */
static const struct gt_ptx_op *part_in_two(struct gt_ptx_warp *warp, const struct gt_ptx_op *next,
					   const struct gt_ptx_op *target, const struct gt_ptx_op *join,
					   uint32_t jump)
{
	struct gt_ptx_path *path = warp->path;

	if (next == join) {
		path->mask = warp->mask = jump;
		return target;
	}
	if (target != join) {
		struct gt_ptx_path *other = gt_ptx_path_split(warp, path, jump);
		if (!other)
			return NULL;
		other->next = target;
	}
	path->mask &= ~jump;
	warp->mask = path->mask;
	return next;
}

/* A path whose ways meet before it ends itself waits there for those of its lanes that are not there already. */
static const struct gt_ptx_op *part_and_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *next,
					     const struct gt_ptx_op *target, const struct gt_ptx_op *join, uint32_t jump,
					     uint32_t rest)
{
	struct gt_ptx_path *path = warp->path, *first = NULL;

	if (target == join && next == join)
		return join;
	path->next = join;
	path->state = GT_PTX_PATH_JOINS;
	if (target != join && !(first = gt_ptx_path_new(warp, path, path->frame, target, join, jump)))
		return NULL;
	if (next != join && !(first = gt_ptx_path_new(warp, path, path->frame, next, join, rest)))
		return NULL;
	warp->path = first;
	warp->mask = first->mask;
	return warp->at = first->next;
}

/* A separate function, so that gt_ptx_branch saves no registers. */
static const struct gt_ptx_op *diverge(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
	__attribute__((noinline));

static const struct gt_ptx_op *diverge(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_op *join = op->join ? op + op->join : NULL, *target = op + op->target;

	/* Those that do not jump go first. */
	if (warp->path->join == join)
		return part_in_two(warp, op + 1, target, join, mask);
	return part_and_wait(warp, op + 1, target, join, mask, warp->mask & ~mask);
}

const struct gt_ptx_op *gt_ptx_branch(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return warp->mask & ~mask ? diverge(warp, op, mask) : op + op->target;
}

const struct gt_ptx_op *gt_ptx_branch_indexed(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_switch *ways = op->with.ways;
	const struct gt_ptx_op *join = op->join ? op + op->join : NULL;
	const uint32_t *index = gt_ptx_lanes(warp, op->a);
	uint32_t rest = warp->mask & ~mask, left = mask;

	for (uint32_t m = mask; m; m &= m - 1)
		if (index[gt_ptx_lowest(m)] >= ways->n)
			return gt_ptx_fault(warp, op, gt_ptx_lowest(m), "brx.idx to target %u of %zu",
					    index[gt_ptx_lowest(m)], ways->n);
	while (left) { /* a list may name a target more than once: its lanes go together */
		int32_t to = ways->targets[index[gt_ptx_lowest(left)]];
		uint32_t same = 0;
		for (uint32_t m = left; m; m &= m - 1)
			same |= (uint32_t)(ways->targets[index[gt_ptx_lowest(m)]] == to) << gt_ptx_lowest(m);
		left &= ~same;
		if (take(warp, op + to, join, same) != 0)
			return NULL;
	}
	return take(warp, op + 1, join, rest) != 0 ? NULL : part(warp, join);
}

/* Ends a path that is at its join. */
static const struct gt_ptx_op *meet(struct gt_ptx_warp *warp, struct gt_ptx_path *path)
{
	struct gt_ptx_path *parent = path->parent;

	gt_ptx_path_end(warp, path);
	gt_ptx_path_settle(warp, parent);
	return gt_ptx_path_pick(warp);
}

const struct gt_ptx_op *gt_ptx_join(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_path *path = warp->path;

	(void)mask;
	if (path->join != op)
		return op + 1;
	return gt_ptx_path_pop(warp, path) ? gt_ptx_path_pick(warp) : meet(warp, path);
}

/* Removes lanes from the running function, or from all functions (they exit). */
static const struct gt_ptx_op *leave(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
				     bool all)
{
	struct gt_ptx_path *path = warp->path;
	const struct gt_ptx_frame *frame = path->frame;

	for (struct gt_ptx_path *at = path; at && (all || at->frame == frame); at = at->parent)
		at->mask &= ~mask;
	if (path->mask) { /* a guard kept some here */
		gt_ptx_path_keep(warp, op + 1);
	} else {
		warp->path = NULL;
		gt_ptx_path_settle(warp, path);
	}
	if (all && warp->top) {
		gt_ptx_sync_left(warp);
		gt_ptx_barrier_left(warp);
		gt_ptx_cluster_left(warp);
	}
	return warp->path ? gt_ptx_path_select(warp, warp->path) : gt_ptx_path_pick(warp);
}

static const struct gt_ptx_op *step_exit(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	warp->live &= ~mask;
	return leave(warp, op, mask, true);
}

const struct gt_ptx_op *gt_ptx_return(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	if (!warp->frame->caller)
		return step_exit(warp, op, mask);
	return_values(warp, mask);
	return leave(warp, op, mask, false);
}

static const struct gt_ptx_op *step_trap(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "trap");
}

const struct gt_ptx_op *gt_ptx_unknown(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "%s", op->with.text);
}

const struct gt_ptx_control_steps gt_ptx_control_steps = {
	.call = step_call,
	.exit = step_exit,
	.trap = step_trap,
	.alloca = step_alloca,
	.stack_save = step_stack_save,
	.stack_restore = step_stack_restore,
};
