/* SPDX-License-Identifier: MIT */
#include "cache/division.h"

#include <stdlib.h>

#include "base/grown.h"
#include "cache/leaders.h"
#include "cache/serve.h"

int gt_division_open(struct gt_division *division, unsigned lanes, struct gt_error *error)
{
	division->parts = calloc(lanes, sizeof *division->parts);
	if (!division->parts)
		return gt_fail_memory(error, "a batch of rows");
	division->lanes = lanes;
	for (unsigned lane = 0; lane < lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		part->rows = gt_rows_new(GT_ROWS_BATCH, error);
		part->sent = gt_rows_new(GT_ROWS_BATCH, error);
		if (!part->rows || !part->sent)
			return -1;
	}
	return 0;
}

void gt_division_close(struct gt_division *division)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		gt_rows_free(division->parts[lane].rows);
		gt_rows_free(division->parts[lane].sent);
		free(division->parts[lane].list.row);
		free(division->parts[lane].list.set);
		free(division->parts[lane].list.origin);
	}
	free(division->parts);
	*division = (struct gt_division){.parts = NULL};
}

/* Empty lists, each with room for all the requests. */
static int empty_lists(struct gt_division *division, const struct gt_level *level, const struct gt_rows *requests,
		       struct gt_error *error)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		uint32_t *row = gt_grown_to(part->list.row, requests->n, &part->list_capacity, sizeof *row);
		part->list.row = row ? row : part->list.row;
		uint32_t *set = level->config.shared ? gt_grown_to(part->list.set, requests->n, &part->sets_capacity, sizeof *set) : NULL;
		part->list.set = set ? set : part->list.set;
		if (!row || (level->config.shared && !set))
			return gt_fail_memory(error, "a batch of rows");
		part->list.n = part->list.origins = part->list.requests = part->list.repeated = part->list.last_step = 0;
	}
	return 0;
}

/* The same of copies. */
static int empty_parts(struct gt_division *division, const struct gt_rows *requests, struct gt_error *error)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		if (part->rows->capacity < requests->n) {
			gt_rows_free(part->rows);
			part->rows = gt_rows_new(requests->n, error);
			if (!part->rows)
				return -1;
		}
		gt_rows_shape(part->rows, requests);
		part->rows->n = 0;
	}
	return 0;
}

/* The columns on which what is sent for a request depends; the others are taken from the batch again. */
static void add_row(struct gt_rows *to, const struct gt_rows *from, size_t i)
{
	size_t at = to->n++;

	to->an[at] = (uint32_t)i;
	to->address[at] = from->address[i];
	to->op[at] = from->op[i];
	to->sectors[at] = from->sectors[i];
	to->full[at] = from->full[i];
	to->threads[at] = from->threads[i];
	to->sm[at] = from->scheduled ? from->sm[i] : 0;
}

static void add_others(struct gt_rows *to, const struct gt_rows *from, size_t i)
{
	size_t at = to->n - 1;

	if (from->scheduled)
		to->step[at] = from->step[i];
	if (from->has_hints)
		to->hint[at] = from->hint[i];
	if (from->has_status)
		to->status[at] = from->status[i];
	if (from->has_latency)
		to->latency[at] = from->latency[i];
}

/* Sets that follow each other and are in one lane: so many lie in a line of the machine's cache. */
#define SETS_TOGETHER 8

/* What row i is divided by: the set of its line, or its SM. */
static uint32_t key_of(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (level->config.shared)
		return gt_level_set_of(level, rows->address[i] >> level->line_shift);
	return rows->scheduled ? rows->sm[i] : 0;
}

static unsigned lane_of(const struct gt_level *level, const uint8_t *lanes, uint32_t key)
{
	return lanes[level->config.shared ? key / SETS_TOGETHER % GT_DIVISION_SMS : key];
}

static int copy_rows(struct gt_division *division, const struct gt_level *level, const uint8_t *lanes,
		     const struct gt_rows *requests, struct gt_error *error)
{
	bool more = requests->has_hints || requests->has_status || requests->has_latency ||
		    level->config.write == GT_WRITE_BACK;

	if (empty_parts(division, requests, error) != 0)
		return -1;
	for (size_t i = 0; i < requests->n; i++) {
		struct gt_rows *to = division->parts[lane_of(level, lanes, key_of(level, requests, i))].rows;
		add_row(to, requests, i);
		if (more)
			add_others(to, requests, i);
	}
	return 0;
}

/* Rows that repeat the one before need no lane; the lane of the first row of all, which repeats none, counts them. */
static int list_rows(struct gt_division *division, const struct gt_level *level, const uint8_t *lanes,
		     const struct gt_rows *requests, struct gt_error *error)
{
	struct gt_row_list *counts = &division->parts[requests->n > 0 ? lane_of(level, lanes, key_of(level, requests, 0)) : 0].list;
	const uint16_t *sm = level->config.shared || !requests->scheduled ? NULL : requests->sm;
	struct gt_leaders leaders;

	if (empty_lists(division, level, requests, error) != 0)
		return -1;
	for (size_t first = 0, n; first < requests->n; first += n) {
		n = requests->n - first < GT_LEADERS_ROWS ? requests->n - first : GT_LEADERS_ROWS;
		gt_leaders_find(&leaders, requests, sm, first, n, level->repeats_hit);
		counts->repeated += leaders.repeated;
		for (size_t k = 0; k < leaders.n; k++) {
			uint32_t key = key_of(level, requests, leaders.row[k]);
			struct gt_row_list *list = &division->parts[lane_of(level, lanes, key)].list;
			if (list->set)
				list->set[list->n] = key;
			list->row[list->n++] = leaders.row[k];
		}
	}
	counts->requests = requests->n;
	for (size_t i = 0; requests->scheduled && level->config.write == GT_WRITE_BACK && i < requests->n; i++)
		counts->last_step = requests->step[i] > counts->last_step ? requests->step[i] : counts->last_step;
	return 0;
}

/* Whether the lanes serve rows by lists: reads of the usual lines, of which nothing else is to be known. */
static bool listed(const struct gt_level *level, const struct gt_rows *requests)
{
	return gt_level_reads(level) && !requests->has_hints && level->config.emit == GT_EMIT_MISSES;
}

int gt_division_split(struct gt_division *division, const struct gt_level *level, const uint8_t *lanes,
		      const struct gt_rows *requests, struct gt_error *error)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		part->sent->n = part->gathered = 0;
		part->sent->kind = GT_ACCESSES;
	}
	division->listed = listed(level, requests);
	return (division->listed ? list_rows : copy_rows)(division, level, lanes, requests, error);
}
