/* SPDX-License-Identifier: MIT */
/* Writes Thrift's compact protocol, in which Parquet keeps its headers: fields by rising number within structs. */
#ifndef GT_STREAM_THRIFT_H
#define GT_STREAM_THRIFT_H

#include <stdint.h>

#include "stream/columns.h"

#define GT_THRIFT_DEPTH 8 /* structs within one another, at most */

enum gt_thrift_type { GT_THRIFT_I32 = 5, GT_THRIFT_I64 = 6, GT_THRIFT_TEXT = 8, GT_THRIFT_LIST = 9, GT_THRIFT_STRUCT = 12 };

struct gt_thrift {
	struct gt_bytes *out;
	int last[GT_THRIFT_DEPTH]; /* the number of the last field of each open struct */
	unsigned depth;
};

/* A struct, which is a field (number > 0) or an element of a list or the whole (0); and its end. */
void gt_thrift_begin(struct gt_thrift *thrift, int number);
void gt_thrift_end(struct gt_thrift *thrift);
/* Fields. */
void gt_thrift_i32(struct gt_thrift *thrift, int number, int32_t value);
void gt_thrift_i64(struct gt_thrift *thrift, int number, int64_t value);
void gt_thrift_text(struct gt_thrift *thrift, int number, const char *text);
/* A list of n elements, which follow. */
void gt_thrift_list(struct gt_thrift *thrift, int number, enum gt_thrift_type type, uint64_t n);
/* Elements of a list. */
void gt_thrift_element_i32(struct gt_thrift *thrift, int32_t value);
void gt_thrift_element_text(struct gt_thrift *thrift, const char *text);

/* An unsigned number in base 128, low digits first. */
void gt_thrift_varint(struct gt_bytes *out, uint64_t value);

#endif
