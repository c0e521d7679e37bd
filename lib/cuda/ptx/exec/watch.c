/* SPDX-License-Identifier: MIT */
/* Detects a path that waits in a loop: the warp returns to the same micro-op with the same values in its registers and its local
 * memory. Until another thread writes to memory it will repeat this for ever. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/paths.h"

#define GAP_MIN 256   /* instructions from one saved state to the next */
#define GAP_MAX 16384
#define POLL_GAP 1024  /* instructions after which an access that has not come again is no longer watched as a poll */
#define CHUNK	 64

void gt_ptx_watch_begin(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;

	watch->op = warp->poll.op = NULL;
	watch->repeats = warp->poll.repeats = false;
	watch->gap = GAP_MIN;
	watch->next = warp->issued + GAP_MIN;
	warp->poll.next = warp->issued + POLL_GAP;
}

static int keep(struct gt_ptx_warp *warp, struct gt_ptx_watch *watch, const struct gt_ptx_op *op)
{
	size_t bytes = 0;

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
	watch->op = op;
	watch->mask = warp->mask;
	watch->differs = 0;
	return 0;
}

/* Keeps what the warp is at the end of a turn. */
static int keep_turn(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;

	if (!watch->repeats)
		watch->times = 0;
	watch->repeats = false;
	if (keep(warp, watch, warp->at) != 0)
		return -1;
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
static bool same_local(const struct gt_ptx_warp *warp, struct gt_ptx_watch *watch)
{
	uint64_t hash = warp->local ? XXH3_64bits(warp->local, GT_WARP_SIZE * warp->local_stride) : 0;
	bool same = !warp->local || (watch->has_local && watch->local == hash);

	if (watch->has_local && !same)
		watch->op = NULL;
	watch->local = hash;
	watch->has_local = true;
	return same;
}

/* Whether the warp, which is where it was kept, has all that it had then. */
static bool is_same(const struct gt_ptx_warp *warp, struct gt_ptx_watch *watch)
{
	const struct gt_ptx_frame *frame = warp->frame;
	size_t at = 0;

	if (warp->mask != watch->mask)
		return false;
	while (frame && same_registers(watch, warp->arenas + frame->arena, frame->code->image_at, at)) {
		at += frame->code->image_at;
		frame = frame->caller;
	}
	return !frame && at == watch->bytes && same_local(warp, watch);
}

bool gt_ptx_watch_end(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;

	if (warp->at == watch->op && is_same(warp, watch)) {
		watch->repeats = true;
		watch->times++;
		return true;
	}
	if (warp->issued >= watch->next)
		keep_turn(warp);
	return false;
}

/* ---- polls ---- */

/* Stands behind an access by which a warp learns what other blocks have done. Its result is in the registers: when they are the same
 * again, the warp has read the same, and reads the same again if it goes on. Of several such accesses in a loop one is watched. */
const struct gt_ptx_op *gt_ptx_poll(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_watch *poll = &warp->poll;
	const bool had_local = poll->has_local, kept = poll->op;

	(void)mask;
	if (poll->op && poll->op != op)
		return op + 1;
	if (poll->op && is_same(warp, poll)) {
		poll->repeats = true;
		poll->times++;
		poll->next = warp->issued + POLL_GAP;
		warp->core->polls++;
		warp->until = warp->issued;
		return op + 1;
	}
	if (kept && !had_local && poll->has_local)
		return op + 1; /* local memory is compared the next time */
	poll->times = kept ? 0 : poll->times; /* where nothing was kept, the warp went on with another path */
	poll->next = warp->issued + POLL_GAP;
	return keep(warp, poll, op) == 0 ? op + 1 : NULL;
}

void gt_ptx_poll_end(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *poll = &warp->poll;

	if (!poll->repeats) {
		poll->op = NULL;
		poll->times = 0;
		poll->next = warp->issued + POLL_GAP;
	}
	poll->repeats = false;
}
