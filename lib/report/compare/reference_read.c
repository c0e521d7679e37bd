/* SPDX-License-Identifier: MIT */
/* Reads a reference. Values are kept as text until the end, because any of them may reveal the file's decimal sign. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/options.h"
#include "report/compare/cell.h"
#include "report/compare/csv_read.h"
#include "report/compare/number.h"
#include "report/compare/reference.h"
#include "report/metric.h"

enum column { ID, NAME, GRID, BLOCK, ORDINAL, INVOCATIONS, METRIC, UNIT, VALUE, AVERAGE, COLUMNS };

/* The names of columns: in Nsight Compute, and in tables. Only its summaries have INVOCATIONS and AVERAGE. */
static const char *const headings[COLUMNS][2] = {
	[ID] = {"ID", "id"},
	[NAME] = {"Kernel Name", "kernel"},
	[GRID] = {"Grid Size", "grid"},
	[BLOCK] = {"Block Size", "block"},
	[ORDINAL] = {"Ordinal", "ordinal"},
	[INVOCATIONS] = {"Invocations", "invocations"},
	[METRIC] = {"Metric Name", "metric"},
	[UNIT] = {"Metric Unit", "unit"},
	[VALUE] = {"Metric Value", "value"},
	[AVERAGE] = {"Average", "average"},
};

/* A value whose text is not yet parsed. */
struct pending {
	size_t launch;
	const struct gt_metric *metric;
	double scale;
	uint64_t line;
	bool renamed; /* the file has another name of the metric */
	char *text; /* owned */
};

/* A column of the wide form with a metric that the model has. */
struct wide {
	size_t column;
	const struct gt_metric *metric;
	double scale;
};

struct reading {
	struct gt_csv csv;
	struct gt_reference *reference;
	int column[COLUMNS]; /* -1: there is none */
	size_t fields, least; /* a record has so many, or at least so many: the profiler leaves out empty ones of its rules */
	struct wide *wide;   /* owned; the wide form has no METRIC */
	size_t n_wide, wide_capacity;
	struct pending *pending; /* owned */
	size_t n, capacity;
	enum gt_decimal decimal;
};

static const char *cell(const struct reading *reading, enum column column)
{
	return reading->column[column] < 0 ? "" : reading->csv.fields[reading->column[column]];
}

static int fail(const struct reading *reading, struct gt_error *error)
{
	return gt_input_fail(reading->csv.input, error, "%s", error->text);
}

/* Whether the current record names the columns. */
static bool take_header(struct reading *reading)
{
	for (int c = 0; c < COLUMNS; c++) {
		reading->column[c] = gt_csv_column(&reading->csv, headings[c][0]);
		if (reading->column[c] < 0)
			reading->column[c] = gt_csv_column(&reading->csv, headings[c][1]);
	}
	int rule = gt_csv_column(&reading->csv, "Rule Name");
	reading->fields = reading->csv.n;
	if (reading->column[VALUE] < 0 && reading->column[INVOCATIONS] >= 0)
		reading->column[VALUE] = reading->column[AVERAGE];
	reading->least = rule > reading->column[VALUE] ? (size_t)rule : reading->fields;
	if (reading->column[NAME] < 0)
		return false;
	return reading->column[METRIC] >= 0 ? reading->column[VALUE] >= 0 : reading->column[ID] >= 0;
}

/* The columns of the wide form: their metrics, and from the next line their units. A metric's name has two underscores,
 * where other columns' have blanks; device__attribute_... are properties of the GPU. */
static int take_wide_columns(struct reading *reading, struct gt_error *error)
{
	for (size_t i = 0; i < reading->csv.n; i++) {
		const char *name = reading->csv.fields[i];
		const struct gt_metric *metric = gt_metric_named(name);
		struct wide *bigger = gt_grown(reading->wide, reading->n_wide, &reading->wide_capacity, sizeof *bigger);
		if (!bigger)
			return gt_fail_memory(error, "the reference");
		reading->wide = bigger;
		if (metric)
			bigger[reading->n_wide++] = (struct wide){i, metric, 1};
		else if (strstr(name, "__") && strncmp(name, "device__", 8) != 0 &&
			 gt_reference_other(reading->reference, name, error) != 0)
			return -1;
	}
	return 0;
}

