/* SPDX-License-Identifier: MIT */
/* A decoder of raw LZ4 blocks (LZ4 block format description, 2022), which fat binaries hold and no
 * program reads. */
#ifndef GT_PTX_LZ4_H
#define GT_PTX_LZ4_H

#include <stddef.h>

#include "base/error.h"

/* Decodes a block into exactly `n` bytes. -1 if the block is damaged or gives any other number. */
int gt_lz4_block(const unsigned char *block, size_t block_bytes, unsigned char *out, size_t n,
		 struct gt_error *error);

#endif
