/* SPDX-License-Identifier: MIT */
/* [001] 3.2, steps (1) to (3), without its assumptions: finds from a sweep of N which lines share a set. One
 * more line makes a set overflow, and all its lines begin to miss: their number is the ways plus one. */
#ifndef GT_DISSECT_SWEEP_H
#define GT_DISSECT_SWEEP_H

#include "dissect/series.h"

#define GT_SETS_MAX 4096
#define GT_SWEEPS_MAX 16 /* strides */

enum gt_regularity { GT_REGULAR, GT_IRREGULAR }; /* an element that misses does so in every round, or only in some */

struct gt_sweep {
	size_t *runs; /* of the series: uniform, of one stride, by ascending N; of several with one N the longest */
	size_t n;
	uint64_t stride;
	int cold;	/* each run begins with an empty cache */
	enum gt_regularity regularity;
	int periodic;	/* irregular, but the same in every round: not random */

	uint64_t unit;	/* bytes that one miss fetches, as far as the stride can show */
	int unit_known; /* the stride is finer than that */
	size_t units;	/* in the largest run */
	uint32_t *set;	/* of each unit: 1 and up; 0: not seen */
	uint8_t *missing; /* of each unit: it missed; if its set is 0, it is in a set that had overflowed before */
	size_t *overflow; /* of each set: the run (index into `runs`) where it overflows first */
	uint32_t ways[GT_SETS_MAX + 1]; /* units that a set holds; an estimate for a set that overflows in the first run */
	uint32_t sets;
	uint64_t calm;	/* the largest N below the first with more misses than noise */
	uint64_t rounds; /* of the longest run; with random replacement, runs of fewer than half as many are left out */
	uint64_t fits;	/* the largest N at which all accesses hit */
	uint64_t step;	/* largest step of N between `fits` and the N at which all miss; UINT64_MAX: only one run */
	uint64_t last;	/* the N at which all miss, or the largest N */
	uint64_t strange; /* units that began or ceased to miss although no set overflowed */
	int complete;	/* every set overflowed */
	double doubt;	/* irregular: probability that some member of a set never missed */
};

/* Analyses the runs of this stride. Fails if there are none. */
int gt_sweep_make(const struct gt_chase_series *series, uint64_t stride, struct gt_sweep *sweep, struct gt_error *error);

/* Whether a run can be part of a sweep: a ring of at least two rounds. */
int gt_sweep_usable(const struct gt_chase_run *run);
void gt_sweep_clear(struct gt_sweep *sweep);

#endif
