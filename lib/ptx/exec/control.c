/* SPDX-License-Identifier: MIT */
/* Where lanes go: branches and where they meet again, calls, returns, barriers. A warp has a stack
 * of paths; the top one runs, the others wait for it to reach the micro-op where they join. */
#include <stdlib.h>
#include <string.h>

#include "ptx/decode/code.h"
#include "ptx/exec/warp.h"

static int push_path(struct gt_ptx_warp *warp, const struct gt_ptx_op *next, const struct gt_ptx_op *join,
		     uint32_t mask)
{
	if (warp->n_paths == warp->paths_capacity) {
		size_t capacity = warp->paths_capacity ? 2 * warp->paths_capacity : 16;
		void *grown = realloc(warp->paths, capacity * sizeof *warp->paths);
		if (!grown) {
			warp->core->failed = true;
			return gt_fail_memory(warp->core->error, "the paths of a warp");
		}
		warp->paths = grown;
		warp->paths_capacity = capacity;
	}
	warp->paths[warp->n_paths++] = (struct gt_ptx_path){next, join, mask};
	return 0;
}

/* Goes on with the top path. */
static const struct gt_ptx_op *resume(struct gt_ptx_warp *warp)
{
	const struct gt_ptx_path *top = &warp->paths[warp->n_paths - 1];

	warp->mask = top->mask;
	return top->next;
}

/* The path that parts: it waits where its lanes meet, unless others wait there for it already. */
static void part(struct gt_ptx_warp *warp, const struct gt_ptx_op *join)
{
	struct gt_ptx_path *top = &warp->paths[warp->n_paths - 1];

	if (top->join == join)
		warp->n_paths--;
	else
		top->next = join;
}

/* One of the ways; lanes that are at the meeting point already need none. */
static int take(struct gt_ptx_warp *warp, const struct gt_ptx_op *to, const struct gt_ptx_op *join,
		uint32_t mask)
{
	return to == join || !mask ? 0 : push_path(warp, to, join, mask);
}

const struct gt_ptx_op *gt_ptx_branch(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	uint32_t rest = warp->mask & ~mask;
	const struct gt_ptx_op *join = op->join ? op + op->join : NULL, *target = op + op->target;

	if (!rest)
		return target;
	part(warp, join);
	/* Those that do not jump go first. */
	if (take(warp, target, join, mask) != 0 || take(warp, op + 1, join, rest) != 0)
		return NULL;
	return resume(warp);
}

const struct gt_ptx_op *gt_ptx_switch(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_switch *ways = op->with.ways;
	const struct gt_ptx_op *join = op->join ? op + op->join : NULL;
	const uint32_t *index = gt_ptx_lanes(warp, op->a);
	uint32_t rest = warp->mask & ~mask, left = mask;

	for (uint32_t m = mask; m; m &= m - 1)
		if (index[gt_ptx_lowest(m)] >= ways->n)
			return gt_ptx_fault(warp, op, gt_ptx_lowest(m), "brx.idx to target %u of %zu",
					    index[gt_ptx_lowest(m)], ways->n);
	part(warp, join);
	while (left) { /* a list may name a target more than once: its lanes go together */
		int32_t to = ways->targets[index[gt_ptx_lowest(left)]];
		uint32_t same = 0;
		for (uint32_t m = left; m; m &= m - 1)
			same |= (uint32_t)(ways->targets[index[gt_ptx_lowest(m)]] == to) << gt_ptx_lowest(m);
		left &= ~same;
		if (take(warp, op + to, join, same) != 0)
			return NULL;
	}
	return take(warp, op + 1, join, rest) != 0 ? NULL : resume(warp);
}

const struct gt_ptx_op *gt_ptx_join(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	(void)mask;
	if (warp->paths[warp->n_paths - 1].join != op)
		return op + 1;
	warp->n_paths--;
	return resume(warp);
}

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
		size_t stride = 2 * local_end;
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

