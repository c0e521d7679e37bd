/* SPDX-License-Identifier: MIT */
/* Reads a P-chase that has passed a chain of levels: the element and the latency of each access. */
#ifndef GT_DISSECT_OBSERVED_H
#define GT_DISSECT_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"

struct gt_observation {
	uint64_t bytes;	  /* of the array: N */
	uint64_t number;  /* of the access in its run, from 0 */
	uint64_t offset;  /* of the element in the array, bytes */
	uint32_t latency; /* cycles */
};

/* Called for each access. Returns 0, or -1 with the error set. */
typedef int gt_observed_take(void *context, const struct gt_observation *access, struct gt_error *error);

/* Whether the input is a stream (gtrace(5)), not text. Returns 1, 0, or -1. */
int gt_observed_is_stream(struct gt_input *input, struct gt_error *error);

/* Reads a stream of requests whose kernels gt_chase_kernel named, and passes each access to `take`. Every access must
 * be present, in order, with a latency. Returns 0, or -1 with what was expected. */
int gt_observed_read(struct gt_input *input, gt_observed_take *take, void *context, struct gt_error *error);

#endif
