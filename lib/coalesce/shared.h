/* SPDX-License-Identifier: MIT */
/* The shared memory of a GPU: its banks, and the latency of an access by its passes ([001] 4.1, figure 5). */
#ifndef GT_COALESCE_SHARED_H
#define GT_COALESCE_SHARED_H

#include <stdint.h>

#include "base/error.h"
#include "base/public.h"
#include "coalesce/banks.h"
#include "gpu/gpu.h"

GT_PUBLIC_BEGIN

#define GT_SHARED_POINTS 32

/* Measured latencies by passes, both ascending. */
struct gt_shared_latency {
	unsigned n; /* 0: not known */
	struct {
		uint32_t passes; /* from 1 */
		uint32_t cycles;
	} point[GT_SHARED_POINTS];
};

struct gt_shared {
	struct gt_banks banks;
	struct gt_shared_latency latency;
};

/* The values shared_banks, shared_bank_bytes, shared_bank_unit and shared_latency of a description, which may be
 * NULL, and the defaults of banks.h for absent ones. `banks`, if it is not NULL, is read by gt_banks_parse and
 * overrides the description. Returns 0, or -1 naming the invalid value. */
int gt_shared_resolve(struct gt_shared *shared, const struct gt_gpu *gpu, const char *banks,
		      struct gt_error *error);

/* "1:50,2:88,32:1210": passes and cycles. Returns 0, or -1 with what was expected. */
int gt_shared_latency_parse(const char *text, struct gt_shared_latency *latency, struct gt_error *error);

/* The cycles of an access with this number of passes (from 1): the measured value, or linear interpolation
 * or extrapolation from the two nearest points. `latency` has at least one point. */
uint64_t gt_shared_cycles(const struct gt_shared_latency *latency, unsigned passes);

GT_PUBLIC_END

#endif
