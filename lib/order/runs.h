/* SPDX-License-Identifier: MIT */
/* Sorted runs of packed rows, one after the other in an unlinked temporary file. */
#ifndef GT_ORDER_RUNS_H
#define GT_ORDER_RUNS_H

#include "order/sort.h"

#define GT_RECORD_BYTES_MAX (sizeof(struct gt_packed) + GT_WARP_SIZE * sizeof(uint64_t))

static inline size_t gt_packed_bytes(const struct gt_packed *row)
{
	return sizeof *row + row->lanes * sizeof(uint64_t);
}

/* The key of a row in two words, the more significant first. The warp is in the lowest bits. */
struct gt_sort_key {
	uint64_t high, low;
};

#define GT_SORT_WARP_BITS 16
#define GT_SORT_WARPS ((UINT64_C(1) << GT_SORT_WARP_BITS) - 1)

static inline struct gt_sort_key gt_sort_key_of(const struct gt_packed *row, bool by_an)
{
	uint32_t first = by_an ? row->an : row->block, second = by_an ? row->block : row->an;

	return (struct gt_sort_key){(uint64_t)row->kernel << 32 | first, (uint64_t)second << GT_SORT_WARP_BITS | row->warp};
}

static inline bool gt_sort_key_less(struct gt_sort_key a, struct gt_sort_key b)
{
	return a.high < b.high || (a.high == b.high && a.low < b.low);
}

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
};

/* Begins a run, making the file if there is none; adds rows to it; ends it. */
int gt_run_begin(struct gt_runs *runs, size_t buffer_bytes, struct gt_error *error);
int gt_run_add(struct gt_runs *runs, const struct gt_packed *row, struct gt_error *error);
int gt_run_end(struct gt_runs *runs, struct gt_error *error);
void gt_runs_close(struct gt_runs *runs);

/* A merge of some consecutive runs. */
struct gt_merge;

/* Merges runs [first, first + n) through `memory` bytes of buffers. */
struct gt_merge *gt_merge_open(const struct gt_runs *runs, size_t first, size_t n, uint64_t memory,
			       bool by_an, struct gt_error *error);
/* Returns 1 and the next row, valid until the next call, 0 after the last, or -1. */
int gt_merge_next(struct gt_merge *merge, const struct gt_packed **row, struct gt_error *error);
void gt_merge_close(struct gt_merge *merge);

/* How many runs can be merged at once through `memory` bytes. */
size_t gt_merge_width(uint64_t memory);

#endif
