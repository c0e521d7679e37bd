/* SPDX-License-Identifier: MIT */
/* Serves one request of any kind, and determines its status. */
#include "cache/serve.h"
#include "stream/status.h"

/* Prefetches that are ignored are counted, but not looked up. */
static uint64_t misses(const struct gt_level *level)
{
	const struct gt_hint_counters *hints = &level->hints;

	return gt_level_missed(level) +
	       (level->config.hints == GT_HINTS_HONOUR ? hints->prefetches - hints->prefetch_hits : 0);
}

static uint64_t hits(const struct gt_level *level)
{
	const struct gt_level_counters *counters = &level->counters;

	return counters->read_hits + counters->write_hits + counters->atomic_hits + level->hints.prefetch_hits;
}

int gt_level_find(const struct gt_serving *serving, uint8_t *status)
{
	const struct gt_level *level = serving->level;
	uint64_t missed = misses(level), hit = hits(level);
	bool hinted = serving->request.hint != 0 || level->window.bytes > 0;

	if ((hinted ? gt_serve_hinted : level->serve[level->class_of[serving->request.op]])(serving) != 0)
		return -1;
	*status = misses(level) > missed ? GT_STATUS_MISS : hits(level) > hit ? GT_STATUS_HIT : GT_STATUS_NONE;
	return 0;
}
