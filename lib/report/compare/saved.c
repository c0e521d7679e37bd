/* SPDX-License-Identifier: MIT */
/* The CSV of our own counters as a reference: read back into a report, and compared with another counter by counter. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "report/compare/compare.h"

/* ---- reading ---- */

enum column { KERNEL, STAGE, COUNTER, VALUE, COLUMNS };
static const char *const headings[COLUMNS] = {"kernel", "stage", "counter", "value"};

#define NAMED_FROM (UINT64_MAX / 2) /* ids of kernels that the file names */

struct reading {
	struct gt_csv *csv;
	struct gt_report *report;
	char label[GT_KERNEL_NAME], stage[GT_COUNT_NAME]; /* of the lines before */
	uint64_t id;
	bool begun;	       /* there was a kernel */
	struct gt_count count; /* of the stage, as far as it is read */
	char array[GT_COUNT_NAME]; /* whose elements are being read, or "" */
	uint64_t *elements;	   /* owned */
	size_t n, capacity;
};

bool gt_saved_header(const struct gt_csv *csv)
{
	if (csv->n != COLUMNS)
		return false;
	for (int c = 0; c < COLUMNS; c++)
		if (strcmp(csv->fields[c], headings[c]) != 0)
			return false;
	return true;
}

static int end_array(struct reading *reading, struct gt_error *error)
{
	int result = reading->array[0] ? gt_count_array(&reading->count, reading->array, reading->elements, reading->n, error) : 0;

	reading->array[0] = '\0';
	reading->n = 0;
	return result;
}

/* Adds what was read of a stage to its kernel. */
static int end_stage(struct reading *reading, struct gt_error *error)
{
	struct gt_report *report = reading->report;

	if (!reading->stage[0])
		return 0;
	if (end_array(reading, error) != 0 || gt_report_count(report, &reading->count, error) != 0)
		return -1;
	const struct gt_report_kernel *kernel = &report->kernels[report->n - 1];
	const struct gt_report_stage *stage = &kernel->stages[kernel->n - 1];
	if (strcmp(stage->name, reading->stage) != 0 || stage->n != reading->count.n)
		return gt_input_fail(reading->csv->input, error, "before this line, stage %s: expected each stage of a kernel, and each of "
				     "its counters, once", reading->stage);
	gt_count_clear(&reading->count);
	reading->stage[0] = '\0';
	return 0;
}

/* A kernel is labelled by its number, or by its name if the launches of a name are together; the last is the total. */
static int begin_kernel(struct reading *reading, const char *label, struct gt_error *error)
{
	struct gt_report *report = reading->report;
	size_t before = report->n;
	struct gt_kernel kernel = {.id = NAMED_FROM + before};
	struct gt_error ignored;
	bool number = gt_parse_count(label, 0, NAMED_FROM - 1, &kernel.id, &ignored) == 0;

	if ((size_t)snprintf(reading->label, sizeof reading->label, "%s", label) >= sizeof reading->label)
		return gt_input_fail(reading->csv->input, error, "expected a kernel's name of less than %d bytes", GT_KERNEL_NAME);
	memcpy(kernel.name, number ? "" : reading->label, number ? 1 : sizeof kernel.name);
	reading->id = kernel.id;
	reading->begun = true;
	report->by_name |= !number && strcmp(label, GT_REFERENCE_TOTAL) != 0;
	if (gt_report_add_kernel(report, &kernel, error) != 0)
		return -1;
	report->kernels[report->n - 1].merged = !number;
	return report->n > before ? 0 : gt_input_fail(reading->csv->input, error, "kernel %.60s a second time", label);
}

static int begin_stage(struct reading *reading, const char *stage, struct gt_error *error)
{
	char plain[GT_COUNT_NAME];

	if (!*stage || (size_t)snprintf(reading->stage, sizeof reading->stage, "%s", stage) >= sizeof reading->stage)
		return gt_input_fail(reading->csv->input, error, "stage '%.60s': expected a name of less than %d bytes", stage, GT_COUNT_NAME);
	snprintf(plain, sizeof plain, "%s", stage);
	plain[strcspn(plain, "#")] = '\0';
	gt_count_begin(&reading->count, plain, reading->id);
	return 0;
}

