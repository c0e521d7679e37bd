/* SPDX-License-Identifier: MIT */
/* Selects the numbers of the rows that are drawn, and names their series, panels and axes. The options name columns, which are
 * looked up in each sheet first; then each row that satisfies every --where gives a number for each y. Columns of --by that
 * are equal in all of these rows are left out of the names. */
#include "report/plot/pick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/utf8.h"
#include "counter/counter.h"

#define LIST_MAX 32	/* columns or values in a list, at most */
#define WORD_BYTES 128	/* of a name in a list */
#define FILE_COLUMN (-2) /* the name of the sheet */

struct words {
	char words[LIST_MAX][WORD_BYTES];
	size_t n;
};

/* One y: a column, or a quotient of two in percent. */
struct wanted {
	char name[WORD_BYTES];
	int above, below; /* below -1: the column alone */
};

/* The options' columns in one sheet. */
struct columns {
	int x, panel, by[LIST_MAX], where[GT_PLOT_WHERE], kernel;
	struct wanted y[LIST_MAX];
	bool sole_kernel; /* the sheet has one kernel and a total, which are equal */
	bool files[LIST_MAX], x_files, panel_files; /* of by, x and panel: paths, which are named by their files */
};

struct picking {
	const struct gt_plot *plot;
	struct gt_figure *figure;
	struct words by, y, values[GT_PLOT_WHERE];
	char where[GT_PLOT_WHERE][WORD_BYTES]; /* columns, each with its values */
	size_t where_n;
	struct columns *columns; /* one for each sheet; owned */
};

/* ---- words for columns and values ---- */

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

/* ---- the label of the y axis ---- */

