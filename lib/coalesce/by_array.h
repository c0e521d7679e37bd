/* SPDX-License-Identifier: MIT */
/* Accesses to shared memory and their passes by the array, where the trace names those of shared memory. */
#ifndef GT_COALESCE_BY_ARRAY_H
#define GT_COALESCE_BY_ARRAY_H

#include "stream/arrays.h"
#include "stream/count.h"
#include "stream/rows.h"

struct gt_by_array {
	struct gt_arrays arrays;
	uint64_t (*counts)[2]; /* accesses and passes, by the number of the array's name */
	size_t n;
};

int gt_by_array_open(struct gt_by_array *by, struct gt_error *error);
void gt_by_array_close(struct gt_by_array *by);

/* A kernel begins, whose arrays have no names yet. */
void gt_by_array_begin(struct gt_by_array *by);
/* If the count names the arrays of shared memory, the accesses from now on are theirs. Returns 0, or -1: it is malformed, or memory is short. */
int gt_by_array_take(struct gt_by_array *by, const struct gt_count *count, struct gt_error *error);
/* Counts access i, an access to shared memory that takes so many passes: of the array of its lowest active lane. */
void gt_by_array_add(struct gt_by_array *by, const struct gt_rows *rows, size_t i, unsigned passes);

/* Makes `apart` count for the arrays of `by`, in another thread, from 0. Only these two functions may take it besides, and gt_by_array_add.
 * Zero at first. Returns 0, or -1 when memory is short. */
int gt_by_array_part(struct gt_by_array *apart, const struct gt_by_array *by, struct gt_error *error);
void gt_by_array_part_close(struct gt_by_array *apart);
/* Adds what was counted apart. */
void gt_by_array_join(struct gt_by_array *by, const struct gt_by_array *apart);

/* Appends for each array with accesses, in the order of the names, NAME.shared_accesses and NAME.bank_passes; "-" is what is outside of
 * all arrays. Nothing if no arrays have names. Returns 0, or -1 when memory is short. */
int gt_by_array_count(const struct gt_by_array *by, struct gt_count *count, struct gt_error *error);

#endif
