/* SPDX-License-Identifier: MIT */
/* Packs the rows of a block, warp by warp. */
#ifndef GT_SCHEDULE_PACKING_H
#define GT_SCHEDULE_PACKING_H

#include "schedule/block.h"

/* Packs rows [first, first + n) of a batch, GT_COMPARED_ROWS at most. Returns 0, or -1. */
int gt_packing_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t n,
		   struct gt_error *error);

/* Packs the loose rows: from now on the block is packed. Returns 0, or -1. */
int gt_packing_take_loose(struct block *block, struct keep *keep, struct gt_error *error);

/* No more rows will come. Returns 0, or -1. */
int gt_packing_end(struct block *block, struct keep *keep, struct gt_error *error);

/* The next warp from `warp` on that has rows; NULL: none has. */
struct packed_warp *gt_packing_next(const struct block *block, size_t *warp);

/* Releases the rows that no source has taken over. */
void gt_packing_free(struct block *block, struct keep *keep);

#endif
