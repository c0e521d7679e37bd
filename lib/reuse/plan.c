/* SPDX-License-Identifier: MIT */
#include "reuse/plan.h"

#include <stdio.h>
#include <string.h>

#include "reuse/options.h"

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
	char line[32];

	if (options->sets > 1)
		return gt_fail(error, "--%s: expected --per without sets: the model divides into sets itself",
			       text->table->name);
	snprintf(line, sizeof line, "%llu", (unsigned long long)text->asked.cache.line_bytes);
	return gt_reuse_set(options, "line", line, error);
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
		first->watch_refused = gt_pair_watch_refused;
	} else if (options->sets > 1) {
		return gt_fail(error, "--sharing: expected --per without sets");
	} else {
		first->per = text->asked.alone;
	}
	first->watch = gt_pair_watch_first;
	second->watch = gt_pair_watch_second;
	plan->split = options->split;
	first->split = second->split = NULL;
	first->watch_context = second->watch_context = pair;
	return 0;
}

int gt_plan_make(struct gt_plan *plan, struct gt_reuse_options *options, struct gt_reuse_text *text,
		 struct gt_pair *pair, struct gt_error *error)
{
	bool is_pair = text->table && text->table->write_pair;

	if (check_sampling(options, text, is_pair, error) != 0)
		return -1;
	if (text->asked.cache.lines > 0 && plan_cache(options, text, error) != 0)
		return -1;
	options->bound = gt_reuse_text_bound(text, options->bound);
	text->asked.unit_bytes = UINT64_C(1) << options->unit.shift;
	if (is_pair)
		return plan_pair(plan, options, text, pair, error);
	if (gt_reuse_text_by_sets(text))
		return plan_curves(plan, options, &text->asked.lines, error);
	plan->measures[0] = *options;
	plan->n = 1;
	return 0;
}
