/* SPDX-License-Identifier: MIT */
/* Measured reuse as counts in the stream: what was measured, then the numbers of all references, then those of each class. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "reuse/tables.h"
#include "stream/op.h"

#define STAGE_TEXT (GT_COUNT_NAME + 32) /* bytes that hold any name and any number */
#define PER_TEXT 64

/* ---- what was measured ---- */

/* What has a stack, "sm,set:64". */
static const char *format_per(const struct gt_reuse *reuse, char buffer[PER_TEXT])
{
	enum gt_reuse_per per = reuse->options.per;

	if (per == GT_PER_SM_IF_SCHEDULED)
		per = reuse->by_sm ? GT_PER_SM : GT_PER_GLOBAL;
	int n = snprintf(buffer, PER_TEXT, "%s", gt_reuse_per_names[per]);
	if (reuse->options.sets > 1)
		snprintf(buffer + n, PER_TEXT - (size_t)n, ",set:%" PRIu64, reuse->options.sets);
	return buffer;
}

/* Appends the words `granularity` and `per`, the sampling if there was any, and `reservation_fails` if rows have a status. */
static int describe_one(const struct gt_reuse *reuse, struct gt_count *count, struct gt_error *error)
{
	const struct gt_reuse_options *options = &reuse->options;
	char granularity[64], per[PER_TEXT], size[32], ops[GT_REUSE_OPS_TEXT];

	snprintf(granularity, sizeof granularity, "%s:%s", options->unit.granularity->name,
		 gt_format_size(UINT64_C(1) << options->unit.shift, size));
	if (options->actions != GT_REUSE_ACTIONS && gt_count_text(count, "ops", gt_reuse_ops(options->actions, ops), error) != 0)
		return -1;
	if (gt_count_text(count, "granularity", granularity, error) != 0 ||
	    gt_count_text(count, "per", format_per(reuse, per), error) != 0)
		return -1;
	if (reuse->timed && gt_count_number(count, "reservation_fails", reuse->profile.refused, error) != 0)
		return -1;
	if (options->every == 1 && options->sample_lines == 0)
		return 0;
	uint64_t millionths = (uint64_t)(reuse->expected_error * 1e6 + 0.5);
	return gt_count_number(count, "sample_every", reuse->every, error) != 0
		       ? -1 : gt_count_number(count, "sample_error", millionths, error);
}

/* ---- the numbers ---- */

/* "CLASS.", cut to leave room for a counter's name. */
static const char *prefix_of(const struct gt_reuse_classes *classes, size_t i, char prefix[GT_COUNT_NAME])
{
	char class[GT_CLASS_TEXT];

	snprintf(prefix, GT_COUNT_NAME, "%.32s.", gt_reuse_classes_name(classes, i, class));
	return prefix;
}

static int count_text(struct gt_count *count, const char *prefix, const char *name, const char *text, struct gt_error *error)
{
	char full[GT_COUNT_NAME];

	snprintf(full, sizeof full, "%s%s", prefix, name);
	return gt_count_text(count, full, text, error);
}

/* What is told of a class. */
static int count_told(struct gt_count *count, const char *prefix, const struct gt_reuse_classes *classes, size_t i,
		      struct gt_error *error)
{
	struct gt_class_words words;

	if (!classes->split->tells)
		return 0;
	gt_reuse_classes_tell(classes, i, &words);
	if (count_text(count, prefix, "op", words.op, error) != 0)
		return -1;
	/* 0: no line is known. */
	return classes->classes[i].place == 0 ? 0
	       : count_text(count, prefix, "source", words.source, error);
}

static int count_number(struct gt_count *count, const char *prefix, const char *name, uint64_t value,
			struct gt_error *error)
{
	char full[GT_COUNT_NAME];

	snprintf(full, sizeof full, "%s%s", prefix, name);
	return gt_count_number(count, full, value, error);
}

static int count_array(struct gt_count *count, const char *prefix, const char *name, const uint64_t *array,
		       size_t n, struct gt_error *error)
{
	char full[GT_COUNT_NAME];

	snprintf(full, sizeof full, "%s%s", prefix, name);
	return gt_count_array(count, full, array, n, error);
}

/* The exact counters as one array of gt_histogram_end elements, for the caller to free; NULL when memory is short (an empty one is
 * not NULL). */
static uint64_t *exact_counters(const struct gt_histogram *histogram, size_t *n, struct gt_error *error)
{
	*n = (size_t)gt_histogram_end(histogram);
	uint64_t *array = calloc(*n + 1, sizeof *array);

	if (!array)
		gt_fail_memory(error, "a histogram");
	for (size_t i = 0; array && i < *n; i++)
		array[i] = gt_histogram_at(histogram, i);
	return array;
}

static int count_histogram(struct gt_count *count, const char *prefix, const struct gt_histogram *histogram,
			   struct gt_error *error)
{
	size_t n;
	uint64_t *array = exact_counters(histogram, &n, error);

