/* SPDX-License-Identifier: MIT */
#include "cache/timed/turns.h"

struct gt_turns gt_turns_begin(const struct gt_wave *wave, uint32_t schedulers)
{
	return (struct gt_turns){.wave = wave, .schedulers = schedulers, .at = wave->warps_n};
}

static bool is_ready(const struct gt_warp *warp, uint64_t step)
{
	return warp->next != GT_NO_REQUEST && warp->ready <= step;
}

static uint32_t access_of(const struct gt_turns *turns, const struct gt_warp *warp)
{
	return turns->wave->requests[warp->next].request.an;
}

/* Begins the next round. False if no warp is ready. */
static bool next_round(struct gt_turns *turns, uint64_t step)
{
	const struct gt_wave *wave = turns->wave;
	bool any = false;

	for (uint32_t i = 0; i < wave->warps_n; i++) {
		const struct gt_warp *warp = &wave->warps[i];
		if (is_ready(warp, step) && (!any || access_of(turns, warp) < turns->round)) {
			turns->round = access_of(turns, warp);
			any = true;
		}
	}
	turns->at = any ? 0 : wave->warps_n;
	return any;
}

static bool has_turn(const struct gt_turns *turns, const struct gt_warp *warp, uint64_t step)
{
	return is_ready(warp, step) && access_of(turns, warp) <= turns->round;
}

uint32_t gt_turns_take(struct gt_turns *turns, uint64_t step, uint32_t *warps)
{
	const struct gt_warp *all = turns->wave->warps;
	uint32_t n = turns->wave->warps_n, taken = 0;

	while (turns->at < n && !has_turn(turns, &all[turns->at], step))
		turns->at++;
	if (turns->at == n) {
		if (!next_round(turns, step))
			return 0;
		while (!has_turn(turns, &all[turns->at], step))
			turns->at++;
	}
	const struct gt_warp *first = &all[turns->at];
	for (; turns->at < n && all[turns->at].block == first->block &&
	       all[turns->at].warp / turns->schedulers == first->warp / turns->schedulers; turns->at++)
		if (has_turn(turns, &all[turns->at], step))
			warps[taken++] = turns->at;
	return taken;
}

uint64_t gt_turns_next(const struct gt_turns *turns)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < turns->wave->warps_n; i++) {
		const struct gt_warp *warp = &turns->wave->warps[i];
		if (warp->next != GT_NO_REQUEST && warp->ready < next)
			next = warp->ready;
	}
	return next;
}
