/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/mbarrier.h"

#include <string.h>

#include "cuda/ptx/exec/access.h"

#define COUNT_MAX ((UINT64_C(1) << 20) - 1)
#define BYTES_ZERO (INT64_C(1) << 20) /* as no bytes that are to come are kept */

struct state {
	uint64_t pending, expected, phase;
	int64_t bytes;
};

static struct state unpack(uint64_t bits)
{
	return (struct state){bits & COUNT_MAX, bits >> 20 & COUNT_MAX, bits >> 61,
			      (int64_t)(bits >> 40 & (2 * COUNT_MAX + 1)) - BYTES_ZERO};
}

static uint64_t pack(const struct state *state)
{
	return state->pending | state->expected << 20 | (uint64_t)(state->bytes + BYTES_ZERO) << 40 | state->phase << 61;
}

/* A phase is complete when nothing is pending. */
static void settle(struct state *state)
{
	if (state->pending > 0 || state->bytes != 0)
		return;
	state->pending = state->expected;
	state->phase = (state->phase + 1) & 7;
}

/* Does it; what is wrong, or NULL. */
static const char *change(struct state *state, enum gt_ptx_mbarrier_action action, uint64_t count)
{
	const bool expects = action == GT_PTX_MBARRIER_EXPECT || action == GT_PTX_MBARRIER_ARRIVE_EXPECTING;
	const uint64_t arrives = action == GT_PTX_MBARRIER_ARRIVE || action == GT_PTX_MBARRIER_DROP ? count
				 : action == GT_PTX_MBARRIER_ARRIVE_EXPECTING			    ? 1
												    : 0;

	if (state->expected == 0)
		return "no mbarrier is initialized there";
	if (expects || action == GT_PTX_MBARRIER_COMPLETE)
		state->bytes += expects ? (int64_t)count : -(int64_t)count;
	if (state->bytes >= BYTES_ZERO || state->bytes < -BYTES_ZERO)
		return "an mbarrier counts 1048575 bytes at most";
	if (arrives > state->pending)
		return "more arrivals than the phase of the mbarrier has pending";
	state->pending -= arrives;
	if (action == GT_PTX_MBARRIER_DROP)
		state->expected -= count;
	if (action != GT_PTX_MBARRIER_EXPECT && action != GT_PTX_MBARRIER_LOOK)
		settle(state);
	return NULL;
}

/* One lane; *result: the state before, or whether the phase is over. */
static const char *act(unsigned char *place, enum gt_ptx_mbarrier_action action, uint64_t count, uint64_t *result)
{
	uint64_t bits;

	memcpy(&bits, place, sizeof bits);
	struct state state = unpack(bits);
	const char *wrong = NULL;
	*result = bits;
	switch (action) {
	case GT_PTX_MBARRIER_INIT:
		state = (struct state){count, count, 0, 0};
		wrong = count == 0 || count > COUNT_MAX ? "an mbarrier expects 1 to 1048575 arrivals" : NULL;
		break;
	case GT_PTX_MBARRIER_INVALIDATE: state = (struct state){0, 0, 0, -BYTES_ZERO}; break;
	case GT_PTX_MBARRIER_TEST: *result = state.phase != unpack(count).phase; break;
	case GT_PTX_MBARRIER_TEST_PARITY: *result = (state.phase & 1) != (count & 1); break;
	default: wrong = change(&state, action, count);
	}
	if (state.expected == 0 && action != GT_PTX_MBARRIER_INVALIDATE && !wrong && action != GT_PTX_MBARRIER_DROP)
		wrong = "no mbarrier is initialized there";
	bits = pack(&state);
	memcpy(place, &bits, sizeof bits);
	return wrong;
}

/* The addresses of an access, which has to be in shared memory; records it. */
static bool reach_shared(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, struct gt_ptx_reach *reach,
			 unsigned bytes)
{
	if (gt_ptx_reach(warp, op, mask, reach, bytes) != 0)
		return false;
	if (reach->space != GT_PTX_SHARED) {
		gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "an mbarrier, or a bulk copy to it, outside of shared memory");
		return false;
	}
	return gt_ptx_note(warp, op, mask, reach, bytes) == 0;
}

const struct gt_ptx_op *gt_ptx_mbarrier(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const enum gt_ptx_mbarrier_action action = (enum gt_ptx_mbarrier_action)op->choice;
	const bool tests = action == GT_PTX_MBARRIER_TEST || action == GT_PTX_MBARRIER_TEST_PARITY;
	const bool wide = action == GT_PTX_MBARRIER_TEST;
	struct gt_ptx_reach reach;
	uint32_t over = 0;

	if (!reach_shared(warp, op, mask, &reach, 8))
		return NULL;
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t count = 1, result;
		if (op->a)
			count = wide ? ((const uint64_t *)gt_ptx_lanes(warp, op->a))[lane]
				     : ((const uint32_t *)gt_ptx_lanes(warp, op->a))[lane];
		const char *wrong = act(gt_ptx_place_of(&reach, lane), action, count, &result);
		if (wrong)
			return gt_ptx_fault(warp, op, lane, "%s", wrong);
		if (tests)
			over |= (uint32_t)result << lane;
		else if (op->d)
			((uint64_t *)gt_ptx_lanes(warp, op->d))[lane] = result;
	}
	if (tests)
		gt_ptx_set_predicate(warp, op->d, mask, over);
	return op + 1;
}

bool gt_ptx_mbarrier_complete(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, struct gt_ptx_access *where,
			      uint32_t mask, const uint32_t *bytes)
{
	struct gt_ptx_op report = *op;
	struct gt_ptx_reach reach;

	report.with.access = where;
	if (!reach_shared(warp, &report, mask, &reach, 8))
		return false;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		uint64_t before;
		const char *wrong = act(gt_ptx_place_of(&reach, lane), GT_PTX_MBARRIER_COMPLETE, bytes[lane], &before);
		if (wrong) {
			gt_ptx_fault(warp, op, lane, "%s", wrong);
			return false;
		}
	}
	return true;
}
