/* SPDX-License-Identifier: MIT */
/* Which lines share a set. Sweeps of N find the sets ([001] 3.2, steps (1) to (3), without its assumptions), and a function of the
 * address is found that gives each line its set. */
#ifndef GT_DISSECT_SETS_H
#define GT_DISSECT_SETS_H

#include "dissect/series.h"

/* ---- sweeps ---- */

#define GT_SETS_MAX 4096
#define GT_SWEEPS_MAX 16 /* strides */

enum gt_regularity { GT_REGULAR, GT_IRREGULAR }; /* an element that misses does so in every round, or only in some */

struct gt_sweep {
	size_t *runs; /* of the series: uniform, of one stride, by ascending N; of several with one N the longest */
	size_t n;
	uint64_t stride;
	bool cold;	/* each run begins with an empty cache */
	enum gt_regularity regularity;
	bool periodic;	/* irregular, but the same in every round: not random */

	uint64_t unit;	/* bytes that one miss fetches, as far as the stride can show */
	bool unit_known; /* the stride is finer than that */
	size_t units;	/* in the largest run */
	uint32_t *set;	/* of each unit: 1 and up; 0: not seen */
	bool *missing; /* of each unit: it missed; if its set is 0, it is in a set that had overflowed before */
	size_t *overflow; /* of each set: the run (index into `runs`) where it overflows first */
	uint32_t ways[GT_SETS_MAX + 1]; /* units that a set holds; an estimate for a set that overflows in the first run */
	uint32_t sets;
	uint64_t calm;	/* the largest N below the first with more misses than noise */
	uint64_t rounds; /* of the longest run; with random replacement, runs of fewer than half as many are left out */
	uint64_t fits;	/* the largest N at which all accesses hit */
	uint64_t step;	/* largest step of N between `fits` and the N at which all miss; UINT64_MAX: only one run */
	uint64_t last;	/* the N at which all miss, or the largest N */
	uint64_t strange; /* units that began or ceased to miss although no set overflowed */
	bool complete;	/* every set overflowed */
	double doubt;	/* irregular: probability that some member of a set never missed */
};

/* Makes a sweep for each stride of the runs. The one with the most information comes first, of two the finer. n counts those to be
 * cleared, also after an error: memory is short, or there is no run that can be part of a sweep. */
int gt_find_sweeps(const struct gt_chase_series *series, struct gt_sweep sweeps[GT_SWEEPS_MAX], size_t *n, struct gt_error *error);
void gt_sweep_clear(struct gt_sweep *sweep);

/* ---- the index function: a known one by name, sums of address bits and of their products, or a table ---- */

#define GT_SUMS_MAX 12		/* bits of a set */
#define GT_MONOMIALS_MAX 256	/* bits of a line's number, and products of two */
#define GT_FUNCTION_TEXT 1100

/* A sum over GF(2): the XOR of a set of monomials. */
struct gt_sum {
	uint64_t has[GT_MONOMIALS_MAX / 64];
};

struct gt_function {
	const char *name;    /* the text of gcache's --index; NULL: gcache has no such function */
	unsigned argument;   /* of smod */
	unsigned degree;     /* of bits: 1 or 2 */
	int bits;	     /* of bits: how many sums */
	struct gt_sum sum[GT_SUMS_MAX];
	uint64_t monomial[GT_MONOMIALS_MAX]; /* masks of bits of the line's number */
	size_t monomials;
	bool unique;	     /* no other function of its kind agrees with all observations */
	unsigned low, high;  /* address bits that the series shows: low to high - 1 */

	uint32_t sets;			/* including those that did not overflow, as few as possible */
	uint32_t ways[GT_SETS_MAX + 1]; /* lines */
	uint32_t *set_of;    /* of each line of the array: 1 and up; 0: not known */
	uint64_t lines;
	uint64_t seen_lines; /* the sets of further lines are extrapolated */
	uint64_t origin;     /* number of the array's first line */
	unsigned shift;	     /* log2 of the line */
};

/* Finds the simplest function that gives each line its set. `base` is the array's address, `line` a multiple of the
 * unit of sweeps[0], and `bytes` the largest N. Returns 0, or -1 when memory is short. Freed by gt_function_clear. */
int gt_find_function(const struct gt_sweep *sweeps, size_t n, uint64_t base, uint64_t line, uint64_t bytes,
		     struct gt_function *function, struct gt_error *error);
void gt_function_clear(struct gt_function *function);

/* The set of the line at this offset, from 1; 0: not known. */
static inline uint32_t gt_function_set(const struct gt_function *function, uint64_t offset)
{
	uint64_t line = offset >> function->shift;

	return line < function->lines ? function->set_of[line] : 0;
}

/* As gcache's --index takes it: "mod", "bits:7^13,8^14", "table:0121"; "" if it is too long. */
const char *gt_function_text(const struct gt_function *function, char buffer[GT_FUNCTION_TEXT]);

#endif
