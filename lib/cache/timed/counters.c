/* SPDX-License-Identifier: MIT */
/* A timed level's counters by name. */
#include <stddef.h>

#include "cache/timed/engine.h"

int gt_timed_count(const struct gt_timed *timed, const char *stage, uint64_t kernel, struct gt_count *count,
		   struct gt_error *error)
{
	const struct gt_timed_counters *counters = &timed->counters;

	if (gt_level_count(timed->level, stage, kernel, count, error) != 0 ||
	    gt_count_numbers(count, &gt_counters_timed, counters, offsetof(struct gt_timed_counters, latency), error) != 0 ||
	    gt_count_array(count, "latency", counters->latency, GT_TIMED_BINS, error) != 0 ||
	    gt_count_array(count, "load_latency", counters->load_latency, GT_TIMED_BINS, error) != 0)
		return -1;
	return gt_count_array(count, "mshr", counters->mshr, GT_TIMED_BINS, error);
}
