/* SPDX-License-Identifier: MIT */
/* Accesses that are traced: rows of the sink, or held for their order. */
#include "cuda/ptx/exec/hold.h"
#include "cuda/ptx/exec/lanes.h"
#include "stream/hint.h"
#include "stream/op.h"

/* The addresses of the active lanes. */
static void write_lanes(uint64_t *to, uint32_t mask, const uint64_t *lanes, uint64_t offset)
{
	if (mask == GT_PTX_FULL)
		for (int i = 0; i < GT_WARP_SIZE; i++)
			to[i] = lanes[i] + offset;
	else
		for (uint32_t m = mask; m; m &= m - 1)
			*to++ = lanes[gt_ptx_lowest(m)] + offset;
}

static uint64_t base_of(uint32_t mask, const uint64_t *lanes, uint64_t offset)
{
	return (lanes ? lanes[gt_ptx_lowest(mask)] : 0) + offset;
}

/* The column work of an access. One to shared memory takes its share, but the next one counts from the same place. */
static uint32_t note_work(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint8_t operation)
{
	uint64_t before = warp->issued - op->counts;
	uint32_t work = gt_work(before > warp->noted ? before - warp->noted : 0, warp->barriers, op->accesses && op->with.access->waits);

	if (gt_op_space(operation) != GT_SHARED) {
		warp->noted = warp->issued;
		warp->barriers = 0;
	}
	return work;
}

GT_INLINE int hold_access(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint8_t operation, uint16_t hint,
			  unsigned bytes, const uint64_t *lanes, uint64_t offset, int64_t stride, bool affine)
{
	struct gt_ptx_core *core = warp->core;
	struct gt_ptx_kept *kept = gt_ptx_hold_add(core->hold, (uint32_t)core->block, warp->index, warp->an, hint,
						   affine ? 0 : (size_t)__builtin_popcount(mask), core->error);

	if (!kept) {
		core->failed = true;
		return -1;
	}
	kept->base = affine ? base_of(mask, lanes, offset) : 0;
	kept->stride = stride;
	kept->pc = op->line;
	kept->mask = mask;
	kept->op = operation;
	kept->size = (uint8_t)bytes;
	kept->work = core->launch->notes_work ? note_work(warp, op, operation) : 0;
	core->hold->has_work = core->launch->notes_work;
	if (!affine)
		write_lanes((uint64_t *)(void *)(kept + 1), mask, lanes, offset);
	warp->an++;
	core->accesses++;
	return 0;
}

/* Fills the columns that all accesses have. */
static int begin_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint8_t operation,
		     uint16_t hint, unsigned bytes, size_t *row)
{
	struct gt_ptx_core *core = warp->core;
	struct gt_rows *rows = core->sink->rows;

	if (gt_sink_room(core->sink, core->error) != 0) {
		core->failed = true;
		return -1;
	}
	size_t i = rows->n++;
	rows->block[i] = (uint32_t)core->block;
	rows->warp[i] = (uint16_t)warp->index;
	rows->an[i] = warp->an++;
	rows->pc[i] = op->line;
	rows->op[i] = operation;
	rows->hint[i] = hint; /* set always: a later row of the batch may be the first with a hint */
	rows->has_hints |= hint != 0;
	if (core->launch->notes_work) {
		rows->has_work = true;
		rows->work[i] = note_work(warp, op, operation);
	}
	rows->size[i] = (uint8_t)bytes;
	rows->mask[i] = mask;
	core->accesses++;
	*row = i;
	return 0;
}

int gt_ptx_trace(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint8_t operation,
		 uint16_t hint, unsigned bytes, const uint64_t *lanes, uint64_t offset, int64_t stride)
{
	if (warp->core->hold)
		return hold_access(warp, op, mask, operation, hint, bytes, lanes, offset, stride, stride != GT_STRIDE_LANES);
	struct gt_rows *rows = warp->core->sink->rows;
	size_t i;
	if (begin_row(warp, op, mask, operation, hint, bytes, &i) != 0)
		return -1;
	rows->stride[i] = stride;
	if (stride != GT_STRIDE_LANES) {
		rows->base[i] = base_of(mask, lanes, offset);
		return 0;
	}
	if (gt_rows_reserve_lanes(rows, GT_WARP_SIZE, warp->core->error) != 0) {
		rows->n--; /* drop the row, whose addresses are missing */
		warp->core->failed = true;
		return -1;
	}
	rows->base[i] = rows->n_lanes;
	write_lanes(rows->lanes + rows->n_lanes, mask, lanes, offset);
	rows->n_lanes += (size_t)__builtin_popcount(mask);
	return 0;
}

int gt_ptx_trace_whole(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint8_t operation, uint16_t hint, unsigned bytes,
		       uint64_t first, int64_t stride)
{
	return warp->core->hold ? hold_access(warp, op, GT_PTX_FULL, operation, hint, bytes, NULL, first, stride, true)
				: gt_ptx_trace(warp, op, GT_PTX_FULL, operation, hint, bytes, NULL, first, stride);
}
