/* SPDX-License-Identifier: MIT */
/* Requests that are deferred: --arrival rr takes them in turns, and a policy that looks ahead needs those of the whole kernel. */
#ifndef GT_CACHE_DEFERRED_H
#define GT_CACHE_DEFERRED_H

#include <stdint.h>

#include "base/error.h"
#include "cache/state.h"
#include "stream/rows.h"

/* ---- --arrival rr ---- */

void gt_arrival_close(struct gt_arrivals *arrival);

/* Puts a batch of scheduled requests at the ends of their SMs' queues. */
int gt_arrival_add(struct gt_arrivals *arrival, const struct gt_rows *requests, struct gt_error *error);

/* The next batch, in rounds of ascending SM; the step of a request is its round, from 0. `rows` is valid until the next
 * call. Returns 1; 0 when no request is left, and requests can be added again; or -1. */
int gt_arrival_next(struct gt_arrivals *arrival, const struct gt_rows **rows, struct gt_error *error);

/* ---- lookahead ---- */

/* Holds requests until the end of their kernel, for a policy that looks ahead; then each is served with the next use of
 * its lines. A use is a request that would fetch the line if it were absent. A line that a store or an atomic invalidates
 * before has none. */

#define GT_NO_USE UINT64_MAX

/* For the requests of one level, which must outlive it. They use the memory of its config, and then a file in its
 * directory. NULL on error. */
struct gt_lookahead *gt_lookahead_open(const struct gt_level *level, struct gt_error *error);
void gt_lookahead_close(struct gt_lookahead *lookahead);

/* Appends a batch of requests. */
int gt_lookahead_add(struct gt_lookahead *lookahead, const struct gt_rows *requests, struct gt_error *error);

/* The next batch, unchanged; valid until the next call. next_use has a word for each line that a request can touch
 * (gt_lookahead_lines of them): for line L of request i, the word i * lines + L modulo lines. A larger word is a later use.
 * Returns 1; 0 when no request is left, and requests can be added again; or -1. */
int gt_lookahead_next(struct gt_lookahead *lookahead, const struct gt_rows **rows, const uint64_t **next_use,
		      struct gt_error *error);

/* Lines of this level that a request can touch: a power of two. */
unsigned gt_lookahead_lines(const struct gt_level *level);

#endif
