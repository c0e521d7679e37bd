/* SPDX-License-Identifier: MIT */
#include "dissect/missed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "stream/stream.h"

static int add(struct gt_missed *missed, uint64_t kernel, uint32_t an, const char *name, struct gt_error *error)
{
	uint64_t key = kernel << 32 | an;

	if (missed->n > 0 && missed->keys[missed->n - 1] == key)
		return 0;
	if (kernel > UINT32_MAX || (missed->n > 0 && missed->keys[missed->n - 1] > key))
		return gt_fail(error, "%s: kernel %" PRIu64 ", access %" PRIu32 ": expected what a cache sends on of a P-chase, in order",
			       name, kernel, an);
	if (missed->n == missed->capacity) {
		size_t capacity = missed->capacity ? 2 * missed->capacity : 4096;
		uint64_t *keys = realloc(missed->keys, capacity * sizeof *keys);
		if (!keys)
			return gt_fail_memory(error, "the misses of a level");
		missed->keys = keys;
		missed->capacity = capacity;
	}
	missed->keys[missed->n++] = key;
	return 0;
}

int gt_missed_read(struct gt_missed *missed, int descriptor, const char *name, struct gt_error *error)
{
	struct gt_reader *reader = gt_reader_open(descriptor, name, NULL, 0, error);
	enum gt_event event = GT_FAILED;
	int result = reader ? 0 : -1;

	while (result == 0 && (event = gt_read(reader, error)) != GT_END) {
		const struct gt_rows *rows = event == GT_ROWS ? gt_reader_rows(reader) : NULL;
		result = event == GT_FAILED ? -1 : 0;
		for (size_t i = 0; rows && result == 0 && i < rows->n; i++)
			result = add(missed, gt_reader_kernel(reader)->id, rows->an[i], name, error);
	}
	gt_reader_close(reader);
	return result;
}

int gt_missed_has(struct gt_missed *missed, uint64_t kernel, uint32_t an)
{
	uint64_t key = kernel << 32 | an;

	while (missed->at < missed->n && missed->keys[missed->at] < key)
		missed->at++;
	return missed->at < missed->n && missed->keys[missed->at] == key;
}

void gt_missed_clear(struct gt_missed *missed)
{
	free(missed->keys);
	*missed = (struct gt_missed){0};
}
