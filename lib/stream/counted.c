/* SPDX-License-Identifier: MIT */
#include "stream/counted.h"

#include <string.h>

int gt_count_numbers(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t bytes,
		     struct gt_error *error)
{
	const char *at = fields, *end = at + bytes;
	uint64_t value;

	for (size_t i = 0; i < table->n && at < end; i++) {
		if (!gt_counter_is_number(&table->rows[i]))
			continue;
		memcpy(&value, at, sizeof value);
		if (gt_count_number(count, table->rows[i].name, value, error) != 0)
			return -1;
		at += sizeof value;
	}
	return 0;
}
