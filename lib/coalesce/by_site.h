/* SPDX-License-Identifier: MIT */
/* What the accesses of a kernel cost by site, an instruction with an array (stream/program.h), and which bytes of memory they touch:
 * counted beside the coalescer's own counters, as gcoalesce --by site has them. */
#ifndef GT_COALESCE_BY_SITE_H
#define GT_COALESCE_BY_SITE_H

#include <stddef.h>

#include "base/error.h"
#include "stream/count.h"
#include "stream/rows.h"

struct gt_by_site;

/* What the coalescer made of an access. */
struct gt_access_cost {
	unsigned sectors, full;		/* of other memory than shared: of its requests, and those that a store overwrites whole */
	unsigned passes, least_passes;	/* of shared memory */
};

/* NULL when memory is short. */
struct gt_by_site *gt_by_site_open(struct gt_error *error);
void gt_by_site_close(struct gt_by_site *by);

/* A kernel begins: all counts are 0. */
void gt_by_site_begin(struct gt_by_site *by);

/* Takes the names of arrays, if the count has them. Returns 0, or -1: it is malformed, or memory is short. */
int gt_by_site_note(struct gt_by_site *by, const struct gt_count *count, struct gt_error *error);

/* Counts access i of a batch, which is of data. Returns 0, or -1 when memory is short. */
int gt_by_site_add(struct gt_by_site *by, const struct gt_rows *accesses, size_t i, const struct gt_access_cost *cost,
		   struct gt_error *error);

/* Appends what was counted: of the kernel, by array, by site in the order of the instructions. Returns 0, or -1 when memory is
 * short. */
int gt_by_site_count(const struct gt_by_site *by, struct gt_count *count, struct gt_error *error);

#endif
