/* SPDX-License-Identifier: MIT */
/* A part says of each of its launches which one it was (the stage `part`), so that the reports of all parts have them in order again. */
#include "stream/parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "counter/counter.h"
#include "counter/tables.h"
#include "stream/counted.h"
#include "stream/history.h"
#include "stream/records.h"

static const char tool[] = "gtrace-cat", option[] = "--part";

int gt_part_parse(const char *text, struct gt_part *part, struct gt_error *error)
{
	const char *slash = strchr(text, '/');
	uint64_t number, of;
	char first[24];

	if (!slash || (size_t)(slash - text) >= sizeof first)
		return gt_fail(error, "'%s': expected K/N, part K of N, such as 1/8", text);
	memcpy(first, text, (size_t)(slash - text));
	first[slash - text] = '\0';
	if (gt_parse_count(slash + 1, 1, GT_PARTS_MAX, &of, error) != 0 || gt_parse_count(first, 1, of, &number, error) != 0)
		return -1;
	*part = (struct gt_part){(size_t)number, (size_t)of};
	return 0;
}

bool gt_part_of(const char *const *history, struct gt_part *part)
{
	const char *entry = gt_history_find(history, tool, option);
	struct gt_error ignored;
	char text[64];

	return entry && gt_history_argument(entry, option, text, sizeof text) && gt_part_parse(text, part, &ignored) == 0;
}

/* ---- division ---- */

int gt_divider_open(struct gt_divider *divider, size_t parts, struct gt_error *error)
{
	*divider = (struct gt_divider){.parts = parts, .current = 1, .weights = calloc(parts, sizeof *divider->weights)};
	if (!divider->weights)
		return gt_fail_memory(error, "the parts");
	return gt_map_open(&divider->by_id, 0, error);
}

void gt_divider_close(struct gt_divider *divider)
{
	free(divider->weights);
	gt_map_close(&divider->by_id);
}

int gt_divider_begin(struct gt_divider *divider, uint64_t id, struct gt_error *error)
{
	size_t least = 0;
	uint64_t *place;
	int fresh;

	for (size_t i = 1; i < divider->parts; i++)
		if (divider->weights[i] < divider->weights[least])
			least = i;
	if (id == GT_MAP_EMPTY)
		return gt_fail(error, "kernel %" PRIu64 ": expected a smaller id", id);
	if (!(place = gt_map_put(&divider->by_id, id, 0, &fresh)))
		return gt_fail_memory(error, "the launches");
	*place = divider->current = least + 1;
	divider->weights[least]++;
	divider->launches++;
	return 0;
}

int gt_divider_count(const struct gt_divider *divider, uint64_t id, struct gt_count *count, struct gt_error *error)
{
	const struct {
		GT_PART_COUNTERS(GT_COUNTER_FIELD)
	} place = {.launch = divider->launches};

	gt_count_begin(count, gt_counters_part.stage, id);
	return gt_count_numbers(count, &gt_counters_part, &place, sizeof place, error);
}

void gt_divider_rows(struct gt_divider *divider, size_t rows)
{
	divider->weights[divider->current - 1] += rows;
}

size_t gt_divider_find(const struct gt_divider *divider, uint64_t id)
{
	const uint64_t *place = gt_map_get(&divider->by_id, id);

	return place ? (size_t)*place : divider->current;
}

/* ---- parts, read together ---- */

struct one {
	struct gt_reader *reader;
	const char *path;
	int descriptor;
	uint64_t launch; /* which it has come to; 0: it is at its end */
};

struct gt_parts {
	struct one *all; /* in order */
	size_t n, current;
};

static int open_part(struct gt_parts *parts, const char *path, struct gt_error *error)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	struct gt_part part;

	if (descriptor < 0)
		return gt_fail_errno(error, "%s", path);
	struct gt_reader *reader = gt_reader_open(descriptor, path, NULL, 0, error);
	if (reader && !gt_part_of(gt_reader_history(reader), &part))
		gt_fail(error, "%s: expected a part of a stream, which passed gtrace-cat --part", path);
	else if (reader && part.parts != parts->n)
		gt_fail(error, "%s: part %zu of %zu: expected all %zu parts, and no other", path, part.part, part.parts, part.parts);
	else if (reader && parts->all[part.part - 1].reader)
		gt_fail(error, "%s: part %zu again, after %s", path, part.part, parts->all[part.part - 1].path);
	else if (reader) {
		parts->all[part.part - 1] = (struct one){.reader = reader, .path = path, .descriptor = descriptor};
		return 0;
	}
	gt_reader_close(reader);
	close(descriptor);
	return -1;
}

/* Where an entry of a history has the number of the part; NULL: it is another one. */
static const char *number_in(const char *entry)
{
	const char *const alone[] = {entry, NULL};
	const char *at = gt_history_find(alone, tool, option) ? strstr(entry, option) : NULL;

	return at ? at + strlen(option) + 1 : NULL;
}

