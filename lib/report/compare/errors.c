/* SPDX-License-Identifier: MIT */
/* The errors of the model: pairs of hardware and ours by metric, from a comparison or from rows that comparisons wrote, and
 * their statistics. */
#include "report/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "report/compare/csv_read.h"

void gt_errors_clear(struct gt_errors *errors)
{
	for (size_t i = 0; i < errors->n; i++) {
		free(errors->metrics[i].name);
		free(errors->metrics[i].unit);
		free(errors->metrics[i].hardware);
		free(errors->metrics[i].ours);
	}
	free(errors->metrics);
	*errors = (struct gt_errors){0};
}

/* The metric of that name, created if it is new; NULL when memory is short. */
static struct gt_errors_metric *metric_of(struct gt_errors *errors, const char *name, const char *unit)
{
	for (size_t i = 0; i < errors->n; i++)
		if (strcmp(errors->metrics[i].name, name) == 0)
			return &errors->metrics[i];
	struct gt_errors_metric *bigger = gt_grown(errors->metrics, errors->n, &errors->capacity, sizeof *bigger);
	if (!bigger)
		return NULL;
	errors->metrics = bigger;
	struct gt_errors_metric *metric = &bigger[errors->n++];
	*metric = (struct gt_errors_metric){.name = strdup(name), .unit = strdup(unit)};
	return metric->name && metric->unit ? metric : NULL;
}

/* Adds a pair. Returns 0, or -1 when memory is short. */
static int add_pair(struct gt_errors *errors, const char *name, const char *unit, double hardware, double ours,
		    struct gt_error *error)
{
	struct gt_errors_metric *metric = metric_of(errors, name, unit);
	double *more = NULL;

	if (metric)
		more = gt_grown(metric->hardware, metric->n, &metric->hardware_capacity, sizeof *more);
	if (more) {
		metric->hardware = more;
		more = gt_grown(metric->ours, metric->n, &metric->ours_capacity, sizeof *more);
	}
	if (!more)
		return gt_fail_memory(error, "the errors");
	metric->ours = more;
	metric->hardware[metric->n] = hardware;
	metric->ours[metric->n++] = ours;
	return 0;
}

int gt_comparison_errors(const struct gt_comparison *comparison, struct gt_errors *errors, struct gt_error *error)
{
	for (size_t i = 0; i < comparison->n && !comparison->of_saved; i++) {
		const struct gt_comparison_row *row = &comparison->rows[i];
		if (row->note <= GT_COMPARED_LAST &&
		    add_pair(errors, row->metric, row->unit, row->hardware, row->ours, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- statistics ---- */

static double mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/* From deviations, not from sums of squares, which lose the small differences of large numbers. */
static double pearson(const struct gt_errors_metric *metric)
{
	double h = mean(metric->hardware, metric->n), o = mean(metric->ours, metric->n);
	double hh = 0, oo = 0, ho = 0;

	for (size_t i = 0; i < metric->n; i++) {
		double dh = metric->hardware[i] - h, d_o = metric->ours[i] - o;
		hh += dh * dh;
		oo += d_o * d_o;
		ho += dh * d_o;
	}
	return hh > 0 && oo > 0 ? fmax(-1, fmin(1, ho / (sqrt(hh) * sqrt(oo)))) : (double)NAN;
}

struct gt_error_statistics gt_errors_statistics(const struct gt_errors_metric *metric)
{
	struct gt_error_statistics s = {.n = metric->n};
	double relative = 0, absolute = 0, squares = 0;

	for (size_t i = 0; i < metric->n; i++) {
		double h = metric->hardware[i], distance = fabs(metric->ours[i] - h);
		absolute += distance;
		squares += distance * distance;
		if (h != 0) {
			relative += distance / fabs(h);
			s.n_nonzero++;
		}
	}
	double n = (double)s.n, level = s.n ? fabs(mean(metric->hardware, s.n)) : 0;
	s.mape = s.n_nonzero ? 100 * relative / (double)s.n_nonzero : (double)NAN;
	s.mae = s.n ? absolute / n : (double)NAN;
	s.pearson = s.n > 1 ? pearson(metric) : (double)NAN;
	s.nrmse = level > 0 ? sqrt(squares / n) / level : (double)NAN;
	return s;
}

/* ---- rows of comparisons, of several runs together ---- */

/* HARDWARE and OURS may have the names of gstats --as, with "difference" behind them, which is -1 where there is none. */
enum column { METRIC, UNIT, HARDWARE, OURS, DIFFERENCE, COLUMNS };
static const char *const headings[DIFFERENCE] = {"metric", "unit", "hardware", "ours"};

/* Whether the record names the columns. */
static bool find_columns(const struct gt_csv *csv, int column[COLUMNS])
{
	int difference = gt_csv_column(csv, "difference"), found[COLUMNS] = {[DIFFERENCE] = difference};

	for (int c = 0; c < DIFFERENCE; c++) {
		found[c] = gt_csv_column(csv, headings[c]);
		if (found[c] < 0 && c >= HARDWARE && difference > 1)
			found[c] = difference - (c == HARDWARE ? 2 : 1);
		if (found[c] < 0)
			return false;
	}
	memcpy(column, found, sizeof found);
	return true;
}

/* Whether the record compares texts, such as the names of arrays: they have neither a unit nor a difference. */
static bool compares_texts(const struct gt_csv *csv, const int column[COLUMNS])
{
	return column[DIFFERENCE] >= 0 && !*csv->fields[column[DIFFERENCE]] && !*csv->fields[column[UNIT]];
}

static int read_row(struct gt_errors *errors, const struct gt_csv *csv, const int column[COLUMNS], struct gt_error *error)
{
	double hardware, ours;
	int h = gt_profiler_number(csv->fields[column[HARDWARE]], GT_DECIMAL_POINT, &hardware);
	int o = gt_profiler_number(csv->fields[column[OURS]], GT_DECIMAL_POINT, &ours);

	if ((h < 0 || o < 0) && compares_texts(csv, column))
		return 0;
	if (h < 0 || o < 0)
		return gt_input_fail(csv->input, error, "'%.60s', '%.60s': expected two numbers", csv->fields[column[HARDWARE]],
				     csv->fields[column[OURS]]);
	if (h == 0 || o == 0)
		return 0;
	return add_pair(errors, csv->fields[column[METRIC]], csv->fields[column[UNIT]], hardware, ours, error);
}

static int read_rows(struct gt_errors *errors, struct gt_csv *csv, struct gt_error *error)
{
	int column[COLUMNS] = {0}, result;
	size_t fields = 0;

	while ((result = gt_csv_next(csv, error)) != 0) {
		if (result == -1)
			return -1;
		if (result == 1 && find_columns(csv, column)) {
			fields = csv->n;
			continue;
		}
		if (result == -2 || fields == 0 || csv->n != fields)
			return gt_input_fail(csv->input, error, fields ? "expected as many values as there are columns"
								      : "expected a line of the columns metric, unit, hardware and ours");
		if (read_row(errors, csv, column, error) != 0)
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
