/* SPDX-License-Identifier: MIT */
/* The paths of a warp: how lanes part and meet again, and wait for each other in .sync operations; and what is said of those that wait
 * for ever. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/paths.h"

/* ---- faults ---- */

/* What is said of a kernel that is at fault, and of paths that wait. */

static void thread_of(const struct gt_ptx_warp *warp, unsigned lane, uint32_t thread[3])
{
	for (unsigned k = 0; k < 3; k++)
		thread[k] = warp->tid[k][lane];
}

const struct gt_ptx_op *gt_ptx_fault(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
				     const char *format, ...)
{
	struct gt_ptx_core *core = warp->core;
	const uint32_t *block = core->ctaid;
	uint32_t thread[3];
	unsigned line = op ? op->line : core->launch->kernel->line, source_line;
	const char *file;
	char text[512], place[128] = "";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	thread_of(warp, lane, thread);
	core->failed = core->ran->fault = true;
	if (gt_ptx_source_place(core->machine->module, line, &file, &source_line))
		snprintf(place, sizeof place, " (%.100s:%u)", file, source_line);
	gt_fail(core->error, "kernel %.128s, PTX line %u, pc 0x%x%s: block (%u,%u,%u) thread (%u,%u,%u): %s",
		core->launch->kernel->name, line, line, place, block[0], block[1], block[2], thread[0], thread[1], thread[2],
		text);
	return NULL;
}

/* The row of a .sync operation; NULL: bar.warp.sync, which has no operands. Its name. */
static const struct gt_ptx_form *sync_form(const struct gt_ptx_op *op)
{
	for (size_t i = 0; i < gt_ptx_lane_forms.n; i++)
		if (gt_ptx_form_step(&gt_ptx_lane_forms.rows[i]) == op->with.inner)
			return &gt_ptx_lane_forms.rows[i];
	return NULL;
}

/* The row of a .sync operation; NULL: bar.warp.sync, which has no operands. Its name. */
static const char *sync_name(const struct gt_ptx_op *op)
{
	const struct gt_ptx_form *form = sync_form(op);

	return form ? form->name : "bar.warp.sync";
}

void gt_ptx_path_describe(const struct gt_ptx_path *path, char *text, size_t size)
{
	if (path->state == GT_PTX_PATH_AT_BARRIER && path->waits_at == GT_PTX_CLUSTER_BARRIER)
		snprintf(text, size, "at barrier.cluster.wait (line %u)", (path->next - 1)->line);
	else if (path->state == GT_PTX_PATH_AT_BARRIER && path->waits_at == GT_PTX_GROUP_BARRIER)
		snprintf(text, size, "at wgmma.wait_group (line %u)", (path->next - 1)->line);
	else if (path->state == GT_PTX_PATH_AT_BARRIER)
		snprintf(text, size, "at barrier %u (line %u)", path->waits_at, (path->next - 1)->line);
	else
		snprintf(text, size, "at %s (line %u)", sync_name(path->next), path->next->line);
}

/* Why a .sync operation waits for ever, as a fault. */
static const struct gt_ptx_op *sync_fault(struct gt_ptx_warp *warp, const struct gt_ptx_path *path)
{
	return gt_ptx_fault(warp, path->next, gt_ptx_lowest(path->mask),
			    "%s waits for ever: lanes 0x%08x of its member mask 0x%08x do not come to it",
			    sync_name(path->next), path->waits_at & warp->live & ~path->mask, path->waits_at);
}

/* ---- the tree of paths ---- */

struct gt_ptx_path *gt_ptx_path_make(struct gt_ptx_warp *warp)
{
	struct gt_ptx_path *path = malloc(sizeof *path);

	if (!path) {
		warp->core->failed = true;
		gt_fail_memory(warp->core->error, "the paths of a warp");
	}
	return path;
}

struct gt_ptx_path *gt_ptx_path_split(struct gt_ptx_warp *warp, struct gt_ptx_path *path, uint32_t lanes)
{
	struct gt_ptx_path *own = warp->free_paths;

	if (own)
		warp->free_paths = own->below;
	else if (!(own = gt_ptx_path_make(warp)))
		return NULL;
	own->next = path->next;
	own->join = path->join;
	own->parent = path->parent;
	own->frame = path->frame;
	own->state = path->state;
	own->mask = lanes;
	own->children = 0;
	path->mask &= ~lanes;
	/* Below `path`: above what is below that, which is there unless path is the lowest. */
	own->above = path;
	own->below = path->below;
	if (own->below)
		own->below->above = own;
	path->below = own;
	own->frame->paths++;
	if (own->parent)
		own->parent->children++;
	return own;
}

