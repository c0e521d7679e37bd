/* SPDX-License-Identifier: MIT */
/* Reads a reference. The columns are found by their names; then each record adds a value to a launch. Values are kept as text
 * until the end, because any of them may reveal the file's decimal sign. At last, values that cannot be are flagged or
 * recomputed. */
#include "report/compare/reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/options.h"
#include "base/scan.h"
#include "base/utf8.h"
#include "report/compare/csv_read.h"
#include "report/report.h"

/* ---- launches and their values ---- */

void gt_reference_clear(struct gt_reference *reference)
{
	for (size_t i = 0; i < reference->n; i++) {
		free(reference->launches[i].name);
		free(reference->launches[i].values);
	}
	free(reference->launches);
	for (size_t i = 0; i < reference->n_others; i++)
		free(reference->others[i]);
	free(reference->others);
	gt_map_close(&reference->index);
	gt_map_close(&reference->other_names);
	gt_report_clear(&reference->saved);
	*reference = (struct gt_reference){0};
}

/* The value of a metric of a launch, or NULL. */
static struct gt_reference_value *find_value(const struct gt_reference_launch *launch, const char *metric)
{
	for (size_t i = 0; i < launch->n; i++)
		if (strcmp(launch->values[i].metric->name, metric) == 0)
			return &launch->values[i];
	return NULL;
}

static int add_launch(struct gt_reference *to, const struct gt_reference_launch *launch, struct gt_error *error)
{
	struct gt_reference_launch *bigger = gt_grown(to->launches, to->n, &to->capacity, sizeof *bigger);

	if (bigger)
		to->launches = bigger;
	if (!bigger || !(bigger[to->n] = *launch, bigger[to->n].name = strdup(launch->name)))
		return gt_fail_memory(error, "the reference");
	to->n++;
	return 0;
}

static int add_value(struct gt_reference *reference, size_t i, const struct gt_reference_value *value, struct gt_error *error)
{
	struct gt_reference_launch *launch = &reference->launches[i];
	struct gt_reference_value *bigger = gt_grown(launch->values, launch->n, &launch->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "the reference");
	launch->values = bigger;
	bigger[launch->n++] = *value;
	return 0;
}

/* Notes the name of a metric that the model does not have. */
static int add_other(struct gt_reference *reference, const char *name, struct gt_error *error)
{
	uint64_t key = XXH3_64bits(name, strlen(name));
	int fresh;
	char **bigger = gt_grown(reference->others, reference->n_others, &reference->others_capacity, sizeof *bigger);

	if (bigger)
		reference->others = bigger;
	if (!bigger || !gt_map_put(&reference->other_names, key - (key == GT_MAP_EMPTY), 0, &fresh))
		return gt_fail_memory(error, "the reference");
	if (!fresh)
		return 0;
	if (!(bigger[reference->n_others] = strdup(name)))
		return gt_fail_memory(error, "the reference");
	gt_utf8_printable(bigger[reference->n_others++]);
	return 0;
}

/* ---- cells ---- */

/* The factor of a unit such as "Ksector", for a metric that is in sectors; "": 1. Returns 0, or -1 for another unit. */
static int read_unit(const char *unit, const struct gt_metric *metric, double *scale, struct gt_error *error)
{
	static const char prefixes[] = "KMGT";
	const char *prefix = *unit ? strchr(prefixes, *unit) : NULL;
	size_t length = strlen(metric->unit);

	*scale = 1;
	for (const char *p = prefixes; prefix && p <= prefix; p++)
		*scale *= 1000;
	const char *plain = prefix ? unit + 1 : unit;
	if (*unit == '\0' || (strncmp(plain, metric->unit, length) == 0 && (!plain[length] || !strcmp(plain + length, "s"))))
		return 0;
	return gt_fail(error, "unit '%.60s' of %s: expected %s, possibly with K, M, G or T before it", unit, metric->name,
		       metric->unit);
}

