/* SPDX-License-Identifier: MIT */
/* The requests of the warps that are resident together on one instance, in the order of each warp, if the level decides
 * which warps issue. */
#ifndef GT_CACHE_TIMED_WARPS_H
#define GT_CACHE_TIMED_WARPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "cache/config.h"
#include "stream/request.h"

#define GT_NO_REQUEST UINT32_MAX

struct gt_wave_request {
	struct gt_request request;
	uint32_t next; /* of its warp, or GT_NO_REQUEST */
};

struct gt_warp {
	uint32_t block;
	uint16_t warp;
	uint8_t piece;	    /* of its next request: the first piece that is not served */
	uint32_t next;	    /* of its requests; GT_NO_REQUEST: it is done */
	uint32_t last;	    /* of its requests */
	uint32_t follower;  /* the warp that last followed it; tried first */
	uint64_t effect;    /* the latest of the requests of its access so far */
	uint64_t ready;	    /* while delayed: the step at which it can continue */
	uint64_t order;	    /* in which warps were delayed */
};

struct gt_wave {
	struct gt_wave_request *requests;
	size_t n, capacity;
	struct gt_warp *warps;
	uint32_t warps_n, warps_capacity;
	uint32_t current;   /* the warp of the last row */
	struct gt_map known; /* blocks, and warps with their place */
};

/* Which warp of a wave issues next. Warps are assigned to schedulers by their place in the wave modulo schedulers. A warp is
 * ready, delayed, taken by its scheduler, or done. */

#define GT_NO_WARP UINT32_MAX

/* The ready warps of a scheduler, by their number among its own: a queue, or a set. */
struct gt_ready {
	uint32_t *queue; /* a ring of `warps` */
	uint64_t *set;	 /* a bit each */
	uint32_t warps;	 /* that the scheduler has */
	uint32_t first;
	uint32_t n;	 /* ready */
	uint32_t last;	 /* that was taken; or GT_NO_WARP */
	uint32_t failed; /* the warp that found no MSHR when it was taken last; or GT_NO_WARP */
};

struct gt_issue_policy;

struct gt_pool {
	const struct gt_issue_policy *policy;
	struct gt_wave *wave;
	struct gt_ready *ready; /* of each scheduler */
	uint32_t schedulers;
	uint32_t ready_n;   /* of all */
	uint32_t delayed_n;
	uint32_t *delayed; /* a heap by (ready, order) */
	uint64_t delays;
	void *memory; /* of queues, sets and heap */
};

/* Puts the warps of the wave in order of block and index, and opens a pool in which all are ready. Nothing can be added to the wave
 * after. Returns 0, or -1 when memory is short. */
int gt_pool_open(struct gt_pool *pool, struct gt_wave *wave, enum gt_own_issue issue, uint32_t schedulers,
		 struct gt_error *error);
void gt_pool_close(struct gt_pool *pool);

/* Takes the next warp of a scheduler; GT_NO_WARP if none is ready. */
uint32_t gt_pool_take(struct gt_pool *pool, uint32_t scheduler);
/* Returns a warp that found no MSHR. */
void gt_pool_fail(struct gt_pool *pool, uint32_t warp);
/* Returns a warp that can continue at step `ready`. */
void gt_pool_delay(struct gt_pool *pool, uint32_t warp, uint64_t ready);
/* Makes the warps ready whose delay has passed at `step`. */
void gt_pool_wake(struct gt_pool *pool, uint64_t step);

/* The step at which the first delayed warp can continue. There must be one. */
static inline uint64_t gt_pool_next(const struct gt_pool *pool)
{
	return pool->wave->warps[pool->delayed[0]].ready;
}

#endif
