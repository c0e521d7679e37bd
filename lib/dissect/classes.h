/* SPDX-License-Identifier: MIT */
/* Clusters latencies by density, so that outliers between the clusters belong to none. */
#ifndef GT_DISSECT_CLASSES_H
#define GT_DISSECT_CLASSES_H

#include "dissect/series.h"

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

/* Finds the classes and marks each sample: a hit is of the first class, a miss of another, an outlier neither.
 * Fails if there are fewer than two classes. */
int gt_classify(struct gt_chase_series *series, struct gt_latency_classes *classes, struct gt_error *error);

#endif
