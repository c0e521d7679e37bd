/* SPDX-License-Identifier: MIT */
/* The launches of a trace: which one an announcement is of, and what is known of each. */
#ifndef GT_ORDER_LAUNCHES_H
#define GT_ORDER_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/regex.h"
#include "order/blocks.h"
#include "order/fold.h"
#include "order/limits.h"
#include "order/lines.h"
#include "order/passed.h"
#include "stream/copies.h"
#include "stream/kernel.h"

/* A launch: as announced, the limits of its accesses, and their totals. */
struct gt_order_launch {
	struct gt_kernel kernel;
	bool wanted;
	uint64_t file; /* that announced it first */
	struct gt_order_limits limits;
	bool goes_on; /* in a file behind that one */
	struct gt_order_blocks blocks; /* unless all that make accesses are known to be there: */
	bool whole;
	bool lists_blocks; /* the source says which it has */
	uint32_t greatest_block;
	uint16_t greatest_warp;
	uint64_t accesses, scheduled;
	bool hinted; /* an access has a hint */
	uint64_t timed; /* accesses that say what the warp did before them */
	struct gt_order_lines lines;
	struct gt_copies copies; /* before it */
	struct gt_count *counts; /* of its stream */
	size_t counts_n, counts_capacity;
	struct gt_passed_list passed;
	struct gt_fold_counts held; /* what is counted of its rows in batches (order/batches.h) */
};

struct gt_order_launches {
	struct gt_order_launch **launches;
	size_t n, capacity;
	struct gt_map by_source; /* from the ids of the sources to launches */
	struct gt_map used;	 /* ids that launches have */
	uint64_t next_id;	 /* no smaller one is free */
	uint64_t file;		 /* files begun */
	size_t since;		 /* launches that an id can mean begin here */
};

/* A zeroed struct can be closed. Returns 0, or -1 when memory is short. */
int gt_order_launches_open(struct gt_order_launches *launches, struct gt_error *error);
void gt_order_launches_close(struct gt_order_launches *launches);

/* The place of the launch that is announced, among those seen. A new one is wanted if the expression, unless it is NULL, matches
 * the kernel's name. Returns 1 if the launch goes on, 0 if it is new, or -1. */
int gt_order_launches_enter(struct gt_order_launches *launches, const struct gt_kernel *kernel, struct gt_regex *wanted,
			    uint32_t *index, struct gt_error *error);

/* The launch that an id of the source means now; NULL: none has begun. */
struct gt_order_launch *gt_order_launches_find(const struct gt_order_launches *launches, uint64_t id);

/* Keeps a copy of a count of a launch, which gets the launch's id. Returns 0, or -1 when memory is short. */
int gt_order_launch_keep(struct gt_order_launch *launch, const struct gt_count *count, struct gt_error *error);

#endif
