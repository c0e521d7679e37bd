/* SPDX-License-Identifier: MIT */
/* --emit all and latency: every request is passed on in the order of service, with its status. */
#include <string.h>

#include "cache/serve.h"
#include "stream/status.h"

int gt_emit_begin(const struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		  struct gt_error *error)
{
	struct gt_rows shape = {.kind = GT_REQUESTS, .scheduled = rows->scheduled, .has_status = true,
				.has_latency = rows->has_latency || level->config.emit == GT_EMIT_LATENCY,
				.has_hints = rows->has_hints};

	return gt_sink_begin_as(sent, &shape, error);
}

/* Appends n rows from row `first` of `from` to `to`, which has room. Columns that `from` lacks are 0. */
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

int gt_emit_rows(const struct gt_level *level, const struct gt_rows *rows, size_t first, size_t n, const uint8_t *status,
	    struct gt_sink *sent, struct gt_error *error)
{
	for (size_t done = 0, some; done < n; done += some) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		struct gt_rows *to = sent->rows;
		size_t at = to->n, room = to->capacity - at;
		some = n - done < room ? n - done : room;
		copy(to, rows, first + done, some);
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
