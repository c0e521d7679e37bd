/* SPDX-License-Identifier: MIT */
/* SDCM, the stack distance-based cache model of Brehob and Enbody: [004] 2.3, equations (1) and (2).
 * A reference of stack distance D hits an LRU cache of B lines and A ways if fewer than A of the D lines touched
 * since are in its set. Each of them is with probability p = A/B. */
#ifndef GT_REUSE_SDCM_H
#define GT_REUSE_SDCM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "reuse/histogram.h"

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
