/* SPDX-License-Identifier: MIT */
/* Sorting warp accesses in bounded memory: rows are packed, sorted in memory by radix, and, when
 * they outgrow it, written as sorted runs to an unlinked temporary file and merged. Equal keys
 * stay in the order in which they came. */
#ifndef GT_ORDER_SORT_H
#define GT_ORDER_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "order/packed.h"

struct gt_sorter;
struct gt_kept; /* order/ordered.h */

/* `memory` bytes at least GT_ORDER_MEMORY_MIN; `by_an`: by kernel, an, block, warp, else by kernel,
 * block, an, warp. The directory must outlive the sorter. */
struct gt_sorter *gt_sorter_open(uint64_t memory, const char *directory, bool by_an, struct gt_error *error);
void gt_sorter_close(struct gt_sorter *sorter);

/* Tells the sorter how many bytes of its memory the caller uses. At least an eighth remains for the rows. */
void gt_sorter_yield(struct gt_sorter *sorter, uint64_t bytes);

/* Adds a row and the row->lanes addresses that belong to it. */
int gt_sorter_add(struct gt_sorter *sorter, const struct gt_packed *row, const uint64_t *lanes,
		  struct gt_error *error);

/* All rows, to be read otherwise than by gt_sorter_finish; NULL if some were written to a file. */
const struct gt_kept *gt_sorter_kept(const struct gt_sorter *sorter);

/* Ends the input; rows can be read from now on. */
int gt_sorter_finish(struct gt_sorter *sorter, struct gt_error *error);

/* The next row in order and its addresses, valid until the next call. Returns 1, 0 after the last, or -1. */
int gt_sorter_next(struct gt_sorter *sorter, const struct gt_packed **row, const uint64_t **lanes, struct gt_error *error);

#endif
