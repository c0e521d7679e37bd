/* SPDX-License-Identifier: MIT */
#include "ptx/record/replay.h"

#include <stdlib.h>
#include <string.h>

int gt_ptx_save(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_error *error)
{
	unsigned char *to = malloc(memory->live_bytes + 1);

	saved->bytes = to;
	if (!to)
		return gt_fail_memory(error, "what a kernel may change, to run it twice");
	for (size_t i = 0; i < memory->n; to += memory->allocations[i++].bytes)
		memcpy(to, gt_ptx_at(memory, memory->allocations[i].address, memory->allocations[i].bytes),
		       memory->allocations[i].bytes);
	return 0;
}

static void note(struct gt_ptx_copies *copies, const struct gt_ptx_allocation *allocation)
{
	for (uint64_t at = 0, piece; at < allocation->bytes; at += piece) {
		piece = allocation->bytes - at < GT_PTX_RESTORE_PIECE ? allocation->bytes - at : GT_PTX_RESTORE_PIECE;
		gt_ptx_copies_add(copies, allocation->address + GT_PTX_WINDOW + at, piece);
		gt_ptx_copies_add(copies, allocation->address + at, piece);
	}
}

void gt_ptx_restore(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_ptx_copies *copies)
{
	const unsigned char *from = saved->bytes;

	for (size_t i = 0; i < memory->n; from += memory->allocations[i++].bytes) {
		const struct gt_ptx_allocation *allocation = &memory->allocations[i];
		void *to = gt_ptx_at(memory, allocation->address, allocation->bytes);
		if (memcmp(to, from, allocation->bytes) == 0)
			continue;
		memcpy(to, from, allocation->bytes);
		note(copies, allocation);
	}
}

void gt_ptx_saved_clear(struct gt_ptx_saved *saved)
{
	free(saved->bytes);
	saved->bytes = NULL;
}
