/* SPDX-License-Identifier: MIT */
/* The shared memory of a GPU: its banks, each with rows of which it serves one per pass ([001] 4.1), and the latency of an access
 * by its passes ([001] figure 5). */
#ifndef GT_STREAM_SHARED_H
#define GT_STREAM_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"
#include "stream/rows.h"

GT_PUBLIC_BEGIN

/* The byte at address a lies in bank a / unit % n, in its row a / (n * width). On Fermi a row of a bank is one
 * 4-byte word. On Kepler it is 8 bytes: two neighbouring words (8-byte mode), or words that are 32 apart
 * (4-byte mode), [001] figure 6. */
struct gt_banks {
	unsigned n;	/* banks: a power of two up to GT_WARP_SIZE */
	unsigned width; /* bytes of a row in one bank: 4 or 8 */
	unsigned unit;	/* successive bytes in one bank: 4 or 8, at most the width */
};

#define GT_BANKS_DEFAULT {32, 4, 4} /* all GPUs but Tesla and Kepler */

/* "32x4", "32x8", or "32x8:4" if the unit is smaller than the width. Returns 0, or -1 with what was expected. */
int gt_banks_parse(const char *text, struct gt_banks *banks, struct gt_error *error);
/* Whether these banks are valid: 0, or -1 with what was expected. */
int gt_banks_check(const struct gt_banks *banks, struct gt_error *error);
/* The text that gt_banks_parse reads, into a buffer of `bytes`. */
void gt_banks_format(const struct gt_banks *banks, char *buffer, size_t bytes);

/* The passes of access i of a batch: the largest number of rows that its lanes touch in one bank. Lanes that
 * touch the same row share a pass. The lanes are served in groups whose data fill one row of all banks, at
 * most as many lanes as there are banks (Tesla: half a warp; Fermi with 8-byte data too), and the passes of
 * the groups are added. With 32 banks of 4 bytes a load is served in groups of twice as many lanes if each
 * lane has the address of its neighbour (i ^ 1), or each that of i ^ 2; a lane that is off has any. */
unsigned gt_bank_passes(const struct gt_banks *banks, const struct gt_rows *rows, size_t i);

/* The same of an access with these members of a row, a load or not, and of GT_BANKS_DEFAULT; `addresses` of its active lanes if they
 * have no stride. */
unsigned gt_bank_passes_usual(uint32_t mask, unsigned size, uint64_t base, int64_t stride, const uint64_t *addresses, bool loads);

/* The passes that access i takes without conflicts: one for each group. */
unsigned gt_bank_least_passes(const struct gt_banks *banks, const struct gt_rows *rows, size_t i);

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
 * NULL, and GT_BANKS_DEFAULT for absent ones. `banks`, if it is not NULL, is read by gt_banks_parse and
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
