/* SPDX-License-Identifier: MIT */
/* The end of holding batches (order/batches.h): their rows are sorted with others. */
#ifndef GT_ORDER_SCATTER_H
#define GT_ORDER_SCATTER_H

#include "order/ordering.h"

/* Makes rows of the batches; no more are held from now on. Returns 0, or -1. */
int gt_order_scatter(struct gt_ordering *order, struct gt_error *error);

#endif
