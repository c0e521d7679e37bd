/* SPDX-License-Identifier: MIT */
/* The rows of one high word of the key from spans of warps (order/kept.h), which are in order already: as long as there are not
 * many, looking at the next row of each is less work than sorting all. */
#ifndef GT_ORDER_WARPS_H
#define GT_ORDER_WARPS_H

#include "order/kept.h"

#define GT_WARPS_SPANS 64

/* What is left of a span: the next record, and the number that its key has between the high word and the warp. */
struct gt_warps_rest {
	const char *at;
	size_t left;
	uint32_t second;
	uint8_t warp;
};

struct gt_warps {
	bool by_an;
	struct gt_warps_rest spans[GT_WARPS_SPANS]; /* by warp; those of one warp as they came */
	size_t n, at;				    /* and where the next row is looked for */
	uint32_t second;			    /* of the rows whose turn it is */
	uint64_t following;			    /* the least second of those that were passed over */
};

void gt_warps_begin(struct gt_warps *warps, bool by_an);
/* Adds one of at most GT_WARPS_SPANS spans. */
void gt_warps_add(struct gt_warps *warps, const struct gt_span *span);
/* The next record, or NULL. */
const struct gt_record *gt_warps_next(struct gt_warps *warps);

#endif
