/* SPDX-License-Identifier: MIT */
#include "reuse/pair.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "reuse/histogram.h"
#include "stream/status.h"

int gt_lines_parse(const char *text, struct gt_lines *lines, struct gt_error *error)
{
	char number[32];

	for (lines->n = 0;; lines->n++) {
		size_t length = strcspn(text, ",");
		if (lines->n == GT_LINES_N)
			return gt_fail(error, "expected %d numbers of lines at most", GT_LINES_N);
		snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number - 1), text);
		if (gt_parse_count(number, 1, GT_HISTOGRAM_BOUND_MAX, &lines->lines[lines->n], error) != 0)
			return -1;
		if (text[length] == '\0')
			break;
		text += length + 1;
	}
	lines->n++;
	return 0;
}

/* Counts of 0; NULL when memory is short. */
static struct gt_pair_counts *new_counts(const struct gt_pair *pair, struct gt_error *error)
{
	struct gt_pair_counts *counts = calloc(1, sizeof *counts + pair->lines->n * sizeof *counts->cells);

	if (!counts)
		gt_fail_memory(error, "pairs of distances");
	return counts;
}

int gt_pair_open(struct gt_pair *pair, const struct gt_split *split, const struct gt_launch *launch,
		 struct gt_error *error)
{
	pair->all = new_counts(pair, error);
	return pair->all ? gt_reuse_classes_open(&pair->classes, split, launch, error) : -1;
}

static void clear_classes(struct gt_pair *pair)
{
	for (size_t i = 0; i < pair->classes.n; i++)
		free(pair->classes.classes[i].counted);
}

void gt_pair_close(struct gt_pair *pair)
{
	clear_classes(pair);
	gt_reuse_classes_close(&pair->classes);
	free(pair->all);
	free(pair->distances);
	*pair = (struct gt_pair){0};
}

void gt_pair_clear(struct gt_pair *pair)
{
	if (!pair->lines)
		return;
	memset(pair->all, 0, sizeof *pair->all + pair->lines->n * sizeof *pair->all->cells);
	clear_classes(pair);
	gt_reuse_classes_clear(&pair->classes);
}

int gt_pair_watch_first(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, uint64_t distance,
			struct gt_error *error)
{
	struct gt_pair *pair = context;

	(void)rows;
	(void)i;
	(void)unit;
	uint64_t *distances = gt_grown(pair->distances, pair->n, &pair->capacity, sizeof *distances);

	if (!distances)
		return gt_fail_memory(error, "pairs of distances");
	pair->distances = distances;
	pair->distances[pair->n++] = distance;
	return 0;
}

static void count(const struct gt_pair *pair, struct gt_pair_counts *counts, uint8_t status, uint64_t first,
		  uint64_t second)
{
	counts->references++;
	counts->first_infinite += first == GT_DISTANCE_INFINITE;
	counts->second_infinite += second == GT_DISTANCE_INFINITE;
	if (first != GT_DISTANCE_INFINITE && (status == GT_STATUS_LATENCY_MISS || status == GT_STATUS_MERGED)) {
		counts->latency_miss += status == GT_STATUS_LATENCY_MISS;
		counts->merged += status == GT_STATUS_MERGED;
		return;
	}
	for (size_t size = 0; size < pair->lines->n; size++) {
		struct gt_pair_cells *cells = &counts->cells[size];
		bool first_hits = first < pair->lines->lines[size];
		bool second_hits = second < pair->lines->lines[size] * pair->scale;
		cells->both += first_hits && second_hits;
		cells->only_first += first_hits && !second_hits;
		cells->only_second += !first_hits && second_hits;
	}
}

/* The counts of the class of row i's reference; NULL when memory is short. */
static struct gt_pair_counts *counts_for(struct gt_pair *pair, const struct gt_rows *rows, size_t i, uint64_t unit,
					 struct gt_error *error)
{
	struct gt_referrer referrer = {.rows = rows, .i = i, .address = unit << pair->shift};
	struct gt_reuse_class *class = gt_reuse_classes_of(&pair->classes, &referrer, error);

	if (class && !class->counted)
		class->counted = new_counts(pair, error);
	return class ? class->counted : NULL;
}

int gt_pair_watch_second(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, uint64_t second,
			 struct gt_error *error)
{
	struct gt_pair *pair = context;
	uint64_t first = pair->distances[pair->at++];
	uint8_t status = pair->by_status && rows->has_status ? rows->status[i] : GT_STATUS_NONE;

	if (pair->at == pair->n)
		pair->at = pair->n = 0;
	count(pair, pair->all, status, first, second);
	if (!pair->classes.split)
		return 0;
	struct gt_pair_counts *counts = counts_for(pair, rows, i, unit, error);
	if (!counts)
		return -1;
	count(pair, counts, status, first, second);
	return 0;
}

int gt_pair_watch_refused(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, struct gt_error *error)
{
	struct gt_pair *pair = context;

	pair->all->reservation_fail++;
	if (!pair->classes.split)
		return 0;
	struct gt_pair_counts *counts = counts_for(pair, rows, i, unit, error);
	if (!counts)
		return -1;
	counts->reservation_fail++;
	return 0;
}
