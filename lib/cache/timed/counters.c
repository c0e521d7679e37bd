/* SPDX-License-Identifier: MIT */
/* A timed level's counters by name. */
#include <stddef.h>

#include "cache/timed/engine.h"

#define COUNTER(NAME) {#NAME, offsetof(struct gt_timed_counters, NAME)}

static const struct {
	const char *name;
	size_t offset;
} table[] = {
	COUNTER(steps), COUNTER(instance_steps), COUNTER(stalls), COUNTER(port_conflicts), COUNTER(lookups),
	COUNTER(hit_lookups), COUNTER(passed_lookups), COUNTER(merges), COUNTER(latency_misses),
	COUNTER(reservation_fails), COUNTER(reservations), COUNTER(latency_steps), COUNTER(load_steps),
	COUNTER(busy_entries),
};

int gt_timed_count(const struct gt_timed *timed, const char *stage, uint64_t kernel, struct gt_count *count,
		   struct gt_error *error)
{
	const struct gt_timed_counters *counters = &timed->counters;

	if (gt_level_count(timed->level, stage, kernel, count, error) != 0)
		return -1;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		const char *at = (const char *)counters + table[i].offset;
		if (gt_count_number(count, table[i].name, *(const uint64_t *)(const void *)at, error) != 0)
			return -1;
	}
	if (gt_count_array(count, "latency", counters->latency, GT_TIMED_BINS, error) != 0 ||
	    gt_count_array(count, "load_latency", counters->load_latency, GT_TIMED_BINS, error) != 0)
		return -1;
	return gt_count_array(count, "mshr", counters->mshr, GT_TIMED_BINS, error);
}
