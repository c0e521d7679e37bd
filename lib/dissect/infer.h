/* SPDX-License-Identifier: MIT */
/* Infers a cache from latencies ([001] 3.2), and how sure each value is. */
#ifndef GT_DISSECT_INFER_H
#define GT_DISSECT_INFER_H

#include <stdio.h>

#include "dissect/classes.h"
#include "dissect/function.h"
#include "dissect/replay.h"
#include "dissect/sweep.h"
#include "dissect/victims.h"

#define GT_LINES_MAX 7	/* line sizes that are considered: the unit times 1, 2, 4, ... 64 */
#define GT_SWEEPS_MAX 16 /* strides */
#define GT_BITS_BEYOND 2 /* address bits above the cache's size that must be seen, for the size to be sure */

struct gt_inference {
	struct gt_latency_classes classes;
	struct gt_sweep sweeps[GT_SWEEPS_MAX]; /* one a stride; the first tells most */
	size_t sweeps_n;
	struct gt_function function;

	uint64_t lines[GT_LINES_MAX]; /* line sizes that agree with the series, smallest first */
	size_t lines_n;
	uint64_t line;		/* the one taken */
	uint64_t size;		/* of all sets that overflowed, and of as many more as the other lines need */
	int equal;		/* sets hold the same number of lines */
	uint32_t ways;		/* of each, if equal; lines */
	int sure;		/* line, sector and ways */
	int size_sure;		/* and size: higher address bits were seen to select no other sets */
	int function_sure;	/* of the address bits that were seen */

	const struct gt_victim *policy; /* of regular series: the one with the fewest contradictions */
	int policy_sure;
	struct gt_replay replay; /* with it */
	struct gt_victims victims; /* of irregular series: of the sets with the most replacements */
	int alike;		   /* each way goes alike, in sets of any size */
};

/* `base` is the array's address, or 0 if it is not known (then aligned at a power of two above N). `line` is the line
 * size if it is known, else 0. Marks hits and misses in the series. Fails if the series cannot be judged. */
int gt_infer(struct gt_chase_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
	     struct gt_error *error);
void gt_inference_clear(struct gt_inference *inference);

/* Writes it as the part of a GPU description (gtrace-gpu(5)) for this level; comments say how sure it is, which run would
 * settle what is not known, and which accesses contradict it. */
void gt_inference_print(const struct gt_inference *inference, const struct gt_chase_series *series, const char *level,
			FILE *file);

#endif
