/* SPDX-License-Identifier: MIT */
/* A series: what a P-chase measured, access by access, run by run ([001] 3.2). */
#ifndef GT_DISSECT_SERIES_H
#define GT_DISSECT_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"

#define GT_SERIES_MAX (UINT64_C(1) << 28) /* accesses */

struct gt_sample {
	uint64_t offset;  /* bytes from the array's begin */
	uint32_t latency; /* cycles */
	int8_t hit;	  /* 1, 0, or -1: not known; gt_classify sets it */
};

struct gt_chase_run {
	uint64_t bytes;	 /* N */
	size_t first, n; /* its samples */
	uint64_t period; /* accesses of a round; n if it has less than two */
	uint64_t stride; /* least distance of two elements that are visited in succession */
	int uniform;	 /* a ring of equal strides */
	int separate;	 /* it did not follow the run before as the same sweep: a line of names stood between */
};

struct gt_chase_series {
	struct gt_sample *samples;
	size_t n, capacity;
	struct gt_chase_run *runs;
	size_t runs_n, runs_capacity;
	int separate; /* the next access begins a run, whatever its N */
};

/* Appends an access to the run of N bytes, which begins if the last access was of another N. */
int gt_series_add(struct gt_chase_series *series, uint64_t bytes, uint64_t offset, uint32_t latency,
		  struct gt_error *error);

/* Reads text: a line of column names, then numbers, with tabs or commas between. Columns: N, offset, latency, in bytes
 * and cycles; or, in the place of offset, index: the element read, as listing 4 of [001] records it, the one that is
 * visited next. Other columns are ignored. Returns 0, or -1 with the line that is wrong. */
int gt_series_read(struct gt_chase_series *series, struct gt_input *input, struct gt_error *error);

/* Finds each run's round and stride. -1: a run leaves its ring, or N falls within a piece of text. */
int gt_series_rounds(struct gt_chase_series *series, struct gt_error *error);

void gt_series_clear(struct gt_chase_series *series);

#endif
