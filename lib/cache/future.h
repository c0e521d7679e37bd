/* SPDX-License-Identifier: MIT */
/* Holds requests until the end of their kernel, for a policy that looks ahead; then each is served with the next use of
 * its lines. A use is a request that would fetch the line if it were absent. A line that a store or an atomic invalidates
 * before has none. */
#ifndef GT_CACHE_FUTURE_H
#define GT_CACHE_FUTURE_H

#include <stdint.h>

#include "base/error.h"
#include "stream/rows.h"

#define GT_NO_USE UINT64_MAX

struct gt_level;
struct gt_future;

/* For the requests of one level, which must outlive it. They use the memory of its config, and then a file in its
 * directory. NULL on error. */
struct gt_future *gt_future_open(const struct gt_level *level, struct gt_error *error);
void gt_future_close(struct gt_future *future);

/* Appends a batch of requests. */
int gt_future_add(struct gt_future *future, const struct gt_rows *requests, struct gt_error *error);

/* The next batch, unchanged; valid until the next call. next_use has a word for each line that a request can touch
 * (gt_future_lines of them): for line L of request i, the word i * lines + L modulo lines. A larger word is a later use.
 * Returns 1; 0 when no request is left, and requests can be added again; or -1. */
int gt_future_next(struct gt_future *future, const struct gt_rows **rows, const uint64_t **next_use,
		   struct gt_error *error);

/* Lines of this level that a request can touch: a power of two. */
unsigned gt_future_lines(const struct gt_level *level);

#endif
