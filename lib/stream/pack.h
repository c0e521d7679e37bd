/* SPDX-License-Identifier: MIT */
/* Records as bytes. */
#ifndef GT_STREAM_PACK_H
#define GT_STREAM_PACK_H

#include <msgpack.h>
#include <stddef.h>

#include "stream/columns.h"
#include "stream/rows.h"

/* Some successive rows of a batch, and the addresses of accesses that are listed: base[] of the first that has some is the number
 * of addresses in the slices before. */
struct gt_slice {
	const struct gt_rows *rows;
	size_t first, n;
	size_t first_lane, lanes_n;
};

/* Begins a record: an array of `size` whose first element is its kind. */
void gt_pack_begin(msgpack_packer *packer, const char *kind, size_t size);

/* Packs rows, at least one, as one record. Slices, at most GT_COLUMN_PARTS_MAX, are of batches that carry the same columns. */
void gt_rows_pack(struct gt_bytes *bytes, const struct gt_slice *slices, size_t slices_n);

#endif