void gt_ptx_frame_end(struct gt_ptx_warp *warp, struct gt_ptx_frame *frame)
{
	if (frame->before)
		frame->before->after = frame->after;
	if (frame->after)
		frame->after->before = frame->before;
	free(frame->stack);
	frame->before = warp->free_frames;
	warp->free_frames = frame;
}

static const struct gt_ptx_op *barrier_result(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					      uint32_t mask)
{
	const uint32_t *result = warp->path->result;

	if (op->choice > 0) {
		gt_ptx_set_predicate(warp, op->d, mask, result[op->choice]);
		return op + 1;
	}
	uint32_t *lanes = gt_ptx_lanes(warp, op->d);
	for (uint32_t m = mask; m; m &= m - 1)
		lanes[gt_ptx_lowest(m)] = result[0];
	return op + 1;
}

/* What a barrier found is kept by each path until it has read it. */
static bool reads_result(const struct gt_ptx_path *path)
{
	return path->next && path->next->run == barrier_result;
}

void gt_ptx_path_merge(struct gt_ptx_warp *warp, struct gt_ptx_path *path)
{
	struct gt_ptx_path *below;

	for (struct gt_ptx_path *other = warp->top; other; other = below) {
		below = other->below;
		if (other == path || other->state != GT_PTX_PATH_RUNS || other->next != path->next ||
		    other->join != path->join || other->parent != path->parent ||
		    other->frame != path->frame || reads_result(path))
			continue;
		path->mask |= other->mask;
		if (other == warp->path)
			warp->path = path;
		gt_ptx_path_end(warp, other);
	}
	if (path == warp->path)
		gt_ptx_path_select(warp, path);
}

static struct gt_ptx_path *topmost(const struct gt_ptx_warp *warp, enum gt_ptx_path_state state)
{
	struct gt_ptx_path *path = warp->top;

	while (path && path->state != state)
		path = path->below;
	return path;
}

/* Lanes that some path waits for: those that have not arrived at a .sync operation, or any. */
static uint32_t wanted_lanes(const struct gt_ptx_warp *warp)
{
	uint32_t wanted = 0;

	for (const struct gt_ptx_path *path = warp->top; path; path = path->below)
		if (path->state == GT_PTX_PATH_SYNCS)
			wanted |= path->waits_at & ~path->mask;
		else if (path->state == GT_PTX_PATH_AT_BARRIER)
			wanted = GT_PTX_FULL;
	return wanted;
}

/* Lets lanes that wait at a join, and that others wait for, run ahead: those at the topmost join
 * that has such. True if there were any. */
static bool run_ahead(struct gt_ptx_warp *warp, uint32_t wanted)
{
	struct gt_ptx_path *path;

	for (path = warp->top; path; path = path->below)
		path->arrived = path->mask;
	for (path = warp->top; path; path = path->below)
		if (path->parent)
			path->parent->arrived &= ~path->mask;
	path = warp->top;
	while (path && (path->state != GT_PTX_PATH_JOINS || !(path->arrived & wanted)))
		path = path->below;
	if (!path)
		return false;
	struct gt_ptx_path *ahead = gt_ptx_path_new(warp, path->parent, path->frame, path->next, path->join,
						    path->arrived);
	if (!ahead)
		return false;
	path->mask &= ~ahead->mask;
	return true;
}

const struct gt_ptx_op *gt_ptx_path_search(struct gt_ptx_warp *warp)
{
	struct gt_ptx_path *path = topmost(warp, GT_PTX_PATH_RUNS);

	if (!path && warp->top && run_ahead(warp, wanted_lanes(warp)))
		path = warp->top;
	if (path)
		return gt_ptx_path_select(warp, path);
	warp->path = NULL;
	warp->state = warp->top ? GT_PTX_WAITS : GT_PTX_DONE;
	if (warp->core->failed || !warp->top || topmost(warp, GT_PTX_PATH_AT_BARRIER))
		return NULL;
	return sync_fault(warp, topmost(warp, GT_PTX_PATH_SYNCS));
}

/* Moves a path below all others. */
static void sink(struct gt_ptx_warp *warp, struct gt_ptx_path *path)
{
	struct gt_ptx_path *lowest = path;

	while (lowest->below)
		lowest = lowest->below;
	if (lowest == path)
		return;
	if (path->above)
		path->above->below = path->below;
	else
		warp->top = path->below;
	path->below->above = path->above;
	path->above = lowest;
	path->below = NULL;
	lowest->below = path;
}

