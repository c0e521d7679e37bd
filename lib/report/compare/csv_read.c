/* SPDX-License-Identifier: MIT */
/* A line is split into fields in place. Numbers are read with either decimal sign; what the digits are grouped by, a sign, a
 * blank or an apostrophe, is left out. */
#include "report/compare/csv_read.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grown.h"
#include "report/format.h"

static int add_field(struct gt_csv *csv, char *field, struct gt_error *error)
{
	char **bigger = gt_grown(csv->fields, csv->n, &csv->capacity, sizeof *csv->fields);

	if (!bigger)
		return gt_fail_memory(error, "a line of comma-separated values");
	csv->fields = bigger;
	csv->fields[csv->n++] = field;
	return 0;
}

int gt_csv_next(struct gt_csv *csv, struct gt_error *error)
{
	char *line;
	size_t length;
	int result = gt_input_line(csv->input, &line, &length, error);

	csv->n = 0;
	if (result != 1)
		return result;
	while (line) {
		char *field;
		if (!gt_csv_next_field(&line, &field))
			return -2;
		if (add_field(csv, field, error) != 0)
			return -1;
	}
	return 1;
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

/* ---- numbers as profilers write them ---- */

#define NUMBER_TEXT 64 /* bytes a number may have, with its final 0 */

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* With a single sign, the decimal sign is known unless the sign may separate thousands, "480,475". */
static enum gt_decimal of_single(const char *text, const char *sign)
{
	size_t before = strspn(text, "0123456789+-"), after = digits_at(sign + 1);
	enum gt_decimal decimal = *sign == '.' ? GT_DECIMAL_POINT : GT_DECIMAL_COMMA;
	bool grouped = after == 3 && sign[4] == '\0' && before <= 3 && text[0] != '0' && before > 0;

	return grouped ? GT_DECIMAL_UNDECIDED : decimal;
}

enum gt_decimal gt_decimal_of(const char *text)
{
	const char *point = strchr(text, '.'), *comma = strchr(text, ',');

	if (text[strspn(text, "0123456789+-., '\xa0\xaf\xc2\xe2\x80" "eE")] != '\0' || (!point && !comma))
		return GT_DECIMAL_UNDECIDED;
	if (point && comma)
		return strrchr(text, '.') > strrchr(text, ',') ? GT_DECIMAL_POINT : GT_DECIMAL_COMMA;
	if (point)
		return strrchr(text, '.') != point ? GT_DECIMAL_COMMA : of_single(text, point);
	return strrchr(text, ',') != comma ? GT_DECIMAL_POINT : of_single(text, comma);
}

/* The bytes of a thousands separator at `text`: the sign, an apostrophe, or a kind of blank; 0: none. */
static size_t separator_at(const char *text, char sign)
{
	if (*text == sign || *text == '\'' || *text == ' ')
		return 1;
	if (strncmp(text, "\xc2\xa0", 2) == 0) /* U+00A0 */
		return 2;
	return strncmp(text, "\xe2\x80\xaf", 3) == 0 ? 3 : 0; /* U+202F */
}

static bool no_value(const char *text)
{
	static const char *const words[] = {"", "-", "n/a", "na", "nan", "(null)"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

/* Copies the digits before the decimal sign without separators. NULL if groups do not have three digits. */
static const char *copy_whole(const char *text, char sign, char **to, const char *end)
{
	size_t n = digits_at(text), skip;

	for (bool first = true;; first = false) {
		if (*to + n >= end)
			return NULL;
		memcpy(*to, text, n);
		*to += n;
		text += n;
		skip = separator_at(text, sign);
		if (skip == 0)
			return text;
		if (first && (n == 0 || n > 3))
			return NULL;
		text += skip;
		n = digits_at(text);
		if (n != 3)
			return NULL;
	}
}

int gt_profiler_number(const char *text, enum gt_decimal decimal, double *value)
{
	char plain[NUMBER_TEXT], *to = plain, *after;
	char point = decimal == GT_DECIMAL_COMMA ? ',' : '.', group = point == ',' ? '.' : ',';

	text += strspn(text, " ");
	if (no_value(text))
		return 0;
	if (*text == '+' || *text == '-')
		*to++ = *text++;
	if (!isdigit((unsigned char)*text) && *text != point)
		return -1;
	text = copy_whole(text, group, &to, plain + sizeof plain - 1);
	if (!text)
		return -1;
	size_t rest = strlen(text);
	if (rest >= (size_t)(plain + sizeof plain - to) || text[strspn(text, "0123456789+-.,eE")] != '\0' ||
	    strchr(text, group))
		return -1;
	memcpy(to, text, rest + 1);
	if (*to == point)
		*to = '.';
	*value = strtod(plain, &after);
	return *after == '\0' && isfinite(*value) ? 1 : -1;
}
