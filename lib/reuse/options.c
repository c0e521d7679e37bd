/* SPDX-License-Identifier: MIT */
#include "reuse/options.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"

static const struct {
	const char *name;
	unsigned actions;
} ops[] = {
	{"loads", 1U << GT_LOAD},
	{"stores", 1U << GT_STORE},
	{"atomics", 1U << GT_ATOMIC | 1U << GT_REDUCTION},
	{"all", GT_REUSE_ACTIONS},
};

const struct gt_reuse_options gt_reuse_usual = {
	.unit = {.granularity = &gt_granularity_line, .shift = 7},
	.sets = 1,
	.actions = GT_REUSE_ACTIONS,
	.bound = GT_HISTOGRAM_BOUND,
	.every = 1,
};

static int set_granularity(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	return gt_unit_parse(value, &options->unit, error);
}

static int set_line(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	char text[64];

	snprintf(text, sizeof text, "line:%.50s", value);
	return gt_unit_parse(text, &options->unit, error);
}

int gt_reuse_per_find(const char *name, enum gt_reuse_per *per)
{
	static const char *const names[] = {
		[GT_PER_SM] = "sm", [GT_PER_GLOBAL] = "global", [GT_PER_BLOCK] = "block", [GT_PER_WARP] = "warp",
	};

	for (size_t i = GT_PER_SM; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0) {
			*per = (enum gt_reuse_per)i;
			return 0;
		}
	return -1;
}

static int set_per(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	const char *rest = value;

	options->sets = 1;
	options->per = GT_PER_SM;
	if (strcmp(value, "sm") == 0)
		return 0;
	if (strncmp(value, "sm,", 3) == 0)
		rest += 3;
	else
		options->per = GT_PER_GLOBAL;
	if (strncmp(rest, "set:", 4) == 0)
		return gt_parse_count(rest + 4, 1, GT_REUSE_SETS_MAX, &options->sets, error);
	if (gt_reuse_per_find(value, &options->per) == 0)
		return 0;
	return gt_fail(error, "'%s': expected warp, block, sm, global, set:N or sm,set:N", value);
}

static int set_op(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	const size_t n = sizeof ops / sizeof *ops;

	options->actions = 0;
	for (const char *rest = value;; rest++) {
		size_t i = 0, length = strcspn(rest, ",");
		while (i < n && (strlen(ops[i].name) != length || strncmp(rest, ops[i].name, length) != 0))
			i++;
		if (i == n)
			return gt_fail(error, "'%s': expected a list of loads, stores, atomics, all", value);
		options->actions |= ops[i].actions;
		rest += length;
		if (*rest == '\0')
			return 0;
	}
}

const char *gt_reuse_ops(unsigned actions, char text[GT_REUSE_OPS_TEXT])
{
	size_t used = 0;

	for (size_t i = 0; i + 1 < sizeof ops / sizeof *ops; i++)
		if ((actions & ops[i].actions) == ops[i].actions)
			used += (size_t)snprintf(text + used, GT_REUSE_OPS_TEXT - used, "%s%s", used ? "," : "", ops[i].name);
	return text;
}

static int set_by(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	options->split = gt_split_find(value);
	return options->split ? 0 : gt_fail(error, "'%s': expected %s", value, gt_split_names);
}

static int set_bound(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	return gt_parse_count(value, 1, GT_HISTOGRAM_BOUND_MAX, &options->bound, error);
}

static int set_sample(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	double rate;

	if (gt_parse_real(value, 0, 1, &rate, error) != 0 || rate < 1 / (double)GT_SAMPLE_EVERY_MAX)
		return gt_fail(error, "'%s': expected a rate from %g to 1", value, 1 / (double)GT_SAMPLE_EVERY_MAX);
	options->every = (uint64_t)(1 / rate + 0.5);
	return 0;
}

static int set_sample_lines(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	return gt_parse_count(value, 64, GT_TIMELINE_MAX / 2, &options->sample_lines, error);
}

static const struct {
	const char *name;
	int (*set)(struct gt_reuse_options *options, const char *value, struct gt_error *error);
} settings[] = {
	{"granularity", set_granularity}, {"line", set_line}, {"per", set_per},
	{"op", set_op},			  {"by", set_by},     {"bound", set_bound},
	{"sample", set_sample},		  {"sample-lines", set_sample_lines},
};

int gt_reuse_set(struct gt_reuse_options *options, const char *name, const char *value,
		 struct gt_error *error)
{
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (strcmp(settings[i].name, name) == 0)
			return settings[i].set(options, value, error);
	return gt_fail(error, "no option is named '%s'", name);
}
