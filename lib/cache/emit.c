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
