/* SPDX-License-Identifier: MIT */
/* Shared memory: 32 banks, successive 4-byte words in successive banks ([001] 4.1). */
#ifndef GT_COALESCE_BANKS_H
#define GT_COALESCE_BANKS_H

#include <stddef.h>

#include "stream/rows.h"

#define GT_BANKS 32
#define GT_BANK_BYTES 4

/* Passes that access i of a batch takes: the most distinct words that fall into one bank. Lanes
 * that touch the same word share a pass. As many lanes as make 128 bytes go together (8-byte data:
 * half a warp), and the passes of such groups add up. */
unsigned gt_bank_passes(const struct gt_rows *rows, size_t i);

#endif
