/* SPDX-License-Identifier: MIT */
/* Asynchronous copies: cp.async, the barriers in shared memory that they complete, and copies in bulk of bytes or of a box of a
 * tensor, with the tensor maps that describe it. */
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/tensor.h"
#include "stream/hint.h"

/* ---- cp.async ---- */

/* cp.async in two halves: from global memory to the warp's buffer, and on to shared memory. */

/* Moves the bytes of lanes between their places and the buffer. */
GT_INLINE void move(struct gt_ptx_warp *warp, const struct gt_ptx_reach *reach, uint32_t mask, bool stores, const size_t size)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		unsigned char *there = gt_ptx_place_of(reach, lane), *here = warp->copied[lane];
		memcpy(stores ? there : here, stores ? here : there, size);
	}
}

/* The sizes that there are, so that each is a move of a register. */
GT_INLINE void move_sized(struct gt_ptx_warp *warp, const struct gt_ptx_reach *reach, uint32_t mask, bool stores, size_t size)
{
	switch (size) {
	case 4: move(warp, reach, mask, stores, 4); return;
	case 8: move(warp, reach, mask, stores, 8); return;
	default: move(warp, reach, mask, stores, 16);
	}
}

/* The lanes of `mask` that copy anything; those that do not copy all of their bytes are added to *part, and the rest of theirs is
 * 0. */
static uint32_t copying(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint32_t *part)
{
	const uint32_t *copied = op->a ? gt_ptx_lanes(warp, op->a) : NULL;
	const uint32_t ignored = op->b ? gt_ptx_predicate(warp, op->b) : 0;
	const unsigned size = op->with.access->size;
	uint32_t none = mask & ignored;

	for (unsigned lane = 0; copied && lane < GT_WARP_SIZE; lane++) {
		none |= (uint32_t)(copied[lane] == 0) << lane;
		*part |= (uint32_t)(copied[lane] < size) << lane;
	}
	for (uint32_t m = mask & (none | *part); m; m &= m - 1)
		memset(warp->copied[gt_ptx_lowest(m)], 0, size);
	*part &= mask & ~none;
	return mask & ~none;
}

static void move_parts(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_reach *reach, uint32_t part)
{
	const uint32_t *copied = gt_ptx_lanes(warp, op->a);

	for (uint32_t m = part; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		memcpy(warp->copied[lane], gt_ptx_place_of(reach, lane), copied[lane]);
	}
}