/* "(4, 16, 1)", "4,16,1" or "4x16x1"; "" is 0,0,0: not given. */
static int read_shape(const char *text, uint32_t shape[3], struct gt_error *error)
{
	static const char digits[] = "0123456789";
	const char *at = text;
	unsigned n = 0;

	shape[0] = shape[1] = shape[2] = 0;
	for (at += strcspn(at, digits); *at && n < 3; at += strcspn(at, digits), n++) {
		uint64_t value = 0;
		for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
			value = 10 * value + (uint64_t)(*at - '0');
		if (value == 0 || value > UINT32_MAX)
			break;
		shape[n] = (uint32_t)value;
	}
	for (unsigned i = n; n > 0 && i < 3; i++)
		shape[i] = 1;
	if (*at || text[strspn(text, "0123456789(), xX")] != '\0' || (n == 0 && *text))
		return gt_fail(error, "'%.60s': expected a shape such as (4, 16, 1)", text);
	return 0;
}

/* ---- impossible values ---- */

/* Profilers print impossible values nevertheless: they run a kernel several times with a few counters each, so for tiny kernels
 * hits of one run may be divided by lookups of another. */

#define TERMS 2
#define L1 "l1tex__t_sectors_pipe_lsu_mem_global_op_"
#define L2 "lts__t_sectors_op_"
#define TEX "lts__t_sectors_srcunit_tex_op_"

/* A rate, and the counts whose quotient it is. Of several rows for one rate, the first whose counts are present and
 * possible is used. */
static const struct rate {
	const char *rate, *hits[TERMS], *lookups[TERMS];
} rates[] = {
	{"l1tex__t_sector_hit_rate.pct", {L1 "ld_lookup_hit.sum", L1 "st_lookup_hit.sum"}, {L1 "ld.sum", L1 "st.sum"}},
	{"lts__t_sector_op_read_hit_rate.pct", {L2 "read_lookup_hit.sum"}, {L2 "read.sum"}},
	{"lts__t_sector_op_read_hit_rate.pct", {TEX "read_lookup_hit.sum"}, {TEX "read.sum"}},
	{"lts__t_sector_op_write_hit_rate.pct", {L2 "write_lookup_hit.sum"}, {L2 "write.sum"}},
	{"lts__t_sector_op_write_hit_rate.pct", {TEX "write_lookup_hit.sum"}, {TEX "write.sum"}},
	{"lts__t_sector_hit_rate.pct", {L2 "read_lookup_hit.sum", L2 "write_lookup_hit.sum"}, {L2 "read.sum", L2 "write.sum"}},
	{"lts__t_sector_hit_rate.pct", {TEX "read_lookup_hit.sum", TEX "write_lookup_hit.sum"}, {TEX "read.sum", TEX "write.sum"}},
};

/* The sum of the named counts. False if one is absent. */
static bool sum_of(const struct gt_reference_launch *launch, const char *const names[TERMS], double *sum)
{
	*sum = 0;
	for (int i = 0; i < TERMS && names[i]; i++) {
		const struct gt_reference_value *value = find_value(launch, names[i]);
		if (!value || value->flag != GT_REFERENCE_SOUND)
			return false;
		*sum += value->value;
	}
	return true;
}

/* Checks a count of hits against its count of lookups. */
static void check_hits(const struct gt_reference_launch *launch, const char *hits, const char *lookups)
{
	struct gt_reference_value *part = find_value(launch, hits), *whole = find_value(launch, lookups);

	if (part && whole && part->value > whole->value)
		part->flag = GT_REFERENCE_IMPOSSIBLE;
}

static void mend_rate(const struct gt_reference_launch *launch, struct gt_reference_value *value)
{
	double hits, lookups;

	if (strcmp(value->metric->unit, "%") != 0 || value->value <= 100)
		return;
	value->flag = GT_REFERENCE_IMPOSSIBLE;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		if (strcmp(rates[i].rate, value->metric->name) != 0 || !sum_of(launch, rates[i].hits, &hits) ||
		    !sum_of(launch, rates[i].lookups, &lookups) || !(lookups > 0) || hits > lookups)
			continue;
		value->value = 100 * hits / lookups;
		value->flag = GT_REFERENCE_RECOMPUTED;
		return;
	}
}

