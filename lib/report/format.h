/* SPDX-License-Identifier: MIT */
/* The formats that reports are written in: a table of text in aligned columns, a field of CSV, a string of JSON, and text in
 * HTML or SVG. */
#ifndef GT_REPORT_FORMAT_H
#define GT_REPORT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define GT_TABLE_COLUMNS 8
#define GT_TABLE_CELL 128 /* bytes a cell may have, with its final 0; longer ones are cut */

struct gt_table {
	char (*cells)[GT_TABLE_COLUMNS][GT_TABLE_CELL];
	size_t n, capacity;
	bool failed; /* memory was short: gt_table_write says so */
	const char *alignment; /* one letter a column: 'l' or 'r' */
};

/* Adds a row; NULL and missing cells are empty. */
void gt_table_add(struct gt_table *table, const char *const cells[GT_TABLE_COLUMNS]);
/* Writes the rows, two blanks between columns and before the first, and empties the table. Writes
 * nothing and returns -1 if a row could not be added. */
int gt_table_write(struct gt_table *table, FILE *to, struct gt_error *error);

/* Digits in groups of three, "41,472". */
#define GT_TABLE_NUMBER 32
const char *gt_table_number(uint64_t number, char buffer[GT_TABLE_NUMBER]);

/* Writes a field of comma-separated values (RFC 4180), in quotes if it needs them or if `quoted`. What a spreadsheet would take for a formula, as
 * it begins with = + - or @ and is no number, gets an apostrophe before it, which makes it a text there. */
void gt_csv_field(const char *text, bool quoted, FILE *to);
/* Reads the next field of a line, unquoted in place and without such an apostrophe; moves past its comma, or sets *at to NULL after the last. False if a quote
 * is not closed, or is inside a field. */
bool gt_csv_next_field(char **at, char **field);

/* Writes a string of JSON in quotes. Bytes that are not UTF-8 become U+FFFD. */
void gt_json_string(const char *text, FILE *to);

/* Writes a text escaped, for use between tags and in quoted attributes of HTML and SVG. Characters that a page cannot hold
 * become '?' (utf8.h). */
void gt_markup_text(const char *text, FILE *to);

/* Numbers in words, three digits and a unit: "13.6 M"; "330 MB", in powers of 1024. */
#define GT_WORDS 24
const char *gt_number_words(uint64_t count, char text[GT_WORDS]);
const char *gt_bytes_words(double bytes, char text[GT_WORDS]);

/* Writes words separated by blanks in lines of at most GT_WRAP_COLUMNS, without an end of line. The first stands at `column`, 0 or what was written
 * before it; lines after the first begin with `indent` blanks. */
#define GT_WRAP_COLUMNS 80
void gt_wrapped_write(const char *words, size_t column, size_t indent, FILE *to);

#endif