#define COPIES(TARGET, VARIANT, ...)                                                                         \
	TARGET GT_STEP_HEAD(copy_from##VARIANT)                                                              \
	{                                                                                                    \
		const unsigned size = op->with.access->size;                                                 \
		uint32_t part = 0;                                                                           \
		const uint32_t reads = op->a || op->b ? copying(warp, op, mask, &part) : mask;               \
		struct gt_ptx_reach reach;                                                                   \
		if (!reads)                                                                                  \
			return op + 1;                                                                       \
		if (gt_ptx_reach##VARIANT(warp, op, reads, &reach, size) != 0 ||                             \
		    gt_ptx_note##VARIANT(warp, op, reads, &reach, size) != 0)                                \
			return NULL;                                                                         \
		move_sized(warp, &reach, reads & ~part, false, size);                                        \
		if (part)                                                                                    \
			move_parts(warp, op, &reach, part);                                                  \
		return op + 1;                                                                               \
	}                                                                                                    \
	TARGET GT_STEP_HEAD(copy_to##VARIANT)                                                                \
	{                                                                                                    \
		const unsigned size = op->with.access->size;                                                 \
		struct gt_ptx_reach reach;                                                                   \
		if (gt_ptx_reach##VARIANT(warp, op, mask, &reach, size) != 0 ||                              \
		    gt_ptx_note##VARIANT(warp, op, mask, &reach, size) != 0)                                 \
			return NULL;                                                                         \
		move_sized(warp, &reach, mask, true, size);                                                  \
		return op + 1;                                                                               \
	}
GT_VARIANTS(COPIES, )

gt_ptx_step *gt_ptx_copy_step(bool stores)
{
	static gt_ptx_step *const from[] = GT_STEPS(copy_from), *const to[] = GT_STEPS(copy_to);

	return (stores ? to : from)[gt_ptx_simd_variant()];
}

/* ---- mbarriers ---- */

#define BYTES_ZERO (INT64_C(1) << 20) /* as no bytes that are to come are kept */

struct state {
	uint64_t pending, expected, phase;
	int64_t bytes;
};

static struct state unpack(uint64_t bits)
{
	return (struct state){bits & GT_PTX_MBARRIER_COUNT_MAX, bits >> 20 & GT_PTX_MBARRIER_COUNT_MAX, bits >> 61,
			      (int64_t)(bits >> 40 & (2 * GT_PTX_MBARRIER_COUNT_MAX + 1)) - BYTES_ZERO};
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
		wrong = count == 0 || count > GT_PTX_MBARRIER_COUNT_MAX ? "an mbarrier expects 1 to 1048575 arrivals" : NULL;
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

static const struct gt_ptx_op *step_mbarrier(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
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
	if (!tests)
		return op + 1;
	if (over != mask) {
		warp->core->spin.looks = true;
		gt_ptx_spin_ask(warp->core);
	}
	gt_ptx_set_predicate(warp, op->d, mask, over);
	return op + 1;
}

/* Changes the mbarriers of the lanes, at the addresses of an access, by so much a lane. False after a fault. */
static bool change_mbarriers(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, struct gt_ptx_access *where, uint32_t mask,
			     enum gt_ptx_mbarrier_action action, const uint32_t *counts)
{
	struct gt_ptx_op report = *op;
	struct gt_ptx_reach reach;

	report.with.access = where;
	if (!reach_shared(warp, &report, mask, &reach, 8))
		return false;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		uint64_t before;
		const char *wrong = act(gt_ptx_place_of(&reach, lane), action, counts[lane], &before);
		if (wrong) {
			gt_ptx_fault(warp, op, lane, "%s", wrong);
			return false;
		}
	}
	return true;
}

/* ---- tensor maps ---- */

/* So many elements are copied as one: their bytes in global memory, and those that follow in shared memory; the type in PTX. */
struct tensor_type {
	uint8_t elements, bytes, apart;
	enum gt_ptx_type type;
};

static const struct tensor_type *type_in(const struct gt_tensor_map *map)
{
	static const struct tensor_type types[GT_TENSOR_TYPES] = {
		[GT_TENSOR_U8] = {1, 1, 0, GT_PTX_U8},
		[GT_TENSOR_U16] = {1, 2, 0, GT_PTX_U16},
		[GT_TENSOR_U32] = {1, 4, 0, GT_PTX_U32},
		[GT_TENSOR_S32] = {1, 4, 0, GT_PTX_S32},
		[GT_TENSOR_U64] = {1, 8, 0, GT_PTX_U64},
		[GT_TENSOR_S64] = {1, 8, 0, GT_PTX_S64},
		[GT_TENSOR_F16] = {1, 2, 0, GT_PTX_F16},
		[GT_TENSOR_F32] = {1, 4, 0, GT_PTX_F32},
		[GT_TENSOR_F64] = {1, 8, 0, GT_PTX_F64},
		[GT_TENSOR_BF16] = {1, 2, 0, GT_PTX_BF16},
		[GT_TENSOR_F32_FTZ] = {1, 4, 0, GT_PTX_F32},
		[GT_TENSOR_TF32] = {1, 4, 0, GT_PTX_F32},
		[GT_TENSOR_TF32_FTZ] = {1, 4, 0, GT_PTX_F32},
		[GT_TENSOR_16U4] = {2, 1, 0, GT_PTX_NO_TYPE},
		[GT_TENSOR_16U4_APART] = {16, 8, 8, GT_PTX_NO_TYPE},
		[GT_TENSOR_16U6_APART] = {16, 12, 4, GT_PTX_NO_TYPE},
	};

	return &types[map->type];
}

/* The bytes of a row of the box in shared memory. */
static uint32_t row_bytes(const struct gt_tensor_map *map)
{
	const struct tensor_type *type = type_in(map);

	return (uint32_t)map->box[0] / type->elements * (type->bytes + type->apart);
}

/* What elements that lie apart in shared memory ask for (CUDA, cuTensorMapEncodeTiled). */
static bool may_lie_apart(const struct gt_tensor_map *map)
{
	bool may = map->box[0] == 128 && (map->last[0] + 1) % 128 == 0 && map->address % 32 == 0 && map->pixels == 0 &&
		   (map->swizzle == GT_SWIZZLE_NONE || map->swizzle == GT_SWIZZLE_128 || map->swizzle == GT_SWIZZLE_128_BY_32);

	for (unsigned d = 1; d < map->rank; d++)
		may = may && map->strides[d - 1] % 32 == 0;
	return may;
}

bool gt_tensor_is_sound(const struct gt_tensor_map *map)
{
	static const unsigned spans[GT_SWIZZLES] = {UINT32_MAX, 32, 64, 128, 128};

	if (map->rank == 0 || map->rank > GT_TENSOR_RANK_MAX || map->type >= GT_TENSOR_TYPES || map->swizzle >= GT_SWIZZLES)
		return false;
	for (unsigned d = 0; d < map->rank; d++)
		if (map->box[d] == 0 || map->box[d] > 256 || map->steps[d] == 0 || map->steps[d] > 8 ||
		    (d > 0 && (map->strides[d - 1] % 16 != 0 || map->strides[d - 1] >> 40 != 0)))
			return false;
	const struct tensor_type *type = type_in(map);
	if (map->box[0] % type->elements != 0 || (map->last[0] + UINT64_C(1)) % type->elements != 0 || (type->apart && !may_lie_apart(map)))
		return false;
	return map->address % 16 == 0 && row_bytes(map) % 16 == 0 && row_bytes(map) <= spans[map->swizzle];
}

/* ---- copies in bulk ---- */

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
		lanes[i] = there ? gt_ptx_cluster_window(block) + addresses[i] % GT_PTX_CLUSTER_STEP : addresses[i];
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

/* The answer that no cluster was cancelled: its bytes, or 0 after a fault. */
static uint32_t decline(struct pieces *pieces)
{
	return add_piece(pieces, 0, address_of(pieces->warp, &pieces->bulk->inner_base, pieces->lane), PIECE, true) && flush(pieces) ? PIECE : 0;
}

/* ---- a box of a tensor ---- */

static const struct gt_tensor_map *map_of(const struct pieces *pieces, struct gt_tensor_map *map)
{
	const uint64_t address = address_of(pieces->warp, &pieces->bulk->outer_base, pieces->lane);
	const unsigned char *place = gt_ptx_place_at(pieces->warp, pieces->lane, address, sizeof *map);

	if (place)
		memcpy(map, place, sizeof *map);
	const bool found = place && map->magic == GT_TENSOR_MAGIC && map->rank == pieces->bulk->rank &&
			   (map->pixels != 0) == pieces->bulk->columns;
	if (found && gt_tensor_is_sound(map))
		return map;
	gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "at 0x%llx is %s tensor map of rank %u%s%s", (unsigned long long)address,
		     found ? "a" : "no", pieces->bulk->rank, pieces->bulk->columns ? " for im2col" : "",
		     found ? " whose fields do not fit each other" : "");
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

/* The same for elements that lie apart in shared memory: units [begin, end). */
static bool copy_apart(struct pieces *pieces, const struct gt_tensor_map *map, uint64_t outer, uint64_t inner, uint64_t begin,
		       uint64_t end, bool fills)
{
	const struct tensor_type *type = type_in(map);
	const unsigned unit = type->bytes + type->apart;

	for (uint64_t i = begin; i < end; i++)
		if (!copy_run(pieces, map, outer + i * type->bytes, inner + i * unit, 0, type->bytes, fills))
			return false;
	for (uint64_t i = begin; i < end && !pieces->bulk->stores && !pieces->bulk->prefetches; i++)
		if (!copy_run(pieces, map, 0, inner + i * unit, type->bytes, unit, true))
			return false;
	return true;
}

static bool copy_units(struct pieces *pieces, const struct gt_tensor_map *map, uint64_t outer, uint64_t inner, int64_t begin, int64_t end,
		       bool fills)
{
	const struct tensor_type *type = type_in(map);

	if (type->apart)
		return copy_apart(pieces, map, outer, inner, (uint64_t)begin, (uint64_t)end, fills);
	return copy_run(pieces, map, outer, inner, (uint64_t)begin * type->bytes, (uint64_t)end * type->bytes, fills);
}

/* A row of the box: what is outside of the tensor is filled, or not stored. */
static bool copy_row(struct pieces *pieces, const struct gt_tensor_map *map, int32_t first, bool inside, uint64_t outer,
		     uint64_t inner)
{
	const struct tensor_type *type = type_in(map);
	const int64_t n = map->box[0] / type->elements, at = first / type->elements;
	const int64_t behind = ((int64_t)map->last[0] + 1) / type->elements - at;
	const bool fills = !pieces->bulk->stores && !pieces->bulk->prefetches;
	int64_t low = at < 0 ? -at : 0, high = behind < n ? behind : n;

	low = low < n && inside ? low : n;
	high = high > low ? high : low;
	outer += (uint64_t)(at * type->bytes);
	return (!fills || copy_units(pieces, map, outer, inner, 0, low, true)) &&
	       copy_units(pieces, map, outer, inner, low, high, false) && (!fills || copy_units(pieces, map, outer, inner, high, n, true));
}

static void prepare_filling(struct pieces *pieces, const struct gt_tensor_map *map)
{
	const unsigned bytes = type_in(map)->bytes;

	memset(pieces->filling, map->fills_nan ? 0xff : 0, PIECE);
	for (unsigned at = bytes - 1; map->fills_nan && at < PIECE; at += bytes)
		pieces->filling[at] = 0x7f;
}

/* The first byte of the row of the tensor at a place, of which the first coordinate is 0; false: there is no such row. */
static bool row_at(const struct gt_tensor_map *map, const int64_t *place, uint64_t *outer)
{
	bool inside = true;

	*outer = map->address;
	for (unsigned d = 1; d < map->rank; d++) {
		inside = inside && place[d] >= 0 && place[d] <= (int64_t)map->last[d];
		*outer += (uint64_t)place[d] * map->strides[d - 1];
	}
	return inside;
}

static void place_in_box(const struct gt_tensor_map *map, const int32_t *first, uint64_t row, int64_t *place)
{
	for (unsigned d = 1; d < map->rank; row /= gt_tensor_extent(map, d), d++)
		place[d] = first[d] + (int64_t)(row % gt_tensor_extent(map, d)) * map->steps[d];
}

/* The next pixel of a column: dimension by dimension, the last of which counts images. */
static void step_pixel(const struct gt_tensor_map *map, int32_t *pixel)
{
	pixel[1] += map->steps[1];
	for (unsigned d = 1; d + 1 < map->rank && pixel[d] > (int64_t)map->last[d] + map->upper[d - 1]; d++) {
		pixel[d] = map->lower[d - 1];
		pixel[d + 1] += d + 2 < map->rank ? map->steps[d + 1] : 1;
	}
}

static void place_of_pixel(const struct pieces *pieces, const struct gt_tensor_map *map, const int32_t *pixel, int64_t *place)
{
	for (unsigned d = 1; d < map->rank; d++) {
		const uint32_t slot = d + 1 < map->rank ? pieces->bulk->offsets[d - 1] : 0;
		place[d] = pixel[d] + (slot ? (int64_t)((const uint32_t *)gt_ptx_lanes(pieces->warp, slot))[pieces->lane] : 0);
	}
}

/* Reads the map and the coordinates; false after a fault. */
static bool begin_box(struct pieces *pieces, struct gt_tensor_map *map, int32_t *coordinates)
{
	struct gt_ptx_bulk *bulk = pieces->bulk;

	if (!map_of(pieces, map))
		return false;
	if (bulk->scattered && map->box[1] != 1) {
		gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "rows are gathered, or scattered, by a tensor map with %u rows in its box: 1 expected",
			     map->box[1]);
		return false;
	}
	for (unsigned d = 0; d < (bulk->scattered ? 1 + GT_TENSOR_SCATTERED : map->rank); d++)
		coordinates[d] = ((const int32_t *)gt_ptx_lanes(pieces->warp, bulk->coordinates[d]))[pieces->lane];
	const struct tensor_type *type = type_in(map);
	if (coordinates[0] % type->elements != 0) {
		gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "coordinate %d of elements that are copied by %u", coordinates[0],
			     type->elements);
		return false;
	}
	pieces->element = type->bytes;
	if (bulk->reduces && !(pieces->change = gt_ptx_change(bulk->reduces, type->type))) {
		gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "this operation on the elements of the tensor map is not modelled");
		return false;
	}
	if (!bulk->stores && gt_hint_fetch(bulk->hint) == 0)
		bulk->outer.hint = (uint16_t)(bulk->hint | map->promotion << 6);
	prepare_filling(pieces, map);
	return true;
}

/* Returns the bytes that the box has, or the column, or the four rows; 0 after a fault. */
static uint32_t copy_box(struct pieces *pieces)
{
	struct gt_tensor_map map;
	int32_t coordinates[GT_TENSOR_RANK_MAX];
	int64_t place[GT_TENSOR_RANK_MAX];
	uint64_t rows = 1, outer;

	if (!begin_box(pieces, &map, coordinates))
		return 0;
	for (unsigned d = 1; d < map.rank; d++)
		rows *= gt_tensor_extent(&map, d);
	rows = map.pixels ? map.pixels : pieces->bulk->scattered ? GT_TENSOR_SCATTERED : rows;
	const uint64_t inner = pieces->bulk->prefetches ? 0 : address_of(pieces->warp, &pieces->bulk->inner_base, pieces->lane);
	for (uint64_t row = 0; row < rows; row++) {
		if (map.pixels)
			place_of_pixel(pieces, &map, coordinates, place);
		else if (pieces->bulk->scattered)
			place[1] = coordinates[1 + row];
		else
			place_in_box(&map, coordinates, row, place);
		const bool inside = row_at(&map, place, &outer);
		if (!copy_row(pieces, &map, coordinates[0], inside, outer, inner + row * row_bytes(&map)))
			return 0;
		if (map.pixels)
			step_pixel(&map, coordinates);
	}
	/* Zeros between elements do not count: CUTLASS' mbarriers expect so. */
	return flush(pieces) ? (uint32_t)rows * map.box[0] / type_in(&map)->elements * type_in(&map)->bytes : 0;
}

/* ---- all of it ---- */

/* The block whose mbarrier hears of what comes to a block; address: that of an mbarrier. */
static uint32_t reports_to(const struct pieces *pieces, uint64_t address, uint32_t block)
{
	return pieces->bulk->pairs ? block / 2 * 2 + gt_ptx_cluster_rank(pieces->warp->core, address) % 2 : block;
}

/* Reports to the mbarriers of a lane: that of the address, or those at the same place in other blocks. */
static bool report(const struct pieces *pieces, enum gt_ptx_mbarrier_action action, const uint32_t *counts)
{
	struct gt_ptx_access *mbarrier = &pieces->bulk->mbarrier, there = *mbarrier;
	const uint32_t mask = UINT32_C(1) << pieces->lane;
	const uint64_t whole = address_of(pieces->warp, mbarrier, pieces->lane), address = whole % GT_PTX_CLUSTER_STEP;

	if (pieces->blocks == 0)
		return change_mbarriers(pieces->warp, pieces->op, mbarrier, mask, action, counts);
	there.address = pieces->bulk->inner.address;
	there.narrow = false;
	there.offset = 0;
	for (uint32_t left = pieces->blocks; left; left &= left - 1) {
		((uint64_t *)gt_ptx_lanes(pieces->warp, there.address))[pieces->lane] =
			gt_ptx_cluster_window(reports_to(pieces, whole, gt_ptx_lowest(left))) + address;
		if (!change_mbarriers(pieces->warp, pieces->op, &there, mask, action, counts))
			return false;
	}
	return true;
}

/* The blocks that a lane names; all that there are, if it asks for the work of another cluster. False after a fault. */
static bool read_blocks(struct pieces *pieces)
{
	const struct gt_ptx_cluster *cluster = pieces->warp->core->cluster;

	if (!pieces->bulk->blocks)
		return true;
	pieces->blocks = ((const uint32_t *)gt_ptx_lanes(pieces->warp, pieces->bulk->blocks))[pieces->lane] & 0xffff;
	if (pieces->bulk->declines)
		pieces->blocks &= (UINT32_C(1) << (cluster ? cluster->n : 1)) - 1;
	if (pieces->blocks == 0)
		gt_ptx_fault(pieces->warp, pieces->op, pieces->lane, "the mask names no block of the cluster");
	return pieces->blocks != 0;
}

static const struct gt_ptx_op *arrive_in_blocks(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_bulk *bulk = (struct gt_ptx_bulk *)op->with.access;
	uint32_t counts[GT_WARP_SIZE];

	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		counts[lane] = 1;
	for (uint32_t m = mask; m; m &= m - 1) {
		struct pieces pieces = {.warp = warp, .op = op, .bulk = bulk, .lane = gt_ptx_lowest(m)};
		if (!read_blocks(&pieces) || !report(&pieces, GT_PTX_MBARRIER_ARRIVE, counts))
			return NULL;
	}
	return op + 1;
}

static const struct gt_ptx_op *copy_bulk(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_bulk *bulk = (struct gt_ptx_bulk *)op->with.access;
	uint32_t sizes[GT_WARP_SIZE] = {0};

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		struct pieces pieces = {.warp = warp, .op = op, .bulk = bulk, .lane = lane};
		if (!read_blocks(&pieces))
			return NULL;
		if (bulk->reduces) {
			pieces.change = gt_ptx_change(bulk->reduces, bulk->type);
			pieces.element = gt_ptx_type_size(bulk->type);
		}
		if (bulk->rank > 0 && !(sizes[lane] = copy_box(&pieces)))
			return NULL;
		if (bulk->declines && !((sizes[lane] = decline(&pieces))))
			return NULL;
		if (bulk->rank == 0 && !bulk->declines) {
			sizes[lane] = ((const uint32_t *)gt_ptx_lanes(warp, bulk->bytes))[lane];
			if (!copy_bytes(&pieces, sizes[lane]))
				return NULL;
		}
		if (bulk->mbarrier.address && !report(&pieces, GT_PTX_MBARRIER_COMPLETE, sizes))
			return NULL;
	}
	return op + 1;
}