bool gt_ptx_path_yield(struct gt_ptx_warp *warp, uint32_t starved)
{
	struct gt_ptx_path *path = warp->path, *other;
	uint32_t paths = 0;

	sink(warp, path);
	path->next = warp->at;
	for (other = warp->top; other; other = other->below)
		paths++;
	other = topmost(warp, GT_PTX_PATH_RUNS);
	if ((other == path || ++warp->yields > paths) && run_ahead(warp, starved)) {
		other = warp->top;
		warp->yields = 0;
	}
	gt_ptx_path_select(warp, other);
	return other != path;
}

/* ---- .sync operations ---- */

/* The .sync operations of a warp: each lane names the lanes that take part with it, its member mask.
 * Those that name the same mask are a group; it waits until all of its lanes that have not exited
 * are at the same operation with the same mask, whichever instruction that is. */

const struct gt_ptx_op *gt_ptx_do_nothing(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	(void)warp, (void)mask;
	return op + 1;
}

/* A group whose lanes come from several instructions is done on a stage: their operands are
 * collected there, and its results go back to each. */
enum { STAGE_SLOT = GT_WARP_SIZE * 8, STAGE_A = STAGE_SLOT, STAGE_B = 2 * STAGE_SLOT, STAGE_C = 3 * STAGE_SLOT,
       STAGE_D = 4 * STAGE_SLOT, STAGE_Q = 5 * STAGE_SLOT, STAGE_BYTES = 6 * STAGE_SLOT };

/* Copies some lanes of a slot, or bits of a predicate. */
static void copy_lanes(unsigned char *to, const unsigned char *from, uint8_t type, uint32_t mask)
{
	unsigned size = gt_ptx_type_size((enum gt_ptx_type)type);

	if (type == GT_PTX_PRED) {
		uint32_t old, new;
		memcpy(&old, to, sizeof old);
		memcpy(&new, from, sizeof new);
		new = (old & ~mask) | (new & mask);
		memcpy(to, &new, sizeof new);
		return;
	}
	for (uint32_t m = mask; m; m &= m - 1)
		memcpy(to + gt_ptx_lowest(m) * size, from + gt_ptx_lowest(m) * size, size);
}

static bool same_group(const struct gt_ptx_path *path, const struct gt_ptx_op *op, uint32_t members)
{
	return path->state == GT_PTX_PATH_SYNCS && path->waits_at == members &&
	       path->next->with.inner == op->with.inner && path->next->choice == op->choice;
}

static void perform_on_stage(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t members, uint32_t mask)
{
	_Alignas(64) unsigned char stage[STAGE_BYTES] = {0};
	const struct gt_ptx_form *form = sync_form(op);
	unsigned char *arena = warp->arena;
	struct gt_ptx_op staged = *op;

	if (!form)
		return;
	for (const struct gt_ptx_path *path = warp->top; path; path = path->below) {
		if (!same_group(path, op, members))
			continue;
		const unsigned char *from = warp->arenas + path->frame->arena;
		copy_lanes(stage + STAGE_A, from + path->next->a, form->sources[0], path->mask);
		copy_lanes(stage + STAGE_B, from + path->next->b, form->sources[1], path->mask);
		copy_lanes(stage + STAGE_C, from + path->next->c, form->sources[2], path->mask);
	}
	staged.a = STAGE_A, staged.b = STAGE_B, staged.c = STAGE_C, staged.d = STAGE_D, staged.q = STAGE_Q;
	warp->arena = stage;
	op->with.inner(warp, &staged, mask);
	warp->arena = arena;
	for (const struct gt_ptx_path *path = warp->top; path; path = path->below) {
		if (!same_group(path, op, members))
			continue;
		unsigned char *to = warp->arenas + path->frame->arena;
		copy_lanes(to + path->next->d, stage + STAGE_D, form->d, path->mask);
		if (path->next->q)
			copy_lanes(to + path->next->q, stage + STAGE_Q, GT_PTX_PRED, path->mask);
	}
}

/* Does the operation of a group that is complete; true if it was. */
static bool try_group(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t members)
{
	struct gt_ptx_path *path, *first = NULL;
	uint32_t arrived = 0;

	for (path = warp->top; path; path = path->below)
		if (same_group(path, op, members))
			arrived |= path->mask;
	if (!arrived || (members & warp->live & ~arrived))
		return false;
	perform_on_stage(warp, op, members, arrived);
	for (path = warp->top; path; path = path->below) {
		if (!same_group(path, op, members))
			continue;
		path->state = GT_PTX_PATH_RUNS;
		path->next++;
	}
	/* Lanes that stood at one instruction go on together. */
	for (path = warp->top; path; path = first) {
		first = path->below;
		if (path->state == GT_PTX_PATH_RUNS && (path->mask & arrived)) {
			gt_ptx_path_merge(warp, path);
			first = path->below;
		}
	}
	return true;
}

