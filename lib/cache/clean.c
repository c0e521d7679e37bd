/* SPDX-License-Identifier: MIT */
/* The bound on the lines of a set that are dirty: the least recently used of them is written back, and stays. */
#include "cache/serve.h"

static int write_back(const struct gt_serving *serving, uint32_t slot)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint64_t dirty = tags->dirty[slot], before = level->counters.sent_writes;

	if (gt_send_back(serving, tags->tag[slot] - 1, dirty, dirty & gt_tags_valid(tags, slot)) != 0)
		return -1;
	level->clean.cleaned += level->counters.sent_writes - before;
	tags->dirty[slot] = 0;
	return gt_tags_hold(tags, slot, dirty & ~gt_tags_valid(tags, slot), serving->error);
}

int gt_level_clean(const struct gt_serving *serving, uint32_t set, uint32_t slot)
{
	const struct gt_level *level = serving->level;
	const uint64_t *dirty = serving->tags->dirty;
	uint32_t n = gt_tags_by_recency(serving->tags, set, level->slots), found = 0, oldest = slot;

	for (uint32_t i = 0; i < n; i++) {
		if (!dirty[level->slots[i]])
			continue;
		found++;
		if (level->slots[i] != slot)
			oldest = level->slots[i];
	}
	return found > level->config.dirty_ways ? write_back(serving, oldest) : 0;
}
