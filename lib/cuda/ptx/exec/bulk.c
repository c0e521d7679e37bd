/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/bulk.h"

#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/cluster.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/mbarrier.h"
#include "stream/hint.h"

#define PIECE 16 /* bytes of a lane's access */

/* Pieces that become one access of a warp. */
struct pieces {
	struct gt_ptx_warp *warp;
	const struct gt_ptx_op *op;
	struct gt_ptx_bulk *bulk;
	unsigned lane;	 /* whose copy it is */
	uint32_t blocks; /* that get it; 0: the one of the address */
	uint64_t (*change)(uint64_t old, uint64_t b, uint64_t c); /* NULL: copied */
	unsigned element; /* bytes */
	unsigned n, size;
	bool fills; /* shared memory with `filling`, without an access of global memory */
	unsigned char filling[PIECE];
	uint64_t outer[GT_WARP_SIZE], inner[GT_WARP_SIZE];
};

/* The address of a lane. */
static uint64_t address_of(const struct gt_ptx_warp *warp, const struct gt_ptx_access *base, unsigned lane)
{
	if (base->narrow)
		return ((const uint32_t *)gt_ptx_lanes(warp, base->address))[lane] + (uint32_t)base->offset;
	return ((const uint64_t *)gt_ptx_lanes(warp, base->address))[lane] + (uint64_t)base->offset;
}

/* Finds and records one end of the pieces. */
static bool reach_end(const struct pieces *pieces, struct gt_ptx_access *end, const uint64_t *addresses, uint32_t block,
		      struct gt_ptx_reach *reach)
{
	const uint32_t mask = pieces->n < GT_WARP_SIZE ? (UINT32_C(1) << pieces->n) - 1 : GT_PTX_FULL;
	const bool there = block != UINT32_MAX;
	uint64_t *lanes = gt_ptx_lanes(pieces->warp, end->address);
	struct gt_ptx_op op = *pieces->op;

	op.with.access = end;
	for (unsigned i = 0; i < pieces->n; i++)
		lanes[i] = there ? (block + 1) * GT_PTX_CLUSTER_STEP + addresses[i] % GT_PTX_CLUSTER_STEP : addresses[i];
	return gt_ptx_reach(pieces->warp, &op, mask, reach, pieces->size) == 0 &&
	       gt_ptx_note(pieces->warp, &op, mask, reach, pieces->size) == 0;
}

static void change_piece(const struct pieces *pieces, unsigned char *to, const unsigned char *from)
{
	for (unsigned at = 0; at < pieces->size; at += pieces->element) {
		uint64_t old = 0, new = 0;
		memcpy(&old, to + at, pieces->element);
		memcpy(&new, from + at, pieces->element);
		new = pieces->change(old, new, 0);
		memcpy(to + at, &new, pieces->element);
	}
}

/* Copies the pieces into shared memory, of the block of this rank, or that of their addresses. */
static bool copy_in(const struct pieces *pieces, const struct gt_ptx_reach *from, uint32_t block)
{
	struct gt_ptx_reach to;

	if (!reach_end(pieces, &pieces->bulk->inner, pieces->inner, block, &to))
		return false;
	for (unsigned i = 0; i < pieces->n; i++)
		memcpy(gt_ptx_place_of(&to, i), pieces->fills ? pieces->filling : gt_ptx_place_of(from, i), pieces->size);
	return true;
}

static bool copy_out(const struct pieces *pieces)
{
	struct gt_ptx_reach from, to;

	if (!reach_end(pieces, &pieces->bulk->inner, pieces->inner, UINT32_MAX, &from) ||
	    !reach_end(pieces, &pieces->bulk->outer, pieces->outer, UINT32_MAX, &to))
		return false;
	for (unsigned i = 0; i < pieces->n; i++)
		if (pieces->change)
			change_piece(pieces, gt_ptx_place_of(&to, i), gt_ptx_place_of(&from, i));
		else
			memcpy(gt_ptx_place_of(&to, i), gt_ptx_place_of(&from, i), pieces->size);
	return true;
}

/* Makes the accesses of the pieces so far. */
static bool flush(struct pieces *pieces)
{
	struct gt_ptx_bulk *bulk = pieces->bulk;
	struct gt_ptx_reach from;
	bool good = true;

	if (pieces->n == 0)
		return true;
	if (bulk->stores) {
		good = copy_out(pieces);
	} else if (!pieces->fills && !reach_end(pieces, &bulk->outer, pieces->outer, UINT32_MAX, &from)) {
		good = false;
	} else if (!bulk->prefetches && pieces->blocks == 0) {
		good = copy_in(pieces, &from, UINT32_MAX);
	} else if (!bulk->prefetches) {
		for (uint32_t left = pieces->blocks; left && good; left &= left - 1)
			good = copy_in(pieces, &from, gt_ptx_lowest(left));
	}
	pieces->n = 0;
	return good;
}

