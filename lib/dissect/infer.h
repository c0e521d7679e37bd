/* SPDX-License-Identifier: MIT */
/* Infers a cache from latencies ([001] 3.2), and how sure each value is. */
#ifndef GT_DISSECT_INFER_H
#define GT_DISSECT_INFER_H

#include <stdio.h>

#include "dissect/replacement.h"
#include "dissect/sets.h"

#define GT_LINES_MAX 7	/* line sizes that are considered: the unit times 1, 2, 4, ... 64 */
/* The size is sure if this many address bits above it were seen. The hash of Fermi's L1 of 16 KB uses bits 13, 14, 15 and 17
 * for its sets, [002] 5.1, which is the fourth bit above the size. */
#define GT_BITS_BEYOND 4

#define GT_PASSED 6 /* times the cache's size, whose lines a kept line has outlasted */

struct gt_noise { /* of accesses whose outcome is the same in every cache */
	uint64_t forced, wrong;
	bool outliers; /* the series has latencies of no class */
	uint64_t between, lost; /* accesses between two of a unit in runs that fit, and how many units were gone by then */
	uint32_t together; /* units of the largest set */
};

enum gt_unsteady_kind { GT_STEADY, GT_IN_SOME_PASSES, GT_AMONG_MORE, GT_KEPT };
struct gt_unsteady { /* what no LRU and no FIFO does, whichever lines share a set */
	enum gt_unsteady_kind kind;
	uint64_t bytes; /* N of the first such run */
	uint64_t times;
};

struct gt_inference {
	struct gt_latency_classes classes;
	struct gt_sweep sweeps[GT_SWEEPS_MAX]; /* one per stride; the first has the most information */
	size_t sweeps_n;
	struct gt_function function;

	uint64_t lines[GT_LINES_MAX]; /* line sizes that agree with the series, smallest first */
	size_t lines_n;
	uint64_t line;		/* the one chosen */
	uint64_t size;		/* of the sets that overflowed, and of those that the other lines need */
	bool equal;		/* sets hold the same number of lines */
	uint32_t ways;		/* of each, if equal; lines */
	bool checked;		/* sets overflowed as expected in runs of longer strides */
	bool sure;		/* line, sector and ways */
	bool size_sure;		/* and size: higher address bits were seen to select no other sets */
	bool function_sure;	/* of the address bits that were seen */

	struct gt_noise noise;
	struct gt_unsteady unsteady;
	unsigned excluded;	/* policies: a bit for each of gt_victims */
	const struct gt_victim *policy; /* unless replacement is by chance: of those not excluded the one with the fewest contradictions */
	bool policy_fits;	/* noise explains these */
	bool policy_sure;
	struct gt_replay replay; /* with it */
	struct gt_victims victims; /* of irregular series: of the sets with the most replacements */
	bool alike;		   /* each way is replaced equally often, in sets of any size */
};

/* `base` is the array's address, or 0 if it is not known (then aligned to a power of two above N). `line` is the line
 * size if it is known, else 0. Marks hits and misses in the series. Fails if nothing can be inferred from it. */
int gt_infer(struct gt_chase_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
	     struct gt_error *error);
void gt_inference_clear(struct gt_inference *inference);

/* ---- what is undetermined, and which run of gpchase trace (or of the same chase on a GPU) would determine it ---- */

#define GT_PROPOSALS_MAX 8

struct gt_proposal {
	char why[160]; /* what is undetermined */
	const char *order; /* ring or retouch; NULL: the chases that should have determined it were made */
	uint64_t first, last, step; /* of N */
	uint64_t stride, rounds;
	unsigned times; /* that the chase is to be run, each from an empty cache */
};

/* Returns the number of proposals; 0: all that can be determined is. */
size_t gt_propose(const struct gt_inference *inference, const struct gt_chase_series *series,
		  struct gt_proposal proposals[GT_PROPOSALS_MAX]);

/* ---- the report ---- */

/* Writes it as the keys of this level in a GPU description (gtrace-gpu(5)). Comments tell how sure it is, which run
 * would determine what is unknown, and which accesses contradict it. */
void gt_inference_print(const struct gt_inference *inference, const struct gt_chase_series *series, const char *level,
			FILE *file);

#endif
