/* SPDX-License-Identifier: MIT */
/* Infers a cache from latencies ([001] 3.2), and how sure each value is. */
#ifndef GT_DISSECT_INFER_H
#define GT_DISSECT_INFER_H

#include <stdio.h>

#include "dissect/classes.h"
#include "dissect/function.h"
#include "dissect/policy.h"
#include "dissect/replay.h"
#include "dissect/sweep.h"
#include "dissect/victims.h"

#define GT_LINES_MAX 7	/* line sizes that are considered: the unit times 1, 2, 4, ... 64 */
/* The size is sure if this many address bits above it were seen. The hash of Fermi's L1 of 16 KB uses bits 13, 14, 15 and 17
 * for its sets, [002] 5.1, which is the fourth bit above the size. */
#define GT_BITS_BEYOND 4

struct gt_inference {
	struct gt_latency_classes classes;
	struct gt_sweep sweeps[GT_SWEEPS_MAX]; /* one per stride; the first has the most information */
	size_t sweeps_n;
	struct gt_function function;

	uint64_t lines[GT_LINES_MAX]; /* line sizes that agree with the series, smallest first */
	size_t lines_n;
	uint64_t line;		/* the one chosen */
	uint64_t size;		/* of the sets that overflowed, and of those that the other lines need */
	int equal;		/* sets hold the same number of lines */
	uint32_t ways;		/* of each, if equal; lines */
	int checked;		/* sets overflowed as expected in runs of longer strides */
	int sure;		/* line, sector and ways */
	int size_sure;		/* and size: higher address bits were seen to select no other sets */
	int function_sure;	/* of the address bits that were seen */

	struct gt_noise noise;
	struct gt_unsteady unsteady;
	unsigned excluded;	/* policies: a bit for each of gt_victims */
	const struct gt_victim *policy; /* unless replacement is by chance: of those not excluded the one with the fewest contradictions */
	int policy_fits;	/* noise explains these */
	int policy_sure;
	struct gt_replay replay; /* with it */
	struct gt_victims victims; /* of irregular series: of the sets with the most replacements */
	int alike;		   /* each way is replaced equally often, in sets of any size */
};

/* `base` is the array's address, or 0 if it is not known (then aligned to a power of two above N). `line` is the line
 * size if it is known, else 0. Marks hits and misses in the series. Fails if nothing can be inferred from it. */
int gt_infer(struct gt_chase_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
	     struct gt_error *error);
void gt_inference_clear(struct gt_inference *inference);

/* Writes it as the keys of this level in a GPU description (gtrace-gpu(5)). Comments tell how sure it is, which run
 * would determine what is unknown, and which accesses contradict it. */
void gt_inference_print(const struct gt_inference *inference, const struct gt_chase_series *series, const char *level,
			FILE *file);

#endif
