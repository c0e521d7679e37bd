/* SPDX-License-Identifier: MIT */
#include "report/plot/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

int gt_words_split(const char *what, const char *text, struct gt_words *list, struct gt_error *error)
{
	list->n = 0;
	while (text) {
		size_t length = strcspn(text, ",");
		if (list->n == GT_PLOT_LIST || length >= GT_PLOT_WORD)
			return gt_fail(error, "%s: expected at most %d names of at most %d bytes", what, GT_PLOT_LIST, GT_PLOT_WORD - 1);
		memcpy(list->words[list->n], text, length);
		list->words[list->n++][length] = '\0';
		text = text[length] ? text + length + 1 : NULL;
	}
	return 0;
}

/* The error that lists the columns of a sheet. */
static int no_column(const struct gt_sheet *sheet, const char *name, struct gt_error *error)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < sheet->columns && used < sizeof names - 1; i++) {
		int wrote = snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "", gt_sheet_name(sheet, i));
		used += wrote > 0 ? (size_t)wrote : 0;
	}
	return gt_fail(error, "%s: expected a column '%s', found: %s%s", sheet->name, name, names, used >= sizeof names ? "..." : "");
}

static int find(const struct gt_sheet *sheet, const char *name, int *column, struct gt_error *error)
{
	*column = gt_sheet_column(sheet, name);
	if (*column < 0 && strcmp(name, "file") == 0)
		*column = GT_FILE_COLUMN;
	return *column == -1 ? no_column(sheet, name, error) : 0;
}

const char *gt_columns_text(const struct gt_sheet *sheet, size_t row, int column)
{
	return column == GT_FILE_COLUMN ? sheet->name : gt_sheet_cell(sheet, row, (size_t)column);
}

/* "NAME=ABOVE/BELOW", of which only ABOVE is required. A column named by the whole text takes precedence. */
static int find_y(const struct gt_sheet *sheet, const char *word, struct gt_wanted *y, struct gt_error *error)
{
	char text[GT_PLOT_WORD];
	const char *equals = strchr(word, '=');

	memcpy(y->name, word, GT_PLOT_WORD);
	memcpy(text, word, GT_PLOT_WORD);
	y->below = -1;
	if (gt_sheet_column(sheet, word) < 0 && equals) {
		y->name[equals - word] = '\0';
		snprintf(text, sizeof text, "%s", equals + 1);
	}
	char *slash = gt_sheet_column(sheet, text) < 0 ? strchr(text, '/') : NULL;
	if (slash) {
		*slash = '\0';
		if (find(sheet, slash + 1, &y->below, error) != 0)
			return -1;
	}
	return find(sheet, text, &y->above, error);
}

int gt_columns_find(struct gt_picking *picking, size_t file, struct gt_error *error)
{
	const struct gt_plot *plot = picking->plot;
	const struct gt_sheet *sheet = &plot->sheets[file];
	struct gt_columns *columns = &picking->columns[file];

	if (find(sheet, gt_plot_x(plot), &columns->x, error) != 0)
		return -1;
	columns->panel = -1;
	if (plot->options->panel && find(sheet, plot->options->panel, &columns->panel, error) != 0)
		return -1;
	for (size_t i = 0; i < picking->y.n; i++)
		if (find_y(sheet, picking->y.words[i], &columns->y[i], error) != 0)
			return -1;
	for (size_t i = 0; i < picking->where_n; i++)
		if (find(sheet, picking->where[i], &columns->where[i], error) != 0)
			return -1;
	columns->kernel = gt_sheet_column(sheet, "kernel");
	for (size_t i = 0; i < picking->by.n; i++) {
		columns->by[i] = gt_sheet_column(sheet, picking->by.words[i]);
		if (plot->options->by && find(sheet, picking->by.words[i], &columns->by[i], error) != 0)
			return -1;
	}
	return 0;
}

/* The name of a column without its stage. */
static const char *bare(const struct gt_sheet *sheet, int column)
{
	const char *name = column == GT_FILE_COLUMN ? "file" : gt_sheet_name(sheet, (size_t)column);
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

/* The common suffix of two names, in the first: the whole name, or a part after a '_'; "" if there is none. */
static const char *common_end(const char *name, const char *other)
{
	for (const char *at = name; at; at = strchr(at, '_') ? strchr(at, '_') + 1 : NULL) {
		size_t length = strlen(at), whole = strlen(other);
		if (length <= whole && strcmp(other + whole - length, at) == 0 && (length == whole || other[whole - length - 1] == '_'))
			return at;
	}
	return "";
}

/* A name with blanks instead of underscores. */
static void spaced(const char *name, char words[GT_FIGURE_TEXT])
{
	gt_utf8_tidy(name, 31, words);
	for (; *words; words++)
		*words = *words == '_' ? ' ' : *words;
}

/* What all columns along y have in common: their words, else the end of their names. For a quotient, the name of the
 * counter in the numerator. */
static void alike(const struct gt_picking *picking, struct gt_axis *axis)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[0];
	const struct gt_wanted *y = picking->columns[0].y;
	char words[GT_FIGURE_TEXT], other[GT_FIGURE_TEXT];
	const char *end = bare(sheet, y->above);
	bool same = true;

	gt_plot_words(picking->y.n == 1 && y->above >= 0 ? gt_sheet_name(sheet, (size_t)y->above) : end, words, &axis->numbers);
	for (size_t i = 1; i < picking->y.n; i++) {
		gt_plot_words(bare(sheet, y[i].above), other, &axis->numbers);
		same = same && strcmp(words, other) == 0;
		end = common_end(end, bare(sheet, y[i].above));
	}
	if (same && y->below == -1)
		memcpy(axis->label, words, sizeof words);
	else if (y->below != -1)
		spaced(*end ? end : "value", axis->label);
	else
		gt_plot_words(*end ? end : "value", axis->label, &axis->numbers);
}

/* Sets the label of the y axis, if the kind has none. */
void gt_columns_label(const struct gt_picking *picking, struct gt_axis *axis)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[0];
	const struct gt_wanted *y = picking->columns[0].y;
	char below[GT_FIGURE_TEXT];

	if (y->below != -1)
		axis->end = 100;
	if (axis->label[0])
		return;
	alike(picking, axis);
	if (y->below == -1)
		return;
	spaced(bare(sheet, y->below), below);
	snprintf(axis->label + strlen(axis->label), sizeof axis->label - strlen(axis->label), " (%% of %.40s)", below);
}
