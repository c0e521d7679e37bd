/* SPDX-License-Identifier: MIT */
#include "schedule/modelled.h"

uint64_t gt_modelled_of_sm(const struct gt_schedule *schedule)
{
	uint64_t capacity = gt_machine_capacity(schedule), waves = schedule->config->waves;

	return waves == 0 || capacity > UINT64_MAX / waves ? UINT64_MAX : waves * capacity;
}

uint64_t gt_modelled_of_all(const struct gt_schedule *schedule)
{
	uint64_t most = gt_modelled_of_sm(schedule);

	return most > UINT64_MAX / schedule->config->sms ? UINT64_MAX : most * schedule->config->sms;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* If floating, blocks count as those of the SM that rr gives them to. */
void gt_modelled_count(struct gt_schedule *schedule, uint64_t *most, uint64_t *all)
{
	*most = *all = 0;
	for (uint32_t sm = 0; sm < schedule->config->sms; sm++) {
		if (!gt_is_modelled(schedule, sm))
			continue;
		uint64_t blocks = gt_mapping_count(&schedule->mapping, sm, schedule->blocks);
		*most = blocks > *most ? blocks : *most;
		*all += least(blocks, gt_modelled_of_sm(schedule));
	}
	if (schedule->floating)
		*all = schedule->config->only_sms ? schedule->admitted : least(schedule->blocks, gt_modelled_of_all(schedule));
}
