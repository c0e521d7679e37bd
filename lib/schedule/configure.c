/* SPDX-License-Identifier: MIT */
#include "schedule/schedule.h"

#include <string.h>

#include "base/scan.h"
#include "stream/rows.h"

/* A number, or the first one of a list of cycles; 0 if there is none. */
static uint64_t cycles_of(const struct gt_gpu *gpu, const char *key)
{
	const char *text = gt_gpu_get(gpu, key);
	uint64_t cycles;

	return text && gt_scan_upto(&text, UINT32_MAX, &cycles) ? cycles : 0;
}

/* A size, of which a word such as none, line or sector is not one. */
static uint64_t size_of(const struct gt_gpu *gpu, const char *key, uint64_t otherwise)
{
	struct gt_error ignored;
	uint64_t bytes;

	return gt_gpu_size(gpu, key, otherwise, &bytes, &ignored) == 0 ? bytes : otherwise;
}

static bool says(const struct gt_gpu *gpu, const char *key, const char *value)
{
	const char *text = gt_gpu_get(gpu, key);

	return text && strcmp(text, value) == 0;
}

static struct gt_issue_times times_of(const struct gt_gpu *gpu)
{
	bool bypassed = says(gpu, "l1.bypass", "reads") || says(gpu, "l1.bypass", "all");
	uint64_t slices = cycles_of(gpu, "dram.channels");

	return (struct gt_issue_times){
		.l1 = cycles_of(gpu, "l1.hit_cycles"), .l2 = cycles_of(gpu, "l2.hit_cycles"),
		.dram = cycles_of(gpu, "l2.miss_cycles"), .l1_bytes = bypassed ? 0 : size_of(gpu, "l1.size", 0),
		.l1_sector = says(gpu, "l1.sector", "line") ? size_of(gpu, "l1.line", GT_LINE) : size_of(gpu, "l1.sector", GT_SECTOR),
		.l2_bytes = size_of(gpu, "l2.size", 0), .l2_fetch = size_of(gpu, "l2.fetch", GT_SECTOR),
		.l1_stores = !says(gpu, "l1.allocate", "no"),
		.l2_spread = cycles_of(gpu, "l2_spread"), .slices = slices > 0 ? slices : 1};
}

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
	config->times = times_of(gpu);
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
