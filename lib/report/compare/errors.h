/* SPDX-License-Identifier: MIT */
/* The errors of the model: statistics over pairs of hardware h and ours o, by metric. */
#ifndef GT_REPORT_COMPARE_ERRORS_H
#define GT_REPORT_COMPARE_ERRORS_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct gt_errors_metric {
	char *name, *unit; /* owned */
	double *hardware, *ours; /* owned */
	size_t n, hardware_capacity, ours_capacity;
};

struct gt_errors {
	struct gt_errors_metric *metrics; /* in the order of first appearance; owned */
	size_t n, capacity;
};

/* A value that cannot be computed is NAN. */
struct gt_error_statistics {
	size_t n;	 /* pairs */
	size_t n_nonzero; /* pairs whose h is not 0 */
	double mape;	 /* percent: mean of 100 |o - h| / |h| over the pairs whose h is not 0 ([004] 5.2) */
	double mae;	 /* in the metric's unit: mean of |o - h| */
	double pearson;	 /* -1 to 1: correlation of h and o; NAN for fewer than 2 pairs, or if either is constant */
	double nrmse;	 /* sqrt(mean of (o - h)^2) / |mean of h|; NAN if that is 0 */
};

void gt_errors_clear(struct gt_errors *errors);
/* Adds a pair. Returns 0, or -1 when memory is short. */
int gt_errors_add(struct gt_errors *errors, const char *metric, const char *unit, double hardware, double ours,
		  struct gt_error *error);
struct gt_error_statistics gt_errors_of(const struct gt_errors_metric *metric);

/* The statistics by metric, as "table", "csv" or "json" (an array). Returns 0, or -1 when memory is short. */
int gt_errors_write(const struct gt_errors *errors, const char *form, FILE *to, struct gt_error *error);

#endif
