/* SPDX-License-Identifier: MIT */
/* Records as they stand in a stream, for those who pass them on or unpack them elsewhere. */
#ifndef GT_STREAM_RAW_H
#define GT_STREAM_RAW_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

/* ---- a reader's ---- */

/* The last record that was read. */
struct gt_raw_record {
	const unsigned char *bytes; /* n of them; valid until the next gt_read */
	size_t n;
	uint64_t number; /* from 1 */
	size_t rows;	 /* in it: 0 if it is no batch */
	enum gt_rows_kind kind; /* of a batch */
};
struct gt_raw_record gt_reader_record(const struct gt_reader *reader);
/* Whether it is a batch with the column hint. */
bool gt_reader_record_hints(const struct gt_reader *reader);

/* As gt_read, but leaves a batch in its record: gt_reader_unpack then reads it. */
enum gt_event gt_read_record(struct gt_reader *reader, struct gt_error *error);
int gt_reader_unpack(struct gt_reader *reader, struct gt_error *error);

/* Puts the stream's name and the record's number, from 1, before the error. Returns -1. */
int gt_reader_place(const struct gt_reader *reader, uint64_t record, struct gt_error *error);

/* ---- a writer's ---- */

/* Writes n bytes of whole records, in which there are so many rows. */
int gt_writer_put(struct gt_writer *writer, const unsigned char *records, size_t n, size_t rows, struct gt_error *error);

#endif
