/* SPDX-License-Identifier: MIT */
/* Which SMs and blocks are modelled, as only_sms and waves say. Private to lib/schedule. */
#ifndef GT_SCHEDULE_MODELLED_H
#define GT_SCHEDULE_MODELLED_H

#include "schedule/machine.h"

static inline bool gt_is_modelled(const struct gt_schedule *schedule, uint32_t sm)
{
	return !schedule->config->only_sms || schedule->config->only_sms[sm];
}

/* The largest number of blocks of an SM that are modelled; of all SMs together. */
uint64_t gt_modelled_of_sm(const struct gt_schedule *schedule);
uint64_t gt_modelled_of_all(const struct gt_schedule *schedule);

/* The blocks of the modelled SM that has the most, in modelled waves or not; and the modelled blocks of all SMs. */
void gt_modelled_count(struct gt_schedule *schedule, uint64_t *most, uint64_t *all);

#endif