	if (!array)
		return -1;
	int failed = count_number(count, prefix, "references", histogram->references, error) ||
		     count_number(count, prefix, "infinite", histogram->infinite, error) ||
		     count_array(count, prefix, "distance", array, n, error) ||
		     count_array(count, prefix, "far", histogram->far, gt_histogram_far_end(histogram), error);
	free(array);
	return failed ? -1 : 0;
}

static int count_profile(struct gt_count *count, const struct gt_profile *profile, struct gt_error *error)
{
	char prefix[GT_COUNT_NAME];
	int failed = count_histogram(count, "", &profile->all, error);

	for (size_t i = 0; i < profile->classes.n && !failed; i++)
		failed = count_histogram(count, prefix_of(&profile->classes, i, prefix),
					 profile->classes.classes[i].counted, error) != 0 ||
			 count_told(count, prefix, &profile->classes, i, error) != 0;
	return failed;
}

static int count_figures(struct gt_count *count, const char *prefix, const struct gt_figures *figures,
			 const uint64_t *numbers, struct gt_error *error)
{
	for (size_t i = prefix[0] ? figures->settings : 0; figures->names[i]; i++)
		if (count_number(count, prefix, figures->names[i], numbers[i], error) != 0)
			return -1;
	return 0;
}

/* Counts the figures for size number `size`: of all references, then of each class. */
static int count_size(struct gt_count *count, const struct gt_measures *measures, const struct gt_reuse_text *text,
		      size_t size, struct gt_error *error)
{
	const struct gt_figures *figures = text->table->figures;
	const struct gt_profile *profile = &measures->reuses[0].profile;
	const struct gt_reuse_classes *classes = figures->of_pair ? &measures->pair->classes : &profile->classes;
	const void *counted = figures->of_pair ? (const void *)measures->pair->all : &profile->all;
	uint64_t numbers[GT_FIGURES_MAX];
	char prefix[GT_COUNT_NAME] = "";

	for (size_t i = 0;; i++) {
		if (figures->of_pair)
			figures->of_pair(measures->pair, size, counted, numbers);
		else
			figures->of_histogram(&text->asked, size, counted, numbers);
		if (count_figures(count, prefix, figures, numbers, error) != 0 ||
		    (i > 0 && count_told(count, prefix, classes, i - 1, error) != 0))
			return -1;
		if (i == classes->n)
			return 0;
		counted = classes->classes[i].counted;
		prefix_of(classes, i, prefix);
	}
}

/* Describes what has a stack or a cache; for sharing, the private and the shared one. */
static int describe(struct gt_count *count, const struct gt_measures *measures, const struct gt_reuse_text *text,
		    struct gt_error *error)
{
	bool sharing = text->table->figures->first_is_private;
	char per[PER_TEXT];

	if (describe_one(&measures->reuses[sharing], count, error) != 0)
		return -1;
	return sharing ? gt_count_text(count, "private", format_per(&measures->reuses[0], per), error) : 0;
}

/* The stage's name, followed by a number if there may be several. */
static const char *stage_of(const char *name, bool several, uint64_t number, char stage[STAGE_TEXT])
{
	int n = snprintf(stage, STAGE_TEXT, "%s", name);

	if (several)
		snprintf(stage + n, STAGE_TEXT - (size_t)n, ":%" PRIu64, number);
	return stage;
}

static int give_sizes(const struct gt_measures *measures, const struct gt_reuse_text *text, const char *name,
		      uint64_t kernel, const struct gt_output *output, struct gt_error *error)
{
	char stage[STAGE_TEXT];
	struct gt_count count;
	int failed = 0;

	for (size_t size = 0; size < text->asked.lines.n && !failed; size++) {
		/* The one size of a model is not a number of lines. */
		bool named = text->asked.cache.lines == 0;
		gt_count_begin(&count, stage_of(name, named, text->asked.lines.lines[size], stage), kernel);
		failed = describe(&count, measures, text, error) != 0 ||
			 count_size(&count, measures, text, size, error) != 0 ||
			 output->count(output->context, &count, error) != 0;
		gt_count_clear(&count);
	}
	return failed ? -1 : 0;
}

int gt_counts_give(const struct gt_measures *measures, const struct gt_reuse_text *text, const char *name,
		   uint64_t kernel, const struct gt_output *output, struct gt_error *error)
{
	char stage[STAGE_TEXT];
	struct gt_count count;
	int failed = 0;

	if (text->table && text->table->figures)
		return give_sizes(measures, text, name, kernel, output, error);
	for (size_t i = 0; i < measures->n && !failed; i++) {
		const struct gt_reuse *reuse = &measures->reuses[i];
		gt_count_begin(&count, stage_of(name, gt_reuse_text_by_sets(text), reuse->options.sets, stage), kernel);
		failed = describe_one(reuse, &count, error) != 0 ||
			 count_profile(&count, &reuse->profile, error) != 0 ||
			 output->count(output->context, &count, error) != 0;
		gt_count_clear(&count);
	}
	return failed ? -1 : 0;
}