/* Flags impossible values, and recomputes them if the counts allow it. */
static void mend(struct gt_reference *reference)
{
	for (size_t i = 0; i < reference->n; i++) {
		struct gt_reference_launch *launch = &reference->launches[i];
		for (size_t k = 0; k < launch->n; k++)
			if (launch->values[k].value < 0)
				launch->values[k].flag = GT_REFERENCE_IMPOSSIBLE;
		for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
			for (int t = 0; t < TERMS && rates[k].hits[t]; t++)
				check_hits(launch, rates[k].hits[t], rates[k].lookups[t]);
		for (size_t k = 0; k < launch->n; k++)
			if (launch->values[k].flag == GT_REFERENCE_SOUND)
				mend_rate(launch, &launch->values[k]);
	}
}

/* ---- reading ---- */

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
static bool find_columns(struct reading *reading)
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
static int find_wide_columns(struct reading *reading, struct gt_error *error)
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
			 add_other(reading->reference, name, error) != 0)
			return -1;
	}
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
	if (read_shape(cell(reading, GRID), launch.grid, error) != 0 ||
	    read_shape(cell(reading, BLOCK), launch.block, error) != 0)
		return fail(reading, error);
	key = XXH3_64bits_withSeed(launch.name, strlen(launch.name), launch.ordinal);
	key = XXH3_64bits_withSeed(launch.grid, sizeof launch.grid, key);
	key = XXH3_64bits_withSeed(launch.block, sizeof launch.block, key);
	key = XXH3_64bits_withSeed(cell(reading, ID), strlen(cell(reading, ID)), key);
	uint64_t *place = gt_map_put(&to->index, key - (key == GT_MAP_EMPTY), to->n, &fresh);
	if (!place)
		return gt_fail_memory(error, "the reference");
	bool again = !fresh && find_value(&to->launches[*place], pending->metric->name);
	if (again && repeated(reading, (size_t)*place, pending, text))
		return 1;
	if (again && (*cell(reading, ID) || *ordinal || launch.invocations))
		return gt_input_fail(reading->csv.input, error, "%s a second time for this launch (the first is on line %" PRIu64 " or after)",
				     pending->metric->name, to->launches[*place].line);
	if (again)
		*place = to->n;
	pending->launch = (size_t)*place;
	return pending->launch < to->n ? 0 : add_launch(to, &launch, error);
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
	return add_value(reading->reference, pending.launch, &(struct gt_reference_value){.metric = pending.metric}, error);
}

static int read_long(struct reading *reading, struct gt_error *error)
{
	const char *name = cell(reading, METRIC);
	struct pending pending = {.metric = gt_metric_named(name)};

	if (*name == '\0') /* a rule's advice */
		return 0;
	if (!pending.metric)
		return add_other(reading->reference, name, error);
	pending.renamed = strcmp(name, pending.metric->name) != 0;
	if (read_unit(cell(reading, UNIT), pending.metric, &pending.scale, error) != 0)
		return fail(reading, error);
	return keep(reading, pending, cell(reading, VALUE), error);
}

static int read_wide(struct reading *reading, struct gt_error *error)
{
	bool units = *cell(reading, NAME) == '\0'; /* the line below the names */

	for (size_t i = 0; i < reading->n_wide; i++) {
		struct wide *wide = &reading->wide[i];
		const char *text = reading->csv.fields[wide->column];
		if (units && read_unit(text, wide->metric, &wide->scale, error) != 0)
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
		if (result == 1 && gt_saved_header(&reading->csv)) {
			reading->reference->is_saved = true;
			return 0;
		}
		if (result == 1 && find_columns(reading))
			return reading->column[METRIC] < 0 ? find_wide_columns(reading, error) : 0;
	}
	return gt_fail(error, "%s: no line names the columns: expected \"Kernel Name\", with \"Metric Name\" and \"Metric Value\" "
			"or with \"ID\" and metrics; or kernel, metric and value; or kernel, stage, counter and value", gt_input_name(reading->csv.input));
}

static int read_records(struct reading *reading, struct gt_error *error)
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
		if ((reading->column[METRIC] < 0 ? read_wide : read_long)(reading, error) != 0)
			return -1;
	}
	return 0;
}

