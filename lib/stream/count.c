/* SPDX-License-Identifier: MIT */
/* Counts (stream/count.h), and how they are filled from the tables of counters (stream/counted.h). */
#include "stream/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/counted.h"

void gt_count_begin(struct gt_count *count, const char *stage, uint64_t kernel)
{
	memset(count, 0, sizeof *count);
	snprintf(count->stage, sizeof count->stage, "%s", stage);
	count->kernel = kernel;
}

static void clear_entries(struct gt_count *count)
{
	for (size_t i = 0; i < count->n; i++)
		if (count->entries[i].kind != GT_COUNT_NUMBER) {
			free(count->entries[i].array);
			free(count->entries[i].text);
		}
	count->n = 0;
	count->elements = 0;
}

void gt_count_again(struct gt_count *count, const char *stage, uint64_t kernel)
{
	const size_t length = strnlen(stage, sizeof count->stage - 1);

	clear_entries(count);
	memcpy(count->stage, stage, length);
	count->stage[length] = '\0';
	count->kernel = kernel;
}

void gt_count_clear(struct gt_count *count)
{
	clear_entries(count);
	free(count->entries);
	memset(count, 0, sizeof *count);
}

struct gt_count_entry *gt_count_entry_new(struct gt_count *count, const char *name, size_t length, enum gt_count_kind kind, size_t n,
					  struct gt_error *error)
{
	struct gt_count_entry *entries = gt_grown(count->entries, count->n, &count->capacity, sizeof *entries);
	uint64_t *array = NULL;

	if (n > GT_COUNT_VALUES_MAX - count->elements) {
		gt_fail(error, "%s: more than %d values in the counts of a kernel", count->stage, GT_COUNT_VALUES_MAX);
		return NULL;
	}
	count->entries = entries ? entries : count->entries;
	if (!entries || (kind == GT_COUNT_ARRAY && !(array = malloc((n + !n) * sizeof *array)))) {
		gt_fail_memory(error, "a count");
		return NULL;
	}
	struct gt_count_entry *entry = &entries[count->n++];
	length = length < sizeof entry->name ? length : sizeof entry->name - 1;
	memcpy(entry->name, name, length);
	entry->name[length] = '\0';
	entry->kind = kind;
	entry->number = 0;
	entry->array = array;
	entry->n = n;
	entry->text = NULL;
	count->elements += n;
	return entry;
}

int gt_count_number(struct gt_count *count, const char *name, uint64_t value, struct gt_error *error)
{
	struct gt_count_entry *entry = gt_count_entry_new(count, name, strlen(name), GT_COUNT_NUMBER, 0, error);

	if (!entry)
		return -1;
	entry->number = value;
	return 0;
}

int gt_count_array(struct gt_count *count, const char *name, const uint64_t *values, size_t n,
		   struct gt_error *error)
{
	struct gt_count_entry *entry = gt_count_entry_new(count, name, strlen(name), GT_COUNT_ARRAY, n, error);

	if (!entry)
		return -1;
	if (n > 0)
		memcpy(entry->array, values, n * sizeof *values);
	return 0;
}

int gt_count_text(struct gt_count *count, const char *name, const char *text, struct gt_error *error)
{
	struct gt_count_entry *entry = gt_count_entry_new(count, name, strlen(name), GT_COUNT_TEXT, 0, error);

	if (!entry)
		return -1;
	if (!(entry->text = strdup(text))) {
		count->n--;
		return gt_fail_memory(error, "a count");
	}
	return 0;
}

int gt_count_copy(struct gt_count *count, const struct gt_count *from, struct gt_error *error)
{
	int result = 0;

	for (size_t i = 0; i < from->n && result == 0; i++) {
		const struct gt_count_entry *entry = &from->entries[i];
		switch (entry->kind) {
		case GT_COUNT_NUMBER: result = gt_count_number(count, entry->name, entry->number, error); break;
		case GT_COUNT_ARRAY: result = gt_count_array(count, entry->name, entry->array, entry->n, error); break;
		case GT_COUNT_TEXT: result = gt_count_text(count, entry->name, entry->text, error); break;
		}
	}
	return result;
}

const struct gt_count_entry *gt_count_find(const struct gt_count *count, const char *name)
{
	for (size_t i = 0; i < count->n; i++)
		if (strcmp(count->entries[i].name, name) == 0)
			return &count->entries[i];
	return NULL;
}

uint64_t gt_count_value(const struct gt_count *count, const char *name, uint64_t otherwise)
{
	const struct gt_count_entry *entry = gt_count_find(count, name);

	return entry && entry->kind == GT_COUNT_NUMBER ? entry->number : otherwise;
}

/* ---- from tables of counters ---- */

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
