/* SPDX-License-Identifier: MIT */
/* A reader's records as bytes, for a writer that passes them on. */
#ifndef GT_STREAM_READER_H
#define GT_STREAM_READER_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

/* The bytes of the last record; valid until the next gt_read. */
const unsigned char *gt_reader_record(const struct gt_reader *reader, size_t *bytes);
/* Rows in that record: 0 if it was no batch. */
size_t gt_reader_record_rows(const struct gt_reader *reader);

#endif
