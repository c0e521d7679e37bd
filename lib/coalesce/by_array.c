/* SPDX-License-Identifier: MIT */
#include "coalesce/by_array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

#define BLOCK_BITS 24 /* of an address below the rank of the block in its cluster (gtrace-ptx(1)) */

int gt_by_array_open(struct gt_by_array *by, struct gt_error *error)
{
	*by = (struct gt_by_array){.n = 0};
	return gt_arrays_open(&by->arrays, GT_SHARED_ARRAYS_STAGE, error);
}

void gt_by_array_close(struct gt_by_array *by)
{
	gt_arrays_close(&by->arrays);
	free(by->counts);
	by->counts = NULL;
}

void gt_by_array_begin(struct gt_by_array *by)
{
	by->arrays.n = 0;
	if (by->n > 0)
		memset(by->counts, 0, by->n * sizeof *by->counts);
}

int gt_by_array_take(struct gt_by_array *by, const struct gt_count *count, struct gt_error *error)
{
	if (gt_arrays_take(&by->arrays, count, error) != 0)
		return -1;
	const size_t names = by->arrays.names.n;
	if (names <= by->n)
		return 0;
	uint64_t(*counts)[2] = gt_resized(by->counts, names, sizeof *counts);
	if (!counts)
		return gt_fail_memory(error, "counts by array");
	memset(counts + by->n, 0, (names - by->n) * sizeof *counts);
	by->counts = counts;
	by->n = names;
	return 0;
}

void gt_by_array_add(struct gt_by_array *by, const struct gt_rows *rows, size_t i, unsigned passes)
{
	if (by->arrays.n == 0)
		return;
	const uint64_t address = rows->stride[i] == GT_STRIDE_LANES ? rows->lanes[rows->base[i]] : rows->base[i];
	uint64_t *counts = by->counts[gt_arrays_find(&by->arrays, address % (UINT64_C(1) << BLOCK_BITS))];

	counts[0]++;
	counts[1] += passes;
}

int gt_by_array_part(struct gt_by_array *apart, const struct gt_by_array *by, struct gt_error *error)
{
	if (by->n > apart->n) {
		uint64_t(*counts)[2] = gt_resized(apart->counts, by->n, sizeof *counts);
		if (!counts)
			return gt_fail_memory(error, "counts by array");
		apart->counts = counts;
	}
	apart->arrays = by->arrays;
	apart->n = by->n;
	if (by->n > 0)
		memset(apart->counts, 0, by->n * sizeof *apart->counts);
	return 0;
}

void gt_by_array_part_close(struct gt_by_array *apart)
{
	free(apart->counts);
}

void gt_by_array_join(struct gt_by_array *by, const struct gt_by_array *apart)
{
	for (size_t i = 0; i < apart->n; i++) {
		by->counts[i][0] += apart->counts[i][0];
		by->counts[i][1] += apart->counts[i][1];
	}
}

int gt_by_array_count(const struct gt_by_array *by, struct gt_count *count, struct gt_error *error)
{
	static const char *const counters[2] = {"shared_accesses", "bank_passes"};
	char name[GT_COUNT_NAME];

	for (size_t i = 0; i < by->n; i++)
		for (size_t k = 0; k < 2 && by->counts[i][0] > 0; k++) {
			snprintf(name, sizeof name, "%.*s.%s", GT_ARRAY_NAME - 1, by->arrays.names.names[i], counters[k]);
			if (gt_count_number(count, name, by->counts[i][k], error) != 0)
				return -1;
		}
	return 0;
}
