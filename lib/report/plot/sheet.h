/* SPDX-License-Identifier: MIT */
/* A sheet: rows of text under named columns, as the tools print them (TSV or CSV), for pictures. */
#ifndef GT_REPORT_PLOT_SHEET_H
#define GT_REPORT_PLOT_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/input.h"

#define GT_SHEET_COLUMNS 512   /* at most */
#define GT_SHEET_CELLS (1U << 23) /* at most, in all rows */
#define GT_SHEET_TEXT (1U << 28)  /* bytes at most */
#define GT_SHEET_NAME 128 /* bytes of its name */

struct gt_sheet {
	char name[GT_SHEET_NAME]; /* label of its series if there are several sheets */
	size_t columns, rows;
	uint32_t *cells; /* offsets in the text: the names of the columns, then row by row; owned */
	size_t capacity;
	char *text; /* owned */
	size_t used, room;
};

/* An empty sheet; its first row will be the names of its columns. */
void gt_sheet_begin(struct gt_sheet *sheet, const char *name);
void gt_sheet_clear(struct gt_sheet *sheet);

/* Appends a row of n cells, copying them. Returns 0, or -1 if n is not the number of columns, or if the sheet is full or
 * memory is short. */
int gt_sheet_row(struct gt_sheet *sheet, const char *const *cells, size_t n, struct gt_error *error);

/* Reads a whole input into an empty sheet. Fields are separated by tabs if the first line has one, else by commas
 * (RFC 4180, but without line ends in quotes). Empty lines, lines that begin with '#', and further copies of the first line
 * are skipped. The table of gtrace-ptx --static, whose first line begins with '#', gets 32 more columns, graph0 to graph31,
 * from the '#graph' line after a row. */
int gt_sheet_read(struct gt_sheet *sheet, struct gt_input *input, struct gt_error *error);

/* Makes a sheet of "kernel,stage,counter,value" wide: a row for each kernel, and a column "stage.counter" for each counter
 * that is not an array. With the name of an array: a row for each element, with the columns "kernel", "stage", "position"
 * and "count". Other sheets are not changed. */
int gt_sheet_widen(struct gt_sheet *sheet, const char *array, struct gt_error *error);

/* The column of that name, or -1. */
int gt_sheet_column(const struct gt_sheet *sheet, const char *name);
const char *gt_sheet_name(const struct gt_sheet *sheet, size_t column);
const char *gt_sheet_cell(const struct gt_sheet *sheet, size_t row, size_t column);

/* A finite number, or a size such as 32K (then *size is set, and otherwise left alone). */
bool gt_sheet_number(const char *text, double *value, bool *size);

#endif
