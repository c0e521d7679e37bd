/* SPDX-License-Identifier: MIT */
/* What an access is in the trace: its rows, their operation and their hints. */
#include <inttypes.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/policy.h"
#include "stream/hint.h"

/* From a lane's address to its place in local memory. */
static uint64_t local_offset(const struct gt_ptx_warp *warp, const struct gt_ptx_access *access, const struct gt_ptx_reach *reach)
{
	return reach->offset - (access->space == GT_PTX_GENERIC ? GT_PTX_LOCAL_BASE : 0) + (access->in_frame ? warp->local_at : 0);
}

/* Local memory is interleaved by words over the lanes of a warp, as in hardware, so an access of more than 4 bytes becomes one
 * access for each word. */
static int trace_local(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		       const struct gt_ptx_reach *reach, uint8_t operation, uint16_t hint, unsigned bytes)
{
	const struct gt_ptx_core *core = warp->core;
	uint64_t words = core->local_words, lanes[GT_WARP_SIZE] = {0};
	uint64_t base =
		GT_PTX_LOCAL_BASE + (core->block * core->n_warps + warp->index) * words * 4 * GT_WARP_SIZE;
	uint64_t from = local_offset(warp, op->with.access, reach);
	unsigned size = bytes < 4 ? bytes : 4;

	for (unsigned word = 0; word < (bytes + 3) / 4; word++) {
		for (uint32_t m = mask; m; m &= m - 1) {
			unsigned lane = gt_ptx_lowest(m);
			uint64_t at = reach->lanes[lane] + from + 4 * word;
			lanes[lane] = base + (at / 4 * GT_WARP_SIZE + lane) * 4 + at % 4;
		}
		if (gt_ptx_trace(warp, op, mask, operation, hint, size, lanes, 0, gt_ptx_stride_plain(lanes, mask)) != 0)
			return -1;
	}
	return 0;
}

/* The priority in L2 from the lowest lane's cache policy. */
static int add_policy(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint16_t *hint)
{
	unsigned lane = gt_ptx_lowest(mask);
	uint64_t policy = ((const uint64_t *)gt_ptx_lanes(warp, op->with.access->policy))[lane];
	enum gt_priority priority = gt_ptx_policy_priority(policy);

	if (priority == GT_PRIORITY_NONE) {
		gt_ptx_fault(warp, op, lane, "0x%" PRIx64 " is no cache policy that is known", policy);
		return -1;
	}
	*hint = (uint16_t)((*hint & ~(7U << 3)) | (unsigned)priority << 3);
	return 0;
}

GT_INLINE bool is_cached(enum gt_space space)
{
	return space == GT_GLOBAL || space == GT_LOCAL;
}

/* What an access to a space is in the trace, but for what a cache policy says. */
GT_INLINE void name_plain(const struct gt_ptx_access *access, enum gt_space space, uint8_t *operation, uint16_t *hint)
{
	enum gt_operator said = access->scoped && space != GT_GLOBAL ? GT_OPERATOR_NONE : (enum gt_operator)access->operation;

	*operation = gt_op((enum gt_action)access->action, space, said);
	*hint = is_cached(space) ? access->hint : 0;
}

/* The same with it; -1 after a fault. */
GT_INLINE int name_access(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, enum gt_space space,
			  uint8_t *operation, uint16_t *hint)
{
	const struct gt_ptx_access *access = op->with.access;

	name_plain(access, space, operation, hint);
	return access->policy && is_cached(space) ? add_policy(warp, op, mask, hint) : 0;
}

struct gt_ptx_kept gt_ptx_row_of(const struct gt_ptx_op *op)
{
	const struct gt_ptx_access *access = op->with.access;
	struct gt_ptx_kept row = {.pc = op->line, .mask = GT_PTX_FULL, .size = (uint8_t)(access->size * access->n)};

	name_plain(access, (enum gt_space)gt_ptx_traced_space[access->space], &row.op, &row.hint);
	return row;
}

int gt_ptx_trace_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		       const struct gt_ptx_reach *reach, int64_t stride, unsigned bytes)
{
	const struct gt_ptx_access *access = op->with.access;
	enum gt_space space = (enum gt_space)gt_ptx_traced_space[reach->space];
	uint8_t operation;
	uint16_t hint;

	if (warp->core->traced & GT_PTX_NOTES_SPIN)
		gt_ptx_spin_note(warp->core, op->line, reach->lanes[gt_ptx_lowest(mask)] + reach->offset, space == GT_GLOBAL,
				 access->action == GT_STORE);
	if (access->untraced || !(warp->core->traced >> space & 1))
		return 0;
	if (name_access(warp, op, mask, space, &operation, &hint) != 0)
		return -1;
	if (space == GT_LOCAL)
		return trace_local(warp, op, mask, reach, operation, hint, bytes);
	uint64_t offset = reach->offset;
	if (reach->space == GT_PTX_SHARED && access->space == GT_PTX_GENERIC)
		offset -= GT_PTX_SHARED_BASE;
	return gt_ptx_trace(warp, op, mask, operation, hint, bytes, reach->lanes, offset, stride);
}

int gt_ptx_trace_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride, unsigned bytes)
{
	const struct gt_ptx_access *access = op->with.access;
	enum gt_space space = (enum gt_space)gt_ptx_traced_space[access->space];
	uint8_t operation;
	uint16_t hint;

	if (warp->core->traced & GT_PTX_NOTES_SPIN)
		gt_ptx_spin_note(warp->core, op->line, first, space == GT_GLOBAL,
				 access->action == GT_STORE);
	if (access->untraced || !(warp->core->traced >> space & 1))
		return 0;
	if (name_access(warp, op, GT_PTX_FULL, space, &operation, &hint) != 0)
		return -1;
	return gt_ptx_trace_whole(warp, op, operation, hint, bytes, first, stride);
}
