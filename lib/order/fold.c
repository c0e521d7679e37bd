/* SPDX-License-Identifier: MIT */
/* Folding: accesses of single threads become warp accesses. Those of one block, warp and ordinal that do the same (op, size, hint)
 * are lanes of one access. First as they arrive, where they fit the one before, as in most traces (gt_fold_in); what is left after
 * they were sorted (order/sort.h) is folded as it is written (gt_fold_out). */
#include "order/fold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/op.h"

static bool same_ordinal(const struct gt_packed *a, const struct gt_packed *b)
{
	return a->block == b->block && a->an == b->an && a->warp == b->warp && a->kernel == b->kernel;
}

void gt_pack_addresses(struct gt_packed *row, const uint64_t *addresses)
{
	row->base = addresses[0];
	row->affine = gt_affine_of(row->mask, addresses);
	row->lanes = row->affine.stride == GT_STRIDE_LANES ? (uint8_t)__builtin_popcount(row->mask) : 0;
}

/* Copies the addresses of the lanes in the mask without gaps; returns their number. */
static unsigned gather(uint32_t mask, const uint64_t *by_lane, uint64_t *addresses)
{
	unsigned n = 0;

	for (; mask; mask &= mask - 1)
		addresses[n++] = by_lane[__builtin_ctz(mask)];
	return n;
}

int gt_fold_in_pass(struct gt_fold_in *fold, struct gt_sorter *to, struct gt_error *error)
{
	uint64_t gathered[GT_WARP_SIZE];
	const uint64_t *addresses = fold->addresses;

	if (fold->row.mask != UINT32_MAX) {
		gather(fold->row.mask, fold->addresses, gathered);
		addresses = gathered;
	}
	gt_pack_addresses(&fold->row, addresses);
	int result = gt_sorter_add(to, &fold->row, addresses, error);
	fold->row.mask = 0;
	return result;
}

int gt_fold_in_add(struct gt_fold_in *fold, const struct gt_packed *row, struct gt_sorter *to,
		   struct gt_error *error)
{
	struct gt_packed *open = &fold->row;
	bool fits = (open->mask & row->mask) == 0 && same_ordinal(open, row) && open->op == row->op &&
		    open->hint == row->hint && open->size == row->size && open->pc == row->pc && open->sm == row->sm;

	if (open->mask != 0 && fits) {
		open->mask |= row->mask;
	} else {
		if (gt_fold_in_flush(fold, to, error) != 0)
			return -1;
		*open = *row;
	}
	fold->addresses[__builtin_ctz(row->mask)] = row->base;
	return 0;
}

/* A warp access that is being assembled. */
struct group {
	uint8_t op, size;
	uint16_t sm, hint;
	uint32_t pc, work, shared;
	uint32_t mask;
	uint64_t order; /* when its lowest lane made its access */
	uint64_t addresses[GT_WARP_SIZE]; /* by lane */
};

struct gt_fold_out {
	struct gt_sink *sink;
	struct gt_fold_counts counts;
	/* Rows of one (block, warp, ordinal): the first is written as it is, and taken back if a second follows. */
	struct gt_packed last; /* of which kernel, block, warp and ordinal count */
	unsigned rows;
	struct group *groups;
	size_t n, capacity;
	uint64_t accesses; /* thread accesses put into groups */
};

struct gt_fold_out *gt_fold_out_open(struct gt_sink *sink, struct gt_error *error)
{
	struct gt_fold_out *fold = calloc(1, sizeof *fold);

	if (fold)
		fold->sink = sink;
	else
		gt_fail_memory(error, "folding");
	return fold;
}

void gt_fold_out_close(struct gt_fold_out *fold)
{
	if (!fold)
		return;
	free(fold->groups);
	free(fold);
}

/* Adds a row, or takes it away if `rows` is -1 modulo 2^64. */
static inline void count(struct gt_fold_counts *counts, uint8_t op, uint32_t mask, uint64_t rows)
{
	enum gt_action action = gt_op_action(op);

	counts->accesses += rows;
	*(action == GT_LOAD ? &counts->loads : action == GT_STORE ? &counts->stores : &counts->atomics) += rows;
	counts->threads += rows * (mask == UINT32_MAX ? GT_WARP_SIZE : (uint64_t)__builtin_popcount(mask));
}

/* Writes a finished row, its addresses packed. */
static inline int emit(struct gt_fold_out *fold, const struct gt_packed *row, const uint64_t *lanes,
		       struct gt_error *error)
{
	struct gt_rows *rows = fold->sink->rows;

	if (gt_sink_room(fold->sink, error) != 0)
		return -1;
	size_t i = rows->n;
	rows->base[i] = row->base;
	if (row->lanes > 0) {
		if (gt_rows_reserve_lanes(rows, row->lanes, error) != 0)
			return -1;
		rows->base[i] = rows->n_lanes;
		memcpy(rows->lanes + rows->n_lanes, lanes, row->lanes * sizeof *lanes);
		rows->n_lanes += row->lanes;
	}
	rows->block[i] = row->block;
	rows->warp[i] = row->warp;
	rows->an[i] = row->an;
	rows->pc[i] = row->pc;
	rows->op[i] = row->op;
	rows->hint[i] = row->hint;
	rows->work[i] = row->work;
	rows->shared[i] = row->shared;
	rows->size[i] = row->size;
	rows->mask[i] = row->mask;
	gt_rows_set_affine(rows, i, row->affine);
	rows->step[i] = 0;
	rows->sm[i] = row->sm;
	rows->n = i + 1;
	count(&fold->counts, row->op, row->mask, 1);
	return 0;
}

