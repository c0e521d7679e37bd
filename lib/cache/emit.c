/* SPDX-License-Identifier: MIT */
/* --emit all and latency: every request passes, in the order in which it was served, with what was found. */
#include <stdbool.h>
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

/* Whether a level before has found what this one would look for. */
static bool found_before(const struct gt_level *level, uint8_t status)
{
	return status == (level->config.translate ? GT_STATUS_TLB_HIT : GT_STATUS_HIT);
}

/* Row i of `to`, which came as it stands there: --emit latency. What bypasses the level, and what was found before,
 * takes no time here. */
static int serve_for_latency(struct gt_level *level, struct gt_rows *to, size_t i, struct gt_error *error)
{
	const struct gt_level_config *config = &level->config;
	uint8_t status = GT_STATUS_NONE;

	if (found_before(level, to->status[i]))
		return 0;
	level->counters.requests++;
	if (serve_one(level, to, i, &status, error) != 0)
		return -1;
	if (status == GT_STATUS_NONE)
		return 0;
	to->latency[i] = gt_cycles_add(status == GT_STATUS_HIT ? &config->hit_cycles : &config->miss_cycles, to->latency[i]);
	to->status[i] = !config->translate ? status : status == GT_STATUS_HIT ? GT_STATUS_TLB_HIT : GT_STATUS_TLB_MISS;
	return 0;
}

/* n rows from row `first` of `from` behind those of `to`, which has room. Columns that `from` lacks are 0. */
static void copy(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(to, column))
			continue;
		char *at = (char *)gt_column_of(to, column) + to->n * column->width;
		if (gt_column_present(from, column))
			memcpy(at, (const char *)gt_column_of(from, column) + first * column->width, n * column->width);
		else
			memset(at, 0, n * column->width);
	}
	to->n += n;
}

int gt_level_emit_all(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		      struct gt_error *error)
{
	bool latency = level->config.emit == GT_EMIT_LATENCY;
	struct gt_rows shape = {.kind = GT_REQUESTS, .scheduled = rows->scheduled, .has_status = true,
				.has_latency = rows->has_latency || latency};

	if (gt_sink_begin_as(sent, &shape, error) != 0 ||
	    gt_sink_begin(&level->dropped, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	for (size_t done = 0; done < rows->n;) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		size_t at = sent->rows->n, room = sent->rows->capacity - at;
		size_t n = rows->n - done < room ? rows->n - done : room;
		copy(sent->rows, rows, done, n);
		if (latency && !rows->has_latency) /* a chain begins: what another kind of level said is nothing to it */
			memset(sent->rows->status + at, GT_STATUS_NONE, n);
		for (size_t i = 0; i < n; i++)
			if (latency ? serve_for_latency(level, sent->rows, at + i, error) != 0 :
				      serve_one(level, rows, done + i, &sent->rows->status[at + i], error) != 0)
				return -1;
		done += n;
	}
	return 0;
}
