/* SPDX-License-Identifier: MIT */
/* A series: the accesses and latencies of a P-chase, run by run ([001] 3.2). */
#ifndef GT_DISSECT_SERIES_H
#define GT_DISSECT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"

#define GT_SERIES_MAX (UINT64_C(1) << 28) /* accesses */

struct gt_sample {
	uint64_t offset;  /* bytes from the array's start */
	uint32_t latency; /* cycles */
	int8_t hit;	  /* 1, 0, or -1: not known; gt_series_prepare sets it */
};

struct gt_chase_run {
	uint64_t bytes;	 /* N */
	size_t first, n; /* its samples */
	uint64_t period; /* accesses of a round; n if there are fewer than two rounds */
	uint64_t stride; /* smallest distance of two successive elements */
	bool uniform;	 /* a ring of equal strides */
	bool repeated;	 /* and it has two rounds or more: it can be part of a sweep */
	bool separate;	 /* it does not continue the sweep of the previous run: a line of names is in between */
};

struct gt_chase_series {
	struct gt_sample *samples;
	size_t n, capacity;
	struct gt_chase_run *runs;
	size_t runs_n, runs_capacity;
	bool separate; /* the next access begins a run, whatever its N */
};

/* Latencies are clustered by density, so that outliers between the clusters belong to none. */
#define GT_CLASSES_MAX 16

struct gt_latency_class {
	uint32_t low, high, middle; /* cycles; middle is the median */
	uint64_t n;
};

struct gt_latency_classes {
	struct gt_latency_class class[GT_CLASSES_MAX]; /* by ascending latency */
	size_t n;
	uint64_t outliers; /* samples of no class */
};

/* Appends an access to the run of N bytes. A new run begins if the last access was of another N. */
int gt_series_add(struct gt_chase_series *series, uint64_t bytes, uint64_t offset, uint32_t latency,
		  struct gt_error *error);

/* Reads text: a line of column names, then numbers, separated by tabs or commas. Columns: N, offset and latency, in
 * bytes and cycles. `index` may replace offset: the element read, which is the next one visited, as listing 4 of [001]
 * records it. Other columns are ignored. Returns 0, or -1 naming the invalid line. */
int gt_series_read(struct gt_chase_series *series, struct gt_input *input, struct gt_error *error);

/* Finds the classes of latencies and marks each sample: a hit is of the first class, a miss of another, an outlier neither. Then
 * finds each run's round and stride. -1: there are fewer than two classes, a run leaves its ring, or N decreases within a sweep. */
int gt_series_prepare(struct gt_chase_series *series, struct gt_latency_classes *classes, struct gt_error *error);

void gt_series_clear(struct gt_chase_series *series);

#endif
