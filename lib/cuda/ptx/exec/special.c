/* SPDX-License-Identifier: MIT */
/* Special registers. %clock and %globaltimer count the instructions that the warp issued, the latter as nanoseconds, and what a
 * warp that waits for a time has been spared; %smid follows from the block's number. */
#include <string.h>

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/warp.h"

#define VALUE(NAME, EXPRESSION)                                                                    \
	static uint64_t NAME(const struct gt_ptx_warp *warp, unsigned lane)                        \
	{                                                                                          \
		(void)warp, (void)lane;                                                            \
		return EXPRESSION;                                                                 \
	}
#define LAUNCH (warp->core->launch)
VALUE(tid_x, warp->tid[0][lane])
VALUE(tid_y, warp->tid[1][lane])
VALUE(tid_z, warp->tid[2][lane])
VALUE(ntid_x, LAUNCH->block[0])
VALUE(ntid_y, LAUNCH->block[1])
VALUE(ntid_z, LAUNCH->block[2])
VALUE(ctaid_x, warp->core->ctaid[0])
VALUE(ctaid_y, warp->core->ctaid[1])
VALUE(ctaid_z, warp->core->ctaid[2])
#define CLUSTERS(K) (LAUNCH->grid[K] / CLUSTER(K))
#define CLUSTER(K)  (LAUNCH->cluster[K] ? LAUNCH->cluster[K] : 1)
VALUE(clusterid_x, warp->core->ctaid[0] / CLUSTER(0))
VALUE(clusterid_y, warp->core->ctaid[1] / CLUSTER(1))
VALUE(clusterid_z, warp->core->ctaid[2] / CLUSTER(2))
VALUE(nclusterid_x, CLUSTERS(0))
VALUE(nclusterid_y, CLUSTERS(1))
VALUE(nclusterid_z, CLUSTERS(2))
VALUE(cluster_ctaid_x, warp->core->ctaid[0] % CLUSTER(0))
VALUE(cluster_ctaid_y, warp->core->ctaid[1] % CLUSTER(1))
VALUE(cluster_ctaid_z, warp->core->ctaid[2] % CLUSTER(2))
VALUE(cluster_nctaid_x, CLUSTER(0))
VALUE(cluster_nctaid_y, CLUSTER(1))
VALUE(cluster_nctaid_z, CLUSTER(2))
VALUE(cluster_ctarank, warp->core->rank)
VALUE(cluster_nctarank, CLUSTER(0) * CLUSTER(1) * CLUSTER(2))
VALUE(is_explicit_cluster, LAUNCH->cluster[0] ? GT_PTX_FULL : 0)
VALUE(nctaid_x, LAUNCH->grid[0])
VALUE(nctaid_y, LAUNCH->grid[1])
VALUE(nctaid_z, LAUNCH->grid[2])
VALUE(laneid, lane)
VALUE(warpid, warp->index)
VALUE(nwarpid, 64)
VALUE(smid, LAUNCH->sms ? warp->core->block % LAUNCH->sms : 0)
VALUE(nsmid, LAUNCH->sms ? LAUNCH->sms : 1)
VALUE(gridid, warp->core->launches)
VALUE(current_graph, LAUNCH->graph)
VALUE(lanemask_eq, UINT64_C(1) << lane)
VALUE(lanemask_lt, (UINT64_C(1) << lane) - 1)
VALUE(lanemask_le, (UINT64_C(2) << lane) - 1)
VALUE(lanemask_gt, GT_PTX_FULL & ~((UINT64_C(2) << lane) - 1))
VALUE(lanemask_ge, GT_PTX_FULL & ~((UINT64_C(1) << lane) - 1))
VALUE(issued, warp->issued + warp->timer.skipped)
VALUE(issued_high, (warp->issued + warp->timer.skipped) >> 32)
VALUE(zero, 0)
VALUE(one, 1)
VALUE(dynamic_shared, LAUNCH->dynamic_shared)
#define RESERVED_HERE (warp->core->program->reads_reserved ? GT_PTX_RESERVED : 0)
VALUE(total_shared, warp->core->shared_bytes - RESERVED_HERE)
VALUE(reserved_from, warp->core->shared_bytes - GT_PTX_RESERVED)
VALUE(reserved_middle, warp->core->shared_bytes - GT_PTX_RESERVED / 2)
VALUE(reserved_to, warp->core->shared_bytes)
VALUE(reserved_cap, GT_PTX_RESERVED)
VALUE(workspace_high, LAUNCH->workspace >> 32)
VALUE(workspace_low, LAUNCH->workspace & UINT32_MAX)

