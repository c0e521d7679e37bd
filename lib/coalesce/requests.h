/* SPDX-License-Identifier: MIT */
/* Requests that are not yet written. They are written column by column, which takes half the time of row by
 * row. */
#ifndef GT_COALESCE_REQUESTS_H
#define GT_COALESCE_REQUESTS_H

#include <stdint.h>

#include "coalesce/lines.h"
#include "coalesce/rules.h"
#include "stream/rows.h"

#define GT_REQUESTS_KEPT 512

struct gt_requests {
	unsigned n;
	uint32_t access[GT_REQUESTS_KEPT + GT_TOUCHED_MAX]; /* that the request belongs to; ascending */
	struct gt_touched touched[GT_REQUESTS_KEPT + GT_TOUCHED_MAX];
};

/* Where the next GT_TOUCHED_MAX may be put. */
static inline struct gt_touched *gt_requests_next(struct gt_requests *requests)
{
	return requests->touched + requests->n;
}

/* Records that `n` were put there, for access i. At most GT_REQUESTS_KEPT may have been there before. */
static inline void gt_requests_add(struct gt_requests *requests, unsigned n, size_t i)
{
	for (unsigned k = 0; k < n; k++)
		requests->access[requests->n + k] = (uint32_t)i;
	requests->n += n;
}

/* Writes all in order, with the fields of their accesses; with all sectors if the rule is of whole lines. Returns
 * 0, or -1 with the sink's error. */
int gt_requests_write(struct gt_requests *requests, const struct gt_rows *accesses,
		      const struct gt_coalescing_rule *rule, struct gt_sink *sink, struct gt_error *error);

#endif
