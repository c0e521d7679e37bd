/* SPDX-License-Identifier: MIT */
/* A batch out of its record. */
#ifndef GT_STREAM_UNPACK_H
#define GT_STREAM_UNPACK_H

#include <msgpack.h>

#include "base/error.h"
#include "stream/kernel.h"
#include "stream/rows.h"

/* Unpacks the columns of n rows into *rows, which is replaced if it is too small, and then NULL if memory is short. Every row
 * is checked against the kernel. Returns 0, or -1. */
int gt_rows_unpack(struct gt_rows **rows, enum gt_rows_kind kind, size_t n, const msgpack_object *columns,
		   const struct gt_kernel *kernel, struct gt_error *error);

/* Takes turns out of a batch: requests on shared memory, which gcoalesce leaves for gschedule. */
void gt_rows_drop_turns(struct gt_rows *rows);

#endif
