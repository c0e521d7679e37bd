/* SPDX-License-Identifier: MIT */
/* A cache level, timed: parallel banks with ports, MSHRs and latencies. [000] 4.4 where a full MSHR
 * stalls (--on-full stall), [002] 4.2 to 4.5 where it sends the warp to the end of the queue
 * (requeue). Tags, index and replacement are those of the functional level. */
#ifndef GT_CACHE_TIMED_H
#define GT_CACHE_TIMED_H

#include <stdint.h>

#include "base/error.h"
#include "cache/config.h"
#include "stream/count.h"
#include "stream/rows.h"

enum gt_timed_status {
	GT_TIMED_HIT,
	GT_TIMED_MISS,	 /* took an entry, if there are MSHRs, and was sent on */
	GT_TIMED_MERGED, /* what it misses is on its way: [002]'s latency miss */
	GT_TIMED_FAIL,	 /* no MSHR entry, or no merge: tried again later */
	GT_TIMED_PASSED, /* a store, or what bypasses: no waiting */
	GT_TIMED_EFFECT, /* a block comes, or a hit takes effect */
	GT_TIMED_STATUSES
};

/* What happened to one lookup, for the callback that watches. */
struct gt_timed_event {
	enum gt_timed_status status;
	uint64_t step;
	uint64_t line;
	uint64_t latency; /* of a miss or a hit */
	uint64_t effect;  /* the step at whose end it takes effect */
	uint64_t busy;	  /* entries of its MSHR set that are taken, before and after */
	uint64_t busy_after;
	uint32_t block, an, bank, port;
	uint32_t position; /* of a hit: recency in its set; else UINT32_MAX */
	uint16_t warp, sm;
	uint8_t found; /* enum gt_status: what GT_TIMED_PASSED does not say */
};

struct gt_timed;

/* An empty level of a config that passed gt_level_check and gt_timed_check. NULL on error. */
struct gt_timed *gt_timed_open(const struct gt_level_config *config, struct gt_error *error);
void gt_timed_close(struct gt_timed *timed);
/* Calls `watch` for every event from now on. */
void gt_timed_watch(struct gt_timed *timed, void (*watch)(void *context, const struct gt_timed_event *event),
		    void *context);

/* -1 where a kernel's window would have to be honoured: the timed model honours none. */
int gt_timed_window(const struct gt_timed *timed, const struct gt_window *window, struct gt_error *error);

/* A kernel begins: counters are zero and steps begin at 0. What the level holds stays. */
void gt_timed_begin(struct gt_timed *timed);

/* Takes scheduled requests, by step. What is sent goes to `sent`, by (step, SM), at the step
 * that the model found; or with emit all each lookup, and each attempt that failed, with its status. */
int gt_timed_take(struct gt_timed *timed, const struct gt_rows *requests, struct gt_sink *sent,
		  struct gt_error *error);

/* The kernel ends: serves what waits, lets everything arrive, and flushes if the config says so. */
int gt_timed_finish(struct gt_timed *timed, struct gt_sink *sent, struct gt_error *error);

/* As gt_level_count, with the counters of time. */
int gt_timed_count(const struct gt_timed *timed, const char *stage, uint64_t kernel, struct gt_count *count,
		   struct gt_error *error);

#endif
