/* SPDX-License-Identifier: MIT */
#include "schedule/schedule.h"

int gt_schedule_configure(struct gt_schedule_config *config, const struct gt_gpu *gpu, struct gt_error *error)
{
	bool all = config->limits.all;
	uint64_t sms, schedulers;

	if (gt_limits_load(&config->limits, gpu, error) != 0 || gt_gpu_count(gpu, "sms", 0, &sms, error) != 0 ||
	    gt_gpu_count(gpu, "schedulers", 1, &schedulers, error) != 0)
		return -1;
	config->limits.all = all;
	if (sms > GT_SMS_MAX || schedulers > GT_SCHEDULERS_MAX)
		return gt_fail(error, "expected at most %d SMs and %d schedulers", GT_SMS_MAX, GT_SCHEDULERS_MAX);
	config->sms = (uint32_t)sms;
	config->schedulers = (uint32_t)schedulers;
	if (config->dispatch)
		return 0;
	const char *dispatch = gt_gpu_get(gpu, "dispatch");
	config->dispatch = gt_dispatch_find(dispatch ? dispatch : "wave", error);
	if (!config->dispatch) {
		struct gt_error why = *error;
		return gt_fail(error, "dispatch in the GPU description: %s", why.text);
	}
	return 0;
}
