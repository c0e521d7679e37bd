/* SPDX-License-Identifier: MIT */
/* A timed cache level: parallel banks with ports, MSHRs and latencies. If the MSHRs are full it stalls ([000] 4.4, --on-full
 * stall), or the warp goes to the end of the queue ([002] 4.2 to 4.5, requeue). Tags, index and replacement are those of the
 * functional level. */
#ifndef GT_CACHE_TIMED_TIMED_H
#define GT_CACHE_TIMED_TIMED_H

#include <stdint.h>

#include "base/error.h"
#include "cache/config.h"
#include "stream/count.h"
#include "stream/rows.h"

enum gt_timed_status {
	GT_TIMED_HIT,
	GT_TIMED_MISS,	 /* took an entry, if there are MSHRs, and was sent on */
	GT_TIMED_MERGED, /* joined a miss in flight: the latency miss of [002] */
	GT_TIMED_FAIL,	 /* no MSHR entry, or no merge: tried again later */
	GT_TIMED_PASSED, /* a store, or a request that bypasses: no waiting */
	GT_TIMED_EFFECT, /* a block arrives, or a hit takes effect */
	GT_TIMED_STATUSES
};

/* The event of one lookup, for the watching callback. */
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

/* Returns -1 if the window applies to this level, since the timed model does not support windows. */
int gt_timed_window(const struct gt_timed *timed, const struct gt_window *window, struct gt_error *error);

/* A kernel begins: counters are zero and steps begin at 0. The contents of the level are kept. */
void gt_timed_begin(struct gt_timed *timed);

/* As gt_level_launch: what the launch reads is there at once. */
void gt_timed_launch(struct gt_timed *timed, const struct gt_kernel *kernel);

/* Takes scheduled requests in the order of steps. `sent` gets the requests sent on, by (step, SM) with the step of the model;
 * or with emit all each lookup and each failed attempt, with its status. */
int gt_timed_take(struct gt_timed *timed, const struct gt_rows *requests, struct gt_sink *sent,
		  struct gt_error *error);

/* The kernel ends: serves waiting requests, completes all flights, and flushes if the config requires it. */
int gt_timed_finish(struct gt_timed *timed, struct gt_sink *sent, struct gt_error *error);

/* As gt_level_count, with the counters of time. */
int gt_timed_count(const struct gt_timed *timed, const char *stage, uint64_t kernel, struct gt_count *count,
		   struct gt_error *error);

#endif
