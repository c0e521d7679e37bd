/* SPDX-License-Identifier: MIT */
/* What importers share: the launch that a trace does not name, traces of CPU programs, the first lines of a file, warp slots. */
#include "import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream/hint.h"

void gt_implicit_kernel(struct gt_kernel *kernel, const struct gt_input *input)
{
	const char *path = gt_input_path(input);
	const char *slash = strrchr(path, '/');
	const char *stem = slash ? slash + 1 : path;
	size_t length = strcspn(stem, ".");

	*kernel = (struct gt_kernel){.id = GT_KERNEL_NEXT};
	if (length == 0 || strcmp(path, "-") == 0)
		snprintf(kernel->name, sizeof kernel->name, "kernel");
	else
		snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)length, stem);
}

int gt_trace_rows(struct gt_trace *to, const struct gt_rows *rows, struct gt_error *error)
{
	if (rows->kind != GT_ACCESSES)
		return gt_fail(error, "expected accesses, found requests: gcoalesce or another stage made them; order the stream before it");
	for (size_t i = 0; i < rows->n; i++) {
		uint64_t addresses[GT_WARP_SIZE];
		const bool listed = !gt_rows_one_stride(rows, i);
		if (listed)
			gt_rows_addresses(rows, i, addresses);
		struct gt_trace_access access = {
			.block = rows->block[i], .warp = rows->warp[i], .numbering = GT_AN_GIVEN,
			.an = rows->an[i], .pc = rows->pc[i], .op = rows->op[i], .size = rows->size[i],
			.hint = gt_rows_hint(rows, i),
			.mask = rows->mask[i], .addresses = listed ? addresses : NULL,
			.base = rows->base[i], .stride = rows->stride[i],
			.scheduled = rows->scheduled, .sm = rows->scheduled ? rows->sm[i] : 0,
			.has_work = rows->has_work, .work = rows->has_work ? rows->work[i] : 0, .shared = gt_rows_shared(rows, i),
		};
		if (to->access(to->context, &access, error) != 0)
			return -1;
	}
	return 0;
}

bool gt_head_line(const char **head, size_t *bytes, char *line, size_t size)
{
	const char *newline = memchr(*head, '\n', *bytes);
	size_t length = newline ? (size_t)(newline - *head) : *bytes;
	size_t kept = length < size ? length : size - 1;

	if (*bytes == 0)
		return false;
	memcpy(line, *head, kept);
	if (kept > 0 && line[kept - 1] == '\r')
		kept--;
	line[kept] = '\0';
	*head += newline ? length + 1 : length;
	*bytes -= newline ? length + 1 : length;
	return true;
}

/* ---- warp slots ---- */

int gt_slots_open(struct gt_slots *slots, struct gt_error *error)
{
	memset(slots, 0, sizeof *slots);
	slots->last_key = GT_MAP_EMPTY;
	if (gt_map_open(&slots->warps, 0, error) != 0)
		return -1;
	if (gt_map_open(&slots->taken, 0, error) == 0)
		return 0;
	gt_map_close(&slots->warps);
	return -1;
}

void gt_slots_close(struct gt_slots *slots)
{
	gt_map_close(&slots->warps);
	gt_map_close(&slots->taken);
}

/* Chooses the warp of a slot that is new in its block; `taken` is a mask of the block's warps in use. */
static int choose(uint32_t block, uint16_t slot, unsigned n, bool not_last, uint64_t *taken,
		  uint64_t *warp, struct gt_error *error)
{
	unsigned number = slot % n;

	if (*taken >> number & 1 || (not_last && number == n - 1))
		for (number = 0; number < n && (*taken >> number & 1); number++)
			;
	if (number == n)
		return gt_fail(error,
			       "warp slot %u of block %" PRIu32 " is one too many: expected at most %u "
			       "slots for a block of %u warps",
			       slot, block, n, n);
	*taken |= UINT64_C(1) << number;
	*warp = number;
	return 0;
}

int gt_slots_warp(struct gt_slots *slots, uint32_t block, uint16_t slot, unsigned n, bool not_last,
		  uint16_t *warp, struct gt_error *error)
{
	uint64_t key = (uint64_t)block << 16 | slot;
	int fresh = 0, fresh_block = 0;

	if (key == slots->last_key) {
		*warp = slots->last_warp;
		return 0;
	}
	uint64_t *number = gt_map_put(&slots->warps, key, 0, &fresh);
	if (!number)
		return gt_fail_memory(error, "warp slots");
	if (fresh) {
		uint64_t *taken = gt_map_put(&slots->taken, block, 0, &fresh_block);

		if (!taken)
			return gt_fail_memory(error, "warp slots");
		if (choose(block, slot, n, not_last, taken, number, error) != 0)
			return -1;
	}
	slots->last_key = key;
	slots->last_warp = (uint16_t)*number;
	*warp = slots->last_warp;
	return 0;
}
