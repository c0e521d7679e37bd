/* SPDX-License-Identifier: MIT */
/* Device memory: channels, banks and open rows. It counts, and writes no requests. */
#ifndef GT_DRAM_DRAM_H
#define GT_DRAM_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/rows.h"

GT_PUBLIC_BEGIN

#define GT_DRAM_STAGE "dram" /* what its counts are called */
#define GT_DRAM_CHANNELS_MAX 1024
#define GT_DRAM_BANKS_MAX 1024
#define GT_DRAM_BYTES_MAX (UINT64_C(1) << 32) /* of a row, of an interleave */

/* Any number of channels and banks, not only powers of two; row and interleave are multiples of
 * GT_SECTOR. */
struct gt_dram_config {
	uint64_t channels;
	uint64_t banks;	     /* of a channel */
	uint64_t row;	     /* bytes of a row of a bank */
	uint64_t interleave; /* successive bytes in a channel before the next channel */
	bool merges;	     /* reads a sector before it writes a part of it */
};

/* Division by a number that is known beforehand: a shift if it is a power of two. */
struct gt_divisor {
	uint64_t value;
	int shift; /* -1: divide */
};

struct gt_dram {
	struct gt_divisor channels, banks, row, interleave;
	bool merges;
	unsigned together; /* sectors of a line, in aligned groups of as many, that lie in one channel and row: 1, 2 or 4 */
	uint64_t *open;	  /* by channel and bank: the open row + 1, 0: none */

	/* Counted since the last reset, in sectors, by channel. */
	uint64_t *reads, *writes, *row_hits;
};

/* "read" or "write": what a store of a part of a sector does first. Returns 0, or -1 with what was expected. */
int gt_dram_partial(const char *text, bool *merges, struct gt_error *error);

/* The values of the GPU description, else 1 channel, 16 banks, rows of 2 KiB, interleaved by 256 bytes, no sector merged. `gpu`
 * may be NULL. Returns 0, or -1 with an error that names the key. */
int gt_dram_configure(struct gt_dram_config *config, const struct gt_gpu *gpu, struct gt_error *error);

/* All rows closed, all counts 0. Closed by gt_dram_close, also after an error. */
int gt_dram_open(struct gt_dram *dram, const struct gt_dram_config *config, struct gt_error *error);
void gt_dram_close(struct gt_dram *dram);

/* Takes a batch of requests, in its order. */
void gt_dram_take(struct gt_dram *dram, const struct gt_rows *requests);

/* Appends the counters to `count`, which the caller has begun. */
int gt_dram_count(const struct gt_dram *dram, struct gt_count *count, struct gt_error *error);

/* Closes all rows and counts from 0 again: for the next kernel. */
void gt_dram_reset(struct gt_dram *dram);

GT_PUBLIC_END

#endif
