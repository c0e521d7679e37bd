/* SPDX-License-Identifier: MIT */
/* How often each reuse distance occurred: one counter per distance below a bound, then bins that double in width,
 * and a separate one for infinity. Memory depends on the distances seen, not on the bound. */
#ifndef GT_REUSE_HISTOGRAM_H
#define GT_REUSE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "replace/stack.h"

#define GT_HISTOGRAM_PAGE 512	    /* distances a page of counters holds */
#define GT_HISTOGRAM_FAR 64	    /* bins beyond any bound */
#define GT_HISTOGRAM_BOUND 65536    /* the usual bound */
#define GT_HISTOGRAM_BOUND_MAX (UINT64_C(1) << 32)

/* Empty and without memory if only its bound is set. */
struct gt_histogram {
	uint64_t bound; /* distances below it are counted one by one */
	uint64_t **pages;
	size_t n_pages;
	uint64_t far[GT_HISTOGRAM_FAR]; /* bin k: bound * 2^k <= distance < bound * 2^(k + 1) */
	uint64_t infinite;
	uint64_t references; /* all of them */
	uint64_t weight;     /* the sum of the counters; if they are estimates it may differ from `references` */
};

/* Sets all counts to 0, and frees the memory. */
void gt_histogram_clear(struct gt_histogram *histogram);

/* Counts n references of one distance, which represent `weight` of them. Returns 0, or -1 when memory is short. */
int gt_histogram_add(struct gt_histogram *histogram, uint64_t distance, uint64_t n, uint64_t weight, struct gt_error *error);

/* Counts n references, each of which represents itself only. */
int gt_histogram_add_all(struct gt_histogram *histogram, const uint64_t *distances, size_t n, struct gt_error *error);

/* Adds what another histogram of the same bound has counted. */
int gt_histogram_merge(struct gt_histogram *histogram, const struct gt_histogram *from, struct gt_error *error);

/* Makes the counters add up to `references` (the correction of SHARDS, Waldspurger et al., FAST 2015): a deficit
 * is added to distance 0, an excess is subtracted from the shortest distances. Most short distances belong to a few
 * lines, and whether these were sampled says little about the other distances. */
int gt_histogram_settle(struct gt_histogram *histogram, struct gt_error *error);

/* How often a distance below the bound occurred. */
uint64_t gt_histogram_at(const struct gt_histogram *histogram, uint64_t distance);

/* One more than the largest exact distance that occurred, or 0. */
uint64_t gt_histogram_end(const struct gt_histogram *histogram);
/* One more than the last bin beyond the bound that is not empty, or 0. */
size_t gt_histogram_far_end(const struct gt_histogram *histogram);

/* References with a distance below n, which is at most the bound: the hits of a fully
 * associative LRU cache of n lines ([002] 3.3). */
uint64_t gt_histogram_below(const struct gt_histogram *histogram, uint64_t n);

/* ---- hits of a cache of few ways ---- */

/* SDCM, the stack distance-based cache model of Brehob and Enbody: [004] 2.3, equations (1) and (2).
 * A reference of stack distance D hits an LRU cache of B lines and A ways if fewer than A of the D lines touched
 * since are in its set. Each of them is with probability p = A/B. */

#define GT_SDCM_LINES_MAX (UINT64_C(1) << 26)
/* Beyond this many times B lines the probability is below e^-64, which is negligible in any sum of counts. */
#define GT_SDCM_REACH 64

struct gt_sdcm {
	uint64_t lines, ways; /* B and A */
	uint64_t line_bytes;
	bool normal; /* by gt_sdcm_normal, not gt_sdcm_exact */
};

/* "SIZE,WAYS,LINE", with size and line in bytes. Returns 0, or -1 with what was expected. */
int gt_sdcm_parse(const char *text, struct gt_sdcm *cache, struct gt_error *error);

/* P(h|D) of (1): the binomial distribution, summed term by term. Its relative error is about
 * 1e-16 * (ways + D * ways / lines). */
double gt_sdcm_exact(const struct gt_sdcm *cache, uint64_t distance);
/* The same by the normal distribution with the binomial's mean and variance, taken at A - 1/2. It decreases with D,
 * as (1) does; the form with |D * p - A| rises to 1 again. */
double gt_sdcm_normal(const struct gt_sdcm *cache, uint64_t distance);

/* The expected hits of the references in a histogram whose bound is at least GT_SDCM_REACH * lines: (2) before the
 * division by the references. */
double gt_sdcm_hits(const struct gt_sdcm *cache, const struct gt_histogram *histogram);

#endif
