/* SPDX-License-Identifier: MIT */
/* Barriers that are objects in shared memory: mbarrier.
 *
 * PTX leaves the 64 bits of an mbarrier opaque. Here they are, from the lowest: pending arrivals and expected arrivals,
 * 20 bits each; bytes that are still to come, plus 2^20, 21 bits; the number of the phase, modulo 8. The state that an
 * arrival returns is these bits. */
#ifndef GT_PTX_MBARRIER_H
#define GT_PTX_MBARRIER_H

#include "cuda/ptx/exec/warp.h"

/* What is done with an mbarrier: `choice` of the micro-op. */
enum gt_ptx_mbarrier_action {
	GT_PTX_MBARRIER_INIT,
	GT_PTX_MBARRIER_INVALIDATE,
	GT_PTX_MBARRIER_ARRIVE,
	GT_PTX_MBARRIER_DROP, /* arrives, and is not expected any more */
	GT_PTX_MBARRIER_EXPECT,
	GT_PTX_MBARRIER_ARRIVE_EXPECTING, /* expects bytes, then arrives once */
	GT_PTX_MBARRIER_COMPLETE,
	GT_PTX_MBARRIER_LOOK, /* arrives for copies that are done, and is expected once more */
	GT_PTX_MBARRIER_TEST,
	GT_PTX_MBARRIER_TEST_PARITY,
};

/* op->with.access: where the mbarriers of the lanes are; op->a: the count, bytes, state or parity, 0: the count is 1;
 * op->d: the state, or the predicate, 0: none. */
gt_ptx_step gt_ptx_mbarrier;

/* Tells the mbarriers of the lanes, at the addresses of an access, that so many bytes a lane have come. False after a
 * fault. */
bool gt_ptx_mbarrier_complete(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, struct gt_ptx_access *where,
			      uint32_t mask, const uint32_t *bytes);

#endif
