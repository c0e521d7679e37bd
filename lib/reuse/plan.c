/* SPDX-License-Identifier: MIT */
/* What must be measured in one pass for a table: one profile, one for each number of sets, or a pair, which measures the same
 * references in two kinds of stacks and counts whether each hits in caches of both. Each batch of rows goes through the first
 * stacks, whose distances are kept, and then through the second. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "reuse/tables.h"
#include "stream/op.h"

/* ---- pairs ---- */

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

static int watch_first(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, uint64_t distance,
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

static int watch_second(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, uint64_t second,
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

static int watch_refused(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, struct gt_error *error)
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

/* ---- plans ---- */

/* The larger of `bound` and the bound that makes the chosen table exact. */
static uint64_t exact_bound(const struct gt_reuse_text *text, uint64_t bound)
{
	if (gt_reuse_text_by_sets(text))
		return bound;
	for (size_t i = 0; i < text->asked.lines.n; i++)
		if (bound < text->asked.lines.lines[i])
			bound = text->asked.lines.lines[i];
	return bound;
}

static int check_sampling(const struct gt_reuse_options *options, const struct gt_reuse_text *text, bool pair,
			  struct gt_error *error)
{
	if (options->every == 1 && options->sample_lines == 0)
		return 0;
	if (options->sets > 1 || pair || gt_reuse_text_by_sets(text))
		return gt_fail(error, "--sample: expected stacks without sets, and not --classes, --sharing or "
			       "--curve-sets: sampled lines do not represent the contents of a set");
	return 0;
}

static int plan_cache(struct gt_reuse_options *options, const struct gt_reuse_text *text, struct gt_error *error)
{
	if (options->sets > 1)
		return gt_fail(error, "--%s: expected --per without sets: the model divides into sets itself",
			       text->table->name);
	options->unit = (struct gt_unit){.granularity = &gt_granularity_line, .shift = (unsigned)__builtin_ctzll(text->asked.cache.line_bytes)};
	return 0;
}

static int plan_curves(struct gt_plan *plan, const struct gt_reuse_options *options, const struct gt_lines *sets,
		       struct gt_error *error)
{
	if (sets->n > GT_PLAN_MAX || options->sets > 1)
		return gt_fail(error, "--curve-sets: expected at most %d numbers of sets, and --per without sets", GT_PLAN_MAX);
	for (plan->n = 0; plan->n < sets->n; plan->n++) {
		if (sets->lines[plan->n] > GT_REUSE_SETS_MAX)
			return gt_fail(error, "--curve-sets: expected at most %llu sets", (unsigned long long)GT_REUSE_SETS_MAX);
		plan->measures[plan->n] = *options;
		plan->measures[plan->n].sets = sets->lines[plan->n];
	}
	return 0;
}

static int plan_pair(struct gt_plan *plan, const struct gt_reuse_options *options, const struct gt_reuse_text *text,
		     struct gt_pair *pair, struct gt_error *error)
{
	struct gt_reuse_options *first = &plan->measures[0], *second = &plan->measures[1];

	plan->n = 2;
	*first = *second = *options;
	pair->lines = &text->asked.lines;
	pair->scale = 1;
	pair->shift = options->unit.shift;
	if (strcmp(text->table->name, "classes") == 0) {
		if (options->sets == 1)
			return gt_fail(error, "--classes: expected --per set:N or --per sm,set:N too, with more than one set");
		second->sets = 1;
		pair->scale = options->sets;
		pair->by_status = true;
		first->watch_refused = watch_refused;
	} else if (options->sets > 1) {
		return gt_fail(error, "--sharing: expected --per without sets");
	} else {
		first->per = text->asked.alone;
	}
	first->watch = watch_first;
	second->watch = watch_second;
	plan->split = options->split;
	first->split = second->split = NULL;
	first->watch_context = second->watch_context = pair;
	return 0;
}

int gt_plan_make(struct gt_plan *plan, struct gt_reuse_options *options, struct gt_reuse_text *text,
		 struct gt_pair *pair, struct gt_error *error)
{
	bool is_pair = text->table && !text->table->write;

	if (check_sampling(options, text, is_pair, error) != 0)
		return -1;
	if (text->asked.cache.lines > 0 && plan_cache(options, text, error) != 0)
		return -1;
	options->bound = exact_bound(text, options->bound);
	text->asked.unit_bytes = UINT64_C(1) << options->unit.shift;
	if (is_pair)
		return plan_pair(plan, options, text, pair, error);
	if (gt_reuse_text_by_sets(text))
		return plan_curves(plan, options, &text->asked.lines, error);
	plan->measures[0] = *options;
	plan->n = 1;
	return 0;
}
