/* SPDX-License-Identifier: MIT */
/* The paths of a warp: a tree, in a list of which the topmost path that can run does. As long as no
 * path waits for another but by joining, the list is the stack of a SIMT machine. */
#ifndef GT_PTX_PATHS_H
#define GT_PTX_PATHS_H

#include "cuda/ptx/exec/warp.h"

/* A path that is not in use; NULL when memory is short: the launch has failed. */
struct gt_ptx_path *gt_ptx_path_make(struct gt_ptx_warp *warp);

/* Puts a path on top, to run at `next`. Without a parent its lanes are a warp's first. NULL when
 * memory is short. */
static inline struct gt_ptx_path *gt_ptx_path_new(struct gt_ptx_warp *warp, struct gt_ptx_path *parent,
						  struct gt_ptx_frame *frame, const struct gt_ptx_op *next,
						  const struct gt_ptx_op *join, uint32_t mask)
{
	struct gt_ptx_path *path = warp->free_paths;

	if (path)
		warp->free_paths = path->below;
	else if (!(path = gt_ptx_path_make(warp)))
		return NULL;
	path->next = next;
	path->join = join;
	path->parent = parent;
	path->frame = frame;
	path->mask = mask;
	path->children = 0;
	path->state = GT_PTX_PATH_RUNS;
	path->above = NULL;
	path->below = warp->top;
	if (warp->top)
		warp->top->above = path;
	warp->top = path;
	frame->paths++;
	if (parent)
		parent->children++;
	return path;
}

/* Takes lanes from a path, for one of their own below it, in the same state. */
struct gt_ptx_path *gt_ptx_path_split(struct gt_ptx_warp *warp, struct gt_ptx_path *path, uint32_t lanes);
/* Gives back the part of the arena of a function that no path is in. */
void gt_ptx_frame_end(struct gt_ptx_warp *warp, struct gt_ptx_frame *frame);

/* Ends a path: its lanes are at its parent. Its frame goes with the last path in it. */
static inline void gt_ptx_path_end(struct gt_ptx_warp *warp, struct gt_ptx_path *path)
{
	if (path->above)
		path->above->below = path->below;
	else
		warp->top = path->below;
	if (path->below)
		path->below->above = path->above;
	if (path->parent)
		path->parent->children--;
	if (--path->frame->paths == 0)
		gt_ptx_frame_end(warp, path->frame);
	path->below = warp->free_paths;
	warp->free_paths = path;
}

/* Ends those without lanes and children, from this one upwards; the first that is left runs if its
 * children are all there. */
static inline void gt_ptx_path_settle(struct gt_ptx_warp *warp, struct gt_ptx_path *path)
{
	while (path && !path->mask && !path->children) {
		struct gt_ptx_path *parent = path->parent;
		gt_ptx_path_end(warp, path);
		path = parent;
	}
	if (path && !path->children && path->state == GT_PTX_PATH_JOINS)
		path->state = GT_PTX_PATH_RUNS;
}

/* Both at once for a path that is at its join, if it is the topmost and its parent keeps lanes, as a rule. Its
 * parent is in the same function, then, and below it. False: nothing was done. */
static inline bool gt_ptx_path_pop(struct gt_ptx_warp *warp, struct gt_ptx_path *path)
{
	struct gt_ptx_path *parent = path->parent, *below = path->below;

	if (warp->top != path || !parent->mask)
		return false;
	warp->top = below;
	below->above = NULL;
	path->frame->paths--;
	path->below = warp->free_paths;
	warp->free_paths = path;
	if (--parent->children == 0 && parent->state == GT_PTX_PATH_JOINS)
		parent->state = GT_PTX_PATH_RUNS;
	return true;
}

/* Notes where the path that runs goes on: before what may merge it, or wake others. */
static inline void gt_ptx_path_keep(struct gt_ptx_warp *warp, const struct gt_ptx_op *next)
{
	warp->path->next = warp->at = next;
}
/* Paths that run in the same way from the same place, of which `path` is one, become one again.
 * The place of the path that runs must have been kept. */
void gt_ptx_path_merge(struct gt_ptx_warp *warp, struct gt_ptx_path *path);

/* Makes it the one that runs; returns where. */
static inline const struct gt_ptx_op *gt_ptx_path_select(struct gt_ptx_warp *warp, struct gt_ptx_path *path)
{
	warp->path = path;
	warp->mask = path->mask;
	if (warp->frame != path->frame) {
		warp->frame = path->frame;
		warp->arena = warp->arenas + path->frame->arena;
		warp->local_at = path->frame->local;
	}
	warp->at = path->next;
	return path->next;
}

/* The same where the topmost path cannot run: if none can, lanes that wait at a join run ahead of
 * those that they wait for. Without any, the warp waits or is done: NULL. */
const struct gt_ptx_op *gt_ptx_path_search(struct gt_ptx_warp *warp);

/* Goes on with the topmost path that can run. */
static inline const struct gt_ptx_op *gt_ptx_path_pick(struct gt_ptx_warp *warp)
{
	return warp->top && warp->top->state == GT_PTX_PATH_RUNS ? gt_ptx_path_select(warp, warp->top)
								 : gt_ptx_path_search(warp);
}

/* The path that runs has waited long enough: others of the warp go on, if there are any. When each has had its turn, or there are none,
 * they are those of the `starved` lanes that wait at a join: paths may wait for what these do behind it. */
bool gt_ptx_path_yield(struct gt_ptx_warp *warp, uint32_t starved);

/* Begins a kernel, for all lanes; NULL when it cannot. */
const struct gt_ptx_op *gt_ptx_begin(struct gt_ptx_warp *warp, const struct gt_ptx_code *code);

/* After lanes have exited: .sync operations and barriers that waited for them. */
void gt_ptx_sync_left(struct gt_ptx_warp *warp);
void gt_ptx_barrier_left(struct gt_ptx_warp *warp);
/* Lets go on who waits at a barrier that all have reached. */
void gt_ptx_release(struct gt_ptx_core *core, unsigned barrier);
/* Wakes the paths of a warp that wait at a barrier. */
void gt_ptx_wake(struct gt_ptx_warp *warp, unsigned barrier, const struct gt_ptx_barrier *found);
/* Lanes of the path that runs wait at a barrier, to go on behind `op`. Returns what runs meanwhile. */
const struct gt_ptx_op *gt_ptx_path_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
					 unsigned barrier);
/* Says what a path waits for, for a message. */
void gt_ptx_path_describe(const struct gt_ptx_path *path, char *text, size_t size);

#endif