/* Parses the kept texts; those without a value are left out. */
static int parse_values(struct reading *reading, struct gt_error *error)
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
		if (result == 0 && pending->text[0] && reference->without++ == 0)
			reference->without_line = pending->line;
		value.value *= pending->scale;
		if (result > 0 && add_value(reference, pending->launch, &value, error) != 0)
			return -1;
	}
	return 0;
}

static int read_values(struct reading *reading, struct gt_error *error)
{
	return read_records(reading, error) == 0 ? parse_values(reading, error) : -1;
}

static int read_saved(struct reading *reading, struct gt_error *error)
{
	struct gt_report *saved = &reading->reference->saved;

	return gt_report_begin(saved, NULL, error) == 0 ? gt_saved_read(&reading->csv, saved, error) : -1;
}

/* ---- a log of Accel-Sim ---- */

/* Before a launch it prints the header of its trace, and after it what the caches have counted since
 * the beginning of the run, by kind of access and outcome; the breakdowns are those of the launch's stream. The counts of a launch are what
 * it adds. */

#define COUNTS 64 /* at least the metrics of Accel-Sim's names */

/* The header of a trace. */
struct header {
	char *name; /* owned */
	uint32_t grid[3], block[3];
};

/* What was counted up to a line of the log. */
struct counts {
	uint64_t stream; /* of CUDA */
	uint64_t values[COUNTS]; /* by metric */
};

struct log {
	struct gt_input *input;
	struct gt_reference *reference;
	const struct gt_vocabulary *names;
	struct header *headers; /* owned; in the order in which they were read, which is that of launch numbers from 1 */
	size_t n, capacity;
	struct counts *before; /* owned; by stream, and the first: of all streams */
	size_t n_before, before_capacity;
	struct gt_reference_launch launch; /* whose counts are read; its name is NULL before the first. Owned */
	struct counts now;
	bool seen[COUNTS], ended;
};

static bool is_log(const char *head, size_t bytes)
{
	static const char *const marks[] = {"GPGPU-Sim Simulator Version", "Accel-Sim [build", GT_LOG_FIRST};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		for (size_t at = 0, length = strlen(marks[i]); at + length <= bytes; at++)
			if (memcmp(head + at, marks[i], length) == 0)
				return true;
	return false;
}

/* ---- headers ---- */

static bool scan_log_shape(const char *at, uint32_t shape[3])
{
	for (int i = 0; i < 3; i++) {
		uint64_t value;
		if (!gt_scan_char(&at, i ? ',' : '(') || !gt_scan_upto(&at, UINT32_MAX, &value) || value == 0)
			return false;
		shape[i] = (uint32_t)value;
	}
	return gt_scan_char(&at, ')') && gt_scan_end(&at);
}

static int read_header_line(struct log *log, const char *line, struct gt_error *error)
{
	struct header *last = log->n > 0 ? &log->headers[log->n - 1] : NULL;

	if (gt_scan_text(&line, "-kernel name = ")) {
		struct header *bigger = gt_grown(log->headers, log->n, &log->capacity, sizeof *bigger);
		if (bigger)
			log->headers = bigger;
		if (!bigger || !(bigger[log->n] = (struct header){.name = strdup(line)}, bigger[log->n].name))
			return gt_fail_memory(error, "the log");
		log->n++;
	} else if (last && gt_scan_text(&line, "-grid dim = ") && !scan_log_shape(line, last->grid)) {
		return gt_input_fail(log->input, error, "-grid dim: expected (x,y,z)");
	} else if (last && gt_scan_text(&line, "-block dim = ") && !scan_log_shape(line, last->block)) {
		return gt_input_fail(log->input, error, "-block dim: expected (x,y,z)");
	}
	return 0;
}

/* ---- launches ---- */

/* The counts of a stream before the launch; 0: those of all streams. NULL when memory is short. */
static struct counts *counts_before(struct log *log, uint64_t stream, bool of_all)
{
	for (size_t i = of_all ? 0 : 1; i < log->n_before; i++)
		if (of_all || log->before[i].stream == stream)
			return &log->before[i];
	struct counts *bigger = gt_grown_to(log->before, log->n_before + 2, &log->before_capacity, sizeof *bigger);
	if (!bigger)
		return NULL;
	log->before = bigger;
	if (log->n_before == 0)
		bigger[log->n_before++] = (struct counts){.stream = 0};
	if (of_all)
		return bigger;
	bigger[log->n_before] = (struct counts){.stream = stream};
	return &bigger[log->n_before++];
}

