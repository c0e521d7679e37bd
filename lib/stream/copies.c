/* SPDX-License-Identifier: MIT */
#include "stream/copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

static bool make_room(struct gt_copies *copies)
{
	size_t half = GT_COPIES / 2, more = copies->capacity ? copies->capacity * 2 : 16;

	if (copies->n == GT_COPIES) {
		memmove(copies->addresses, copies->addresses + half, half * sizeof *copies->addresses);
		memmove(copies->bytes, copies->bytes + half, half * sizeof *copies->bytes);
		copies->n = half;
	}
	if (copies->n < copies->capacity)
		return true;
	uint64_t *addresses = gt_resized(copies->addresses, more, sizeof *addresses);
	if (addresses)
		copies->addresses = addresses;
	uint64_t *bytes = addresses ? gt_resized(copies->bytes, more, sizeof *bytes) : NULL;
	if (!bytes)
		return false;
	copies->bytes = bytes;
	copies->capacity = more;
	return true;
}

void gt_copies_add(struct gt_copies *copies, uint64_t address, uint64_t bytes)
{
	size_t last = copies->n - 1;

	if (copies->n > 0 && copies->addresses[last] + copies->bytes[last] == address) {
		copies->bytes[last] += bytes;
		return;
	}
	if (!make_room(copies)) {
		copies->lost = true;
		return;
	}
	copies->addresses[copies->n] = address;
	copies->bytes[copies->n++] = bytes;
}

int gt_copies_count(const struct gt_copies *copies, struct gt_count *count, struct gt_error *error)
{
	if (copies->lost)
		return gt_fail_memory(error, "the list of copies");
	if (gt_count_array(count, "addresses", copies->addresses, copies->n, error) != 0)
		return -1;
	return gt_count_array(count, "bytes", copies->bytes, copies->n, error);
}

void gt_copies_clear(struct gt_copies *copies)
{
	free(copies->addresses);
	free(copies->bytes);
	*copies = (struct gt_copies){0};
}
