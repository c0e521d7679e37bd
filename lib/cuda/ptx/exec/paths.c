/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/paths.h"

#include <stdlib.h>

#include "cuda/ptx/exec/code.h"

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
	frame->before = warp->free_frames;
	warp->free_frames = frame;
}

const struct gt_ptx_op *gt_ptx_barrier_result(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
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
	return path->next && path->next->run == gt_ptx_barrier_result;
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
	return gt_ptx_sync_fault(warp, topmost(warp, GT_PTX_PATH_SYNCS));
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

bool gt_ptx_path_yield(struct gt_ptx_warp *warp)
{
	struct gt_ptx_path *path = warp->path, *other;

	sink(warp, path);
	path->next = warp->at;
	other = topmost(warp, GT_PTX_PATH_RUNS);
	if (other == path && run_ahead(warp, GT_PTX_FULL))
		other = warp->top;
	gt_ptx_path_select(warp, other);
	return other != path;
}
