/* SPDX-License-Identifier: MIT */
/* Selects the numbers of the rows that are drawn, and their series. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/plot/columns.h"

/* Whether there is one kernel and a total, which is equal and not drawn. */
static bool sole_kernel(const struct gt_sheet *sheet, int column)
{
	const char *kernel = NULL;

	for (size_t row = 0; column >= 0 && row < sheet->rows; row++) {
		const char *cell = gt_sheet_cell(sheet, row, (size_t)column);
		if (strcmp(cell, "total") == 0)
			continue;
		if (kernel && strcmp(kernel, cell) != 0)
			return false;
		kernel = cell;
	}
	return kernel != NULL;
}

/* Equal as text, or as numbers: 32K is 32768. */
static bool same_value(const char *text, const char *wanted)
{
	double a, b;
	bool size;

	return strcmp(text, wanted) == 0 || (gt_sheet_number(text, &a, &size) && gt_sheet_number(wanted, &b, &size) && a == b);
}

static bool chosen(const struct gt_picking *picking, size_t file, size_t row)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[file];
	const struct gt_columns *columns = &picking->columns[file];

	if (columns->sole_kernel && strcmp(gt_sheet_cell(sheet, row, (size_t)columns->kernel), "total") == 0)
		return false;
	for (size_t i = 0; i < picking->where_n; i++) {
		bool holds = false;
		for (size_t j = 0; j < picking->values[i].n && !holds; j++)
			holds = same_value(gt_columns_text(sheet, row, columns->where[i]), picking->values[i].words[j]);
		if (!holds)
			return false;
	}
	return true;
}

/* Drops from `by` the columns that are equal in all chosen rows, and those that are an axis. */
static void drop_constant(struct gt_picking *picking)
{
	const struct gt_plot *plot = picking->plot;
	size_t kept = 0;

	for (size_t i = 0; i < picking->by.n; i++) {
		const char *first = NULL;
		bool varies = plot->options->by != NULL;
		for (size_t file = 0; file < plot->n && !varies; file++) {
			int column = picking->columns[file].by[i];
			bool taken = column == picking->columns[file].x || column == picking->columns[file].panel;
			for (size_t row = 0; row < plot->sheets[file].rows && !varies && column != -1 && !taken; row++) {
				if (!chosen(picking, file, row))
					continue;
				const char *text = gt_columns_text(&plot->sheets[file], row, column);
				first = first ? first : text;
				varies = strcmp(first, text) != 0;
			}
		}
		if (!varies)
			continue;
		memcpy(picking->by.words[kept], picking->by.words[i], GT_PLOT_WORD);
		for (size_t file = 0; file < plot->n; file++)
			picking->columns[file].by[kept] = picking->columns[file].by[i];
		kept++;
	}
	picking->by.n = kept;
}

/* Takes the text up to a character of `ends` that no backslash precedes, without the backslashes. Returns its length there, or
 * -1 if the word is too long. */
static ptrdiff_t take_word(const char *text, const char *ends, char word[GT_PLOT_WORD])
{
	const char *at = text;
	size_t n = 0;

	for (; *at && !strchr(ends, *at); at++) {
		at += *at == '\\' && at[1];
		if (n == GT_PLOT_WORD - 1)
			return -1;
		word[n++] = *at;
	}
	word[n] = '\0';
	return at - text;
}

/* COLUMN=VALUE,VALUE,COLUMN=VALUE: a word that ends at an equals sign is a column, which begins a condition. The first value
 * may have equals signs of its own. */
static int add_conditions(struct gt_picking *picking, const char *text, struct gt_error *error)
{
	const char *at = text;

	for (bool column = true;; column = false) {
		char word[GT_PLOT_WORD];
		ptrdiff_t length = take_word(at, ",=", word);
		bool begins = length >= 0 && at[length] == '=';
		if (length < 0 || (column && !begins))
			return gt_fail(error, "--where '%s': expected COLUMN=VALUE,... of names of at most %d bytes", text, GT_PLOT_WORD - 1);
		if (begins) {
			if (picking->where_n == GT_PLOT_WHERE)
				return gt_fail(error, "--where: expected at most %d conditions", GT_PLOT_WHERE);
			memcpy(picking->where[picking->where_n++], word, sizeof word);
			at += length + 1;
			length = take_word(at, ",", word);
		}
		struct gt_words *values = &picking->values[picking->where_n - 1];
		if (length < 0 || values->n == GT_PLOT_LIST)
			return gt_fail(error, "--where '%s': expected at most %d values of at most %d bytes", text, GT_PLOT_LIST, GT_PLOT_WORD - 1);
		memcpy(values->words[values->n++], word, sizeof word);
		if (!at[length])
			return 0;
		at += length + 1;
	}
}

