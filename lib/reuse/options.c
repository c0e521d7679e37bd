/* SPDX-License-Identifier: MIT */
/* What is measured, as users write it: the unit of reuse, what has a stack, which references count. */
#include "reuse/options.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "reuse/classes.h"
#include "reuse/histogram.h"

/* ---- units ---- */

/* A request refers once to each unit that holds one of its sectors, lowest first. */
static unsigned units_of_request(const struct gt_rows *rows, size_t i, unsigned shift, uint64_t *units)
{
	unsigned n = 0, step = shift >= 7 ? GT_LINE / GT_SECTOR : 1U << (shift - 5);
	unsigned sectors = rows->sectors[i], ones = (1U << step) - 1;

	for (unsigned sector = 0; sector < GT_LINE / GT_SECTOR; sector += step)
		if (sectors >> sector & ones)
			units[n++] = (rows->address[i] + sector * GT_SECTOR) >> shift;
	return n;
}

/* An access refers to the address of each active lane, lowest first. */
static unsigned addresses_of_access(const struct gt_rows *rows, size_t i, unsigned shift, uint64_t *units)
{
	unsigned n = gt_rows_addresses(rows, i, units);

	for (unsigned lane = 0; lane < n; lane++)
		units[lane] >>= shift;
	return n;
}

const struct gt_granularity gt_granularity_line = {"line",   GT_REQUESTS,	    GT_LINE,
						   GT_SECTOR, GT_UNIT_SIZE_MAX, units_of_request};
static const struct gt_granularity sector = {"sector",  GT_REQUESTS, GT_SECTOR,
					     GT_SECTOR, GT_SECTOR,   units_of_request};
static const struct gt_granularity address = {"address", GT_ACCESSES,	  1,
					      1,	 GT_UNIT_SIZE_MAX, addresses_of_access};

static const struct gt_granularity *const granularities[] = {&gt_granularity_line, &sector, &address};

static int set_size(struct gt_unit *unit, const char *text, struct gt_error *error)
{
	const struct gt_granularity *granularity = unit->granularity;
	struct gt_error inner;
	uint64_t size;

	if (gt_parse_size(text, granularity->smallest, granularity->largest, &size, &inner) != 0 ||
	    (size & (size - 1)) != 0) {
		char low[32], high[32];
		return gt_fail(error, "'%s': the bytes of a unit of '%s' are a power of two from %s to %s", text,
			       granularity->name, gt_format_size(granularity->smallest, low),
			       gt_format_size(granularity->largest, high));
	}
	for (unit->shift = 0; size >> unit->shift != 1; unit->shift++)
		;
	return 0;
}

static int parse_unit(const char *text, struct gt_unit *unit, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	char usual[32];

	for (size_t i = 0; i < sizeof granularities / sizeof *granularities; i++) {
		unit->granularity = granularities[i];
		if (strlen(unit->granularity->name) != length || strncmp(unit->granularity->name, text, length) != 0)
			continue;
		snprintf(usual, sizeof usual, "%llu", (unsigned long long)unit->granularity->usual);
		return set_size(unit, text[length] == ':' ? text + length + 1 : usual, error);
	}
	return gt_fail(error, "'%s': expected line, line:SIZE, sector, address or address:SIZE", text);
}

/* ---- options ---- */

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
	return parse_unit(value, &options->unit, error);
}

static int set_line(struct gt_reuse_options *options, const char *value, struct gt_error *error)
{
	char text[64];

	snprintf(text, sizeof text, "line:%.50s", value);
	return parse_unit(text, &options->unit, error);
}

const char *const gt_reuse_per_names[GT_PER_N] = {
	[GT_PER_SM] = "sm", [GT_PER_GLOBAL] = "global", [GT_PER_BLOCK] = "block", [GT_PER_WARP] = "warp",
};

int gt_reuse_per_find(const char *name, enum gt_reuse_per *per)
{
	for (size_t i = GT_PER_SM; i < GT_PER_N; i++)
		if (strcmp(gt_reuse_per_names[i], name) == 0) {
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
	for (size_t i = 0; i < gt_splits_n; i++)
		if (strcmp(gt_splits[i].name, value) == 0) {
			options->split = &gt_splits[i];
			return 0;
		}
	return gt_fail(error, "'%s': expected %s", value, gt_split_names);
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
