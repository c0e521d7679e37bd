/* SPDX-License-Identifier: MIT */
/* Writes rows as a Parquet file, which DuckDB, polars and pandas open: plain values in pages that are compressed by
 * Zstandard. A file can be written to a pipe; memory is bounded. */
#ifndef GT_STREAM_PARQUET_H
#define GT_STREAM_PARQUET_H

#include "base/error.h"
#include "stream/columns.h"
#include "stream/kernel.h"
#include "stream/rows.h"

struct gt_parquet;

/* A file for rows like these; all of a file have the same columns, and an empty one is of those given. NULL on error. */
struct gt_parquet *gt_parquet_open(const struct gt_rows *shape, struct gt_error *error);
/* Adds rows of a kernel, and appends to `out` what is complete. Returns 0, or -1: other columns, or memory is short. */
int gt_parquet_rows(struct gt_parquet *parquet, const struct gt_rows *rows, const struct gt_kernel *kernel,
		    struct gt_bytes *out, struct gt_error *error);
/* Appends the rest. */
int gt_parquet_finish(struct gt_parquet *parquet, struct gt_bytes *out, struct gt_error *error);
void gt_parquet_close(struct gt_parquet *parquet);

#endif
