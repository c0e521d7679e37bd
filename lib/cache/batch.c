/* SPDX-License-Identifier: MIT */
/* Takes batches of requests: serves them in their order, passes them on with their status if --emit asks for it, and ends a kernel. */
#include <string.h>

#include "cache/deferred.h"
#include "cache/level.h"
#include "cache/serve.h"
#include "stream/op.h"
#include "stream/status.h"

/* ---- --emit all and latency: every request is passed on in the order of service, with its status ---- */

/* Prepares the rows that --emit all and latency write for a batch. */
static int emit_begin(const struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		      struct gt_error *error)
{
	struct gt_rows shape = {.kind = GT_REQUESTS, .scheduled = rows->scheduled, .has_status = true,
				.has_latency = rows->has_latency || level->config.emit == GT_EMIT_LATENCY,
				.has_hints = rows->has_hints};

	return gt_sink_begin_as(sent, &shape, error);
}

/* Adds the level's cycles; none for a request that was not looked up, or that an earlier level served. */
static void add_latency(const struct gt_level *level, struct gt_rows *rows, size_t i, uint8_t status)
{
	const struct gt_level_config *config = &level->config;
	bool hit = status == GT_STATUS_HIT;

	if (status == GT_STATUS_NONE)
		return;
	rows->latency[i] = gt_cycles_add(hit ? &config->hit_cycles : &config->miss_cycles, rows->latency[i]);
	rows->status[i] = !config->translate ? status : hit ? GT_STATUS_TLB_HIT : GT_STATUS_TLB_MISS;
}

/* Writes rows [first, first + n) with their status. */
static int emit_rows(const struct gt_level *level, const struct gt_rows *rows, size_t first, size_t n, const uint8_t *status,
		     struct gt_sink *sent, struct gt_error *error)
{
	for (size_t done = 0, some; done < n; done += some) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		struct gt_rows *to = sent->rows;
		size_t at = to->n, room = to->capacity - at;
		some = n - done < room ? n - done : room;
		gt_rows_append(to, rows, first + done, some);
		if (level->config.emit == GT_EMIT_ALL) {
			memcpy(to->status + at, status + done, some);
			continue;
		}
		/* Without latencies this is the first level of a chain: the status is from another kind of level. */
		if (!rows->has_latency)
			memset(to->status + at, GT_STATUS_NONE, some);
		for (size_t i = 0; i < some; i++)
			add_latency(level, to, at + i, status[done + i]);
	}
	return 0;
}

/* ---- a batch in its order ---- */

#define STATUS_ROWS 256 /* that are served before they are emitted */

/* Whether requests of the batch have hints that apply. */
static bool hinted(const struct gt_level *level, const struct gt_rows *rows)
{
	return rows->has_hints || level->window.bytes > 0;
}

/* Counts what row i has read, if that is counted by instruction. */
static inline int note_reads(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	return level->config.by_pc ? gt_by_pc_add(&level->by_pc, rows->pc[i], level->counters.reads, level->counters.read_hits, error) : 0;
}

static int serve_hinted(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};

	for (size_t i = 0; i < rows->n; i++) {
		serving.tags = gt_level_instance(level, gt_level_instance_of(level, rows, i), error);
		if (!serving.tags)
			return -1;
		if (level->lookahead)
			gt_level_foresee(level, serving.tags, i);
		serving.request = gt_request_of(rows, i);
		if (gt_serve_hinted(&serving) != 0 || note_reads(level, rows, i, error) != 0)
			return -1;
	}
	return 0;
}

/* Serves requests one by one. */
static int serve_rows(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};

	for (size_t i = 0; i < rows->n; i++) {
		struct gt_tags *tags = gt_level_instance(level, gt_level_instance_of(level, rows, i), error);
		if (!tags)
			return -1;
		if (level->lookahead)
			gt_level_foresee(level, tags, i);
		if (gt_level_serve_row(&serving, tags, rows, i) != 0 || note_reads(level, rows, i, error) != 0)
			return -1;
	}
	return 0;
}

/* Records the last step, which a flush needs if it can send something. */
static void note_steps(struct gt_level *level, const struct gt_rows *rows)
{
	level->scheduled = rows->scheduled;
	if (!rows->scheduled || level->config.write != GT_WRITE_BACK)
		return;
	for (size_t i = 0; i < rows->n; i++)
		level->last_step = rows->step[i] > level->last_step ? rows->step[i] : level->last_step;
}

