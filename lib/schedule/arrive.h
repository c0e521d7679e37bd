/* SPDX-License-Identifier: MIT */
/* Rows arrive, by block or in any order, and blocks are placed on SMs. Private to lib/schedule. */
#ifndef GT_SCHEDULE_ARRIVE_H
#define GT_SCHEDULE_ARRIVE_H

#include "schedule/machine.h"

/* Rows [first, last) of a batch, all of one block. Returns 0, or -1: a row out of order, on the wrong SM, or memory is short. */
int gt_arrive(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last, struct gt_error *error);

/* After the last row: no block is open, and every block is placed. */
int gt_arrive_end(struct gt_schedule *schedule, struct gt_error *error);

#endif
