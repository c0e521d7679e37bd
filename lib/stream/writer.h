/* SPDX-License-Identifier: MIT */
/* Records that were packed elsewhere. */
#ifndef GT_STREAM_WRITER_H
#define GT_STREAM_WRITER_H

#include <stddef.h>

#include "stream/stream.h"

/* Writes n bytes of whole records, in which there are so many rows. */
int gt_writer_put(struct gt_writer *writer, const unsigned char *records, size_t n, size_t rows, struct gt_error *error);

#endif