/* Takes the row that was written last back. Returns its addresses if it lists them, valid until another is written. */
static const uint64_t *take_back(struct gt_fold_out *fold, struct gt_packed *row)
{
	struct gt_rows *rows = fold->sink->rows;
	size_t i = --rows->n;
	bool listed = rows->stride[i] == GT_STRIDE_LANES;

	*row = (struct gt_packed){
		.kernel = fold->last.kernel, .block = rows->block[i], .an = rows->an[i], .pc = rows->pc[i], .mask = rows->mask[i],
		.work = rows->work[i], .shared = rows->shared[i], .warp = (uint8_t)rows->warp[i], .sm = rows->sm[i], .op = rows->op[i], .size = rows->size[i],
		.hint = rows->hint[i], .base = rows->base[i], .affine = gt_rows_affine(rows, i),
		.lanes = listed ? (uint8_t)__builtin_popcount(rows->mask[i]) : 0,
	};
	rows->n_lanes -= row->lanes;
	count(&fold->counts, row->op, row->mask, UINT64_MAX);
	return listed ? rows->lanes + rows->n_lanes : NULL;
}

/* The group for one more access of this kind by this lane. */
static struct group *find_group(struct gt_fold_out *fold, const struct gt_packed *row, unsigned lane,
				struct gt_error *error)
{
	for (size_t i = 0; i < fold->n; i++) {
		struct group *group = &fold->groups[i];
		if (group->op == row->op && group->size == row->size && group->hint == row->hint &&
		    !(group->mask >> lane & 1))
			return group;
	}
	if (fold->n == GT_FOLD_MAX) {
		gt_fail(error,
			"warp %u of block %" PRIu32 " has more than %d warp accesses numbered %" PRIu32,
			row->warp, row->block, GT_FOLD_MAX, row->an);
		return NULL;
	}
	struct group *groups = gt_grown(fold->groups, fold->n, &fold->capacity, sizeof *groups);

	if (!groups) {
		gt_fail_memory(error, "folding");
		return NULL;
	}
	fold->groups = groups;
	struct group *group = &fold->groups[fold->n++];
	group->op = row->op;
	group->hint = row->hint;
	group->size = row->size;
	group->mask = 0;
	return group;
}

static int add_to_groups(struct gt_fold_out *fold, const struct gt_packed *row, const uint64_t *lanes,
			 struct gt_error *error)
{
	unsigned n = 0, lowest = (unsigned)__builtin_ctz(row->mask);

	for (uint32_t rest = row->mask; rest; rest &= rest - 1, n++) {
		unsigned lane = (unsigned)__builtin_ctz(rest);
		struct group *group = find_group(fold, row, lane, error);
		if (!group)
			return -1;
		if (group->mask == 0 || lane < (unsigned)__builtin_ctz(group->mask)) {
			group->order = fold->accesses;
			group->pc = row->pc;
			group->work = row->work;
			group->shared = row->shared;
			group->sm = row->sm;
		}
		group->mask |= UINT32_C(1) << lane;
		group->addresses[lane] = row->lanes > 0 ? lanes[n]
							: row->base + gt_affine_from(&row->affine, lowest, lane);
		fold->accesses++;
	}
	return 0;
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int lane_a = __builtin_ctz(a->mask), lane_b = __builtin_ctz(b->mask);

	return lane_a != lane_b ? lane_a - lane_b : a->order < b->order ? -1 : 1;
}

static int emit_groups(struct gt_fold_out *fold, struct gt_error *error)
{
	uint64_t addresses[GT_WARP_SIZE];

	qsort(fold->groups, fold->n, sizeof *fold->groups, compare_groups);
	for (size_t i = 0; i < fold->n; i++) {
		const struct group *group = &fold->groups[i];
		struct gt_packed row = fold->last;
		row.op = group->op;
		row.hint = group->hint;
		row.size = group->size;
		row.sm = group->sm;
		row.pc = group->pc;
		row.work = group->work;
		row.shared = group->shared;
		row.mask = group->mask;
		gather(group->mask, group->addresses, addresses);
		gt_pack_addresses(&row, addresses);
		if (emit(fold, &row, addresses, error) != 0)
			return -1;
	}
	fold->n = 0;
	fold->accesses = 0;
	return 0;
}

/* Ends the rows of one (block, warp, ordinal). */
static inline int close_ordinal(struct gt_fold_out *fold, struct gt_error *error)
{
	return fold->rows > 1 ? emit_groups(fold, error) : 0;
}

/* Puts the rows of an ordinal that has more than one into groups. */
static int add_further(struct gt_fold_out *fold, const struct gt_packed *row, const uint64_t *lanes, struct gt_error *error)
{
	struct gt_packed first;

	if (fold->rows++ == 1) {
		const uint64_t *first_lanes = take_back(fold, &first);
		if (add_to_groups(fold, &first, first_lanes, error) != 0)
			return -1;
	}
	return add_to_groups(fold, row, lanes, error);
}

int gt_fold_out_add(struct gt_fold_out *fold, const struct gt_packed *row, const uint64_t *lanes, struct gt_error *error)
{
	if (fold->rows > 0 && same_ordinal(&fold->last, row))
		return add_further(fold, row, lanes, error);
	if (close_ordinal(fold, error) != 0)
		return -1;
	fold->last.kernel = row->kernel;
	fold->last.block = row->block;
	fold->last.an = row->an;
	fold->last.warp = row->warp;
	fold->rows = 1;
	return emit(fold, row, lanes, error);
}

int gt_fold_out_flush(struct gt_fold_out *fold, struct gt_fold_counts *counts, struct gt_error *error)
{
	int result = close_ordinal(fold, error);

	fold->rows = 0;
	*counts = fold->counts;
	fold->counts = (struct gt_fold_counts){0};
	return result;
}
