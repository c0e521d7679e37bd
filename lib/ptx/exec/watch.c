/* SPDX-License-Identifier: MIT */
/* Detects a path that waits in a loop: the warp returns to the same micro-op with the same values in its registers and its local
 * memory. Until another thread writes to memory it will repeat this for ever. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "ptx/exec/code.h"
#include "ptx/exec/paths.h"

#define GAP_MIN 256   /* instructions from one saved state to the next */
#define GAP_MAX 16384
#define CHUNK	64

void gt_ptx_watch_begin(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;

	watch->op = NULL;
	watch->repeats = false;
	watch->gap = GAP_MIN;
	watch->next = warp->issued + GAP_MIN;
}

static int keep(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;
	size_t bytes = 0;

	if (!watch->repeats)
		watch->times = 0;
	watch->repeats = false;
	watch->has_local = false;
	for (const struct gt_ptx_frame *frame = warp->frame; frame; frame = frame->caller)
		bytes += frame->code->image_at;
	void *grown = gt_grown_to(watch->registers, bytes, &watch->capacity, 1);
	if (!grown) {
		warp->core->failed = true;
		return gt_fail_memory(warp->core->error, "the registers of a warp");
	}
	watch->registers = grown;
	watch->bytes = 0;
	for (const struct gt_ptx_frame *frame = warp->frame; frame; frame = frame->caller) {
		memcpy(watch->registers + watch->bytes, warp->arenas + frame->arena, frame->code->image_at);
		watch->bytes += frame->code->image_at;
	}
	watch->op = warp->at;
	watch->mask = warp->mask;
	watch->differs = 0;
	watch->next = warp->issued + watch->gap;
	watch->gap = 2 * watch->gap < GAP_MAX ? 2 * watch->gap : GAP_MAX;
	return 0;
}

/* Compares the registers of a frame with those saved at `at`, first at the place of the last difference. */
static bool same_registers(struct gt_ptx_watch *watch, const unsigned char *registers, size_t bytes, size_t at)
{
	const unsigned char *kept = watch->registers + at;

	if (bytes > watch->bytes - at)
		return false;
	if (watch->differs >= at && watch->differs - at + CHUNK <= bytes &&
	    memcmp(kept + (watch->differs - at), registers + (watch->differs - at), CHUNK) != 0)
		return false;
	for (size_t i = 0; i < bytes; i += CHUNK)
		if (memcmp(kept + i, registers + i, bytes - i < CHUNK ? bytes - i : CHUNK) != 0) {
			watch->differs = at + i;
			return false;
		}
	return true;
}

/* Local memory is compared only if the registers are equal; the first time its hash is saved. */
static bool same_local(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;
	uint64_t hash = warp->local ? XXH3_64bits(warp->local, GT_WARP_SIZE * warp->local_stride) : 0;
	bool same = !warp->local || (watch->has_local && watch->local == hash);

	if (watch->has_local && !same)
		watch->op = NULL;
	watch->local = hash;
	watch->has_local = true;
	return same;
}

bool gt_ptx_watch_end(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;

	if (warp->at == watch->op && warp->mask == watch->mask) {
		size_t at = 0;
		const struct gt_ptx_frame *frame = warp->frame;
		while (frame && same_registers(watch, warp->arenas + frame->arena, frame->code->image_at, at)) {
			at += frame->code->image_at;
			frame = frame->caller;
		}
		if (!frame && at == watch->bytes && same_local(warp)) {
			watch->repeats = true;
			watch->times++;
			return true;
		}
	}
	if (warp->issued >= watch->next)
		keep(warp);
	return false;
}
