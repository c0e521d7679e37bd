/* SPDX-License-Identifier: MIT */
#include "stream/counted.h"

#include <string.h>

int gt_count_some(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t from, size_t to,
		  struct gt_error *error)
{
	uint64_t value;
	size_t at = 0;

	for (size_t i = 0; i < table->n && at < to; i++) {
		if (!gt_counter_is_number(&table->rows[i]))
			continue;
		memcpy(&value, (const char *)fields + at, sizeof value);
		if (at >= from && gt_count_number(count, table->rows[i].name, value, error) != 0)
			return -1;
		at += sizeof value;
	}
	return 0;
}

int gt_count_numbers(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t bytes,
		     struct gt_error *error)
{
	return gt_count_some(count, table, fields, 0, bytes, error);
}

int gt_count_arrays(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t elements, size_t n,
		    struct gt_error *error)
{
	const uint64_t *at = fields;

	for (size_t i = 0; i < table->n; i++)
		at += gt_counter_is_number(&table->rows[i]);
	for (size_t i = 0; i < table->n; i++) {
		if (table->rows[i].kind != GT_COUNTER_ARRAY)
			continue;
		if (gt_count_array(count, table->rows[i].name, at, n, error) != 0)
			return -1;
		at += elements;
	}
	return 0;
}