/* ---- changes of tensor maps ---- */

/* Where the 128 bytes of a lane's map are; NULL after a fault. */
static unsigned char *map_at(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_access *base, unsigned lane)
{
	uint64_t address = base->narrow ? ((const uint32_t *)gt_ptx_lanes(warp, base->address))[lane] + (uint32_t)base->offset
					: ((const uint64_t *)gt_ptx_lanes(warp, base->address))[lane] + (uint64_t)base->offset;
	unsigned char *place = gt_ptx_place_at(warp, lane, address + (base->space == GT_PTX_SHARED ? GT_PTX_SHARED_BASE : 0),
					       sizeof(struct gt_tensor_map));

	if (!place || address % sizeof(struct gt_tensor_map) != 0) {
		gt_ptx_fault(warp, op, lane, "at 0x%llx is no room for a tensor map: 128 bytes, at a multiple of that",
			     (unsigned long long)address);
		return NULL;
	}
	return place;
}

/* The type of elements that PTX has the number for. */
static uint8_t type_of(uint64_t value)
{
	static const uint8_t types[] = {GT_TENSOR_U8, GT_TENSOR_U16, GT_TENSOR_U32, GT_TENSOR_S32, GT_TENSOR_U64, GT_TENSOR_S64,
					GT_TENSOR_F16, GT_TENSOR_F32, GT_TENSOR_F32_FTZ, GT_TENSOR_F64, GT_TENSOR_BF16,
					GT_TENSOR_TF32, GT_TENSOR_TF32_FTZ, GT_TENSOR_16U4, GT_TENSOR_16U4_APART, GT_TENSOR_16U6_APART};

	return value < sizeof types ? types[value] : GT_TENSOR_TYPES;
}

