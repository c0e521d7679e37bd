/* SPDX-License-Identifier: MIT */
#include "stream/tsv_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *gt_tsv_field(char **line, char separator)
{
	char *field = *line;

	if (!field)
		return NULL;
	char *end = strchr(field, separator);
	if (end)
		*end = '\0';
	*line = end ? end + 1 : NULL;
	return field;
}

char *gt_tsv_value(char *pair)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	return value;
}

int gt_tsv_number(const char *text, unsigned width, uint64_t *value)
{
	char *end;
	uint64_t max = width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*value = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
	return *end != '\0' || errno == ERANGE || *value > max ? -1 : 0;
}
