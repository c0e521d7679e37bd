/* SPDX-License-Identifier: MIT */
/* The fast wing of a level: batches that are mostly plain loads of the usual lines. gt_level_open gives it to the levels of a shape that
 * it knows; all else goes the general path of cache/state.h.
 *
 * What it finds, counts and sends must equal, request by request, what that path does. tests/unit/cache_model.c and
 * cache_properties.c hold it to that, by a plain second implementation and random traces;
 * cache_ways.c does for the vectors of sets whose ways stand in order, and tests/jobs.bats for levels that are divided among threads.
 */
#ifndef GT_CACHE_FAST_FAST_H
#define GT_CACHE_FAST_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/state.h"
#include "stream/rows.h"

/* Opens a level with the wing, if that serves its shape. If `fixed` a line has the same slot until it leaves. NULL on error. */
struct gt_level *gt_fast_open(const struct gt_level_config *config, bool fixed, struct gt_error *error);

/* The rows of a batch that one lane serves of a level that is divided (cache/stage/stage.c), but those that repeat the row before
 * them. */
struct gt_row_list {
	uint32_t *row;
	uint32_t *set; /* of each, if the level is shared */
	size_t n;
	uint64_t requests; /* rows of the batch that are counted here */
	uint64_t repeated; /* sectors of those that repeat, which are counted here */
	uint64_t last_step; /* of those that are counted here, if the level writes back */
	uint32_t *origin; /* of each request that was sent: its row */
	size_t origins, capacity;
};

/* Serves those rows, of a batch without hints, by a level that the fast wing serves, which sends requests
 * into a sink that keeps all of them. */
int gt_level_serve_list(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
			struct gt_error *error);

#endif
