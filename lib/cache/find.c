/* SPDX-License-Identifier: MIT */
/* Serves one request of any kind, and determines its status. */
#include "cache/serve.h"
#include "stream/status.h"

static uint64_t misses(const struct gt_level_counters *counters)
{
	return counters->line_misses + counters->sector_misses;
}

static uint64_t hits(const struct gt_level_counters *counters)
{
	return counters->read_hits + counters->write_hits + counters->atomic_hits;
}

int gt_level_find(const struct gt_serving *serving, uint8_t *status)
{
	const struct gt_level *level = serving->level;
	const struct gt_level_counters *counters = &level->counters;
	uint64_t missed = misses(counters), hit = hits(counters);
	bool hinted = serving->request.hint != 0 || level->window.bytes > 0;

	if ((hinted ? gt_serve_hinted : level->serve[level->class_of[serving->request.op]])(serving) != 0)
		return -1;
	*status = misses(counters) > missed ? GT_STATUS_MISS : hits(counters) > hit ? GT_STATUS_HIT : GT_STATUS_NONE;
	return 0;
}
