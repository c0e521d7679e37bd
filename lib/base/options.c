/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many bits a size suffix shifts, or -1. */
static int suffix_shift(const char *suffix)
{
	static const char letters[] = "KMGT";

	if (suffix[0] == '\0')
		return 0;
	const char *at = strchr(letters, toupper((unsigned char)suffix[0]));
	if (!at || suffix[1] != '\0')
		return -1;
	return 10 * (int)(at - letters + 1);
}

int gt_parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *value,
		   struct gt_error *error)
{
	char *end;

	errno = 0;
	uint64_t number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno == ERANGE || number < min || number > max)
		return gt_fail(error, "'%s': expected a whole number from %" PRIu64 " to %" PRIu64 "%s", text, min, max,
			       end > text && suffix_shift(end) > 0 ? ": a count, not a size in bytes" : "");
	*value = number;
	return 0;
}

int gt_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value,
		  struct gt_error *error)
{
	char *end = NULL;
	char low[32], high[32];
	uint64_t whole = 0, size;

	errno = 0;
	if (isdigit((unsigned char)text[0]))
		whole = strtoull(text, &end, 10);
	if (!end || errno == ERANGE)
		goto bad;
	double fraction = 0;
	if (*end == '.') {
		double weight = 0.1;
		for (end++; isdigit((unsigned char)*end); end++, weight /= 10)
			fraction += weight * (*end - '0');
	}
	int shift = suffix_shift(end);
	if (shift < 0 || whole > (UINT64_MAX >> shift))
		goto bad;
	double bytes = ldexp(fraction, shift), rounded = nearbyint(bytes);
	if (fabs(bytes - rounded) > 1e-6 * ldexp(1, shift) / 1024 + 1e-9)
		goto bad;
	size = (whole << shift) + (uint64_t)rounded;
	if (size < (whole << shift) || size < min || size > max)
		goto bad;
	*value = size;
	return 0;
bad:
	return gt_fail(error, "'%s': expected a size in whole bytes from %s to %s, such as 96 or 128K",
		       text, gt_format_size(min, low), gt_format_size(max, high));
}

int gt_parse_real(const char *text, double min, double max, double *value, struct gt_error *error)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(number) || number < min || number > max)
		return gt_fail(error, "'%s': expected a number from %g to %g", text, min, max);
	*value = number;
	return 0;
}

int gt_parse_list(const char *text, unsigned char *chosen, size_t n, struct gt_error *error)
{
	const char *at = text;

	for (;;) {
		char *end;
		if (!isdigit((unsigned char)*at))
			goto bad;
		uint64_t first = strtoull(at, &end, 10), last = first;
		if (*end == '-') {
			at = end + 1;
			if (!isdigit((unsigned char)*at))
				goto bad;
			last = strtoull(at, &end, 10);
		}
		if (first > last || last >= n)
			goto bad;
		for (uint64_t i = first; i <= last; i++)
			chosen[i] = 1;
		if (*end == '\0')
			return 0;
		if (*end != ',')
			goto bad;
		at = end + 1;
	}
bad:
	return gt_fail(error, "'%s': expected numbers and rising ranges below %zu, such as 2,5-7", text, n);
}

char *gt_format_size(uint64_t size, char *buffer)
{
	static const char letters[] = "TGMK";

	for (int i = 0; i < 4; i++) {
		unsigned shift = 10U * (4U - (unsigned)i);
		uint64_t tenths = (size >> shift) * 10 + ((size & ((UINT64_C(1) << shift) - 1)) * 10 >> shift);
		if (size >> shift == 0 || size >> 54 != 0)
			continue;
		if ((size & ((UINT64_C(1) << shift) - 1)) == 0)
			snprintf(buffer, 32, "%" PRIu64 "%c", size >> shift, letters[i]);
		else if (tenths << shift == size * 10)
			snprintf(buffer, 32, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10, letters[i]);
		else
			continue;
		return buffer;
	}
	snprintf(buffer, 32, "%" PRIu64, size);
	return buffer;
}

/* ---- messages ---- */

#define WORD_LETTERS 63

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment, with the last three rows of its table. */
unsigned gt_edit_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_LETTERS + 1];
	size_t m = strnlen(a, WORD_LETTERS), n = strnlen(b, WORD_LETTERS);
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= m; i++) {
		unsigned *free_row = before;
		before = last;
		last = row;
		row = free_row;
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return row[n];
}