static const struct gt_ptx_special specials[] = {
	{"%tid.x", GT_PTX_U32, GT_PTX_OF_LAUNCH, tid_x, true},
	{"%tid.y", GT_PTX_U32, GT_PTX_OF_LAUNCH, tid_y, true},
	{"%tid.z", GT_PTX_U32, GT_PTX_OF_LAUNCH, tid_z, true},
	{"%tid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, zero, false},
	{"%ntid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, one, false},
	{"%ntid.x", GT_PTX_U32, GT_PTX_OF_LAUNCH, ntid_x, false},
	{"%ntid.y", GT_PTX_U32, GT_PTX_OF_LAUNCH, ntid_y, false},
	{"%ntid.z", GT_PTX_U32, GT_PTX_OF_LAUNCH, ntid_z, false},
	{"%ctaid.x", GT_PTX_U32, GT_PTX_OF_BLOCK, ctaid_x, false},
	{"%ctaid.y", GT_PTX_U32, GT_PTX_OF_BLOCK, ctaid_y, false},
	{"%ctaid.z", GT_PTX_U32, GT_PTX_OF_BLOCK, ctaid_z, false},
	{"%ctaid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, zero, false},
	{"%nctaid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, one, false},
	{"%nctaid.x", GT_PTX_U32, GT_PTX_OF_LAUNCH, nctaid_x, false},
	{"%nctaid.y", GT_PTX_U32, GT_PTX_OF_LAUNCH, nctaid_y, false},
	{"%nctaid.z", GT_PTX_U32, GT_PTX_OF_LAUNCH, nctaid_z, false},
	{"%clusterid.x", GT_PTX_U32, GT_PTX_OF_BLOCK, clusterid_x, false},
	{"%clusterid.y", GT_PTX_U32, GT_PTX_OF_BLOCK, clusterid_y, false},
	{"%clusterid.z", GT_PTX_U32, GT_PTX_OF_BLOCK, clusterid_z, false},
	{"%clusterid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, zero, false},
	{"%nclusterid.x", GT_PTX_U32, GT_PTX_OF_LAUNCH, nclusterid_x, false},
	{"%nclusterid.y", GT_PTX_U32, GT_PTX_OF_LAUNCH, nclusterid_y, false},
	{"%nclusterid.z", GT_PTX_U32, GT_PTX_OF_LAUNCH, nclusterid_z, false},
	{"%nclusterid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, one, false},
	{"%cluster_ctaid.x", GT_PTX_U32, GT_PTX_OF_BLOCK, cluster_ctaid_x, false},
	{"%cluster_ctaid.y", GT_PTX_U32, GT_PTX_OF_BLOCK, cluster_ctaid_y, false},
	{"%cluster_ctaid.z", GT_PTX_U32, GT_PTX_OF_BLOCK, cluster_ctaid_z, false},
	{"%cluster_ctaid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, zero, false},
	{"%cluster_nctaid.x", GT_PTX_U32, GT_PTX_OF_LAUNCH, cluster_nctaid_x, false},
	{"%cluster_nctaid.y", GT_PTX_U32, GT_PTX_OF_LAUNCH, cluster_nctaid_y, false},
	{"%cluster_nctaid.z", GT_PTX_U32, GT_PTX_OF_LAUNCH, cluster_nctaid_z, false},
	{"%cluster_nctaid.w", GT_PTX_U32, GT_PTX_OF_LAUNCH, one, false},
	{"%cluster_ctarank", GT_PTX_U32, GT_PTX_OF_BLOCK, cluster_ctarank, false},
	{"%cluster_nctarank", GT_PTX_U32, GT_PTX_OF_LAUNCH, cluster_nctarank, false},
	{"%is_explicit_cluster", GT_PTX_PRED, GT_PTX_OF_LAUNCH, is_explicit_cluster, false},
	{"%laneid", GT_PTX_U32, GT_PTX_OF_LAUNCH, laneid, true},
	{"%warpid", GT_PTX_U32, GT_PTX_OF_LAUNCH, warpid, false},
	{"%nwarpid", GT_PTX_U32, GT_PTX_OF_LAUNCH, nwarpid, false},
	{"%smid", GT_PTX_U32, GT_PTX_OF_BLOCK, smid, false},
	{"%nsmid", GT_PTX_U32, GT_PTX_OF_LAUNCH, nsmid, false},
	{"%gridid", GT_PTX_U64, GT_PTX_OF_LAUNCH, gridid, false},
	{"%current_graph_exec", GT_PTX_U64, GT_PTX_OF_LAUNCH, current_graph, false},
	{"%lanemask_eq", GT_PTX_U32, GT_PTX_OF_LAUNCH, lanemask_eq, true},
	{"%lanemask_lt", GT_PTX_U32, GT_PTX_OF_LAUNCH, lanemask_lt, true},
	{"%lanemask_le", GT_PTX_U32, GT_PTX_OF_LAUNCH, lanemask_le, true},
	{"%lanemask_gt", GT_PTX_U32, GT_PTX_OF_LAUNCH, lanemask_gt, true},
	{"%lanemask_ge", GT_PTX_U32, GT_PTX_OF_LAUNCH, lanemask_ge, true},
	{"%clock", GT_PTX_U32, GT_PTX_OF_MOMENT, issued, false},
	{"%clock_hi", GT_PTX_U32, GT_PTX_OF_MOMENT, issued_high, false},
	{"%clock64", GT_PTX_U64, GT_PTX_OF_MOMENT, issued, false},
	{"%globaltimer", GT_PTX_U64, GT_PTX_OF_MOMENT, issued, false},
	{"%globaltimer_lo", GT_PTX_U32, GT_PTX_OF_MOMENT, issued, false},
	{"%globaltimer_hi", GT_PTX_U32, GT_PTX_OF_MOMENT, issued_high, false},
	{"%dynamic_smem_size", GT_PTX_U32, GT_PTX_OF_LAUNCH, dynamic_shared, false},
	{"%total_smem_size", GT_PTX_U32, GT_PTX_OF_LAUNCH, total_shared, false},
	{"%aggr_smem_size", GT_PTX_U32, GT_PTX_OF_LAUNCH, total_shared, false},
	{"%reserved_smem_offset_begin", GT_PTX_U32, GT_PTX_OF_LAUNCH, reserved_from, false},
	{"%reserved_smem_offset_end", GT_PTX_U32, GT_PTX_OF_LAUNCH, reserved_to, false},
	{"%reserved_smem_offset_cap", GT_PTX_U32, GT_PTX_OF_LAUNCH, reserved_cap, false},
	{"%reserved_smem_offset_0", GT_PTX_U32, GT_PTX_OF_LAUNCH, reserved_from, false},
	{"%reserved_smem_offset_1", GT_PTX_U32, GT_PTX_OF_LAUNCH, reserved_middle, false},
	{"%envreg1", GT_PTX_U32, GT_PTX_OF_LAUNCH, workspace_high, false},
	{"%envreg2", GT_PTX_U32, GT_PTX_OF_LAUNCH, workspace_low, false},
};

const struct gt_ptx_special *gt_ptx_special_named(const char *name)
{
	static const struct gt_ptx_special environment = {"%envreg", GT_PTX_U32, GT_PTX_OF_LAUNCH, zero, false};

	for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
		if (strcmp(specials[i].name, name) == 0)
			return &specials[i];
	return strncmp(name, "%envreg", 7) == 0 ? &environment : NULL;
}

void gt_ptx_fill_special(const struct gt_ptx_warp *warp, const struct gt_ptx_special *special,
			 unsigned char *lanes)
{
	uint64_t wide = special->value(warp, 0), *longs = (uint64_t *)(void *)lanes;
	uint32_t *words = (uint32_t *)(void *)lanes;

	if (special->type == GT_PTX_PRED)
		*words = (uint32_t)wide;
	else if (special->type == GT_PTX_U64)
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			longs[lane] = special->by_lane ? special->value(warp, lane) : wide;
	else if (special->by_lane)
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			words[lane] = (uint32_t)special->value(warp, lane);
	else
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			words[lane] = (uint32_t)wide;
}

#define WAITING_READS 1024 /* of a clock at one instruction, in a row */
#define WAITING_LOOP 64	   /* instructions between two of them, at most */

/* A loop that waits until a time, such as one of milliseconds, would issue millions of instructions in each warp. Once a warp does nothing
 * else for long, each read of the clock finds it later by a part of the time since the first, so that the wait ends soon. */
static void pass_time(struct gt_ptx_warp *warp, const struct gt_ptx_op *op)
{
	struct gt_ptx_timer *timer = &warp->timer;
	const uint64_t now = warp->issued + timer->skipped;

	if (op != timer->at || warp->issued - timer->last > WAITING_LOOP) {
		timer->at = op;
		timer->first = now;
		timer->reads = 0;
	} else if (timer->reads < WAITING_READS) {
		timer->reads++;
	} else {
		timer->skipped += (now - timer->first) / 16;
	}
	timer->last = warp->issued;
}

const struct gt_ptx_op *gt_ptx_read_special(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					    uint32_t mask)
{
	const struct gt_ptx_special *special = warp->frame->code->specials[op->with.immediate].special;
	unsigned size = gt_ptx_type_size(special->type);
	uint64_t room[GT_WARP_SIZE];
	unsigned char *values = (unsigned char *)room, *lanes = gt_ptx_lanes(warp, op->d);

	warp->core->ran->clock = special->name; /* all that are read each time are clocks */
	if (special->value != issued_high) /* it is read beside the lower half, before and behind */
		pass_time(warp, op);
	gt_ptx_fill_special(warp, special, values);
	/* Lanes of other paths may be in the middle of an instruction and use this slot. */
	for (uint32_t m = mask; m; m &= m - 1)
		memcpy(lanes + gt_ptx_lowest(m) * size, values + gt_ptx_lowest(m) * size, size);
	return op + 1;
}
