/* SPDX-License-Identifier: MIT */
/* A series: the accesses and latencies of a P-chase, run by run. Latencies fall into classes, of which the first are the hits; runs
 * into rounds, which all visit the same elements. */
#include "dissect/series.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scan.h"
#include "dissect/chase.h"

static int grow(void **array, size_t *capacity, size_t n, size_t size, struct gt_error *error)
{
	void *larger = gt_grown(*array, n, capacity, size);

	if (!larger)
		return gt_fail_memory(error, "a series");
	*array = larger;
	return 0;
}

static bool begins_run(const struct gt_chase_series *series, uint64_t bytes)
{
	return series->separate || series->runs_n == 0 || series->runs[series->runs_n - 1].bytes != bytes;
}

int gt_series_add(struct gt_chase_series *series, uint64_t bytes, uint64_t offset, uint32_t latency,
		  struct gt_error *error)
{
	if (series->n >= GT_SERIES_MAX)
		return gt_fail(error, "expected at most %" PRIu64 " accesses", GT_SERIES_MAX);
	if (grow((void **)&series->samples, &series->capacity, series->n, sizeof *series->samples, error) != 0 ||
	    grow((void **)&series->runs, &series->runs_capacity, series->runs_n, sizeof *series->runs, error) != 0)
		return -1;
	if (begins_run(series, bytes))
		series->runs[series->runs_n++] = (struct gt_chase_run){.bytes = bytes, .first = series->n, .separate = series->separate};
	series->separate = false;
	series->samples[series->n++] = (struct gt_sample){offset, latency, -1};
	series->runs[series->runs_n - 1].n++;
	return 0;
}

void gt_series_clear(struct gt_chase_series *series)
{
	free(series->samples);
	free(series->runs);
	*series = (struct gt_chase_series){0};
}

/* ---- text ---- */

enum role { SIZE, OFFSET, INDEX, LATENCY, ROLES };

/* The names that a column may have, including those in files of other programs. */
static const struct {
	const char *name;
	enum role role;
} names[] = {
	{"N", SIZE},		{"N_bytes", SIZE},
	{"offset", OFFSET},	{"accessed_offset_bytes", OFFSET},
	{"index", INDEX},
	{"latency", LATENCY},	{"latency_cycles", LATENCY},
	{"ticks", LATENCY},
};

struct reader {
	struct gt_chase_series *series;
	struct gt_input *input;
	int column[ROLES]; /* -1: absent */
	uint64_t next;	   /* offset that the last index pointed to */
};

static int read_header(struct reader *reader, const char *line, struct gt_error *error)
{
	for (int role = 0; role < ROLES; role++)
		reader->column[role] = -1;
	for (int column = 0; *line; column++) {
		size_t length = strcspn(line, "\t,");
		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
			if (strlen(names[i].name) == length && memcmp(names[i].name, line, length) == 0 &&
			    reader->column[names[i].role] < 0)
				reader->column[names[i].role] = column;
		line += length + (line[length] != '\0');
	}
	if (reader->column[SIZE] < 0 || reader->column[LATENCY] < 0 ||
	    (reader->column[OFFSET] < 0 && reader->column[INDEX] < 0))
		return gt_input_fail(reader->input, error,
				     "expected a line of column names: N, offset (or index) and latency");
	if (reader->column[OFFSET] >= 0)
		reader->column[INDEX] = -1;
	return 0;
}

static int read_line(struct reader *reader, const char *line, struct gt_error *error)
{
	uint64_t value[ROLES] = {0};
	const struct gt_chase_series *series = reader->series;

	for (int column = 0, left = 3; left > 0; column++) {
		for (int role = 0; role < ROLES; role++) {
			const char *at = line;
			if (reader->column[role] != column)
				continue;
			if (!gt_scan_upto(&at, role == LATENCY ? UINT32_MAX : UINT64_C(1) << 48, &value[role]) ||
			    !strchr("\t,", *at))
				return gt_input_fail(reader->input, error,
						     "column %d: expected a whole number that is not negative", column + 1);
			left--;
		}
		line += strcspn(line, "\t,");
		if (*line == '\0' && left > 0)
			return gt_input_fail(reader->input, error, "expected more columns");
		line += *line != '\0';
	}
	if (reader->column[INDEX] >= 0) {
		value[OFFSET] = begins_run(series, value[SIZE]) ? 0 : reader->next;
		reader->next = value[INDEX] * GT_CHASE_ELEMENT;
	}
	if (value[OFFSET] >= value[SIZE])
		return gt_input_fail(reader->input, error, "offset %" PRIu64 ": expected one below N = %" PRIu64,
				     value[OFFSET], value[SIZE]);
	if (gt_series_add(reader->series, value[SIZE], value[OFFSET], (uint32_t)value[LATENCY], error) != 0)
		return gt_input_fail(reader->input, error, "%s", error->text);
	return 0;
}

