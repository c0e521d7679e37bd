/* SPDX-License-Identifier: MIT */
/* Puts accesses into logical order: by block, access number, warp (GT_ORDER_BLOCK). They come block by block, with the warps of
 * a block interleaved as they ran. An access is held until no later one can precede it, in memory and, when that is full, in a
 * temporary file in $TMPDIR, or /tmp. */
#ifndef GT_PTX_BLOCKORDER_H
#define GT_PTX_BLOCKORDER_H

#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/exec/hold.h"
#include "stream/rows.h"

struct gt_ptx_blockorder;

/* Rows are passed to the sink `to`, which the caller owns. Held rows use up to `memory` bytes of memory. */
struct gt_ptx_blockorder *gt_ptx_blockorder_open(struct gt_sink *to, uint64_t memory, struct gt_error *error);
void gt_ptx_blockorder_close(struct gt_ptx_blockorder *order);

/* The sink for the accesses. */
struct gt_sink *gt_ptx_blockorder_sink(struct gt_ptx_blockorder *order);

/* For accesses that come without a sink (the launch's `hold`). Its `ended` is the launch's: with it, accesses of a long block
 * are passed on early. */
struct gt_ptx_hold *gt_ptx_blockorder_hold(struct gt_ptx_blockorder *order);

/* Passes rows to another sink from now on. None is held. */
void gt_ptx_blockorder_to(struct gt_ptx_blockorder *order, struct gt_sink *to);

/* Calls `ended` between two groups of so many blocks, when the accesses of the first have been passed on. 0: never. */
void gt_ptx_blockorder_groups(struct gt_ptx_blockorder *order, uint64_t blocks, int (*ended)(void *context, struct gt_error *error),
			      void *context);

/* Passes on all held accesses, at the end of a launch. */
int gt_ptx_blockorder_finish(struct gt_ptx_blockorder *order, struct gt_error *error);

#endif
