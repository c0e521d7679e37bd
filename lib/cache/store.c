/* SPDX-License-Identifier: MIT */
/* How a level serves a store without a hint. */
#include "cache/serve.h"

/* Of the sectors that a store uses, those that hit in a line that is present. */
static uint64_t store_hits(struct gt_level *level, uint64_t used, uint64_t here)
{
	if (!level->config.tag_hits)
		return used & here;
	level->hits_by_tag += gt_count_bits(used & ~here);
	return used;
}

/* A piece of a store that is sent on in any case. */
static int write_piece(const struct gt_serving *serving, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	struct gt_level_counters *counters = &level->counters;
	struct gt_tags *tags = serving->tags;
	uint64_t line = piece->line, used = piece->used;
	uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(tags, set, line);
	uint64_t hits = slot == GT_NO_SLOT ? 0 : store_hits(level, used, gt_tags_held(tags, slot));
	bool evict = level->config.write == GT_WRITE_EVICT;

	counters->writes += gt_count_bits(used);
	counters->write_hits += gt_count_bits(hits);
	*(slot == GT_NO_SLOT ? &counters->line_misses : &counters->sector_misses) += gt_count_bits(used & ~hits);
	if (slot != GT_NO_SLOT && evict) {
		if (level->geometry.depths)
			slot = gt_level_touch_stored(level, tags, set, slot, hits);
		counters->dropped += gt_count_bits(gt_tags_valid(tags, slot));
		gt_tags_drop(tags, set, slot);
		return 0;
	}
	if (slot != GT_NO_SLOT)
		slot = gt_level_touch_stored(level, tags, set, slot, hits);
	else if (evict || !level->config.allocate)
		return 0;
	else if (gt_level_claim(serving, set, line, &slot) != 0)
		return -1;
	gt_level_validate(level, tags, slot, piece->full);
	uint64_t parts = used & ~piece->full & ~gt_tags_valid(tags, slot);
	return parts ? gt_tags_hold(tags, slot, parts, serving->error) : 0;
}

/* Write through, with or without allocation, and write evict. */
int gt_serve_write(const struct gt_serving *serving)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++)
		if (write_piece(serving, &pieces[p]) != 0)
			return -1;
	return gt_send_on(serving);
}

int gt_level_change(const struct gt_serving *serving, uint32_t set, uint32_t slot, uint64_t sectors)
{
	uint64_t *dirty = &serving->tags->dirty[slot], before = *dirty;

	*dirty |= sectors;
	return before || serving->level->config.dirty_ways == GT_LEVEL_SLOTS_MAX ? 0 : gt_level_clean(serving, set, slot);
}

/* A store into a line that has a slot. */
static int store(const struct gt_serving *serving, uint32_t set, uint32_t slot, const struct gt_piece *piece)
{
	struct gt_tags *tags = serving->tags;
	enum gt_partial rule = serving->level->config.partial;
	uint64_t partial = piece->used & ~piece->full & ~gt_tags_valid(tags, slot), whole = piece->used & ~partial;

	if (gt_level_change(serving, set, slot, piece->used) != 0)
		return -1;
	if (rule == GT_PARTIAL_FETCH && partial && gt_level_fill(serving, slot, piece->line, partial, whole) != 0)
		return -1;
	gt_level_validate(serving->level, tags, slot, rule == GT_PARTIAL_READ ? piece->used & piece->full : piece->used);
	return 0;
}

/* A piece of a store that a write-back level keeps. */
static int write_back_piece(const struct gt_serving *serving, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	struct gt_level_counters *counters = &level->counters;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);

	counters->writes += gt_count_bits(piece->used);
	if (slot != GT_NO_SLOT) {
		uint64_t hits = store_hits(level, piece->used, gt_tags_held(tags, slot));
		counters->write_hits += gt_count_bits(hits);
		counters->sector_misses += gt_count_bits(piece->used & ~hits);
		slot = gt_level_touch_stored(level, tags, set, slot, hits);
	} else {
		counters->line_misses += gt_count_bits(piece->used);
		if (!level->config.allocate)
			return gt_send_part(serving, piece->stream_sectors, piece->stream_full);
		if (gt_level_claim(serving, set, piece->line, &slot) != 0)
			return -1;
	}
	return store(serving, set, slot, piece);
}

int gt_serve_write_back(const struct gt_serving *serving)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++)
		if (write_back_piece(serving, &pieces[p]) != 0)
			return -1;
	return 0;
}
