/* SPDX-License-Identifier: MIT */
/* Reads the rows of comparisons, of several runs together. */
#include <string.h>

#include "report/compare/compare.h"
#include "report/compare/csv_read.h"
#include "report/compare/number.h"

enum column { METRIC, UNIT, HARDWARE, OURS, COLUMNS };
static const char *const headings[COLUMNS] = {"metric", "unit", "hardware", "ours"};

/* Whether the record names the columns. */
static bool take_header(const struct gt_csv *csv, int column[COLUMNS])
{
	int found[COLUMNS];

	for (int c = 0; c < COLUMNS; c++)
		if ((found[c] = gt_csv_column(csv, headings[c])) < 0)
			return false;
	memcpy(column, found, sizeof found);
	return true;
}

static int take_row(struct gt_errors *errors, const struct gt_csv *csv, const int column[COLUMNS], struct gt_error *error)
{
	double hardware, ours;
	int h = gt_profiler_number(csv->fields[column[HARDWARE]], GT_DECIMAL_POINT, &hardware);
	int o = gt_profiler_number(csv->fields[column[OURS]], GT_DECIMAL_POINT, &ours);

	if (h < 0 || o < 0)
		return gt_input_fail(csv->input, error, "'%.60s', '%.60s': expected two numbers", csv->fields[column[HARDWARE]],
				     csv->fields[column[OURS]]);
	if (h == 0 || o == 0)
		return 0;
	return gt_errors_add(errors, csv->fields[column[METRIC]], csv->fields[column[UNIT]], hardware, ours, error);
}

static int read_rows(struct gt_errors *errors, struct gt_csv *csv, struct gt_error *error)
{
	int column[COLUMNS], result;
	size_t fields = 0;

	while ((result = gt_csv_next(csv, error)) != 0) {
		if (result == -1)
			return -1;
		if (result == 1 && take_header(csv, column)) {
			fields = csv->n;
			continue;
		}
		if (result == -2 || fields == 0 || csv->n != fields)
			return gt_input_fail(csv->input, error, fields ? "expected as many values as there are columns"
								      : "expected a line of the columns metric, unit, hardware and ours");
		if (take_row(errors, csv, column, error) != 0)
			return -1;
	}
	return fields ? 0 : gt_input_fail(csv->input, error, "expected a line of the columns metric, unit, hardware and ours");
}

int gt_errors_read(struct gt_errors *errors, const char *path, struct gt_error *error)
{
	struct gt_csv csv = {.input = gt_input_open(path, error)};
	struct gt_error ignored;

	if (!csv.input)
		return -1;
	int result = read_rows(errors, &csv, error);
	if (gt_input_close(csv.input, result == 0 ? error : &ignored) != 0)
		result = -1;
	gt_csv_close(&csv);
	return result;
}