static bool add_piece(struct pieces *pieces, uint64_t outer, uint64_t inner, unsigned size, bool fills)
{
	if ((pieces->n == GT_WARP_SIZE || pieces->size != size || pieces->fills != fills) && !flush(pieces))
		return false;
	pieces->size = size;
	pieces->fills = fills;
	pieces->outer[pieces->n] = outer;
	pieces->inner[pieces->n++] = inner;
	return true;
}

/* ---- successive bytes ---- */

static bool copy_bytes(struct pieces *pieces, uint32_t bytes)
{
	const struct gt_ptx_bulk *bulk = pieces->bulk;
	const uint64_t outer = address_of(pieces->warp, &bulk->outer_base, pieces->lane);
	const uint64_t inner = bulk->prefetches ? 0 : address_of(pieces->warp, &bulk->inner_base, pieces->lane);

	if (bytes % PIECE != 0) {
		gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "a bulk copy of %u bytes: a multiple of 16 expected", bytes);
		return false;
	}
	for (uint32_t at = 0; at < bytes; at += PIECE)
		if (!add_piece(pieces, outer + at, inner + at, PIECE, false))
			return false;
	return flush(pieces);
}

/* ---- a box of a tensor ---- */

static const struct gt_tensor_map *map_of(const struct pieces *pieces, struct gt_tensor_map *map)
{
	const uint64_t address = address_of(pieces->warp, &pieces->bulk->outer_base, pieces->lane);
	const unsigned char *place = gt_ptx_place_at(pieces->warp, pieces->lane, address, sizeof *map);

	if (place)
		memcpy(map, place, sizeof *map);
	const bool found = place && map->magic == GT_TENSOR_MAGIC && map->rank == pieces->bulk->rank;
	if (found && gt_tensor_is_sound(map))
		return map;
	gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "at 0x%llx is %s tensor map of rank %u%s", (unsigned long long)address,
		     found ? "a" : "no", pieces->bulk->rank, found ? " whose fields do not fit each other" : "");
	return NULL;
}

/* Bytes [begin, end) of a row of the box, which has its first byte at these addresses. */
static bool copy_run(struct pieces *pieces, const struct gt_tensor_map *map, uint64_t outer, uint64_t inner, uint64_t begin,
		     uint64_t end, bool fills)
{
	uint64_t size = PIECE;

	while ((begin | end | (fills ? 0 : outer + begin)) % size != 0)
		size /= 2;
	for (uint64_t at = begin; at < end; at += size)
		if (!add_piece(pieces, outer + at, gt_swizzled(inner + at, (enum gt_tensor_swizzle)map->swizzle), (unsigned)size, fills))
			return false;
	return true;
}

/* A row of the box: what is outside of the tensor is filled, or not stored. */
static bool copy_row(struct pieces *pieces, const struct gt_tensor_map *map, int32_t first, bool inside, uint64_t outer,
		     uint64_t inner)
{
	const int64_t bytes = gt_tensor_bytes(map), n = map->box[0], behind = (int64_t)map->last[0] + 1 - first;
	const bool fills = !pieces->bulk->stores && !pieces->bulk->prefetches;
	int64_t low = first < 0 ? -(int64_t)first : 0, high = behind < n ? behind : n;

	low = low < n && inside ? low : n;
	high = high > low ? high : low;
	outer += (uint64_t)(first * bytes);
	return (!fills || copy_run(pieces, map, outer, inner, 0, (uint64_t)(low * bytes), true)) &&
	       copy_run(pieces, map, outer, inner, (uint64_t)(low * bytes), (uint64_t)(high * bytes), false) &&
	       (!fills || copy_run(pieces, map, outer, inner, (uint64_t)(high * bytes), (uint64_t)(n * bytes), true));
}

static void prepare_filling(struct pieces *pieces, const struct gt_tensor_map *map)
{
	const unsigned bytes = gt_tensor_bytes(map);

	memset(pieces->filling, map->fills_nan ? 0xff : 0, PIECE);
	for (unsigned at = bytes - 1; map->fills_nan && at < PIECE; at += bytes)
		pieces->filling[at] = 0x7f;
}