int gt_series_read(struct gt_chase_series *series, struct gt_input *input, struct gt_error *error)
{
	struct reader reader = {.series = series, .input = input};
	size_t length, before = series->n;
	bool header = true;
	int got;
	char *line;

	while ((got = gt_input_line(input, &line, &length, error)) == 1) {
		if (length == 0 || line[0] == '#')
			continue;
		if (header || isalpha((unsigned char)line[0])) {
			series->separate = true;
			header = false;
			if (read_header(&reader, line, error) != 0)
				return -1;
		} else if (read_line(&reader, line, error) != 0) {
			return -1;
		}
	}
	if (got == 0 && series->n == before)
		return gt_fail(error, "%s: expected a series: N, offset, latency", gt_input_name(input));
	return got;
}

/* ---- classes of latencies ---- */

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* The largest distance of neighbours, in cycles: clocks advance by a few cycles, and long latencies vary more. */
static uint32_t reach(uint32_t latency)
{
	return 2 + latency / 32;
}

/* A sample is a core point of a class if enough others are within reach (DBSCAN); neighbours within reach of a core
 * point belong to its class too. */
static void find_classes(const uint32_t *sorted, size_t n, size_t enough, struct gt_latency_classes *classes)
{
	size_t low = 0, high = 0, begin = 0, end = 0; /* begin to end: the current class */

	classes->n = 0;
	for (size_t i = 0; i <= n; i++) {
		if (i < n) {
			while (sorted[i] - sorted[low] > reach(sorted[i]))
				low++;
			while (high < n && sorted[high] <= sorted[i] + (uint64_t)reach(sorted[i]))
				high++;
			if (high - low < enough)
				continue;
		}
		if (end > begin && (i == n || low > end - 1)) {
			if (classes->n < GT_CLASSES_MAX)
				classes->class[classes->n++] = (struct gt_latency_class){sorted[begin], sorted[end - 1],
					sorted[begin + (end - begin) / 2], end - begin};
			begin = end = 0;
		}
		if (end == begin)
			begin = low;
		end = high;
	}
}

static int classify(struct gt_chase_series *series, struct gt_latency_classes *classes, struct gt_error *error)
{
	uint32_t *sorted = malloc((series->n ? series->n : 1) * sizeof *sorted);
	uint64_t inside = 0;

	if (!sorted)
		return gt_fail_memory(error, "the latencies of a series");
	for (size_t i = 0; i < series->n; i++)
		sorted[i] = series->samples[i].latency;
	qsort(sorted, series->n, sizeof *sorted, compare);
	find_classes(sorted, series->n, series->n / 2000 + 4, classes);
	free(sorted);
	if (classes->n < 2)
		return gt_fail(error, "expected latencies of hits and of misses, found %s (%u cycles): nothing to tell apart",
			       classes->n ? "all alike" : "too few", classes->n ? classes->class[0].middle : 0);
	for (size_t i = 0; i < series->n; i++) {
		struct gt_sample *sample = &series->samples[i];
		sample->hit = -1;
		for (size_t c = 0; c < classes->n; c++)
			if (sample->latency >= classes->class[c].low && sample->latency <= classes->class[c].high)
				sample->hit = c == 0;
		inside += sample->hit >= 0;
	}
	classes->outliers = series->n - inside;
	return 0;
}

/* ---- rounds ---- */

/* Finds the smallest distance between successive elements, and whether all have this distance except for the step back
 * to the first. */
static void find_stride(const struct gt_sample *samples, struct gt_chase_run *run)
{
	uint64_t others = 0, back = 0;

	run->stride = UINT64_MAX;
	for (size_t i = 1; i < run->n; i++)
		if (samples[i].offset > samples[i - 1].offset && samples[i].offset - samples[i - 1].offset < run->stride)
			run->stride = samples[i].offset - samples[i - 1].offset;
	for (size_t i = 1; i < run->n && i < run->period; i++) {
		back += samples[i].offset <= samples[i - 1].offset;
		others += samples[i].offset > samples[i - 1].offset &&
			  samples[i].offset - samples[i - 1].offset != run->stride;
	}
	run->uniform = others == 0 && back <= 1;
	run->repeated = run->uniform && run->stride < UINT64_MAX && run->n >= 2 * run->period &&
			run->period == (run->bytes - 1) / run->stride + 1;
}

static int find_rounds(struct gt_chase_series *series, struct gt_error *error)
{
	for (size_t r = 0; r < series->runs_n; r++) {
		struct gt_chase_run *run = &series->runs[r];
		const struct gt_sample *samples = series->samples + run->first;

		run->period = run->n;
		for (size_t i = 1; i < run->n && run->period == run->n; i++)
			if (samples[i].offset == samples[0].offset)
				run->period = i;
		for (size_t i = run->period; i < run->n; i++)
			if (samples[i].offset != samples[i - run->period].offset)
				return gt_fail(error, "N = %" PRIu64 ", access %zu: offset %" PRIu64 ", expected %" PRIu64
					       " as in the round before: accesses are missing, or out of order", run->bytes, i,
					       samples[i].offset, samples[i - run->period].offset);
		find_stride(samples, run);
		if (r > 0 && !run->separate && run->bytes < run[-1].bytes)
			return gt_fail(error, "N = %" PRIu64 " after N = %" PRIu64 ": expected a sweep with rising N", run->bytes,
				       run[-1].bytes);
	}
	return 0;
}

int gt_series_prepare(struct gt_chase_series *series, struct gt_latency_classes *classes, struct gt_error *error)
{
	return classify(series, classes, error) == 0 ? find_rounds(series, error) : -1;
}
