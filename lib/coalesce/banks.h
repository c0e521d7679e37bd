/* SPDX-License-Identifier: MIT */
/* Shared memory consists of banks, and a bank of rows, of which it serves one per pass ([001] 4.1). */
#ifndef GT_COALESCE_BANKS_H
#define GT_COALESCE_BANKS_H

#include <stddef.h>

#include "base/error.h"
#include "base/public.h"
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
 * the groups are added. */
unsigned gt_bank_passes(const struct gt_banks *banks, const struct gt_rows *rows, size_t i);

/* The passes that these lanes with data of `size` bytes take without conflicts: one for each group. */
unsigned gt_bank_least_passes(const struct gt_banks *banks, uint32_t mask, unsigned size);

GT_PUBLIC_END

#endif
