/* SPDX-License-Identifier: MIT */
/* The door between what runs kernels and the stream that records them. A recorder gives a stream, for each launch, its kernel, the
 * arrays that it can access, the copies before it, its source lines, other counts; and the rows of its accesses, by groups of
 * blocks. The rows of a group, in their order, become records, and rows behind them that are too few for one; they do not depend on
 * the rows of other groups, so that threads make them of several groups at a time. */
#ifndef GT_STREAM_RECORDED_H
#define GT_STREAM_RECORDED_H

#include "base/spill.h"
#include "stream/program.h"
#include "stream/records.h"
#include "stream/stream.h"

/* Records that stand in a store. */
struct gt_recorded_piece {
	const unsigned char *data;
	size_t n; /* bytes */
	struct gt_segment *segment;
};

struct gt_recorded_rows {
	struct gt_sink sink; /* takes the rows */
	struct gt_writer *writer; /* gets each record as it is made; NULL: records are kept until they are passed on: */
	struct gt_store store;
	struct gt_recorded_piece *stored; /* the first ones */
	size_t stored_n, stored_capacity;
	struct gt_bytes bytes; /* the last ones, which go into the store if they are more than: */
	size_t most;
	size_t rows; /* in all of them */
};

/* `memory`: bytes of kept records that stay in memory; more go into a temporary file. Returns 0, or -1; it is closed in either
 * case. */
int gt_recorded_rows_open(struct gt_recorded_rows *made, struct gt_writer *writer, uint64_t memory, struct gt_error *error);
void gt_recorded_rows_close(struct gt_recorded_rows *made);

/* The group has no more rows: makes a last record of those left, if they are not too few. Returns 0, or -1. */
int gt_recorded_rows_end(struct gt_recorded_rows *made, struct gt_error *error);
/* Writes all, and keeps none; the rows that are too few join those of other groups in the writer's sink. Returns 0, or -1. */
int gt_recorded_rows_pass(struct gt_recorded_rows *made, struct gt_writer *writer, struct gt_error *error);
/* Keeps none of them. */
void gt_recorded_rows_drop(struct gt_recorded_rows *made);

#endif