/* An element of an array, "mru[3]", which follows those before it. */
static int add_element(struct reading *reading, const char *name, uint64_t index, uint64_t value, struct gt_error *error)
{
	if (strcmp(reading->array, name) != 0) {
		if (end_array(reading, error) != 0)
			return -1;
		snprintf(reading->array, sizeof reading->array, "%s", name);
	}
	if (index != reading->n)
		return gt_input_fail(reading->csv->input, error, "%s[%" PRIu64 "]: expected element %zu", name, index, reading->n);
	uint64_t *bigger = gt_grown(reading->elements, reading->n, &reading->capacity, sizeof *bigger);
	if (!bigger)
		return gt_fail_memory(error, "the reference");
	reading->elements = bigger;
	bigger[reading->n++] = value;
	return 0;
}

/* Whether it is the name of an element; then cuts the index off. */
static bool is_element(char *name, uint64_t *index)
{
	char *bracket = strrchr(name, '['), *end;

	if (!bracket || bracket[1] < '0' || bracket[1] > '9')
		return false;
	*index = strtoull(bracket + 1, &end, 10);
	if (strcmp(end, "]") != 0)
		return false;
	*bracket = '\0';
	return true;
}

static int add_counter(struct reading *reading, char *name, const char *text, struct gt_error *error)
{
	uint64_t index = 0, value = 0;
	struct gt_error ignored;
	bool element = is_element(name, &index), number = *text >= '0' && *text <= '9' && gt_parse_count(text, 0, UINT64_MAX, &value, &ignored) == 0;
	enum gt_counter_kind kind = gt_counter_about(reading->count.stage, name)->kind;

	if (!*name || strlen(name) >= GT_COUNT_NAME)
		return gt_input_fail(reading->csv->input, error, "counter '%.60s': expected a name of less than %d bytes", name, GT_COUNT_NAME);
	if (!number && (element || kind != GT_COUNTER_WORD) && gt_counter_about(reading->count.stage, name)->definition)
		return gt_input_fail(reading->csv->input, error, "'%.60s' for %s: expected a number", text, name);
	if (element && number)
		return add_element(reading, name, index, value, error);
	if (end_array(reading, error) != 0)
		return -1;
	return number && kind != GT_COUNTER_WORD ? gt_count_number(&reading->count, name, value, error)
						 : gt_count_text(&reading->count, name, text, error);
}

static int read_line(struct reading *reading, struct gt_error *error)
{
	char **fields = reading->csv->fields;
	bool next = !reading->begun || strcmp(fields[KERNEL], reading->label) != 0;

	if ((next || strcmp(fields[STAGE], reading->stage) != 0) && end_stage(reading, error) != 0)
		return -1;
	if (next && begin_kernel(reading, fields[KERNEL], error) != 0)
		return -1;
	if (!reading->stage[0] && begin_stage(reading, fields[STAGE], error) != 0)
		return -1;
	return add_counter(reading, fields[COUNTER], fields[VALUE], error);
}

static int read_lines(struct reading *reading, struct gt_error *error)
{
	int result;

	while ((result = gt_csv_next(reading->csv, error)) != 0) {
		if (result == -1)
			return -1;
		if (result == -2 || reading->csv->n != COLUMNS)
			return gt_input_fail(reading->csv->input, error, "expected %d comma-separated values, as the columns are", COLUMNS);
		if (read_line(reading, error) != 0)
			return -1;
	}
	return end_stage(reading, error);
}

int gt_saved_read(struct gt_csv *csv, struct gt_report *report, struct gt_error *error)
{
	struct reading reading = {.csv = csv, .report = report};
	int result = read_lines(&reading, error);

	if (result == 0 && report->n > 0 && strcmp(reading.label, GT_REFERENCE_TOTAL) == 0)
		report->total = report->kernels[--report->n];
	gt_count_clear(&reading.count);
	free(reading.elements);
	return result;
}

/* ---- comparing ---- */

/* A kernel on both sides; either may be NULL. */
struct pair {
	struct gt_comparison *comparison;
	const struct gt_report_kernel *saved, *ours;
	struct gt_comparison_row row; /* what all rows of the kernel have */
};

/* Adds a row, under the name of a stage and its counter; index < 0: it is no element of an array. */
static int add(struct pair *pair, const char *stage, const char *counter, long long index, struct gt_comparison_row row,
	       struct gt_error *error)
{
	char name[GT_REPORT_STAGE_NAME + GT_COUNT_NAME + 32];
	uint64_t number;

