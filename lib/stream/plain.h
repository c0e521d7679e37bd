/* SPDX-License-Identifier: MIT */
/* A stream as plain msgpack, one array a row, for readers in other languages (gtrace-cat(1)):
 *   ["gtrace-rows", 1, {history, access: [names], request: [names]}]
 *   ["kernel", {...}] ["gpu", {...}] ["count", {...}]          as in the stream
 *   [block, warp, an, pc, op, size, mask, [addresses]]         an access, the addresses of its active lanes
 *   [block, warp, an, pc, op, address, sectors, full, lanes]   a request
 *   [..., step, sm, status, latency, hint, work]               a row's optional columns, up to the last that
 *                                                              is present; nil for an absent one before it
 *   ["end", {rows}]
 */
#ifndef GT_STREAM_PLAIN_H
#define GT_STREAM_PLAIN_H

#include "base/error.h"
#include "base/input.h"
#include "stream/columns.h"
#include "stream/stream.h"

/* Each appends to `out`; if memory runs out it sets out->failed. */
void gt_plain_begin(struct gt_bytes *out, const char *const *history);
void gt_plain_put(struct gt_bytes *out, struct gt_reader *reader, enum gt_event event);
void gt_plain_end(struct gt_bytes *out);

/* Reads the same and writes a stream to a descriptor. */
int gt_plain_to_stream(struct gt_input *input, int descriptor, const char *tool, const char *version,
		       char *const argv[], struct gt_error *error);

#endif
