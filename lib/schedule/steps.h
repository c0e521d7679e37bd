/* SPDX-License-Identifier: MIT */
/* The steps of the schedule, and what happens in each. Private to lib/schedule. */
#ifndef GT_SCHEDULE_STEPS_H
#define GT_SCHEDULE_STEPS_H

#include "schedule/machine.h"

/* Runs step by step, in each step the SMs in order, as far as the rows that have arrived allow. */
int gt_schedule_run(struct gt_schedule *schedule, struct gt_error *error);

#endif