static int push_frame(struct gt_ptx_warp *warp, struct gt_ptx_frame frame, struct gt_error *error)
{
	if (warp->n_frames == warp->frames_capacity) {
		size_t capacity = warp->frames_capacity ? 2 * warp->frames_capacity : 8;
		void *grown = realloc(warp->frames, capacity * sizeof *warp->frames);
		if (!grown)
			return gt_fail_memory(error, "the functions of a warp");
		warp->frames = grown;
		warp->frames_capacity = capacity;
	}
	warp->frames[warp->n_frames++] = frame;
	return 0;
}

const struct gt_ptx_op *gt_ptx_enter(struct gt_ptx_warp *warp, const struct gt_ptx_code *code,
				     const struct gt_ptx_op *call, uint32_t mask)
{
	struct gt_ptx_frame frame = {.code = code, .call = call, .paths = warp->n_paths, .mask = mask};

	if (warp->n_frames > 0) {
		const struct gt_ptx_frame *caller = &warp->frames[warp->n_frames - 1];
		frame.arena = (caller->arena + caller->code->arena_bytes + 63) / 64 * 64;
		frame.local = (caller->local + caller->code->local_bytes + 15) / 16 * 16;
	}
	if (warp->n_frames == GT_PTX_FRAMES_MAX || frame.local + code->local_bytes > GT_PTX_LOCAL_MAX)
		return gt_ptx_fault(
			warp, call, gt_ptx_lowest(mask),
			"call of '%s': no stack is left (%zu calls deep, %zu bytes of local memory)",
			code->function->name, warp->n_frames, frame.local);
	if (make_room(warp, frame.arena + code->arena_bytes, frame.local + code->local_bytes,
		      warp->core->error) != 0 ||
	    push_frame(warp, frame, warp->core->error) != 0) {
		warp->core->failed = true;
		return NULL;
	}
	warp->arena = warp->arenas + frame.arena;
	warp->local_at = frame.local;
	memset(warp->arena + GT_PTX_ALL_ONES, 0xff, sizeof(uint32_t));
	if (code->image)
		memcpy(warp->arena + code->image_at, code->image, code->arena_bytes - code->image_at);
	for (size_t i = 0; i < code->n_specials; i++)
		if (!code->specials[i].special->changes)
			gt_ptx_fill_special(warp, code->specials[i].special,
					    gt_ptx_lanes(warp, code->specials[i].slot));
	warp->mask = mask;
	return push_path(warp, code->ops, NULL, mask) != 0 ? NULL : code->ops;
}

/* Copies values between the places of a caller and those of what it calls. */
struct side {
	const struct gt_ptx_frame *frame;
	const struct gt_ptx_place *places;
	size_t n;
};

static unsigned char *lane_at(const struct gt_ptx_warp *warp, const struct side *side, size_t i,
			      unsigned lane)
{
	const struct gt_ptx_place *place = &side->places[i];

	if (place->in_slot)
		return warp->arenas + side->frame->arena + place->at + lane * place->bytes;
	return warp->local + lane * warp->local_stride + side->frame->local + place->at;
}

static void hand_over(struct gt_ptx_warp *warp, const struct side *to, const struct side *from, uint32_t mask)
{
	for (size_t i = 0; i < to->n && i < from->n; i++) {
		size_t bytes = to->places[i].bytes < from->places[i].bytes ? to->places[i].bytes
									   : from->places[i].bytes;
		for (uint32_t m = mask; m; m &= m - 1)
			memcpy(lane_at(warp, to, i, gt_ptx_lowest(m)),
			       lane_at(warp, from, i, gt_ptx_lowest(m)), bytes);
	}
}

