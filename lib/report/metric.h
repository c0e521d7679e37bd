/* SPDX-License-Identifier: MIT */
/* Metrics: numbers that are computed from counters, once, when they are printed. Each is a row of
 * a table, and its definition is written as sums of counters:
 *
 *     "l1.reads -l1.read_hits"     stage.counter, with '-' to subtract;
 *     ".reads ?.atomics"           no stage: the current stage; '?': 0 if the counter is absent; "-?" both;
 *     "!coalesce.bank_passes"      as '?', and there is no value unless it is 0
 *
 * If any other counter is absent, the kernel does not have the metric. */
#ifndef GT_REPORT_METRIC_H
#define GT_REPORT_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/format.h"
#include "report/gather.h"

#define GT_SHOWN_ONLY "" /* printed, but not compared: what it is compared with counts less or more under this name */

struct gt_metric {
	const char *name;
	const char *unit;
	const char *beside; /* our own: the counter in whose row a table prints it; others': NULL, or GT_SHOWN_ONLY */
	const char *numerator;
	const char *denominator; /* NULL: a count; else a ratio */
	uint64_t factor; /* by which the numerator is multiplied */
};

enum gt_metric_state {
	GT_METRIC_ABSENT,    /* a counter is missing */
	GT_METRIC_UNDEFINED, /* 0/0, negative, or above 64 bits: printed as "-" */
	GT_METRIC_COUNT,
	GT_METRIC_RATIO,
};

struct gt_metric_value {
	enum gt_metric_state state;
	uint64_t count;
	double ratio;
};

/* Ratios of the counters of one stage, whatever its name. */
extern const struct gt_metric gt_ratios[];
extern const size_t gt_ratios_n;

/* The value of a metric. `stage` is the current stage, or NULL for metrics that name theirs. */
struct gt_metric_value gt_metric_evaluate(const struct gt_metric *metric, const struct gt_report_kernel *kernel,
					  const struct gt_report_stage *stage);

/* One of our own ratios, if it is printed beside that counter: of the counter's class, if it is one of a class ("load.global.hits"); else
 * it is absent. */
struct gt_metric_value gt_metric_of_counter(const struct gt_metric *metric, const struct gt_report_kernel *kernel,
					    const struct gt_report_stage *stage, const char *counter);

/* Those in whose metrics, as far as the model can compute them, counters can be reported: NVIDIA's profilers Nsight Compute (ncu) and,
 * for GPUs up to Pascal, nvprof; and the simulator Accel-Sim. */
struct gt_vocabulary {
	const char *name; /* as --names has it */
	/* Of several rows with one name, which follow each other, the first whose counters are present is used. */
	const struct gt_metric *metrics;
	size_t n;
};

enum { GT_VOCABULARY_NCU, GT_VOCABULARY_NVPROF, GT_VOCABULARY_ACCELSIM, GT_VOCABULARIES };
extern const struct gt_vocabulary gt_vocabularies[GT_VOCABULARIES];

/* The next metric of a vocabulary, from index *at on, that the kernel's counters determine, with its value; *at becomes the
 * index behind it. NULL: there are no more. */
const struct gt_metric *gt_metric_next(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel, size_t *at,
				       struct gt_metric_value *value);

/* The first metric of that name, or of that other name, in any of them, or NULL. The pointer identifies the metric. */
const struct gt_metric *gt_metric_named(const char *name);

/* A kernel's value of the metric: from the first row of that name whose counters are present. */
struct gt_metric_value gt_metric_of_kernel(const struct gt_metric *metric, const struct gt_report_kernel *kernel);

/* The knee of load misses over sizes of a cache, from the smallest up: the first size of whose misses no larger one takes GT_KNEE percent
 * or more; n if there is none. Of the last size nothing is known, and of the first not whether a smaller one would do; it is
 * the caller's to say. */
#define GT_KNEE 5
size_t gt_knee(const double *misses, size_t n);
/* Whether so few misses are less than so many by GT_KNEE percent or more. */
bool gt_knee_takes(double few, double many);

/* The value as text: digits, a ratio with two decimals, or "-". */
#define GT_METRIC_TEXT 32
const char *gt_metric_format(struct gt_metric_value value, char buffer[GT_METRIC_TEXT]);

/* ---- the rows of a report for people, on the terminal and on the page: a counter's value as text, with its ratio beside it ---- */

struct gt_report_row {
	const char *name, *unit; /* the counter's; "" for no unit */
	bool is_text;		 /* the value is a word, not a number */
	char value[GT_TABLE_CELL];
	char remark[GT_TABLE_CELL]; /* a ratio, the elements of a short array, or "" */
	bool spreads;		    /* its kernel sums up several launches, in which it differs */
	char spread[3][GT_TABLE_NUMBER]; /* then its least, mean and largest value there */
};

/* The row of a counter. False if it is not printed: it is 0 and nothing could have been counted. */
bool gt_report_make_row(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
			const struct gt_report_counter *counter, struct gt_report_row *row);

#endif
