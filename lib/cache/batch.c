/* SPDX-License-Identifier: MIT */
/* Serves a batch of requests in its order. */
#include "cache/serve.h"
#include "stream/op.h"
#include "stream/status.h"

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
		if (level->future)
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
		if (level->future)
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
	if (level->future)
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

	if (gt_emit_begin(level, rows, sent, error) != 0 ||
	    gt_sink_begin(&level->dropped, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	for (size_t first = 0, n; first < rows->n; first += n) {
		n = rows->n - first < STATUS_ROWS ? rows->n - first : STATUS_ROWS;
		for (size_t i = 0; i < n; i++)
			if (find_row(&serving, rows, first + i, &status[i]) != 0 ||
			    note_reads(level, rows, first + i, error) != 0)
				return -1;
		if (gt_emit_rows(level, rows, first, n, status, sent, error) != 0)
			return -1;
	}
	return 0;
}

int gt_level_serve_batch(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
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
	return gt_level_reads(level) && !level->config.by_pc ? gt_level_serve_reads(level, rows, sent, error) : serve_rows(level, rows, sent, error);
}
