/* SPDX-License-Identifier: MIT */
/* Up to where values are needed, so that those that are not need not be stored. */
#ifndef GT_PTX_NEEDS_H
#define GT_PTX_NEEDS_H

#include "cuda/ptx/native/native.h"

struct gt_native_needs {
	const struct gt_ptx_code *code;
	const struct gt_native_known *known;
	/* By GT_NATIVE_UNIT bytes of the arena: 1 + the last operation of the block that names a slot there; and, if one is needed
	 * behind the block, 1 + the block's number. */
	size_t *named, *kept;
	size_t block;
	size_t others; /* 1 + the last operation of the block that may name any slot */
};

int gt_native_needs_open(struct gt_native_needs *needs, const struct gt_ptx_code *code, const struct gt_native_known *known,
			 struct gt_error *error);
void gt_native_needs_close(struct gt_native_needs *needs);

/* Goes to a block: the operations from `first` to before `end`. */
void gt_native_needs_block(struct gt_native_needs *needs, size_t block, size_t first, size_t end);
/* Whether what a slot has before operation `from` of the block is needed there or further on. */
bool gt_native_needed(const struct gt_native_needs *needs, uint32_t slot, size_t from);

/* Whether operation `from` or one further on names it. */
bool gt_native_is_named(const struct gt_native_needs *needs, uint32_t slot, size_t from);
/* Whether a slot of 32-bit lanes is a constant. */
bool gt_native_is_constant(const struct gt_native_needs *needs, uint32_t slot);

#endif
