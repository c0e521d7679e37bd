/* SPDX-License-Identifier: MIT */
/* A batch of requests, divided among the lanes of a level (cache/divided.h). */
#ifndef GT_CACHE_DIVISION_H
#define GT_CACHE_DIVISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cache/level.h"
#include "cache/served.h"
#include "stream/rows.h"

#define GT_DIVISION_SMS 65536 /* values of the column sm */

/* What a lane has of a batch: a list of its rows, or copies of them, in which `an` is the number of the row. */
struct gt_part {
	struct gt_row_list list;
	size_t list_capacity, sets_capacity;
	struct gt_rows *rows;
	struct gt_rows *sent; /* what it sends for them */
	size_t gathered;
};

/* Zero at first. */
struct gt_division {
	struct gt_part *parts;
	unsigned lanes;
	bool listed; /* the lanes serve rows of the batch itself; else copies */
};

/* Returns 0, or -1 when memory is short. It can be closed in either case. */
int gt_division_open(struct gt_division *division, unsigned lanes, struct gt_error *error);
void gt_division_close(struct gt_division *division);

/* Divides a batch by its SMs, or by sets if the level is shared, each of which has a lane. Nothing is sent yet: `sent` is of accesses. The level is one of those that
 * serve it. Returns 0, or -1 when memory is short. */
int gt_division_split(struct gt_division *division, const struct gt_level *level, const uint8_t *lanes,
		      const struct gt_rows *requests, struct gt_error *error);

#endif