	snprintf(name, sizeof name, index < 0 ? "%s.%s" : "%s.%s[%lld]", stage, counter, index);
	if (gt_names_number(&pair->comparison->names, name, &number, error) != 0)
		return -1;
	row.metric = pair->comparison->names.names[number];
	row.kernel = pair->row.kernel;
	row.grid = pair->row.grid;
	row.block = pair->row.block;
	row.id = pair->row.id;
	return gt_comparison_add(pair->comparison, &row, error);
}

/* The element of an array, or the number; false if there is none. */
static bool number_at(const struct gt_report_counter *counter, size_t i, double *value)
{
	if (!counter || counter->differs || counter->value.kind == GT_COUNT_TEXT)
		return false;
	if (counter->value.kind == GT_COUNT_NUMBER) {
		*value = (double)counter->value.number;
		return i == 0;
	}
	*value = i < counter->value.n ? (double)counter->value.array[i] : 0;
	return i < counter->value.n;
}

static const char *word_of(const struct gt_report_counter *counter)
{
	return counter && !counter->differs && counter->value.kind == GT_COUNT_TEXT ? counter->value.text : NULL;
}

static enum gt_comparison_note note_of(bool saved, bool ours)
{
	return saved && ours ? GT_COMPARED : saved ? GT_NOT_TOLD : GT_NOT_IN_REFERENCE;
}

/* Compares a counter that one side has, or both. */
static int compare_counter(struct pair *pair, const struct gt_report_stage *stage, const struct gt_report_counter *saved,
			   const struct gt_report_counter *ours, struct gt_error *error)
{
	const struct gt_report_counter *any = saved ? saved : ours;
	struct gt_comparison_row row = {.unit = any->about->unit ? any->about->unit : "", .words = {word_of(saved), word_of(ours)}};
	bool array = any->value.kind == GT_COUNT_ARRAY;
	size_t n = saved && array ? saved->value.n : array ? 0 : 1;

	if (any->about->print == GT_PRINT_NOT)
		return 0;
	if (row.words[0] || row.words[1]) {
		row.note = note_of(row.words[0], row.words[1]);
		return add(pair, stage->name, any->value.name, -1, row, error);
	}
	if (array && ours && ours->value.kind == GT_COUNT_ARRAY && ours->value.n > n)
		n = ours->value.n;
	row.long_array = n > GT_COMPARISON_ELEMENTS;
	for (size_t i = 0; i < n; i++) {
		bool left = number_at(saved, i, &row.hardware), right = number_at(ours, i, &row.ours);
		row.note = note_of(left, right);
		if ((left || right) && add(pair, stage->name, any->value.name, array ? (long long)i : -1, row, error) != 0)
			return -1;
	}
	return 0;
}

/* Compares the ratios of a stage. */
static int compare_ratios(struct pair *pair, const struct gt_report_stage *saved, const struct gt_report_stage *ours,
			  struct gt_error *error)
{
	for (size_t i = 0; i < gt_ratios_n; i++) {
		struct gt_metric_value left = gt_metric_evaluate(&gt_ratios[i], pair->saved, saved);
		struct gt_metric_value right = gt_metric_evaluate(&gt_ratios[i], pair->ours, ours);
		struct gt_comparison_row row = {.unit = gt_ratios[i].unit, .hardware = left.ratio, .ours = right.ratio, .note = GT_COMPARED};
		if (left.state == GT_METRIC_RATIO && right.state == GT_METRIC_RATIO &&
		    add(pair, saved->name, gt_ratios[i].name, -1, row, error) != 0)
			return -1;
	}
	return 0;
}

/* Compares a stage that one side has, or both. */
static int compare_stage(struct pair *pair, const struct gt_report_stage *saved, const struct gt_report_stage *ours,
			 struct gt_error *error)
{
	for (size_t i = 0; saved && i < saved->n; i++) {
		const struct gt_report_counter *counter = &saved->counters[i];
		const struct gt_report_counter *other = ours ? gt_report_find_counter(ours, counter->value.name, i) : NULL;
		if (compare_counter(pair, saved, counter, other, error) != 0)
			return -1;
	}
	for (size_t i = 0; ours && i < ours->n; i++)
		if ((!saved || !gt_report_find_counter(saved, ours->counters[i].value.name, i)) &&
		    compare_counter(pair, ours, NULL, &ours->counters[i], error) != 0)
			return -1;
	return saved && ours ? compare_ratios(pair, saved, ours, error) : 0;
}