/* Adds the values of the launch that ends. */
static int end_log_launch(struct log *log, struct gt_error *error)
{
	if (!log->launch.name)
		return 0;
	int result = add_launch(log->reference, &log->launch, error);
	free(log->launch.name);
	log->launch.name = NULL;
	for (size_t i = 0; i < log->names->n && result == 0; i++) {
		const struct gt_metric *metric = &log->names->metrics[i];
		if (!log->seen[i])
			continue;
		struct counts *before = counts_before(log, log->now.stream, !strchr(metric->name, '['));
		if (!before)
			return gt_fail_memory(error, "the log");
		uint64_t now = log->now.values[i];
		if (now < before->values[i])
			return gt_input_fail(log->input, error, "%s falls from %" PRIu64 " to %" PRIu64 " in the launch that ends here: expected counts since the "
					     "beginning of the run", metric->name, before->values[i], now);
		const struct gt_reference_value value = {.metric = metric, .value = (double)(now - before->values[i])};
		result = add_value(log->reference, log->reference->n - 1, &value, error);
		before->values[i] = now;
	}
	return result;
}

static int begin_log_launch(struct log *log, const char *name, struct gt_error *error)
{
	size_t length = strlen(name);

	if (end_log_launch(log, error) != 0)
		return -1;
	while (length > 0 && name[length - 1] == ' ')
		length--;
	log->launch = (struct gt_reference_launch){.name = strndup(name, length), .line = gt_input_line_number(log->input)};
	log->now = (struct counts){.stream = 0};
	memset(log->seen, 0, sizeof log->seen);
	return log->launch.name ? 0 : gt_fail_memory(error, "the log");
}

/* The number of the launch leads to its header, of which the shape is. */
static void read_launch_number(struct log *log, const char *at)
{
	uint64_t number;

	if (!gt_scan_decimal(&at, &number) || number == 0 || number > log->n || !log->launch.name)
		return;
	const struct header *header = &log->headers[number - 1];
	if (strcmp(header->name, log->launch.name) != 0)
		return;
	memcpy(log->launch.grid, header->grid, sizeof header->grid);
	memcpy(log->launch.block, header->block, sizeof header->block);
}

/* ---- counts ---- */

#define NAME_TEXT 128

/* Adds to a count by its name; one that has both outcomes, in a log of ours, is not added to what they have. False if there is none of that
 * name. */
static bool add_count(struct log *log, const char *name, uint64_t value, bool is_both)
{
	for (size_t i = 0; i < log->names->n; i++) {
		if (strcmp(log->names->metrics[i].name, name) != 0)
			continue;
		log->now.values[i] = is_both ? value : log->now.values[i] + value;
		log->seen[i] = true;
		return true;
	}
	return false;
}

/* "CACHE[KIND][OUTCOME]": of local memory as of global; and what is known only together, under the name of both. Kinds that the model does
 * not have are noted. */
static int add_outcome(struct log *log, const char *cache, const char *kind, const char *outcome, uint64_t value, struct gt_error *error)
{
	static const char *const both[][2] = {{"HIT", "HIT+HIT_RESERVED"}, {"HIT_RESERVED", "HIT+HIT_RESERVED"},
					      {"MISS", "MISS+SECTOR_MISS"}, {"SECTOR_MISS", "MISS+SECTOR_MISS"}};
	char name[NAME_TEXT], together[NAME_TEXT];

	if (strcmp(cache, "L1D_cache_stats_breakdown") == 0)
		cache = "Total_core_cache_stats_breakdown";
	if (strncmp(kind, "LOCAL_ACC_", 10) == 0)
		kind = kind[10] == 'R' ? "GLOBAL_ACC_R" : "GLOBAL_ACC_W";
	snprintf(name, sizeof name, "%s[%s][%s]", cache, kind, outcome);
	bool known = add_count(log, name, value, strchr(outcome, '+') != NULL);
	for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
		if (strcmp(both[i][0], outcome) != 0)
			continue;
		snprintf(together, sizeof together, "%s[%s][%s]", cache, kind, both[i][1]);
		if (!add_count(log, together, value, false) && !known && value > 0)
			return add_other(log->reference, name, error);
	}
	return 0;
}

