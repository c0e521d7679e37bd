/* SPDX-License-Identifier: MIT */
/* How a column is encoded (gtrace(5), "Columns"). In memory it is a full array; in the stream it is
 *   bin of n elements            as it is, little-endian
 *   bin of one element           all rows are equal
 *   [offset, bin of n narrower]  the smallest element, and each element's difference from it
 */
#ifndef GT_STREAM_COLUMNS_H
#define GT_STREAM_COLUMNS_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A growable buffer that msgpack-c packs into. */
struct gt_bytes {
	unsigned char *data;
	size_t n, capacity;
	bool failed; /* memory ran out; bytes packed since are lost */
};

/* The write callback of a msgpack_packer whose data is a struct gt_bytes. */
int gt_bytes_write(void *bytes, const char *data, size_t n);

/* Elements of a column that follow each other in memory. */
struct gt_column_part {
	const void *elements;
	size_t n;
};
#define GT_COLUMN_PARTS_MAX 2

/* Packs the elements, at least one, of the parts, of `width` bytes each: 1, 2, 4 or 8. */
void gt_column_pack(msgpack_packer *packer, struct gt_bytes *bytes, const struct gt_column_part *parts, size_t parts_n,
		    unsigned width);

/* Unpacks into n elements of `width` bytes. Returns 0, or -1 if the object is no such column. */
int gt_column_unpack(const msgpack_object *object, void *column, size_t n, unsigned width);

#endif