/* A new launch. */
static int add_launch(struct reading *reading, const struct gt_reference_launch *launch, struct gt_error *error)
{
	struct gt_reference *to = reading->reference;
	struct gt_reference_launch *bigger = gt_grown(to->launches, to->n, &to->capacity, sizeof *bigger);

	if (bigger)
		to->launches = bigger;
	if (!bigger || !(bigger[to->n] = *launch, bigger[to->n].name = strdup(launch->name)))
		return gt_fail_memory(error, "the reference");
	to->n++;
	return 0;
}

/* Whether the launch has this value already, under another name of the metric. */
static bool repeated(const struct reading *reading, size_t launch, const struct pending *pending, const char *text)
{
	for (size_t i = reading->n; i-- > 0;) {
		const struct pending *earlier = &reading->pending[i];
		if (earlier->launch == launch && earlier->metric == pending->metric)
			return earlier->renamed != pending->renamed && strcmp(earlier->text, text) == 0;
	}
	return false;
}

/* The launch of a record: by its ID; without one, the last launch of its name and shape, unless that has the metric
 * already. Returns 1 if it has the metric with this value under another name. */
static int find_launch(struct reading *reading, struct pending *pending, const char *text, struct gt_error *error)
{
	struct gt_reference *to = reading->reference;
	struct gt_reference_launch launch = {.line = gt_input_line_number(reading->csv.input)};
	const char *ordinal = cell(reading, ORDINAL), *invocations = cell(reading, INVOCATIONS);
	XXH64_hash_t key;
	int fresh;

	launch.name = reading->csv.fields[reading->column[NAME]];
	if (*ordinal && gt_parse_count(ordinal, 1, UINT64_MAX, &launch.ordinal, error) != 0)
		return fail(reading, error);
	if (reading->column[INVOCATIONS] >= 0 && gt_parse_count(invocations, 1, UINT64_MAX, &launch.invocations, error) != 0)
		return fail(reading, error);
	if (gt_reference_shape(cell(reading, GRID), launch.grid, error) != 0 ||
	    gt_reference_shape(cell(reading, BLOCK), launch.block, error) != 0)
		return fail(reading, error);
	key = XXH3_64bits_withSeed(launch.name, strlen(launch.name), launch.ordinal);
	key = XXH3_64bits_withSeed(launch.grid, sizeof launch.grid, key);
	key = XXH3_64bits_withSeed(launch.block, sizeof launch.block, key);
	key = XXH3_64bits_withSeed(cell(reading, ID), strlen(cell(reading, ID)), key);
	uint64_t *place = gt_map_put(&to->index, key - (key == GT_MAP_EMPTY), to->n, &fresh);
	if (!place)
		return gt_fail_memory(error, "the reference");
	bool again = !fresh && gt_reference_find(&to->launches[*place], pending->metric->name);
	if (again && repeated(reading, (size_t)*place, pending, text))
		return 1;
	if (again && (*cell(reading, ID) || *ordinal || launch.invocations))
		return gt_input_fail(reading->csv.input, error, "%s a second time for this launch (the first is on line %" PRIu64 " or after)",
				     pending->metric->name, to->launches[*place].line);
	if (again)
		*place = to->n;
	pending->launch = (size_t)*place;
	return pending->launch < to->n ? 0 : add_launch(reading, &launch, error);
}

/* Keeps a value's text, and marks the metric as present in the launch. */
static int keep(struct reading *reading, struct pending pending, const char *text, struct gt_error *error)
{
	struct pending *bigger = gt_grown(reading->pending, reading->n, &reading->capacity, sizeof *bigger);
	enum gt_decimal decimal = gt_decimal_of(text);

	if (!bigger)
		return gt_fail_memory(error, "the reference");
	reading->pending = bigger;
	if (decimal && reading->decimal && decimal != reading->decimal)
		return gt_input_fail(reading->csv.input, error, "'%.60s': expected %s as the decimal sign, as above", text,
				     reading->decimal == GT_DECIMAL_POINT ? "a point" : "a comma");
	reading->decimal = decimal ? decimal : reading->decimal;
	pending.line = gt_input_line_number(reading->csv.input);
	int result = find_launch(reading, &pending, text, error);
	if (result != 0)
		return result > 0 ? 0 : -1;
	if (!(pending.text = strdup(text)))
		return gt_fail_memory(error, "the reference");
	bigger[reading->n++] = pending;
	return gt_reference_add(reading->reference, pending.launch, &(struct gt_reference_value){.metric = pending.metric}, error);
}

