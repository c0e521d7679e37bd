/* SPDX-License-Identifier: MIT */
/* --emit all: every request passes, in the order in which it was served, with what was found. */
#include <string.h>

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

int gt_level_find(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		  struct gt_sink *sent, uint8_t *status, struct gt_error *error)
{
	const struct gt_level_counters *counters = &level->counters;
	uint64_t missed = misses(counters), hit = hits(counters);

	if (level->serve[level->class_of[rows->op[i]]](level, tags, rows, i, sent, error) != 0)
		return -1;
	*status = misses(counters) > missed ? GT_STATUS_MISS : hits(counters) > hit ? GT_STATUS_HIT : GT_STATUS_NONE;
	return 0;
}

static int serve_one(struct gt_level *level, const struct gt_rows *rows, size_t i, uint8_t *status,
		     struct gt_error *error)
{
	struct gt_tags *tags = gt_level_instance(level, level->config.shared || !rows->scheduled ? 0 : rows->sm[i],
						 error);

	if (tags && level->ahead)
		gt_level_foresee(level, tags, i);
	return tags ? gt_level_find(level, tags, rows, i, &level->dropped, status, error) : -1;
}

int gt_level_emit_all(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		      struct gt_error *error)
{
	struct gt_rows shape = {.kind = GT_REQUESTS, .scheduled = rows->scheduled, .has_status = true,
				.has_latency = rows->has_latency};

	if (gt_sink_begin_as(sent, &shape, error) != 0 ||
	    gt_sink_begin(&level->dropped, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	for (size_t done = 0; done < rows->n;) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		size_t at = sent->rows->n, room = sent->rows->capacity - at;
		size_t n = rows->n - done < room ? rows->n - done : room;
		for (size_t c = 0; c < gt_columns_n; c++) {
			const struct gt_column *column = &gt_columns[c];
			if (gt_column_present(rows, column))
				memcpy((char *)gt_column_of(sent->rows, column) + at * column->width,
				       (const char *)gt_column_of(rows, column) + done * column->width, n * column->width);
		}
		for (size_t i = 0; i < n; i++)
			if (serve_one(level, rows, done + i, &sent->rows->status[at + i], error) != 0)
				return -1;
		sent->rows->n += n;
		done += n;
	}
	return 0;
}