/* Returns the bytes that the box has; 0 after a fault. */
static uint32_t copy_box(struct pieces *pieces)
{
	struct gt_ptx_bulk *bulk = pieces->bulk;
	struct gt_tensor_map map;
	int32_t coordinates[GT_TENSOR_RANK_MAX];
	uint64_t rows = 1;

	if (!map_of(pieces, &map))
		return 0;
	for (unsigned d = 0; d < map.rank; d++)
		coordinates[d] = ((const int32_t *)gt_ptx_lanes(pieces->warp, bulk->coordinates[d]))[pieces->lane];
	pieces->element = gt_tensor_bytes(&map);
	if (bulk->reduces && !(pieces->change = gt_ptx_change(bulk->reduces, gt_tensor_ptx_type(&map)))) {
		gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "this operation on the elements of the tensor map is not modelled");
		return 0;
	}
	if (!bulk->stores && gt_hint_fetch(bulk->hint) == 0)
		bulk->outer.hint = (uint16_t)(bulk->hint | map.promotion << 6);
	prepare_filling(pieces, &map);
	for (unsigned d = 1; d < map.rank; d++)
		rows *= gt_tensor_extent(&map, d);
	const uint64_t row_bytes = (uint64_t)map.box[0] * pieces->element;
	const uint64_t inner = bulk->prefetches ? 0 : address_of(pieces->warp, &bulk->inner_base, pieces->lane);
	for (uint64_t row = 0; row < rows; row++) {
		uint64_t rest = row, outer = map.address;
		bool inside = true;
		for (unsigned d = 1; d < map.rank; rest /= gt_tensor_extent(&map, d), d++) {
			int64_t at = coordinates[d] + (int64_t)(rest % gt_tensor_extent(&map, d)) * map.steps[d];
			inside = inside && at >= 0 && at <= (int64_t)map.last[d];
			outer += (uint64_t)at * map.strides[d - 1];
		}
		if (!copy_row(pieces, &map, coordinates[0], inside, outer, inner + row * row_bytes))
			return 0;
	}
	return flush(pieces) ? (uint32_t)(rows * row_bytes) : 0;
}

/* ---- all of it ---- */

/* Reports to the mbarriers of a lane: that of the address, or those at the same place in other blocks. */
static bool report(const struct pieces *pieces, const uint32_t *sizes)
{
	struct gt_ptx_access *mbarrier = &pieces->bulk->mbarrier, there = *mbarrier;
	const uint32_t mask = UINT32_C(1) << pieces->lane;

	if (pieces->blocks == 0)
		return gt_ptx_mbarrier_complete(pieces->warp, pieces->op, mbarrier, mask, sizes);
	const uint64_t address = address_of(pieces->warp, mbarrier, pieces->lane) % GT_PTX_CLUSTER_STEP;
	there.address = pieces->bulk->inner.address;
	there.narrow = false;
	there.offset = 0;
	for (uint32_t left = pieces->blocks; left; left &= left - 1) {
		((uint64_t *)gt_ptx_lanes(pieces->warp, there.address))[pieces->lane] =
			(gt_ptx_lowest(left) + 1) * GT_PTX_CLUSTER_STEP + address;
		if (!gt_ptx_mbarrier_complete(pieces->warp, pieces->op, &there, mask, sizes))
			return false;
	}
	return true;
}

const struct gt_ptx_op *gt_ptx_copy_bulk(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_bulk *bulk = (struct gt_ptx_bulk *)op->with.access;
	uint32_t sizes[GT_WARP_SIZE] = {0};

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		struct pieces pieces = {.warp = warp, .op = op, .bulk = bulk, .lane = lane};
		if (bulk->blocks && !(pieces.blocks = ((const uint32_t *)gt_ptx_lanes(warp, bulk->blocks))[lane] & 0xffff))
			return gt_ptx_fault(warp, op, lane, "a copy to none of the blocks of the cluster");
		if (bulk->reduces) {
			pieces.change = gt_ptx_change(bulk->reduces, bulk->type);
			pieces.element = gt_ptx_type_size(bulk->type);
		}
		if (bulk->rank > 0 && !(sizes[lane] = copy_box(&pieces)))
			return NULL;
		if (bulk->rank == 0) {
			sizes[lane] = ((const uint32_t *)gt_ptx_lanes(warp, bulk->bytes))[lane];
			if (!copy_bytes(&pieces, sizes[lane]))
				return NULL;
		}
		if (bulk->mbarrier.address && !report(&pieces, sizes))
			return NULL;
	}
	return op + 1;
}
