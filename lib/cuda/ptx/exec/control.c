/* SPDX-License-Identifier: MIT */
/* Control flow of lanes: branches and their joins, returns and exits. */
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/cluster.h"
#include "cuda/ptx/exec/paths.h"

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

const struct gt_ptx_op *gt_ptx_return(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	if (!warp->frame->caller)
		return gt_ptx_exit(warp, op, mask);
	gt_ptx_give_back(warp, mask);
	return leave(warp, op, mask, false);
}

const struct gt_ptx_op *gt_ptx_exit(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	warp->live &= ~mask;
	return leave(warp, op, mask, true);
}

const struct gt_ptx_op *gt_ptx_trap(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "trap");
}

const struct gt_ptx_op *gt_ptx_unknown(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "%s", op->with.text);
}
