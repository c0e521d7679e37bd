/* SPDX-License-Identifier: MIT */
/* What must hold between the counters of one stage (gtrace-cat(1), "Invariants"). */
#ifndef GT_STREAM_EQUATIONS_H
#define GT_STREAM_EQUATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/count.h"

#define GT_TERMS 6 /* of a sum; fewer end in NULL */

/* Adds the counters with these names, numbers and whole arrays; the first `skip` bytes of a counter's name are
 * ignored. False if one is missing, unless a '?' precedes its name: then it is 0. Sums wrap. */
bool gt_terms_sum(const struct gt_count *count, size_t skip, const char *const names[GT_TERMS], uint64_t *sum);

/* "a + b" into a buffer. */
const char *gt_terms_join(const char *const names[GT_TERMS], char *buffer, size_t bytes);

/* Tests every equation whose counters are present, and adds their number to *checked. Returns 0, or -1
 * naming the equation that does not hold. */
int gt_equations_check(const struct gt_count *count, uint64_t *checked, struct gt_error *error);

#endif
