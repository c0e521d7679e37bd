/* SPDX-License-Identifier: MIT */
#include "cache/serve.h"

int gt_level_take(struct gt_level *level, const struct gt_rows *requests, struct gt_sink *sent,
		  struct gt_error *error)
{
	bool in_turns = level->config.arrival == GT_ARRIVAL_RR && requests->scheduled;

	if (requests->n == 0)
		return 0;
	level->scheduled = requests->scheduled;
	if (gt_level_serve_launch(level, in_turns || !requests->scheduled ? 0 : requests->step[0], sent, error) != 0)
		return -1;
	if (in_turns)
		return gt_arrival_add(&level->arrival, requests, error);
	return level->future ? gt_future_add(level->future, requests, error)
			     : gt_level_serve_batch(level, requests, sent, error);
}

/* Serves the requests that wait for the arrival order, and then those that wait for a policy that looks ahead. */
static int serve_waiting(struct gt_level *level, struct gt_sink *sent, struct gt_error *error)
{
	const struct gt_rows *rows;
	int more;

	while ((more = gt_arrival_next(&level->arrival, &rows, error)) > 0)
		if ((level->future ? gt_future_add(level->future, rows, error)
				   : gt_level_serve_batch(level, rows, sent, error)) != 0)
			return -1;
	if (more < 0 || !level->future)
		return more;
	while ((more = gt_future_next(level->future, &rows, &level->next_use, error)) > 0)
		if (gt_level_serve_batch(level, rows, sent, error) != 0)
			return -1;
	return more;
}

/* Empties every instance; what was written is counted, and not sent. */
static void leave(struct gt_level *level)
{
	for (size_t i = 0; i < level->instances_end; i++) {
		struct gt_tags *tags = level->instances[i];
		for (uint32_t slot = 0; tags && slot < level->geometry.slots; slot++)
			level->between.left_dirty += (uint64_t)__builtin_popcountll(tags->dirty[slot]) << level->sector_shift;
		if (tags)
			gt_tags_clear(tags);
	}
}

/* Sends dirty sectors, by set, then from the most to the least recent; all lines become invalid. */
static int flush(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t sets = level->config.write == GT_WRITE_BACK ? level->geometry.sets : 0;

	for (uint32_t set = 0; set < sets; set++) {
		uint32_t n = gt_tags_by_recency(tags, set, level->slots);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t slot = level->slots[i];
			uint64_t dirty = tags->dirty[slot];
			if (dirty && gt_send_back(serving, tags->tag[slot] - 1, dirty, dirty & gt_tags_valid(tags, slot)) != 0)
				return -1;
		}
	}
	gt_tags_clear(tags);
	return 0;
}

int gt_level_finish(struct gt_level *level, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t before;

	if (gt_level_serve_launch(level, 0, sent, error) != 0 || serve_waiting(level, sent, error) != 0)
		return -1;
	if (level->config.flush == GT_FLUSH_BETWEEN)
		leave(level);
	if (level->config.flush != GT_FLUSH_KERNEL)
		return 0;
	if (level->config.emit != GT_EMIT_MISSES)
		sent = &level->dropped;
	if (gt_sink_begin(sent, GT_REQUESTS, level->scheduled, error) != 0)
		return -1;
	before = level->counters.sent_writes;
	for (size_t i = 0; i < level->instances_end; i++) {
		if (!level->instances[i])
			continue;
		const struct gt_serving serving = {
			.level = level, .tags = level->instances[i], .sent = sent, .error = error,
			.request = {.step = level->last_step + (level->last_step < UINT64_MAX), .sm = (uint16_t)i}};
		if (flush(&serving) != 0)
			return -1;
	}
	level->counters.flushed += level->counters.sent_writes - before;
	return 0;
}
