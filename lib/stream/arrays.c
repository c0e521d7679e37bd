/* SPDX-License-Identifier: MIT */
#include "stream/arrays.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

int gt_arrays_open(struct gt_arrays *arrays, const char *stage, struct gt_error *error)
{
	uint64_t none;

	*arrays = (struct gt_arrays){.stage = stage};
	if (gt_names_open(&arrays->names, error) == 0 && gt_names_number(&arrays->names, "-", &none, error) == 0)
		return 0;
	gt_arrays_close(arrays);
	return -1;
}

void gt_arrays_close(struct gt_arrays *arrays)
{
	free(arrays->arrays);
	gt_names_close(&arrays->names);
	*arrays = (struct gt_arrays){0};
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = ((const struct gt_array *)a)->address, right = ((const struct gt_array *)b)->address;

	return (left > right) - (left < right);
}

static int check(const struct gt_arrays *arrays, struct gt_error *error)
{
	for (size_t i = 0; i < arrays->n; i++) {
		const struct gt_array *array = &arrays->arrays[i];
		uint64_t room = i + 1 < arrays->n ? array[1].address - array->address : UINT64_MAX - array->address;
		if (array->bytes > room)
			return gt_fail(error, "%s: expected arrays that do not overlap, but 0x%" PRIx64
				       " has %" PRIu64 " bytes", arrays->stage, array->address, array->bytes);
	}
	return 0;
}

int gt_arrays_take(struct gt_arrays *arrays, const struct gt_count *count, struct gt_error *error)
{
	const struct gt_count_entry *addresses = gt_count_find(count, "addresses");
	const struct gt_count_entry *bytes = gt_count_find(count, "bytes");
	const struct gt_count_entry *names = gt_count_find(count, "names");

	if (strcmp(count->stage, arrays->stage) != 0)
		return 0;
	if (!addresses || !bytes || addresses->kind != GT_COUNT_ARRAY || bytes->kind != GT_COUNT_ARRAY ||
	    addresses->n != bytes->n || (names && names->kind != GT_COUNT_TEXT))
		return gt_fail(error, "%s: expected the arrays addresses and bytes, with one element per "
			       "allocation, and the text names", arrays->stage);
	struct gt_array *live = gt_resized(arrays->arrays, addresses->n, sizeof *live);
	if (!live)
		return gt_fail_memory(error, "names of arrays");
	arrays->arrays = live;
	arrays->n = addresses->n;
	const char *rest = names ? names->text : "";
	for (size_t i = 0; i < arrays->n; i++) {
		char name[GT_ARRAY_NAME];
		size_t length = strcspn(rest, ",");
		snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), rest);
		if (length == 0)
			snprintf(name, sizeof name, "0x%" PRIx64, addresses->array[i]);
		live[i] = (struct gt_array){.address = addresses->array[i], .bytes = bytes->array[i]};
		if (gt_names_number(&arrays->names, name, &live[i].name, error) != 0)
			return -1;
		rest += length + (rest[length] == ',');
	}
	qsort(live, arrays->n, sizeof *live, compare_addresses);
	return check(arrays, error);
}

uint64_t gt_arrays_find(const struct gt_arrays *arrays, uint64_t address)
{
	size_t low = 0, high = arrays->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (arrays->arrays[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - arrays->arrays[low - 1].address >= arrays->arrays[low - 1].bytes)
		return 0;
	return arrays->arrays[low - 1].name;
}
