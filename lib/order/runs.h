/* SPDX-License-Identifier: MIT */
/* Sorted runs of packed rows, one after the other in an unlinked temporary file. */
#ifndef GT_ORDER_RUNS_H
#define GT_ORDER_RUNS_H

#include "base/error.h"
#include "order/packed.h"

struct gt_sorted_run {
	uint64_t offset, bytes; /* in the file */
};

struct gt_runs {
	int file; /* -1: none yet */
	const char *directory;
	struct gt_sorted_run *runs;
	size_t n, capacity;
	uint64_t bytes; /* of the file */
	char *buffer;	/* what is to be written */
	size_t buffered, buffer_capacity;
	uint32_t kernel, block; /* of the last row, if it is one of the run: */
	bool placed;
};

/* Begins a run, making the file if there is none; adds rows and their addresses to it; ends it. */
int gt_run_begin(struct gt_runs *runs, size_t buffer_bytes, struct gt_error *error);
int gt_run_add(struct gt_runs *runs, const struct gt_packed *row, const uint64_t *lanes, struct gt_error *error);
int gt_run_end(struct gt_runs *runs, struct gt_error *error);
void gt_runs_close(struct gt_runs *runs);

/* A merge of some consecutive runs. */
struct gt_merge;

/* Merges runs [first, first + n) through `memory` bytes of buffers. */
struct gt_merge *gt_merge_open(const struct gt_runs *runs, size_t first, size_t n, uint64_t memory,
			       bool by_an, struct gt_error *error);
/* Returns 1 and the next row and its addresses, valid until the next call, 0 after the last, or -1. */
int gt_merge_next(struct gt_merge *merge, const struct gt_packed **row, const uint64_t **lanes, struct gt_error *error);
void gt_merge_close(struct gt_merge *merge);

/* How many runs can be merged at once through `memory` bytes. */
size_t gt_merge_width(uint64_t memory);

#endif
