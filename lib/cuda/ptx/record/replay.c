/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/record/replay.h"

#include <stdlib.h>
#include <string.h>

int gt_ptx_save(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_error *error)
{
	unsigned char *to = malloc(memory->live_bytes + 1);

	saved->bytes = to;
	saved->heap = gt_ptx_heap_copy(memory);
	if (!to || (memory->heap && !saved->heap)) {
		gt_ptx_saved_clear(saved);
		return gt_fail_memory(error, "what a kernel may change, to run it twice");
	}
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); one; to += one->bytes, one = gt_ptx_live(one->after))
		memcpy(to, gt_ptx_host(memory, one), one->bytes);
	return 0;
}

static void note(struct gt_copies *copies, const struct gt_ptx_allocation *allocation)
{
	for (uint64_t at = 0, piece; at < allocation->bytes; at += piece) {
		piece = allocation->bytes - at < GT_PTX_RESTORE_PIECE ? allocation->bytes - at : GT_PTX_RESTORE_PIECE;
		gt_copies_add(copies, allocation->address + GT_PTX_WINDOW + at, piece);
		gt_copies_add(copies, allocation->address + at, piece);
	}
}

void gt_ptx_restore(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_copies *copies)
{
	const unsigned char *from = saved->bytes;

	gt_ptx_heap_restore(memory, saved->heap);
	saved->heap = NULL;
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); one; from += one->bytes, one = gt_ptx_live(one->after)) {
		unsigned char *to = gt_ptx_host(memory, one);
		if (memcmp(to, from, one->bytes) == 0)
			continue;
		memcpy(to, from, one->bytes);
		note(copies, one);
	}
}

void gt_ptx_saved_clear(struct gt_ptx_saved *saved)
{
	gt_ptx_heap_free(saved->heap);
	saved->heap = NULL;
	free(saved->bytes);
	saved->bytes = NULL;
}