static int compare_kernels(struct pair *pair, struct gt_error *error)
{
	const struct gt_report_kernel *saved = pair->saved, *ours = pair->ours;

	for (size_t i = 0; i < saved->n; i++)
		if (compare_stage(pair, &saved->stages[i], gt_report_find_stage(ours, saved->stages[i].name), error) != 0)
			return -1;
	for (size_t i = 0; i < ours->n; i++)
		if (!gt_report_find_stage(saved, ours->stages[i].name) && compare_stage(pair, NULL, &ours->stages[i], error) != 0)
			return -1;
	return 0;
}

/* The kernel of that number, or of that name if the launches of a name are together; looked for behind the last one first. */
static const struct gt_report_kernel *matching(const struct gt_report *report, const struct gt_kernel *kernel, size_t *last)
{
	for (size_t i = 0; i < report->n; i++) {
		size_t at = (*last + 1 + i) % report->n;
		const struct gt_kernel *other = &report->kernels[at].kernel;
		if (kernel->name[0] ? strcmp(other->name, kernel->name) == 0 : other->id == kernel->id && (!report->by_name || !other->name[0])) {
			*last = at;
			return &report->kernels[at];
		}
	}
	return NULL;
}

/* A row that says on which side only a kernel is. */
static int add_single(struct gt_comparison *comparison, const struct gt_kernel *kernel, enum gt_comparison_note note, struct gt_error *error)
{
	struct gt_comparison_row row = {.kernel = kernel->name, .id = kernel->id < NAMED_FROM ? kernel->id : 0, .grid = kernel->grid,
					.block = kernel->block, .note = note};

	return gt_comparison_add(comparison, &row, error);
}

static int compare_all(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_report *saved, bool *matched,
		       struct gt_error *error)
{
	size_t last = report->n ? report->n - 1 : 0;

	for (size_t i = 0; i < saved->n; i++) {
		const struct gt_report_kernel *ours = matching(report, &saved->kernels[i].kernel, &last);
		struct pair pair = {.comparison = comparison, .saved = &saved->kernels[i], .ours = ours};
		if (!ours && !report->choose && add_single(comparison, &saved->kernels[i].kernel, GT_NOT_IN_MODEL, error) != 0)
			return -1;
		if (!ours)
			continue;
		matched[last] = true;
		pair.row = (struct gt_comparison_row){.kernel = ours->kernel.name, .id = ours->kernel.id,
						      .grid = ours->kernel.grid, .block = ours->kernel.block};
		if (compare_kernels(&pair, error) != 0)
			return -1;
	}
	for (size_t i = 0; i < report->n; i++)
		if (!matched[i] && add_single(comparison, &report->kernels[i].kernel, GT_NOT_IN_REFERENCE, error) != 0)
			return -1;
	return 0;
}

static int compare_saved(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_report *saved, struct gt_error *error)
{
	static const uint32_t unknown[3];
	bool *matched = calloc(report->n + 1, sizeof *matched);
	struct pair total = {.comparison = comparison, .saved = &saved->total, .ours = &report->total,
			     .row = {.kernel = GT_REFERENCE_TOTAL, .grid = unknown, .block = unknown}};

	comparison->of_saved = true;
	if (!matched)
		return gt_fail_memory(error, "the comparison");
	int result = gt_names_open(&comparison->names, error);
	if (result == 0)
		result = compare_all(comparison, report, saved, matched, error);
	if (result == 0 && !report->choose && saved->total.n > 0 && (saved->n > 1 || report->n > 1))
		result = compare_kernels(&total, error);
	free(matched);
	return result;
}

int gt_compare(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_reference *reference,
	       struct gt_error *error)
{
	*comparison = (struct gt_comparison){.others = reference->others, .n_others = reference->n_others, .sides = {reference->is_log ? "Accel-Sim" : "hardware", "ours"}};
	return reference->is_saved ? compare_saved(comparison, report, &reference->saved, error)
				   : gt_compare_hardware(comparison, report, reference, error);
}
