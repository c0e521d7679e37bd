/* SPDX-License-Identifier: MIT */
/* The unit of reuse: lines, sectors or addresses; and the references of a row. */
#ifndef GT_REUSE_UNIT_H
#define GT_REUSE_UNIT_H

#include "base/error.h"
#include "stream/rows.h"

#define GT_UNIT_SIZE_MAX (UINT64_C(1) << 40) /* bytes */

struct gt_granularity {
	const char *name;
	enum gt_rows_kind kind;		     /* of the rows it reads */
	uint64_t usual, smallest, largest;   /* bytes of a unit: powers of two */
	/* The numbers (address >> shift) of the units that row i refers to, in order, into an array
	 * of GT_WARP_SIZE; returns how many. */
	unsigned (*references)(const struct gt_rows *rows, size_t i, unsigned shift, uint64_t *units);
};

extern const struct gt_granularity gt_granularity_line;

struct gt_unit {
	const struct gt_granularity *granularity;
	unsigned shift; /* log2 of its bytes */
};

/* "line", "line:SIZE", "sector", "address" or "address:SIZE". Returns 0, or -1 with what was expected. */
int gt_unit_parse(const char *text, struct gt_unit *unit, struct gt_error *error);

#endif
