/* SPDX-License-Identifier: MIT */
#include "report/compare/errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

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

int gt_errors_add(struct gt_errors *errors, const char *name, const char *unit, double hardware, double ours,
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

struct gt_error_statistics gt_errors_of(const struct gt_errors_metric *metric)
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
