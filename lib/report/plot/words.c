/* SPDX-License-Identifier: MIT */
/* The columns of a plot, and their labels. */
#include <string.h>

#include "base/options.h"
#include "base/utf8.h"
#include "counter/counter.h"
#include "report/plot/plot.h"

/* Labels of columns whose name is not clear enough. Columns of gstats have theirs in the tables of counter/. */
static const struct {
	const char *column, *words;
	enum gt_numbers numbers;
} known[] = {
	{"N", "size of the array (bytes)", GT_SIZES},
	{"bytes", "cache size (bytes)", GT_SIZES},
	{"size", "size (bytes)", GT_SIZES},
	{"line", "line (bytes)", GT_SIZES},
	{"lines", "cache size (lines)", GT_SIZES},
	{"ways", "ways (lines a set)", GT_PLAIN},
	{"offset", "place in the array (bytes)", GT_SIZES},
	{"latency", "latency (cycles)", GT_PLAIN},
	{"distance", "reuse distance (lines)", GT_SIZES},
	{"fraction", "fraction of all references", GT_PLAIN},
	{"miss_rate", "miss rate (%)", GT_PLAIN},
	{"degree", "degree of coalescing (%)", GT_PLAIN},
	{"expected", "sectors a request, expected", GT_PLAIN},
	{"sectors", "sectors a request", GT_PLAIN},
	{"hits", "references", GT_PLAIN},
	{"misses", "references", GT_PLAIN},
	{"compulsory", "references", GT_PLAIN},
	{"capacity", "references", GT_PLAIN},
	{"conflict", "references", GT_PLAIN},
	{"compulsory_ratio", "fraction of all references", GT_PLAIN},
	{"capacity_ratio", "fraction of all references", GT_PLAIN},
};

const char *gt_plot_x(const struct gt_plot *plot)
{
	return plot->options->x ? plot->options->x : plot->kind->x;
}

const char *gt_plot_y(const struct gt_plot *plot)
{
	return plot->options->y ? plot->options->y : plot->kind->y;
}

/* "l1.read_hits": the stage, the counter, and the unit of the table of counters. */
static bool counter_words(const char *column, char *words, size_t room, enum gt_numbers *numbers)
{
	char stage[GT_FIGURE_TEXT];
	const char *dot = strchr(column, '.');

	if (!dot || (size_t)(dot - column) >= sizeof stage)
		return false;
	memcpy(stage, column, (size_t)(dot - column));
	stage[dot - column] = '\0';
	const struct gt_counter *about = gt_counter_about(stage, dot + 1);
	if (about->unit)
		snprintf(words, room, "%s %s (%s)", stage, dot + 1, about->unit);
	else
		snprintf(words, room, "%s %s", stage, dot + 1);
	if (about->print == GT_PRINT_SIZE)
		*numbers = GT_SIZES;
	return true;
}

void gt_plot_words(const char *column, char words[GT_FIGURE_TEXT], enum gt_numbers *numbers)
{
	char raw[GT_FIGURE_TEXT * 4];

	snprintf(raw, sizeof raw, "%s", column);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].column, column) == 0) {
			snprintf(raw, sizeof raw, "%s", known[i].words);
			*numbers = known[i].numbers;
		}
	if (!counter_words(column, raw, sizeof raw, numbers))
		for (char *at = raw; *at; at++)
			*at = *at == '_' ? ' ' : *at;
	const size_t length = strlen(raw), column_length = strlen(column);
	if (length > 4 && (strcmp(raw + length - 4, " pct") == 0 || strcmp(raw + length - 4, ".pct") == 0))
		memcpy(raw + length - 4, " (%)", 4);
	/* Rates are in percent, in our tables and the profilers'. */
	if (column_length > 5 && strcmp(column + column_length - 5, "_rate") == 0 && raw[length - 1] != ')' && length + 4 < sizeof raw)
		strcpy(raw + length, " (%)");
	gt_utf8_tidy(raw, 31, words);
}

const char *gt_plot_value(const char *column, const char *value, char buffer[GT_FIGURE_TEXT])
{
	enum gt_numbers numbers = GT_PLAIN;
	struct gt_error ignored;
	uint64_t bytes;

	gt_plot_words(column, buffer, &numbers);
	if (numbers != GT_SIZES || gt_parse_count(value, 1, UINT64_MAX, &bytes, &ignored) != 0)
		return value;
	return gt_format_size(bytes, buffer);
}
