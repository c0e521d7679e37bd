/* SPDX-License-Identifier: MIT */
/* Accesses to shared memory and their passes by the array, where the trace names those of shared memory: what the coalescer counts of
 * an access. The stage (coalesce/stage.c) does the rest. */
#ifndef GT_COALESCE_BY_ARRAY_H
#define GT_COALESCE_BY_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "stream/program.h"
#include "stream/rows.h"

#define GT_ARRAY_ADDRESS_BITS 24 /* of an address below the rank of the block in its cluster (gtrace-ptx(1)) */

struct gt_by_array {
	struct gt_arrays arrays;
	uint64_t (*counts)[2]; /* accesses and passes, by the number of the array's name */
	size_t n;
};

/* Counts access i, an access to shared memory that takes so many passes: of the array of its lowest active lane. */
static inline void gt_by_array_add(struct gt_by_array *by, const struct gt_rows *rows, size_t i, unsigned passes)
{
	if (by->arrays.n == 0)
		return;
	const uint64_t address = rows->stride[i] == GT_STRIDE_LANES ? rows->lanes[rows->base[i]] : rows->base[i];
	uint64_t *counts = by->counts[gt_arrays_find(&by->arrays, address % (UINT64_C(1) << GT_ARRAY_ADDRESS_BITS))];

	counts[0]++;
	counts[1] += passes;
}

#endif
