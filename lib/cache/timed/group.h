/* SPDX-License-Identifier: MIT */
/* Lookups that issue together, with --on-full stall. */
#ifndef GT_CACHE_TIMED_GROUP_H
#define GT_CACHE_TIMED_GROUP_H

#include "cache/timed/engine.h"

/* For a warp in a group: the step at which its last lookup was served, and that at which the latest takes effect. */
struct gt_last {
	uint64_t served, effect;
};

/* Serves the engine's items, from `step` on. `last`, if not NULL, has a place for each warp. Returns 0, or -1. */
int gt_group_run(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_last *last, struct gt_error *error);

#endif