/* Whether an earlier level has served the request. */
static bool found_before(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (level->config.emit != GT_EMIT_LATENCY || !rows->has_latency || !rows->has_status)
		return false;
	return rows->status[i] == (level->config.translate ? GT_STATUS_TLB_HIT : GT_STATUS_HIT);
}

/* Serves row i and returns its status. */
static int find_row(struct gt_serving *serving, const struct gt_rows *rows, size_t i, uint8_t *status)
{
	struct gt_level *level = serving->level;

	*status = GT_STATUS_NONE;
	if (found_before(level, rows, i))
		return 0;
	level->counters.requests++;
	serving->tags = gt_level_instance(level, gt_level_instance_of(level, rows, i), serving->error);
	if (!serving->tags)
		return -1;
	if (level->lookahead)
		gt_level_foresee(level, serving->tags, i);
	serving->request = gt_request_of(rows, i);
	return gt_level_find(serving, status);
}

/* Passes each request on with its status; requests sent to the next level are not written. */
static int serve_and_emit(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
			  struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = &level->dropped, .error = error};
	uint8_t status[STATUS_ROWS];

	if (emit_begin(level, rows, sent, error) != 0 ||
	    gt_sink_begin(&level->dropped, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	for (size_t first = 0, n; first < rows->n; first += n) {
		n = rows->n - first < STATUS_ROWS ? rows->n - first : STATUS_ROWS;
		for (size_t i = 0; i < n; i++)
			if (find_row(&serving, rows, first + i, &status[i]) != 0 ||
			    note_reads(level, rows, first + i, error) != 0)
				return -1;
		if (emit_rows(level, rows, first, n, status, sent, error) != 0)
			return -1;
	}
	return 0;
}

/* Serves a batch in its order. */
static int serve_batch(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		       struct gt_error *error)
{
	note_steps(level, rows);
	if (level->config.emit == GT_EMIT_ALL || level->config.emit == GT_EMIT_LATENCY)
		return serve_and_emit(level, rows, sent, error);
	level->counters.requests += rows->n;
	if (level->config.emit == GT_EMIT_NONE)
		sent = &level->dropped;
	if (gt_sink_begin_as(sent, &(struct gt_rows){.kind = GT_REQUESTS, .scheduled = rows->scheduled,
						     .has_hints = rows->has_hints}, error) != 0)
		return -1;
	if (hinted(level, rows))
		return serve_hinted(level, rows, sent, error);
	return (level->fast && !level->config.by_pc ? level->fast : serve_rows)(level, rows, sent, error);
}

/* ---- what a level takes, and the end of a kernel ---- */

int gt_level_take(struct gt_level *level, const struct gt_rows *requests, struct gt_sink *sent,
		  struct gt_error *error)
{
	bool in_turns = level->config.arrival == GT_ARRIVAL_RR && requests->scheduled;

	if (requests->n == 0)
		return 0;
	level->scheduled = requests->scheduled;
	if (gt_level_serve_launch_reads(level, in_turns || !requests->scheduled ? 0 : requests->step[0], sent, error) != 0)
		return -1;
	if (in_turns)
		return gt_arrival_add(&level->arrival, requests, error);
	return level->lookahead ? gt_lookahead_add(level->lookahead, requests, error)
			     : serve_batch(level, requests, sent, error);
}

/* Serves the requests that wait for the arrival order, and then those that wait for a policy that looks ahead. */
static int serve_waiting(struct gt_level *level, struct gt_sink *sent, struct gt_error *error)
{
	const struct gt_rows *rows;
	int more;

	while ((more = gt_arrival_next(&level->arrival, &rows, error)) > 0)
		if ((level->lookahead ? gt_lookahead_add(level->lookahead, rows, error)
				   : serve_batch(level, rows, sent, error)) != 0)
			return -1;
	if (more < 0 || !level->lookahead)
		return more;
	while ((more = gt_lookahead_next(level->lookahead, &rows, &level->next_use, error)) > 0)
		if (serve_batch(level, rows, sent, error) != 0)
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

	if (gt_level_serve_launch_reads(level, 0, sent, error) != 0 || serve_waiting(level, sent, error) != 0)
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
