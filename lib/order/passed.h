/* SPDX-License-Identifier: MIT */
/* What was passed over in a trace, by kinds of records. */
#ifndef GT_ORDER_PASSED_H
#define GT_ORDER_PASSED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/count.h"

/* Kinds of which there is more to say. */
#define GT_PASSED_REGISTERS "impossible register counts"
#define GT_PASSED_SHARED "impossible shared memory"
#define GT_PASSED_VERSIONS "tracer versions above 6" /* as importers name them */

struct gt_passed_kind {
	char what[GT_COUNT_NAME];
	uint64_t number;
};

/* Initially zero. */
struct gt_passed_list {
	struct gt_passed_kind *kinds; /* in the order of first appearance */
	size_t n, capacity;
};

int gt_passed_add(struct gt_passed_list *list, const char *what, uint64_t n, struct gt_error *error);
void gt_passed_clear(struct gt_passed_list *list);

/* What the user can do about what was passed over, or what was done; NULL: nothing is to be said. */
const char *gt_passed_remark(const char *what);

/* Adds them to a count: "TMA instructions" as tma_instructions. */
int gt_passed_count(struct gt_count *count, const struct gt_passed_list *list, struct gt_error *error);

#endif
