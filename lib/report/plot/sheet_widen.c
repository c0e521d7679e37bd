/* SPDX-License-Identifier: MIT */
/* From a row for each counter to a row for each kernel, or for each element of an array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/plot/sheet.h"

#define NAME 128

struct widening {
	char names[GT_SHEET_COLUMNS][NAME]; /* [0] is kernel */
	const char *cells[GT_SHEET_COLUMNS];
	size_t columns;
};

/* The column of a counter, created if it is new; -1 if there are too many. */
static int column_of(struct widening *widening, const char *stage, const char *counter)
{
	char name[NAME];

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
	snprintf(widening->names[0], NAME, "kernel");
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

/* The elements of the array of that name, "NAME[i]", of every stage. */
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