/* The name of a column without its stage. */
static const char *bare(const struct gt_sheet *sheet, int column)
{
	const char *name = column == FILE_COLUMN ? "file" : gt_sheet_name(sheet, (size_t)column);
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
static void alike(const struct picking *picking, struct gt_axis *axis)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[0];
	const struct wanted *y = picking->columns[0].y;
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
static void label_y(const struct picking *picking, struct gt_axis *axis)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[0];
	const struct wanted *y = picking->columns[0].y;
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

/* ---- paths: named by their files, without folders and extension ---- */

static bool is_path(const char *value)
{
	return strchr(value, '/') && !strchr(value, ' ');
}

static const char *file_of(const char *path, char name[GT_FIGURE_TEXT])
{
	const char *slash = strrchr(path, '/');
	const char *file = slash && slash[1] ? slash + 1 : path;

	snprintf(name, GT_FIGURE_TEXT, "%s", file);
	name[strcspn(name + (*name == '.'), ".") + (*name == '.')] = '\0';
	return name;
}

/* Whether all values of a column are paths of different files. */
static bool are_files(const struct gt_sheet *sheet, int column)
{
	char names[LIST_MAX][GT_FIGURE_TEXT], name[GT_FIGURE_TEXT];
	const char *paths[LIST_MAX];
	size_t n = 0;

	for (size_t row = 0; column >= 0 && row < sheet->rows; row++) {
		const char *path = gt_sheet_cell(sheet, row, (size_t)column);
		size_t at = 0;
		if (!is_path(path))
			return false;
		file_of(path, name);
		while (at < n && strcmp(paths[at], path) != 0 && strcmp(names[at], name) != 0)
			at++;
		if (at < n && strcmp(paths[at], path) == 0)
			continue;
		if (at < n || n == LIST_MAX)
			return false;
		paths[n] = path;
		memcpy(names[n++], name, sizeof name);
	}
	return n > 0;
}

/* ---- the columns of a sheet ---- */

/* Splits "a,b,c". `what` names the option in an error. */
static int split_words(const char *what, const char *text, struct words *list, struct gt_error *error)
{
	list->n = 0;
	while (text) {
		size_t length = strcspn(text, ",");
		if (list->n == LIST_MAX || length >= WORD_BYTES)
			return gt_fail(error, "%s: expected at most %d names of at most %d bytes", what, LIST_MAX, WORD_BYTES - 1);
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

static int find_column(const struct gt_sheet *sheet, const char *name, int *column, struct gt_error *error)
{
	*column = gt_sheet_column(sheet, name);
	if (*column < 0 && strcmp(name, "file") == 0)
		*column = FILE_COLUMN;
	return *column == -1 ? no_column(sheet, name, error) : 0;
}

/* The cell in a column, or the name of the sheet. */
static const char *text_in(const struct gt_sheet *sheet, size_t row, int column)
{
	return column == FILE_COLUMN ? sheet->name : gt_sheet_cell(sheet, row, (size_t)column);
}

/* "NAME=ABOVE/BELOW", of which only ABOVE is required. A column named by the whole text takes precedence. */
static int find_y(const struct gt_sheet *sheet, const char *word, struct wanted *y, struct gt_error *error)
{
	char text[WORD_BYTES];
	const char *equals = strchr(word, '=');

	memcpy(y->name, word, WORD_BYTES);
	memcpy(text, word, WORD_BYTES);
	y->below = -1;
	if (gt_sheet_column(sheet, word) < 0 && equals) {
		y->name[equals - word] = '\0';
		snprintf(text, sizeof text, "%s", equals + 1);
	}
	char *slash = gt_sheet_column(sheet, text) < 0 ? strchr(text, '/') : NULL;
	if (slash) {
		*slash = '\0';
		if (find_column(sheet, slash + 1, &y->below, error) != 0)
			return -1;
	}
	return find_column(sheet, text, &y->above, error);
}

/* Finds the columns of one sheet. Returns 0, or -1 naming the one that is missing. */
static int find_columns(struct picking *picking, size_t file, struct gt_error *error)
{
	const struct gt_plot *plot = picking->plot;
	const struct gt_sheet *sheet = &plot->sheets[file];
	struct columns *columns = &picking->columns[file];

	if (find_column(sheet, plot->options->x, &columns->x, error) != 0)
		return -1;
	columns->panel = -1;
	if (plot->options->panel && find_column(sheet, plot->options->panel, &columns->panel, error) != 0)
		return -1;
	for (size_t i = 0; i < picking->y.n; i++)
		if (find_y(sheet, picking->y.words[i], &columns->y[i], error) != 0)
			return -1;
	for (size_t i = 0; i < picking->where_n; i++)
		if (find_column(sheet, picking->where[i], &columns->where[i], error) != 0)
			return -1;
	columns->x_files = are_files(sheet, columns->x);
	columns->panel_files = are_files(sheet, columns->panel);
	columns->kernel = gt_sheet_column(sheet, "kernel");
	for (size_t i = 0; i < picking->by.n; i++) {
		columns->by[i] = gt_sheet_column(sheet, picking->by.words[i]);
		columns->files[i] = are_files(sheet, columns->by[i]);
		if (plot->options->by && find_column(sheet, picking->by.words[i], &columns->by[i], error) != 0)
			return -1;
	}
	return 0;
}

/* ---- rows ---- */

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

/* Equal as text, as numbers (32K is 32768), or as a path and the name of its file. */
static bool same_value(const char *text, const char *wanted)
{
	char file[GT_FIGURE_TEXT];
	double a, b;
	bool size;

	return strcmp(text, wanted) == 0 || (is_path(text) && strcmp(file_of(text, file), wanted) == 0) || (gt_sheet_number(text, &a, &size) && gt_sheet_number(wanted, &b, &size) && a == b);
}

static bool chosen(const struct picking *picking, size_t file, size_t row)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[file];
	const struct columns *columns = &picking->columns[file];

	if (columns->sole_kernel && strcmp(gt_sheet_cell(sheet, row, (size_t)columns->kernel), "total") == 0)
		return false;
	for (size_t i = 0; i < picking->where_n; i++) {
		bool holds = false;
		for (size_t j = 0; j < picking->values[i].n && !holds; j++)
			holds = same_value(text_in(sheet, row, columns->where[i]), picking->values[i].words[j]);
		if (!holds)
			return false;
	}
	return true;
}

/* Drops from `by` the columns that are equal in all chosen rows, and those that are an axis. */
static void drop_constant(struct picking *picking)
{
	const struct gt_plot *plot = picking->plot;
	size_t kept = 0;

	for (size_t i = 0; i < picking->by.n; i++) {
		const char *first = NULL;
		bool varies = plot->options->by != NULL;
		for (size_t file = 0; file < plot->n && !varies; file++) {
			int column = picking->columns[file].by[i];
			bool is_axis = column == picking->columns[file].x || column == picking->columns[file].panel;
			for (size_t row = 0; row < plot->sheets[file].rows && !varies && column != -1 && !is_axis; row++) {
				if (!chosen(picking, file, row))
					continue;
				const char *text = text_in(&plot->sheets[file], row, column);
				first = first ? first : text;
				varies = strcmp(first, text) != 0;
			}
		}
		if (!varies)
			continue;
		memcpy(picking->by.words[kept], picking->by.words[i], WORD_BYTES);
		for (size_t file = 0; file < plot->n; file++) {
			picking->columns[file].by[kept] = picking->columns[file].by[i];
			picking->columns[file].files[kept] = picking->columns[file].files[i];
		}
		kept++;
	}
	picking->by.n = kept;
}

/* Takes the text up to a character of `ends` that no backslash precedes, without the backslashes. Returns its length there, or
 * -1 if the word is too long. */
static ptrdiff_t read_word(const char *text, const char *ends, char word[WORD_BYTES])
{
	const char *at = text;
	size_t n = 0;

	for (; *at && !strchr(ends, *at); at++) {
		at += *at == '\\' && at[1];
		if (n == WORD_BYTES - 1)
			return -1;
		word[n++] = *at;
	}
	word[n] = '\0';
	return at - text;
}

/* COLUMN=VALUE,VALUE,COLUMN=VALUE: a word that ends at an equals sign is a column, which begins a condition. The first value
 * may have equals signs of its own. */
static int add_conditions(struct picking *picking, const char *text, struct gt_error *error)
{
	const char *at = text;

	for (bool column = true;; column = false) {
		char word[WORD_BYTES];
		ptrdiff_t length = read_word(at, ",=", word);
		bool begins = length >= 0 && at[length] == '=';
		if (length < 0 || (column && !begins))
			return gt_fail(error, "--where '%s': expected COLUMN=VALUE,... of names of at most %d bytes", text, WORD_BYTES - 1);
		if (begins) {
			if (picking->where_n == GT_PLOT_WHERE)
				return gt_fail(error, "--where: expected at most %d conditions", GT_PLOT_WHERE);
			memcpy(picking->where[picking->where_n++], word, sizeof word);
			at += length + 1;
			length = read_word(at, ",", word);
		}
		struct words *values = &picking->values[picking->where_n - 1];
		if (length < 0 || values->n == LIST_MAX)
			return gt_fail(error, "--where '%s': expected at most %d values of at most %d bytes", text, LIST_MAX, WORD_BYTES - 1);
		memcpy(values->words[values->n++], word, sizeof word);
		if (!at[length])
			return 0;
		at += length + 1;
	}
}

static int begin(struct picking *picking, struct gt_error *error)
{
	const struct gt_plot *plot = picking->plot;
	const struct gt_plot_options *options = plot->options;
	const char *by = options->by ? options->by : plot->kind->by;

	if (!plot->options->x || !plot->options->y)
		return gt_fail(error, "expected --x and --y: which columns to draw");
	if (split_words("--y", plot->options->y, &picking->y, error) != 0 || split_words("--by", by, &picking->by, error) != 0)
		return -1;
	if (!options->by && plot->n > 1 && picking->by.n < LIST_MAX)
		snprintf(picking->by.words[picking->by.n++], WORD_BYTES, "file");
	for (size_t i = 0; i < options->where_n; i++)
		if (add_conditions(picking, options->where[i], error) != 0)
			return -1;
	picking->columns = calloc(plot->n, sizeof *picking->columns);
	if (!picking->columns)
		return gt_fail_memory(error, "columns");
	for (size_t file = 0; file < plot->n; file++) {
		if (find_columns(picking, file, error) != 0)
			return -1;
		for (size_t i = 0; i < picking->by.n; i++)
			if (strcmp(picking->by.words[i], "file") == 0 && picking->columns[file].by[i] == -1)
				picking->columns[file].by[i] = FILE_COLUMN;
		picking->columns[file].sole_kernel = sole_kernel(&plot->sheets[file], picking->columns[file].kernel);
	}
	drop_constant(picking);
	return 0;
}

/* Appends a part of a series' name: a number is named after its column. */
static void name_part(char *name, size_t room, const char *column, const char *value, bool is_file)
{
	char size[GT_FIGURE_TEXT], file[GT_FIGURE_TEXT];
	size_t used = strlen(name);
	value = is_file ? file_of(value, file) : value;
	bool plain = is_file || *value < '0' || *value > '9' || strcmp(column, "file") == 0;

	value = gt_plot_value(column, value, size);

	snprintf(name + used, room - used, "%s%s%s%s", used ? ", " : "", plain ? "" : column, plain ? "" : " ", value);
}

static int series_of(struct picking *picking, size_t file, size_t row, size_t y, struct gt_error *error)
{
	const struct gt_sheet *sheet = &picking->plot->sheets[file];
	const struct columns *columns = &picking->columns[file];
	char name[1024] = "";
	int panel = 0;

	if (columns->panel != -1) {
		char title[512] = "";
		name_part(title, sizeof title, picking->plot->options->panel, text_in(sheet, row, columns->panel), columns->panel_files);
		panel = gt_figure_panel(picking->figure, title, error);
	}
	for (size_t i = 0; i < picking->by.n; i++)
		if (columns->by[i] != -1)
			name_part(name, sizeof name, picking->by.words[i], text_in(sheet, row, columns->by[i]), columns->files[i]);
	if (picking->y.n > 1)
		name_part(name, sizeof name, "file", columns->y[y].name, false);
	return panel < 0 ? -1 : gt_figure_series_of(picking->figure, (size_t)panel, name, error);
}

/* Reads the number of a row for a y. Returns 1, 0 if there is none, or -1 for other text. */
static int number(const struct gt_sheet *sheet, size_t row, const struct wanted *y, double *value, struct gt_error *error)
{
	const int columns[] = {y->above, y->below};
	double numbers[2] = {0, 1};
	bool size;

	for (int i = 0; i < 2 && columns[i] != -1; i++) {
		const char *text = text_in(sheet, row, columns[i]);
		if (strcmp(text, "-") == 0 || *text == '\0')
			return 0;
		if (!gt_sheet_number(text, &numbers[i], &size))
			return gt_fail(error, "%s, row %zu: expected a number in column '%s', found '%.60s'", sheet->name, row + 1,
				       columns[i] == FILE_COLUMN ? "file" : gt_sheet_name(sheet, (size_t)columns[i]), text);
	}
	*value = y->below == -1 ? numbers[0] : 100 * numbers[0] / numbers[1];
	return numbers[1] != 0;
}

static int pick_rows(struct picking *picking, int (*visit)(void *, const struct gt_pick *, struct gt_error *), void *context,
		     struct gt_error *error)
{
	const struct gt_plot *plot = picking->plot;

	for (size_t file = 0; file < plot->n; file++) {
		const struct gt_sheet *sheet = &plot->sheets[file];
		const struct columns *columns = &picking->columns[file];
		char x_file[GT_FIGURE_TEXT];
		for (size_t row = 0; row < sheet->rows; row++) {
			const char *x = text_in(sheet, row, columns->x);
			for (size_t y = 0; y < picking->y.n && chosen(picking, file, row); y++) {
				struct gt_pick pick = {.sheet = sheet, .file = file, .row = row, .x = columns->x_files ? file_of(x, x_file) : x};
				int found = number(sheet, row, &columns->y[y], &pick.y, error);
				int series = found > 0 ? series_of(picking, file, row, y, error) : 0;
				if (found < 0 || series < 0)
					return -1;
				pick.series = (size_t)series;
				if (found > 0 && visit(context, &pick, error) != 0)
					return -1;
			}
		}
	}
	return 0;
}

int gt_pick_each(const struct gt_plot *plot, struct gt_figure *figure,
		 int (*visit)(void *context, const struct gt_pick *pick, struct gt_error *error), void *context,
		 struct gt_error *error)
{
	struct picking *picking = calloc(1, sizeof *picking);
	int result = -1;

	if (!picking)
		return gt_fail_memory(error, "columns");
	picking->plot = plot;
	picking->figure = figure;
	if (begin(picking, error) == 0 && pick_rows(picking, visit, context, error) == 0) {
		label_y(picking, &figure->y);
		result = 0;
	}
	free(picking->columns);
	free(picking);
	return result;
}
