/* SPDX-License-Identifier: MIT */
/* Requests that wait for the end of their kernel, for a policy that looks ahead: then each is served
 * with the next use of its lines. A use is a request that would bring the line in if it were absent;
 * a line that a store or an atomic makes invalid before that has none. */
#ifndef GT_CACHE_FUTURE_H
#define GT_CACHE_FUTURE_H

#include <stdint.h>

#include "base/error.h"
#include "stream/rows.h"

#define GT_NO_USE UINT64_MAX

struct gt_level;
struct gt_ahead;

/* For the requests of one level, which must outlive it. They take its config's memory, and then a
 * file in its directory. NULL on error. */
struct gt_ahead *gt_ahead_open(const struct gt_level *level, struct gt_error *error);
void gt_ahead_close(struct gt_ahead *ahead);

/* Puts a batch of requests behind those that wait. */
int gt_ahead_add(struct gt_ahead *ahead, const struct gt_rows *requests, struct gt_error *error);

/* Gives everything to `take`, batch by batch, as it came. next_use has a word for each line that a
 * request can touch (gt_ahead_lines of them): of the line L of request i, that of number
 * i * lines + L modulo lines; a larger word is a later use. Then nothing waits. */
typedef int gt_ahead_take(void *context, const struct gt_rows *requests, const uint64_t *next_use,
			  struct gt_error *error);
int gt_ahead_drain(struct gt_ahead *ahead, gt_ahead_take *take, void *context, struct gt_error *error);

/* Lines of this level that a request can touch: a power of two. */
unsigned gt_ahead_lines(const struct gt_level *level);

#endif
