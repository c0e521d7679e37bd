/* SPDX-License-Identifier: MIT */
/* The state shared by the parts of a sweep's analysis. */
#ifndef GT_DISSECT_SWEEP_WORK_H
#define GT_DISSECT_SWEEP_WORK_H

#include "dissect/sweep.h"

/* The hits and misses of an element in one run. */
struct gt_sweep_element {
	uint32_t known, missed; /* after the first round */
	int8_t first;		/* hit in the first round */
};

struct gt_sweep_work {
	const struct gt_chase_series *series;
	struct gt_sweep *sweep;
	struct gt_sweep_element *elements; /* of the current run */
	uint8_t *now;		  /* misses in the current run, by unit */
	double noise;		  /* probability that a hit looks like a miss */
};

static inline const struct gt_chase_run *gt_sweep_run(const struct gt_sweep_work *work, size_t j)
{
	return &work->series->runs[work->sweep->runs[j]];
}

/* Counts a run's hits and misses by element. */
void gt_sweep_count(struct gt_sweep_work *work, size_t j);

/* Finds calm, the number of misses that are noise, and whether the misses are random. */
void gt_sweep_calm(struct gt_sweep_work *work);
void gt_sweep_regularity(struct gt_sweep_work *work);

#endif