static bool is_counted(const struct gt_vocabulary *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->metrics[i].name, name) == 0)
			return true;
	return false;
}

/* "NAME = NUMBER". Other lines have other forms or are of no use. */
static int read_count(struct log *log, char *line, struct gt_error *error)
{
	char *equals = strstr(line, " = "), *kind, *outcome;
	uint64_t value;

	if (!equals || !log->launch.name)
		return 0;
	const char *at = equals + 3;
	*equals = '\0';
	line += strspn(line, " \t");
	if (!gt_scan_decimal(&at, &value) || !gt_scan_end(&at))
		return is_counted(log->names, line) ? gt_input_fail(log->input, error, "%s: expected a count", line) : 0;
	kind = strchr(line, '[');
	outcome = kind ? strstr(kind, "][") : NULL;
	if (!outcome) {
		(void)add_count(log, line, value, false);
		return 0;
	}
	*kind++ = *outcome = '\0';
	outcome += 2;
	outcome[strcspn(outcome, "]")] = '\0';
	return add_outcome(log, line, kind, outcome, value, error);
}

/* ---- lines ---- */

static int read_log_line(struct log *log, char *line, struct gt_error *error)
{
	const char *at = line;

	if (*line == '-')
		return read_header_line(log, line, error);
	if (gt_scan_text(&at, "kernel_name = "))
		return begin_log_launch(log, at, error);
	if (gt_scan_text(&at, "kernel_launch_uid = "))
		read_launch_number(log, at);
	else if (gt_scan_text(&at, "kernel_stream_id = "))
		(void)gt_scan_decimal(&at, &log->now.stream);
	else if (strcmp(line, GT_LOG_LAST) == 0)
		log->ended = true;
	else
		return read_count(log, line, error);
	return 0;
}

static int read_log_lines(struct log *log, struct gt_error *error)
{
	size_t length;
	char *line;
	int got;

	while ((got = gt_input_line(log->input, &line, &length, error)) > 0)
		if (read_log_line(log, line, error) != 0)
			return -1;
	if (got < 0 || end_log_launch(log, error) != 0)
		return -1;
	return log->ended ? 0 : gt_fail(error, "%s: expected a log of Accel-Sim with its last line, '" GT_LOG_LAST "': the run has not ended",
					gt_input_name(log->input));
}

static int read_log(struct gt_reference *reference, struct gt_input *input, struct gt_error *error)
{
	reference->is_log = true;
	struct log log = {.input = input, .reference = reference, .names = &gt_vocabularies[GT_VOCABULARY_ACCELSIM]};
	int result = read_log_lines(&log, error);

	free(log.launch.name);
	for (size_t i = 0; i < log.n; i++)
		free(log.headers[i].name);
	free(log.headers);
	free(log.before);
	return result;
}

/* ---- a file ---- */

/* A log, or one of the tables. */
static int read_any(struct reading *reading, struct gt_error *error)
{
	const char *head;
	size_t bytes;

	if (gt_input_peek(reading->csv.input, &head, &bytes, error) != 0)
		return -1;
	if (is_log(head, bytes))
		return read_log(reading->reference, reading->csv.input, error);
	if (find_header(reading, error) != 0)
		return -1;
	return reading->reference->is_saved ? read_saved(reading, error) : read_values(reading, error);
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
	result = read_any(&reading, error);
	if (gt_input_close(reading.csv.input, result == 0 ? error : &ignored) != 0)
		result = -1;
	for (size_t i = 0; i < reading.n; i++)
		free(reading.pending[i].text);
	free(reading.pending);
	free(reading.wide);
	gt_csv_close(&reading.csv);
	if (result == 0)
		mend(reference);
	return result;
}
