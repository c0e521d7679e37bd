/* SPDX-License-Identifier: MIT */
/* The .sync operations of a warp: each lane names the lanes that take part with it, its member mask.
 * Those that name the same mask are a group; it waits until all of its lanes that have not exited
 * are at the same operation with the same mask, whichever instruction that is. */
#include <string.h>

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/forms.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/notes.h"
#include "cuda/ptx/exec/paths.h"

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
	const struct gt_ptx_form *form = gt_ptx_sync_form(op);
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

/* Lanes that are not in their own member mask, for which PTX defines nothing: a fault; but hardware carries out a shuffle for all
 * lanes that come to it together, and programs rely on it. False after a fault. */
static bool let_stray(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t stray, uint32_t members)
{
	if (strcmp(gt_ptx_sync_name(op), "shfl") != 0) {
		gt_ptx_fault(warp, op, gt_ptx_lowest(stray), "%s with the member mask 0x%08x, in which its own lane is not",
			     gt_ptx_sync_name(op), members);
		return false;
	}
	gt_ptx_note_ignored(warp->core->machine->notes, op->line, "the member mask of 'shfl'",
			    "lanes that are not in it execute it too, and get what their source lane has");
	return true;
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

const struct gt_ptx_op *gt_ptx_sync(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
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
const struct gt_ptx_op *gt_ptx_sync_alike(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t *members = gt_ptx_lanes(warp, op->e);

	return (members[0] & warp->live) == mask ? op->with.inner(warp, op, mask) : sync_groups(warp, op, mask);
}