void gt_ptx_sync_left(struct gt_ptx_warp *warp)
{
	struct gt_ptx_path *path = warp->top;

	while (path)
		if (path->state == GT_PTX_PATH_SYNCS && try_group(warp, path->next, path->waits_at))
			path = warp->top;
		else
			path = path->below;
}

/* Lanes with the mask of the lowest of `mask`. */
static uint32_t group_of(const uint32_t *members, uint32_t mask)
{
	uint32_t group = 0, own = members[gt_ptx_lowest(mask)];

	for (uint32_t m = mask; m; m &= m - 1)
		group |= (uint32_t)(members[gt_ptx_lowest(m)] == own) << gt_ptx_lowest(m);
	return group;
}

/* A group that is not all here waits on a path of its own. */
static int wait_for_others(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t group, uint32_t members)
{
	struct gt_ptx_path *path = warp->path;

	if (group != path->mask && !(path = gt_ptx_path_split(warp, path, group)))
		return -1;
	path->state = GT_PTX_PATH_SYNCS;
	path->next = op;
	path->waits_at = members;
	return 0;
}

/* Lanes that are not in their own member mask, for which PTX defines nothing: a fault; but hardware carries out a shuffle, a reduction or
 * a match for all lanes that come to it together, and a barrier holds none of them, and programs rely on it. False after a fault. */
static bool let_stray(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t stray, uint32_t members)
{
	static const struct {
		const char *name, *what, *effect;
	} done[] = {{"shfl", "the member mask of 'shfl'", "lanes that are not in it execute it too, and get what their source lane has"},
		    {"redux", "the member mask of 'redux'", "lanes that are not in it execute it too, and count"},
		    {"match", "the member mask of 'match'", "lanes that are not in it execute it too, and count"},
		    {"bar.warp.sync", "the member mask of 'bar.warp.sync'", "lanes that are not in it execute it too"}};

	for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
		if (strncmp(sync_name(op), done[i].name, strlen(done[i].name)) != 0)
			continue;
		gt_ptx_note_ignored(warp->core->machine->notes, op->line, done[i].what, done[i].effect);
		return true;
	}
	gt_ptx_fault(warp, op, gt_ptx_lowest(stray), "%s with the member mask 0x%08x, in which its own lane is not",
		     sync_name(op), members);
	return false;
}

/* Several groups, or some that are not complete. */
static const struct gt_ptx_op *sync_groups(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t *members = gt_ptx_lanes(warp, op->e);
	uint32_t waits = 0, all[GT_WARP_SIZE];

	memcpy(all, members, sizeof all); /* a result may take their place */
	for (uint32_t left = mask, group; left; left &= ~group) {
		unsigned lane = gt_ptx_lowest(left);
		group = group_of(all, left);
		if ((group & ~all[lane]) && !let_stray(warp, op, group & ~all[lane], all[lane]))
			return NULL;
		if (all[lane] & warp->live & ~group)
			waits |= group;
		else
			op->with.inner(warp, op, group);
	}
	if (!waits)
		return op + 1;
	gt_ptx_path_keep(warp, op + 1);
	for (uint32_t left = waits, group; left; left &= ~group) {
		group = group_of(all, left);
		if (wait_for_others(warp, op, group, all[gt_ptx_lowest(group)]) != 0)
			return NULL;
	}
	for (uint32_t left = waits, group; left; left &= ~group) {
		group = group_of(all, left);
		try_group(warp, op, all[gt_ptx_lowest(group)]);
	}
	if (warp->path->state == GT_PTX_PATH_RUNS)
		return gt_ptx_path_select(warp, warp->path);
	return gt_ptx_path_pick(warp);
}

static const struct gt_ptx_op *step_sync(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t *members = gt_ptx_lanes(warp, op->e);
	uint32_t first = members[gt_ptx_lowest(mask)], differs = 0;

	if (mask == GT_PTX_FULL)
		for (unsigned i = 0; i < GT_WARP_SIZE; i++)
			differs |= members[i] ^ first;
	else
		for (uint32_t m = mask; m; m &= m - 1)
			differs |= members[gt_ptx_lowest(m)] ^ first;
	return !differs && (first & warp->live) == mask ? op->with.inner(warp, op, mask)
							: sync_groups(warp, op, mask);
}

/* The same where all lanes have one mask, as they do if it is a number. */
static const struct gt_ptx_op *step_sync_alike(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t *members = gt_ptx_lanes(warp, op->e);

	return (members[0] & warp->live) == mask ? op->with.inner(warp, op, mask) : sync_groups(warp, op, mask);
}

const struct gt_ptx_path_steps gt_ptx_path_steps = {
	.sync = step_sync,
	.sync_alike = step_sync_alike,
	.barrier_result = barrier_result,
};
