/* SPDX-License-Identifier: MIT */
#include "report/compare/csv_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

static int add_field(struct gt_csv *csv, char *field, struct gt_error *error)
{
	char **bigger = gt_grown(csv->fields, csv->n, &csv->capacity, sizeof *csv->fields);

	if (!bigger)
		return gt_fail_memory(error, "a line of comma-separated values");
	csv->fields = bigger;
	csv->fields[csv->n++] = field;
	return 0;
}

/* Unquotes a field in place; `at` is after the opening quote. Returns the text after the closing quote, or NULL. */
static char *unquote(char *at)
{
	char *to = at;

	for (; *at; *to++ = *at++)
		if (*at == '"' && *++at != '"') {
			char *after = at; /* the 0 may overwrite the quote just before it */
			*to = '\0';
			return after;
		}
	return NULL;
}

int gt_csv_next(struct gt_csv *csv, struct gt_error *error)
{
	char *line;
	size_t length;
	int result = gt_input_line(csv->input, &line, &length, error);

	csv->n = 0;
	if (result != 1)
		return result;
	for (;;) {
		char *field = line, *end;
		if (*line == '"') {
			field = line + 1;
			end = unquote(field);
		} else {
			end = line + strcspn(line, ",");
		}
		if (!end || (*end && *end != ','))
			return -2;
		char behind = *end;
		if (*line != '"')
			*end = '\0';
		if (add_field(csv, field, error) != 0)
			return -1;
		if (!behind)
			return 1;
		line = end + 1;
	}
}

void gt_csv_close(struct gt_csv *csv)
{
	free(csv->fields);
	*csv = (struct gt_csv){0};
}

int gt_csv_column(const struct gt_csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->n && i < 1 << 20; i++)
		if (strcmp(csv->fields[i], name) == 0)
			return (int)i;
	return -1;
}
