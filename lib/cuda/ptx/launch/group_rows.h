/* SPDX-License-Identifier: MIT */
/* The rows of a group of blocks, in their order: records of the stream, and rows behind them that are too few for one. They do not
 * depend on the rows of other groups, so that threads make them of several groups at a time. */
#ifndef GT_PTX_GROUP_ROWS_H
#define GT_PTX_GROUP_ROWS_H

#include "base/store.h"
#include "stream/columns.h"
#include "stream/rows.h"
#include "stream/stream.h"

/* Records that stand in a store. */
struct gt_ptx_stored {
	const unsigned char *data;
	size_t n; /* bytes */
	struct gt_segment *segment;
};

struct gt_ptx_group_rows {
	struct gt_sink sink; /* takes the rows */
	struct gt_writer *writer; /* gets each record as it is made; NULL: records are kept until they are passed on: */
	struct gt_store store;
	struct gt_ptx_stored *stored; /* the first ones */
	size_t stored_n, stored_capacity;
	struct gt_bytes bytes; /* the last ones, which go into the store if they are more than: */
	size_t most;
	size_t rows; /* in all of them */
};

/* `memory`: bytes of kept records that stay in memory; more go into a temporary file. Returns 0, or -1; it is closed in either
 * case. */
int gt_ptx_group_rows_open(struct gt_ptx_group_rows *made, struct gt_writer *writer, uint64_t memory, struct gt_error *error);
void gt_ptx_group_rows_close(struct gt_ptx_group_rows *made);

/* The group has no more rows: makes a last record of those left, if they are not too few. Returns 0, or -1. */
int gt_ptx_group_rows_end(struct gt_ptx_group_rows *made, struct gt_error *error);
/* Writes all, and keeps none; the rows that are too few join those of other groups in the writer's sink. Returns 0, or -1. */
int gt_ptx_group_rows_pass(struct gt_ptx_group_rows *made, struct gt_writer *writer, struct gt_error *error);
/* Keeps none of them. */
void gt_ptx_group_rows_drop(struct gt_ptx_group_rows *made);

#endif