/* False if the field cannot have the value, or not in what is modelled. Fields that have to fit each other are looked at when
 * the map is used. */
static bool set(struct gt_tensor_map *map, const struct gt_ptx_remap *remap, uint64_t value)
{
	const unsigned d = remap->dimension;

	switch (remap->field) {
	case GT_TENSOR_FIELD_ADDRESS: map->address = value; return true;
	case GT_TENSOR_FIELD_RANK: map->rank = (uint8_t)(value + 1); return value < GT_TENSOR_RANK_MAX;
	case GT_TENSOR_FIELD_BOX: map->box[d] = (uint16_t)value; return value > 0 && value <= 256;
	case GT_TENSOR_FIELD_EXTENT: map->last[d] = (uint32_t)value - 1; return value > 0;
	case GT_TENSOR_FIELD_STRIDE: map->strides[d] = value; return true;
	case GT_TENSOR_FIELD_STEP: map->steps[d] = (uint8_t)value; return value > 0 && value <= 8;
	case GT_TENSOR_FIELD_TYPE: map->type = type_of(value); return map->type < GT_TENSOR_TYPES;
	case GT_TENSOR_FIELD_SWIZZLE: map->swizzle = (uint8_t)value; return value <= GT_SWIZZLE_128;
	case GT_TENSOR_FIELD_FILL: map->fills_nan = value == 1; return value < 2;
	default: return value == 0; /* interleaved layouts, and other swizzles than of 16 bytes */
	}
}