static int begin(struct gt_picking *picking, struct gt_error *error)
{
	const struct gt_plot *plot = picking->plot;
	const struct gt_plot_options *options = plot->options;
	const char *by = options->by ? options->by : plot->kind->by;

	if (!gt_plot_x(plot) || !gt_plot_y(plot))
		return gt_fail(error, "expected --x and --y: which columns to draw");
	if (gt_words_split("--y", gt_plot_y(plot), &picking->y, error) != 0 || gt_words_split("--by", by, &picking->by, error) != 0)
		return -1;
	if (!options->by && plot->n > 1 && picking->by.n < GT_PLOT_LIST)
		snprintf(picking->by.words[picking->by.n++], GT_PLOT_WORD, "file");
	for (size_t i = 0; i < options->where_n; i++)
		if (add_conditions(picking, options->where[i], error) != 0)
			return -1;
	picking->columns = calloc(plot->n, sizeof *picking->columns);
	if (!picking->columns)
		return gt_fail_memory(error, "columns");
	for (size_t file = 0; file < plot->n; file++) {
		if (gt_columns_find(picking, file, error) != 0)
			return -1;
		for (size_t i = 0; i < picking->by.n; i++)
			if (strcmp(picking->by.words[i], "file") == 0 && picking->columns[file].by[i] == -1)
				picking->columns[file].by[i] = GT_FILE_COLUMN;
		picking->columns[file].sole_kernel = sole_kernel(&plot->sheets[file], picking->columns[file].kernel);
	}
	drop_constant(picking);
	return 0;
}

/* Appends a part of a series' name: a number is named after its column. */
static void name_part(char *name, size_t room, const char *column, const char *value)
{
	char size[GT_FIGURE_TEXT];
	size_t used = strlen(name);
	bool plain = *value < '0' || *value > '9' || strcmp(column, "file") == 0;

	value = gt_plot_value(column, value, size);

	snprintf(name + used, room - used, "%s%s%s%s", used ? ", " : "", plain ? "" : column, plain ? "" : " ", value);
}

static int series_of(struct gt_picking *picking, size_t file, size_t row, size_t y, struct gt_error *error)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[file];
	const struct gt_columns *columns = &picking->columns[file];
	char name[1024] = "";
	int panel = 0;

	if (columns->panel != -1) {
		char title[512] = "";
		name_part(title, sizeof title, picking->plot->options->panel, gt_columns_text(sheet, row, columns->panel));
		panel = gt_figure_panel(picking->figure, title, error);
	}
	for (size_t i = 0; i < picking->by.n; i++)
		if (columns->by[i] != -1)
			name_part(name, sizeof name, picking->by.words[i], gt_columns_text(sheet, row, columns->by[i]));
	if (picking->y.n > 1)
		name_part(name, sizeof name, "file", columns->y[y].name);
	return panel < 0 ? -1 : gt_figure_series_of(picking->figure, (size_t)panel, name, error);
}

/* Reads the number of a row for a y. Returns 1, 0 if there is none, or -1 for other text. */
static int number(const struct gt_sheet *sheet, size_t row, const struct gt_wanted *y, double *value, struct gt_error *error)
{
	const int columns[] = {y->above, y->below};
	double numbers[2] = {0, 1};
	bool size;

	for (int i = 0; i < 2 && columns[i] != -1; i++) {
		const char *text = gt_columns_text(sheet, row, columns[i]);
		if (strcmp(text, "-") == 0 || *text == '\0')
			return 0;
		if (!gt_sheet_number(text, &numbers[i], &size))
			return gt_fail(error, "%s, row %zu: expected a number in column '%s', found '%.60s'", sheet->name, row + 1,
				       columns[i] == GT_FILE_COLUMN ? "file" : gt_sheet_name(sheet, (size_t)columns[i]), text);
	}
	*value = y->below == -1 ? numbers[0] : 100 * numbers[0] / numbers[1];
	return numbers[1] != 0;
}

static int pick_rows(struct gt_picking *picking, int (*take)(void *, const struct gt_pick *, struct gt_error *), void *context,
		     struct gt_error *error)
{
	const struct gt_plot *plot = picking->plot;

	for (size_t file = 0; file < plot->n; file++) {
		const struct gt_sheet *sheet = &plot->sheets[file];
		const struct gt_columns *columns = &picking->columns[file];
		for (size_t row = 0; row < sheet->rows; row++) {
			for (size_t y = 0; y < picking->y.n && chosen(picking, file, row); y++) {
				struct gt_pick pick = {.sheet = sheet, .file = file, .row = row, .x = gt_columns_text(sheet, row, columns->x)};
				int found = number(sheet, row, &columns->y[y], &pick.y, error);
				int series = found > 0 ? series_of(picking, file, row, y, error) : 0;
				if (found < 0 || series < 0)
					return -1;
				pick.series = (size_t)series;
				if (found > 0 && take(context, &pick, error) != 0)
					return -1;
			}
		}
	}
	return 0;
}

int gt_pick_each(const struct gt_plot *plot, struct gt_figure *figure,
	    int (*take)(void *context, const struct gt_pick *pick, struct gt_error *error), void *context,
	    struct gt_error *error)
{
	struct gt_picking *picking = calloc(1, sizeof *picking);
	int result = -1;

	if (!picking)
		return gt_fail_memory(error, "columns");
	picking->plot = plot;
	picking->figure = figure;
	if (begin(picking, error) == 0 && pick_rows(picking, take, context, error) == 0) {
		gt_columns_label(picking, &figure->y);
		result = 0;
	}
	free(picking->columns);
	free(picking);
	return result;
}
