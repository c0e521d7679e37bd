/* SPDX-License-Identifier: MIT */
/* The logical order of a trace, independent of any GPU [000 4.1]: thread accesses are folded into warp
 * accesses and sorted by kernel, block, access number and warp, in bounded memory. */
#ifndef GT_ORDER_ORDER_H
#define GT_ORDER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/regex.h"
#include "stream/rows.h"
#include "stream/trace.h"

GT_PUBLIC_BEGIN

#define GT_ORDER_MEMORY_MIN (UINT64_C(64) << 10) /* bytes; with less, sorted runs would be too many */

struct gt_order_options {
	uint64_t memory;       /* bytes that rows and ordinals may take, GT_ORDER_MEMORY_MIN at least */
	const char *directory; /* of temporary files */
	bool by_an;	       /* GT_ORDER_AN instead of GT_ORDER_BLOCK */
	bool work;	       /* rows are to have the column work */
	unsigned jobs;	       /* threads that sources may read in; 0 or 1 is one */
	/* Called now and then, with the number of accesses taken so far; may be NULL. */
	void (*progress)(void *context, uint64_t accesses);
	void *context;
	bool sets_registers, sets_shared; /* replace what the trace says of each launch by: */
	uint32_t registers;		  /* a thread */
	uint32_t shared_bytes;		  /* a block */
	const char *source;		  /* the file that source lines are of; NULL: "???", as cg_annotate has it */
	struct gt_regex *kernel; /* keep launches of kernels whose names it matches; NULL: all */
};

struct gt_ordering;

struct gt_ordering *gt_order_open(const struct gt_order_options *options, struct gt_error *error);
void gt_order_close(struct gt_ordering *order);

/* Another file begins. If an earlier file used an id for another kernel, or for a launch of another shape, that
 * id names a new launch from now on, which gets the next free id. */
void gt_order_next_file(struct gt_ordering *order);

/* The trace that importers write to; any number of inputs, one after the other. Each launch and access is
 * checked: shapes, blocks, warps and lanes in range, sizes of 1 to GT_ACCESS_SIZE_MAX. */
struct gt_trace *gt_order_trace(struct gt_ordering *order);

/* Takes a batch of a stream's reader, of the launch that was announced last, in less time than row by row. Returns 1, 0 if its
 * rows are to be given to the trace one by one, or -1. */
int gt_order_rows(struct gt_ordering *order, const struct gt_rows *rows, struct gt_error *error);

/* Keeps a count that a stream has of a launch, which is written behind that launch. Returns 1, 0 if its launch has not begun, or -1
 * when memory is short. */
int gt_order_keep_count(struct gt_ordering *order, const struct gt_count *count, struct gt_error *error);

/* Ends the input and writes everything to the output: each launch in the order of first appearance, its rows,
 * then its counts. Unknown shapes are set from the largest block and warp seen. */
int gt_order_finish(struct gt_ordering *order, struct gt_output *output, struct gt_error *error);

/* The kinds of records that were skipped, in the order of first appearance: kind i, its total, and what the user can do about it
 * (NULL: nothing); or NULL. */
const char *gt_order_passed_over(const struct gt_ordering *order, size_t i, uint64_t *number, const char **remark);

/* What may be wrong with the trace, once all is written: blocks of the grid that are not there, launches of several files that were
 * taken as one. Remark i goes into the text, in one line. Returns 1, 0 if there is nothing to remark, or -1 behind the last. */
int gt_order_remark(const struct gt_ordering *order, size_t i, char *text, size_t bytes);

uint64_t gt_order_accesses(const struct gt_ordering *order); /* taken from the input so far */

GT_PUBLIC_END

#endif