/* A map of zeros is one that a kernel begins. */
static bool begin(struct gt_tensor_map *map)
{
	static const struct gt_tensor_map nothing;

	if (memcmp(map, &nothing, sizeof nothing) != 0)
		return map->magic == GT_TENSOR_MAGIC;
	*map = (struct gt_tensor_map){.magic = GT_TENSOR_MAGIC, .rank = 1};
	return true;
}

static const struct gt_ptx_op *replace_in_map(GT_STEP_ARGUMENTS)
{
	static const char *const names[] = {
#define NAME(IDENTIFIER, word) word,
		GT_TENSOR_FIELDS(NAME)
#undef NAME
	};
	const struct gt_ptx_remap *remap = (const struct gt_ptx_remap *)op->with.access;

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		const uint64_t value = remap->wide ? ((const uint64_t *)gt_ptx_lanes(warp, remap->value))[lane]
						   : ((const uint32_t *)gt_ptx_lanes(warp, remap->value))[lane];
		unsigned char *place = map_at(warp, op, &remap->place, lane);
		struct gt_tensor_map map;
		if (!place)
			return NULL;
		memcpy(&map, place, sizeof map);
		if (!begin(&map))
			return gt_ptx_fault(warp, op, lane, "what is there is no tensor map, nor zeros, of which one is made");
		if (!set(&map, remap, value))
			return gt_ptx_fault(warp, op, lane, "a tensor map with %llu as its %s is not possible, or not modelled",
					    (unsigned long long)value, names[remap->field]);
		memcpy(place, &map, sizeof map);
	}
	return op + 1;
}

/* All lanes name the same two maps. */
static const struct gt_ptx_op *copy_map(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_remap *remap = (const struct gt_ptx_remap *)op->with.access;
	const unsigned lane = gt_ptx_lowest(mask);
	unsigned char *from = map_at(warp, op, &remap->from, lane), *to = from ? map_at(warp, op, &remap->place, lane) : NULL;

	if (!to)
		return NULL;
	memcpy(to, from, sizeof(struct gt_tensor_map));
	return op + 1;
}

const struct gt_ptx_async_steps gt_ptx_async_steps = {
	.bulk = copy_bulk,
	.arrive = arrive_in_blocks,
	.mbarrier = step_mbarrier,
	.replace_in_map = replace_in_map,
	.copy_map = copy_map,
};
