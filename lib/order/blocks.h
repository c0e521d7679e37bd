/* SPDX-License-Identifier: MIT */
/* Which blocks of a launch have come, so that those that are missing can be told. */
#ifndef GT_ORDER_BLOCKS_H
#define GT_ORDER_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define GT_ORDER_NO_BLOCK UINT64_MAX

struct gt_order_blocks {
	uint64_t last;	/* the block that came last, or GT_ORDER_NO_BLOCK */
	uint64_t n;	/* that have come */
	uint64_t *bits; /* by block; NULL: none has come, or all have */
	size_t words;
	bool lost; /* bits would have taken too much memory: it is not known which have come */
};

/* A block has come, of so many that the launch has. *room is what the bits of all launches may still take, in bytes. Returns 0, or
 * -1 when memory is short. */
int gt_order_blocks_add(struct gt_order_blocks *blocks, uint32_t block, uint64_t of, uint64_t *room, struct gt_error *error);
void gt_order_blocks_clear(struct gt_order_blocks *blocks);

#endif