/* Whether two entries are equal, but for the number of the part. */
static bool same_entry(const char *a, const char *b)
{
	const char *in_a = number_in(a), *in_b = number_in(b);

	if (!in_a || !in_b)
		return strcmp(a, b) == 0;
	return in_a - a == in_b - b && strncmp(a, b, (size_t)(in_a - a)) == 0 && strcmp(in_a + strcspn(in_a, "/"), in_b + strcspn(in_b, "/")) == 0;
}

/* The parts must have passed the same stages, with the same options. */
static int check_same(const struct gt_parts *parts, struct gt_error *error)
{
	for (size_t i = 1; i < parts->n; i++) {
		const char *const *a = gt_reader_history(parts->all[0].reader), *const *b = gt_reader_history(parts->all[i].reader);
		while (*a && *b && same_entry(*a, *b))
			a++, b++;
		if (*a || *b)
			return gt_fail(error, "%s: expected the stages and options of %s, which has passed '%.*s' where this has passed '%.*s'", parts->all[i].path,
				       parts->all[0].path, *a ? (int)strcspn(*a, "\t") : 7, *a ? *a : "nothing", *b ? (int)strcspn(*b, "\t") : 7, *b ? *b : "nothing");
	}
	return 0;
}

/* A part has come to a launch, whose next record says which one it is. */
static int find_launch(struct one *one, struct gt_error *error)
{
	const struct gt_count *count;

	enum gt_event event = gt_read_record(one->reader, error);
	if (event == GT_FAILED)
		return -1;
	count = event == GT_COUNT ? gt_reader_count(one->reader) : NULL;
	if (count && strcmp(count->stage, gt_counters_part.stage) == 0)
		one->launch = gt_count_value(count, gt_counters_part.rows[0].name, 0);
	return one->launch ? 0 : gt_fail(error, "%s: record %" PRIu64 ": expected the number of the launch that has begun", one->path, gt_reader_records(one->reader));
}

/* Reads a part up to its first launch. What precedes that is in all parts. */
static int skip_head(struct one *one, struct gt_error *error)
{
	enum gt_event event;

	do
		event = gt_read_record(one->reader, error);
	while (event != GT_FAILED && event != GT_KERNEL && event != GT_END);
	return event == GT_KERNEL ? find_launch(one, error) : event == GT_END ? 0 : -1;
}

struct gt_parts *gt_parts_open(char *const paths[], size_t n, struct gt_error *error)
{
	struct gt_parts *parts = calloc(1, sizeof *parts);
	int result = 0;

	if (!parts || n == 0 || !(parts->all = calloc(n, sizeof *parts->all))) {
		gt_fail_memory(error, "the parts");
		free(parts);
		return NULL;
	}
	parts->n = n;
	for (size_t i = 0; i < n && result == 0; i++)
		result = open_part(parts, paths[i], error);
	if (result == 0)
		result = check_same(parts, error);
	for (size_t i = 1; i < n && result == 0; i++)
		result = skip_head(&parts->all[i], error);
	if (result == 0)
		return parts;
	gt_parts_close(parts);
	return NULL;
}

void gt_parts_close(struct gt_parts *parts)
{
	for (size_t i = 0; parts && i < parts->n; i++) {
		if (!parts->all[i].reader)
			continue;
		gt_reader_close(parts->all[i].reader);
		close(parts->all[i].descriptor);
	}
	if (parts)
		free(parts->all);
	free(parts);
}

/* Goes to the part that has come to the first of the launches that are left. */
static enum gt_event choose(struct gt_parts *parts)
{
	struct one *first = NULL;

	for (size_t i = 0; i < parts->n; i++)
		if (parts->all[i].launch && (!first || parts->all[i].launch < first->launch))
			first = &parts->all[i];
	if (!first)
		return GT_END;
	first->launch = 0;
	parts->current = (size_t)(first - parts->all);
	return GT_KERNEL;
}

enum gt_event gt_parts_next(struct gt_parts *parts, struct gt_error *error)
{
	struct one *one = &parts->all[parts->current];
	enum gt_event event = gt_read_record(one->reader, error);

	if (event == GT_KERNEL && find_launch(one, error) != 0)
		return GT_FAILED;
	return event == GT_KERNEL || event == GT_END ? choose(parts) : event;
}

struct gt_reader *gt_parts_reader(const struct gt_parts *parts)
{
	return parts->all[parts->current].reader;
}

void gt_parts_read(const struct gt_parts *parts, uint64_t *rows, uint64_t *bytes)
{
	*rows = *bytes = 0;
	for (size_t i = 0; i < parts->n; i++) {
		*rows += gt_reader_rows_read(parts->all[i].reader);
		*bytes += gt_reader_bytes_read(parts->all[i].reader);
	}
}