/* The function a call goes to: by name, or by the address that all lanes hold. */
static const struct gt_ptx_code *callee_of(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					   uint32_t mask)
{
	const struct gt_ptx_call *call = op->with.call;
	const struct gt_ptx_module *module = warp->core->machine->module;
	size_t index;

	if (call->callee) {
		index = (size_t)(call->callee - module->functions);
	} else {
		const uint64_t *address = gt_ptx_lanes(warp, call->address);
		uint64_t first = address[gt_ptx_lowest(mask)];
		for (uint32_t m = mask; m; m &= m - 1)
			if (address[gt_ptx_lowest(m)] != first) {
				gt_ptx_fault(warp, op, gt_ptx_lowest(m),
					     "call of different functions in one warp");
				return NULL;
			}
		index = (size_t)((first - GT_PTX_FUNCTION_BASE) / GT_PTX_FUNCTION_STEP);
		if (first < GT_PTX_FUNCTION_BASE || index >= module->n_functions ||
		    !warp->core->program->codes[index]) {
			gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "call of 0x%llx, where no function is",
				     (unsigned long long)first);
			return NULL;
		}
	}
	return warp->core->program->codes[index];
}

const struct gt_ptx_op *gt_ptx_do_call(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_code *code = callee_of(warp, op, mask);

	if (!code)
		return NULL;
	warp->paths[warp->n_paths - 1].next = op + 1;
	const struct gt_ptx_op *next = gt_ptx_enter(warp, code, op, mask);
	if (!next)
		return NULL;
	struct side caller = {&warp->frames[warp->n_frames - 2], op->with.call->arguments,
			      op->with.call->n_arguments};
	struct side callee = {&warp->frames[warp->n_frames - 1], code->parameters, code->n_parameters};
	hand_over(warp, &callee, &caller, mask);
	return next;
}

/* Back to the caller, when no lane is left in the running function. */
static const struct gt_ptx_op *pop_frame(struct gt_ptx_warp *warp)
{
	const struct gt_ptx_frame done = warp->frames[--warp->n_frames];

	if (warp->n_frames == 0) {
		warp->state = GT_PTX_DONE;
		return NULL;
	}
	const struct gt_ptx_frame *frame = &warp->frames[warp->n_frames - 1];
	struct side caller = {frame, done.call->with.call->returns, done.call->with.call->n_returns};
	struct side callee = {&done, done.code->returns, done.code->n_returns};
	hand_over(warp, &caller, &callee, done.mask & warp->live);
	warp->arena = warp->arenas + frame->arena;
	warp->local_at = frame->local;
	return NULL;
}

const struct gt_ptx_op *gt_ptx_leave(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
				     bool all)
{
	size_t from = all ? 0 : warp->frames[warp->n_frames - 1].paths;

	for (size_t i = from; i < warp->n_paths; i++)
		warp->paths[i].mask &= ~mask;
	if (warp->paths[warp->n_paths - 1].mask) { /* a guard kept some here */
		warp->mask = warp->paths[warp->n_paths - 1].mask;
		return op + 1;
	}
	while (warp->n_frames > 0) {
		size_t base = warp->frames[warp->n_frames - 1].paths;
		while (warp->n_paths > base && !warp->paths[warp->n_paths - 1].mask)
			warp->n_paths--;
		if (warp->n_paths > base)
			return resume(warp);
		pop_frame(warp);
	}
	return NULL;
}

const struct gt_ptx_op *gt_ptx_return(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	if (warp->n_frames == 1)
		return gt_ptx_exit(warp, op, mask);
	return gt_ptx_leave(warp, op, mask, false);
}

const struct gt_ptx_op *gt_ptx_exit(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	warp->live &= ~mask;
	return gt_ptx_leave(warp, op, mask, true);
}

const struct gt_ptx_op *gt_ptx_trap(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "trap");
}

const struct gt_ptx_op *gt_ptx_unknown(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "%s", op->with.text);
}

const struct gt_ptx_op *gt_ptx_do_nothing(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	(void)warp, (void)mask;
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_local_address(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					     uint32_t mask)
{
	uint64_t *lanes = gt_ptx_lanes(warp, op->d);

	for (uint32_t m = mask; m; m &= m - 1)
		lanes[gt_ptx_lowest(m)] = warp->local_at + op->with.immediate;
	return op + 1;
}
