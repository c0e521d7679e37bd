/* SPDX-License-Identifier: MIT */
/* The order in which the steps of a block are issued: of those whose sources are there, the one that the
 * longest chain of work hangs on (list scheduling: Gibbons and Muchnick 1986, "Efficient instruction scheduling
 * for a pipelined architecture"). Loads, which take long, so come early, and those that do not need each
 * other are in flight at once. Linear in the steps but for the heap. */
#ifndef GT_PTX_ESTIMATE_ORDER_H
#define GT_PTX_ESTIMATE_ORDER_H

#include "cuda/ptx/estimate/block.h"

/* order: room for block->n steps. */
int gt_ptx_order(const struct gt_ptx_renamed *block, uint32_t *order, struct gt_error *error);

#endif