static int take_long(struct reading *reading, struct gt_error *error)
{
	const char *name = cell(reading, METRIC);
	struct pending pending = {.metric = gt_metric_named(name)};

	if (*name == '\0') /* a rule's advice */
		return 0;
	if (!pending.metric)
		return gt_reference_other(reading->reference, name, error);
	pending.renamed = strcmp(name, pending.metric->name) != 0;
	if (gt_reference_unit(cell(reading, UNIT), pending.metric, &pending.scale, error) != 0)
		return fail(reading, error);
	return keep(reading, pending, cell(reading, VALUE), error);
}

static int take_wide(struct reading *reading, struct gt_error *error)
{
	bool units = *cell(reading, NAME) == '\0'; /* the line below the names */

	for (size_t i = 0; i < reading->n_wide; i++) {
		struct wide *wide = &reading->wide[i];
		const char *text = reading->csv.fields[wide->column];
		if (units && gt_reference_unit(text, wide->metric, &wide->scale, error) != 0)
			return fail(reading, error);
		struct pending pending = {.metric = wide->metric, .scale = wide->scale};
		if (!units && keep(reading, pending, text, error) != 0)
			return -1;
	}
	return 0;
}

/* Reads lines until one names the columns. */
static int find_header(struct reading *reading, struct gt_error *error)
{
	int result;

	while ((result = gt_csv_next(&reading->csv, error)) != 0) {
		if (result == -1)
			return -1;
		if (result == 1 && take_header(reading))
			return reading->column[METRIC] < 0 ? take_wide_columns(reading, error) : 0;
	}
	return gt_fail(error, "%s: no line names the columns: expected \"Kernel Name\", with \"Metric Name\" and \"Metric Value\" "
			"or with \"ID\" and metrics; or kernel, metric and value", gt_input_name(reading->csv.input));
}

static int take_records(struct reading *reading, struct gt_error *error)
{
	int result;

	while ((result = gt_csv_next(&reading->csv, error)) != 0) {
		const struct gt_csv *csv = &reading->csv;
		if (result == -1)
			return -1;
		if (csv->n > 0 && strncmp(csv->fields[0], "==", 2) == 0) /* a message of the profiler */
			continue;
		if (result == 1 && csv->n == 1 && csv->fields[0][0] == '\0')
			continue;
		if (result == -2 || csv->n < reading->least || csv->n > reading->fields)
			return gt_input_fail(csv->input, error, "expected %zu comma-separated values, as the columns are", reading->fields);
		if ((reading->column[METRIC] < 0 ? take_wide : take_long)(reading, error) != 0)
			return -1;
	}
	return 0;
}

/* Parses the kept texts; those without a value are left out. */
static int understand(struct reading *reading, struct gt_error *error)
{
	struct gt_reference *reference = reading->reference;

	for (size_t i = 0; i < reference->n; i++)
		reference->launches[i].n = 0;
	for (size_t i = 0; i < reading->n; i++) {
		const struct pending *pending = &reading->pending[i];
		struct gt_reference_value value = {.metric = pending->metric};
		int result = gt_profiler_number(pending->text, reading->decimal, &value.value);
		if (result < 0)
			return gt_fail(error, "%s:%" PRIu64 ": '%.60s' for %s: expected a number",
				       gt_input_name(reading->csv.input), pending->line, pending->text, pending->metric->name);
		value.value *= pending->scale;
		if (result > 0 && gt_reference_add(reference, pending->launch, &value, error) != 0)
			return -1;
	}
	return 0;
}

int gt_reference_read(struct gt_reference *reference, const char *path, struct gt_error *error)
{
	struct reading reading = {.reference = reference};
	struct gt_error ignored;
	int result = -1;

	*reference = (struct gt_reference){0};
	if (gt_map_open(&reference->index, 0, error) != 0 || gt_map_open(&reference->other_names, 0, error) != 0 ||
	    !(reading.csv.input = gt_input_open(path, error)))
		return -1;
	if (find_header(&reading, error) == 0 && take_records(&reading, error) == 0)
		result = understand(&reading, error);
	if (gt_input_close(reading.csv.input, result == 0 ? error : &ignored) != 0)
		result = -1;
	for (size_t i = 0; i < reading.n; i++)
		free(reading.pending[i].text);
	free(reading.pending);
	free(reading.wide);
	gt_csv_close(&reading.csv);
	if (result == 0)
		gt_reference_mend(reference);
	return result;
}
