/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/local.h"

#include <inttypes.h>
#include <stdio.h>

/* The variable that begins nearest below an address, or at it; NULL if there is none. *begin: where. Callers' frames lie below. */
static const struct gt_ptx_local *find(const struct gt_ptx_warp *warp, uint64_t at, uint64_t *begin)
{
	for (const struct gt_ptx_frame *frame = warp->frame; frame; frame = frame->caller)
		for (size_t i = frame->code->n_locals; i-- > 0;) {
			*begin = frame->local + frame->code->locals[i].at;
			if (*begin <= at)
				return &frame->code->locals[i];
		}
	return NULL;
}

bool gt_ptx_find_local(const struct gt_ptx_warp *warp, uint64_t at, uint64_t bytes)
{
	uint64_t begin;
	const struct gt_ptx_local *local = find(warp, at, &begin);

	if (!local || at - begin > local->bytes || bytes > local->bytes - (at - begin))
		return false;
	warp->frame->low = begin;
	warp->frame->high = begin + local->bytes;
	return true;
}

const char *gt_ptx_local_describe(const struct gt_ptx_warp *warp, uint64_t at, char text[GT_PTX_LOCAL_TEXT])
{
	uint64_t begin;
	const struct gt_ptx_local *local = find(warp, at, &begin);

	if (local)
		snprintf(text, GT_PTX_LOCAL_TEXT, "outside every variable; nearest is '%.80s', %" PRIu32 " bytes at 0x%" PRIx64,
			 local->name, local->bytes, begin);
	else
		snprintf(text, GT_PTX_LOCAL_TEXT, "no function under way has variables");
	return text;
}
