/* SPDX-License-Identifier: MIT */
/* A sheet keeps all cells as offsets in one text, row by row, so that a million rows take two blocks of memory. It is filled
 * row by row, or read from what a tool printed; the long CSV of gstats, a row for each counter, can be made wide. */
#include "report/plot/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "base/utf8.h"
#include "report/format.h"

#define GRAPH_COLUMNS 32 /* 4-byte places in the 128 bytes that a request may touch [003] */

void gt_sheet_begin(struct gt_sheet *sheet, const char *name)
{
	char tidy[4 * GT_SHEET_NAME + 1];

	*sheet = (struct gt_sheet){0};
	snprintf(sheet->name, sizeof sheet->name, "%s", gt_utf8_tidy(name, 31, tidy));
}

void gt_sheet_clear(struct gt_sheet *sheet)
{
	free(sheet->cells);
	free(sheet->text);
	*sheet = (struct gt_sheet){0};
}

/* Makes room for `more` elements of `size` bytes after the `used` ones. */
static int make_room(void *at, size_t *capacity, size_t used, size_t more, size_t size, struct gt_error *error)
{
	void *old;

	memcpy(&old, at, sizeof old);
	void *bigger = gt_grown_to(old, used + more, capacity, size);
	if (!bigger && used + more > 0)
		return gt_fail_memory(error, "a table");
	memcpy(at, &bigger, sizeof bigger);
	return 0;
}

