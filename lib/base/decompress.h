/* SPDX-License-Identifier: MIT */
/* The processes that decompress an input (base/input_state.h). */
#ifndef GT_BASE_DECOMPRESS_H
#define GT_BASE_DECOMPRESS_H

#include "base/input.h"

/* Starts the input's tool, which gets the file from its first byte, though its beginning has been read; what is read from then
 * on is decompressed. */
int gt_decompress_begin(struct gt_input *input, struct gt_error *error);
/* Waits for them after the last byte, and checks how they ended. */
int gt_decompress_end(struct gt_input *input, struct gt_error *error);
/* Ends them where the rest is not read. */
void gt_decompress_stop(struct gt_input *input);

#endif
