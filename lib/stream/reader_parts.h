/* SPDX-License-Identifier: MIT */
/* What the files of the reader share. */
#ifndef GT_STREAM_READER_PARTS_H
#define GT_STREAM_READER_PARTS_H

#include "stream/frames.h"
#include "stream/reader.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

struct gt_reader {
	struct gt_frames frames;
	bool told_failure; /* a record `failed` was read */
	bool keeps_turns;

	XXH3_state_t *checksum;
	uint64_t rows_read, bytes_read;
	size_t record_rows; /* of the last record */
	enum gt_rows_kind record_kind;

	struct gt_kernel kernel;
	bool has_kernel;
	struct gt_gpu gpu;
	bool has_gpu;
	struct gt_count count;
	struct gt_rows *rows;

	char **history; /* lines, up to a NULL; owned */
};

/* Takes what a record holds, by its kind; the columns of rows stay in it. Returns GT_OTHER for a kind that is not known, GT_FAILED with
 * the error set. */
enum gt_event gt_reader_take(struct gt_reader *reader, const msgpack_object_array *record, struct gt_error *error);

#endif