int gt_sheet_row(struct gt_sheet *sheet, const char *const *cells, size_t n, struct gt_error *error)
{
	bool names = !sheet->cells;
	size_t place = names ? 0 : (sheet->rows + 1) * sheet->columns;

	if (!names && n != sheet->columns)
		return gt_fail(error, "expected %zu fields, as the column names are, found %zu", sheet->columns, n);
	if (n > GT_SHEET_COLUMNS || place + n > GT_SHEET_CELLS)
		return gt_fail(error, "expected at most %d columns and %u cells", GT_SHEET_COLUMNS, GT_SHEET_CELLS);
	if (make_room(&sheet->cells, &sheet->capacity, place, n, sizeof *sheet->cells, error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		size_t bytes = strlen(cells[i]) + 1;
		if (sheet->used + bytes > GT_SHEET_TEXT)
			return gt_fail(error, "expected at most %u bytes of text", GT_SHEET_TEXT);
		if (make_room(&sheet->text, &sheet->room, sheet->used, bytes, 1, error) != 0)
			return -1;
		memcpy(sheet->text + sheet->used, cells[i], bytes);
		sheet->cells[place + i] = (uint32_t)sheet->used;
		sheet->used += bytes;
	}
	if (names)
		sheet->columns = n;
	else
		sheet->rows++;
	return 0;
}

const char *gt_sheet_name(const struct gt_sheet *sheet, size_t column)
{
	return sheet->text + sheet->cells[column];
}

const char *gt_sheet_cell(const struct gt_sheet *sheet, size_t row, size_t column)
{
	return sheet->text + sheet->cells[(row + 1) * sheet->columns + column];
}

int gt_sheet_column(const struct gt_sheet *sheet, const char *name)
{
	for (size_t i = 0; i < sheet->columns; i++)
		if (strcmp(gt_sheet_name(sheet, i), name) == 0)
			return (int)i;
	return -1;
}

bool gt_sheet_number(const char *text, double *value, bool *size)
{
	struct gt_error ignored;
	uint64_t bytes;
	size_t length = strlen(text);

	if (gt_parse_real(text, -1e300, 1e300, value, &ignored) == 0)
		return true;
	if (length < 2 || !strchr("KMGT", text[length - 1]) || gt_parse_size(text, 0, UINT64_MAX, &bytes, &ignored) != 0)
		return false;
	*value = (double)bytes;
	*size = true;
	return true;
}

/* ---- reading ---- */

/* Splits a line into at most GT_SHEET_COLUMNS + 1 fields. Returns their number, or -1. */
static int cut(char *line, bool tabs, const char *fields[GT_SHEET_COLUMNS + 1], struct gt_error *error)
{
	int n = 0;

	for (char *at = line; at && n <= GT_SHEET_COLUMNS; n++) {
		if (!tabs) {
			char *field;
			if (!gt_csv_next_field(&at, &field))
				return gt_fail(error, "expected a quoted field to end in a quote and a comma");
			fields[n] = field;
			continue;
		}
		fields[n] = at;
		at = strchr(at, '\t');
		if (at)
			*at++ = '\0';
	}
	return n;
}

/* A sheet that is being read. */
struct reading {
	struct gt_sheet *sheet;
	char *first; /* the first line, to recognize copies of it; owned */
	bool tabs, graphs;
};

static int read_names(struct reading *reading, char *line, struct gt_error *error)
{
	const char *fields[GT_SHEET_COLUMNS + 1];
	char graph[GRAPH_COLUMNS][20];

	reading->first = strdup(line);
	if (!reading->first)
		return gt_fail_memory(error, "a line");
	reading->tabs = strchr(line, '\t') != NULL;
	reading->graphs = *line == '#';
	int n = cut(line + (*line == '#'), reading->tabs, fields, error);
	if (n >= 0 && reading->graphs)
		for (int i = 0; i < GRAPH_COLUMNS && n <= GT_SHEET_COLUMNS; i++, n++) {
			snprintf(graph[i], sizeof graph[i], "graph%d", i);
			fields[n] = graph[i];
		}
	return n < 0 ? -1 : gt_sheet_row(reading->sheet, fields, (size_t)n, error);
}

/* Puts the numbers of a "#graph" line into the preceding row. */
static int read_graph(struct reading *reading, char *line, struct gt_error *error)
{
	struct gt_sheet *sheet = reading->sheet;
	const char *fields[GT_SHEET_COLUMNS + 1];
	int n = cut(line, true, fields, error) - 1;

	if (n != GRAPH_COLUMNS || sheet->rows == 0)
		return gt_fail(error, "expected a row, then #graph and %d numbers", GRAPH_COLUMNS);
	size_t end = (sheet->rows + 1) * sheet->columns;
	for (size_t i = 0; i < GRAPH_COLUMNS; i++) {
		size_t bytes = strlen(fields[i + 1]) + 1;
		if (sheet->used + bytes > GT_SHEET_TEXT || make_room(&sheet->text, &sheet->room, sheet->used, bytes, 1, error) != 0)
			return gt_fail(error, "expected at most %u bytes of text", GT_SHEET_TEXT);
		memcpy(sheet->text + sheet->used, fields[i + 1], bytes);
		sheet->cells[end - GRAPH_COLUMNS + i] = (uint32_t)sheet->used;
		sheet->used += bytes;
	}
	return 0;
}

/* The first line of gtrace-ptx --static, and of gcoalesce --degree. */
static bool names_columns(const char *line)
{
	return strncmp(line, "#kernel\tline\t", 13) == 0 || strncmp(line, "#kernel\tpc\t", 11) == 0;
}

static int read_line(struct reading *reading, char *line, struct gt_error *error)
{
	const char *fields[GT_SHEET_COLUMNS + 1];

	if (*line == '\0')
		return 0;
	if (!reading->first)
		return *line == '#' && !names_columns(line) ? 0 : read_names(reading, line, error);
	if (strcmp(line, reading->first) == 0)
		return 0;
	if (reading->graphs && strncmp(line, "#graph\t", 7) == 0)
		return read_graph(reading, line, error);
	if (*line == '#')
		return 0;
	int n = cut(line, reading->tabs, fields, error);
	if (n >= 0 && reading->graphs)
		for (int i = 0; i < GRAPH_COLUMNS && n <= GT_SHEET_COLUMNS; i++)
			fields[n++] = "";
	return n < 0 ? -1 : gt_sheet_row(reading->sheet, fields, (size_t)n, error);
}

int gt_sheet_read(struct gt_sheet *sheet, struct gt_input *input, struct gt_error *error)
{
	struct reading reading = {.sheet = sheet};
	char *line;
	size_t length;
	int got;

	while ((got = gt_input_line(input, &line, &length, error)) > 0)
		if (read_line(&reading, line, error) != 0) {
			got = gt_input_fail(input, error, "%s", error->text);
			break;
		}
	if (got == 0 && sheet->rows == 0)
		got = gt_fail(error, "%s: expected a line of column names and rows below it", gt_input_name(input));
	free(reading.first);
	return got;
}

/* ---- from a row for each counter to a row for each kernel, or for each element of an array ---- */

#define COLUMN_NAME 128 /* bytes */

struct widening {
	char names[GT_SHEET_COLUMNS][COLUMN_NAME]; /* [0] is kernel */
	const char *cells[GT_SHEET_COLUMNS];
	size_t columns;
};

/* The column of a counter, created if it is new; -1 if there are too many. */
static int column_of(struct widening *widening, const char *stage, const char *counter)
{
	char name[COLUMN_NAME];

	snprintf(name, sizeof name, "%s.%s", stage, counter);
	for (size_t i = 1; i < widening->columns; i++)
		if (strcmp(widening->names[i], name) == 0)
			return (int)i;
	if (widening->columns == GT_SHEET_COLUMNS)
		return -1;
	memcpy(widening->names[widening->columns], name, sizeof name);
	return (int)widening->columns++;
}

/* Whether the row is an element of an array, which has no column. */
static bool is_element(const struct gt_sheet *sheet, size_t row)
{
	return strchr(gt_sheet_cell(sheet, row, 2), '[') != NULL;
}

static int find_columns(struct widening *widening, const struct gt_sheet *sheet, struct gt_error *error)
{
	snprintf(widening->names[0], COLUMN_NAME, "kernel");
	widening->columns = 1;
	for (size_t row = 0; row < sheet->rows; row++)
		if (!is_element(sheet, row) &&
		    column_of(widening, gt_sheet_cell(sheet, row, 1), gt_sheet_cell(sheet, row, 2)) < 0)
			return gt_fail(error, "expected at most %d counters", GT_SHEET_COLUMNS - 1);
	return 0;
}

/* Appends the row gathered so far. */
static int end_kernel(struct widening *widening, struct gt_sheet *wide, struct gt_error *error)
{
	return widening->cells[0] ? gt_sheet_row(wide, widening->cells, widening->columns, error) : 0;
}

static int fill(struct widening *widening, const struct gt_sheet *sheet, struct gt_sheet *wide, struct gt_error *error)
{
	for (size_t i = 0; i < widening->columns; i++)
		widening->cells[i] = widening->names[i];
	for (size_t row = 0; row < sheet->rows; row++) {
		const char *kernel = gt_sheet_cell(sheet, row, 0);
		if (row == 0 || strcmp(kernel, gt_sheet_cell(sheet, row - 1, 0)) != 0) {
			if (end_kernel(widening, wide, error) != 0)
				return -1;
			for (size_t i = 0; i < widening->columns; i++)
				widening->cells[i] = "-";
			widening->cells[0] = kernel;
		}
		if (!is_element(sheet, row))
			widening->cells[column_of(widening, gt_sheet_cell(sheet, row, 1), gt_sheet_cell(sheet, row, 2))] =
				gt_sheet_cell(sheet, row, 3);
	}
	return end_kernel(widening, wide, error);
}

static int widen(const struct gt_sheet *sheet, struct gt_sheet *wide, struct gt_error *error)
{
	struct widening *widening = calloc(1, sizeof *widening);

	if (!widening)
		return gt_fail_memory(error, "a table");
	int result = find_columns(widening, sheet, error) == 0 && fill(widening, sheet, wide, error) == 0 ? 0 : -1;
	free(widening);
	return result;
}

/* The elements of the array of that name, "COLUMN_NAME[i]", of every stage. */
static int elements(const struct gt_sheet *sheet, const char *array, struct gt_sheet *list, struct gt_error *error)
{
	static const char *const names[] = {"kernel", "stage", "position", "count"};
	size_t length = strlen(array);
	char place[32];

	if (gt_sheet_row(list, names, 4, error) != 0)
		return -1;
	for (size_t row = 0; row < sheet->rows; row++) {
		const char *counter = gt_sheet_cell(sheet, row, 2);
		if (strncmp(counter, array, length) != 0 || counter[length] != '[')
			continue;
		snprintf(place, sizeof place, "%.*s", (int)strcspn(counter + length + 1, "]"), counter + length + 1);
		const char *cells[] = {gt_sheet_cell(sheet, row, 0), gt_sheet_cell(sheet, row, 1), place, gt_sheet_cell(sheet, row, 3)};
		if (gt_sheet_row(list, cells, 4, error) != 0)
			return -1;
	}
	return list->rows > 0 ? 0 : gt_fail(error, "%s: expected a counter '%s', an array", sheet->name, array);
}

int gt_sheet_widen(struct gt_sheet *sheet, const char *array, struct gt_error *error)
{
	static const char *const names[] = {"kernel", "stage", "counter", "value"};
	struct gt_sheet wide;
	bool is_long = sheet->columns == 4;

	for (size_t i = 0; i < 4 && is_long; i++)
		is_long = strcmp(gt_sheet_name(sheet, i), names[i]) == 0;
	if (!is_long)
		return 0;
	gt_sheet_begin(&wide, "");
	memcpy(wide.name, sheet->name, sizeof wide.name);
	if ((array ? elements(sheet, array, &wide, error) : widen(sheet, &wide, error)) != 0) {
		gt_sheet_clear(&wide);
		return -1;
	}
	gt_sheet_clear(sheet);
	*sheet = wide;
	return 0;
}
