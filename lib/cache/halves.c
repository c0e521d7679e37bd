/* SPDX-License-Identifier: MIT */
#include "cache/halves.h"

#include "cache/serve.h"

/* As a level of one part does. */
static int serve_in_half(const struct gt_serving *serving)
{
	const struct gt_level *level = serving->level;

	return level->in_half[level->class_of[serving->request.op]](serving);
}

int gt_halves_read(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_halves_counters *counters = &level->halves;
	unsigned home = gt_home_of(serving->request.address), half = gt_half_of(serving->request.sm);
	struct gt_serving at_home = *serving, near = *serving;
	uint64_t line = serving->request.address >> level->line_shift, used = serving->request.sectors & 15, hits = 0;
	uint32_t set = gt_level_set_of(level, line), slot = GT_NO_SLOT;
	bool streams = level->class_of[serving->request.op] == GT_CLASS_STREAM;

	if (half != home) {
		near.tags = level->instances[half];
		slot = gt_tags_find(near.tags, set, line);
		if (slot != GT_NO_SLOT) {
			hits = used & gt_tags_valid(near.tags, slot);
			slot = gt_level_touch(level, near.tags, set, slot, hits, used, level->counters.mru);
			if (streams)
				gt_tags_demote(near.tags, set, slot);
		}
		level->counters.reads += gt_bits_of_4[hits];
		level->counters.read_hits += gt_bits_of_4[hits];
		counters->half_reads[half] += gt_bits_of_4[used];
		counters->half_hits[half] += gt_bits_of_4[hits];
		used &= ~hits;
		if (used == 0)
			return 0;
		counters->far_reads += gt_bits_of_4[used];
		at_home.request.sectors = (uint8_t)used;
	}
	uint64_t before = level->counters.read_hits;
	if (serve_in_half(&at_home) != 0)
		return -1;
	hits = level->counters.read_hits - before;
	counters->half_reads[home] += gt_bits_of_4[used];
	counters->half_hits[home] += hits;
	if (half == home)
		return 0;
	counters->far_hits += hits;
	return gt_level_arrive(&near, line, used, slot != GT_NO_SLOT, &slot);
}

/* Makes the sectors of the request invalid in the half that is not their home. */
static void drop_copy(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = level->instances[1 - gt_home_of(serving->request.address)];
	uint64_t line = serving->request.address >> level->line_shift, used = serving->request.sectors & 15;

	uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(tags, set, line);
	if (slot == GT_NO_SLOT)
		return;
	level->halves.dropped_copies += gt_bits_of_4[gt_tags_valid(tags, slot) & used];
	gt_tags_invalidate(tags, slot, used);
	if (gt_tags_valid(tags, slot) == 0)
		gt_tags_drop(tags, set, slot);
}

int gt_halves_write(const struct gt_serving *serving)
{
	drop_copy(serving);
	return serve_in_half(serving);
}
