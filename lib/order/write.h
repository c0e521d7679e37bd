/* SPDX-License-Identifier: MIT */
/* What has been ordered (order/order.h), written to a stream. */
#ifndef GT_ORDER_WRITE_H
#define GT_ORDER_WRITE_H

#include "order/order.h"
#include "stream/records.h"

/* As gt_order_finish, in as many threads as the options say. */
int gt_order_write(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error);

#endif
