/* SPDX-License-Identifier: MIT */
/* Accesses that come block by block, the warps of a block interleaved as they ran, put into their
 * logical order: by block, access number, warp (GT_ORDER_BLOCK). An access is held until none that is
 * to come can precede it, in memory and, when that is full, in a temporary file in $TMPDIR, or /tmp. */
#ifndef GT_PTX_BLOCKORDER_H
#define GT_PTX_BLOCKORDER_H

#include <stdint.h>

#include "base/error.h"
#include "stream/rows.h"

struct gt_ptx_blockorder;

/* Rows go on to the sink `to`, which stays the caller's. What is held takes `memory` bytes of memory. */
struct gt_ptx_blockorder *gt_ptx_blockorder_open(struct gt_sink *to, uint64_t memory, struct gt_error *error);
void gt_ptx_blockorder_close(struct gt_ptx_blockorder *order);

/* Where the accesses are put. */
struct gt_sink *gt_ptx_blockorder_sink(struct gt_ptx_blockorder *order);

/* Where it is noted, bit by bit, which warps of the block whose accesses come make no more of them (launch's
 * `ended`). Those of a long block pass on early if it is. */
uint32_t *gt_ptx_blockorder_ended(struct gt_ptx_blockorder *order);

/* Passes on what is held: at the end of every launch. */
int gt_ptx_blockorder_finish(struct gt_ptx_blockorder *order, struct gt_error *error);

#endif
