/* SPDX-License-Identifier: MIT */
/* Lane operations that move values as they are: within a lane, and between the lanes of a warp. */
#include <float.h>

#include "cuda/ptx/exec/lanes.h"

/* ---- moves within a lane ---- */

/* mov: copies, and vectors packed into one value or unpacked from it. Forms whose names are not PTX opcodes are steps that the
 * decoder inserts: changes of width (registers may be wider than the value loaded), and parts of vectors. */

#define COPIES(X)                                                                                \
	X(mov_16, "mov.b16", b16, b16, none, none, x) X(mov_32, "mov.b32", b32, b32, none, none, x) \
	X(mov_64, "mov.b64", b64, b64, none, none, x) X(mov_8, "mov.b8", b8, b8, none, none, x)
#define WIDTHS(X)                                                                                  \
	X(width_8_16, "width.b16.b8", b16, b8, none, none, x) X(width_8_32, "width.b32.b8", b32, b8, none, none, x) \
	X(width_8_64, "width.b64.b8", b64, b8, none, none, x)                                      \
	X(width_16_32, "width.b32.b16", b32, b16, none, none, x)                                   \
	X(width_16_64, "width.b64.b16", b64, b16, none, none, x)                                   \
	X(width_32_64, "width.b64.b32", b64, b32, none, none, x)                                   \
	X(width_s8_16, "width.s16.s8", s16, s8, none, none, x) X(width_s8_32, "width.s32.s8", s32, s8, none, none, x) \
	X(width_s8_64, "width.s64.s8", s64, s8, none, none, x)                                     \
	X(width_s16_32, "width.s32.s16", s32, s16, none, none, x)                                  \
	X(width_s16_64, "width.s64.s16", s64, s16, none, none, x)                                  \
	X(width_s32_64, "width.s64.s32", s64, s32, none, none, x)                                  \
	X(width_16_8, "width.b8.b16", b8, b16, none, none, x) X(width_32_8, "width.b8.b32", b8, b32, none, none, x) \
	X(width_64_8, "width.b8.b64", b8, b64, none, none, x)                                      \
	X(width_32_16, "width.b16.b32", b16, b32, none, none, x)                                   \
	X(width_64_16, "width.b16.b64", b16, b64, none, none, x)                                   \
	X(width_64_32, "width.b32.b64", b32, b64, none, none, x)
/* x combined with y's element shifted up by `choice` bits; and the value's bits from `choice` on. */
#define PARTS(X)                                                                                   \
	X(join_8_16, "join.b16.b8", b16, b16, b8, none, x | (uint32_t)y << op->choice)             \
	X(join_8_32, "join.b32.b8", b32, b32, b8, none, x | (uint32_t)y << op->choice)             \
	X(join_8_64, "join.b64.b8", b64, b64, b8, none, x | (uint64_t)y << op->choice)             \
	X(join_16_32, "join.b32.b16", b32, b32, b16, none, x | (uint32_t)y << op->choice)          \
	X(join_16_64, "join.b64.b16", b64, b64, b16, none, x | (uint64_t)y << op->choice)          \
	X(join_32_64, "join.b64.b32", b64, b64, b32, none, x | (uint64_t)y << op->choice)          \
	X(part_16_8, "part.b8.b16", b8, b16, none, none, x >> op->choice)                          \
	X(part_32_8, "part.b8.b32", b8, b32, none, none, x >> op->choice)                          \
	X(part_64_8, "part.b8.b64", b8, b64, none, none, x >> op->choice)                          \
	X(part_32_16, "part.b16.b32", b16, b32, none, none, x >> op->choice)                       \
	X(part_64_16, "part.b16.b64", b16, b64, none, none, x >> op->choice)                       \
	X(part_64_32, "part.b32.b64", b32, b64, none, none, x >> op->choice)

/* createpolicy's fields of a cache policy, as NVIDIA's headers compute them: the sixteenths of a fraction, less one; the size of a
 * range's blocks, of which there are 128 or fewer; and the blocks that a part of the range touches. */
GT_INLINE uint64_t sixteenths(float fraction)
{
	const float n = (fraction - FLT_EPSILON) * 16;

	return n >= 15 ? 15 : n > 0 ? (uint64_t)n : 0;
}
GT_INLINE uint64_t size_of_blocks(uint32_t total)
{
	unsigned n = 0;

	while (n < 13 && total > UINT32_C(1) << (19 + n))
		n++;
	return n;
}
GT_INLINE uint64_t blocks_of(uint64_t policy, uint64_t address, uint32_t bytes)
{
	const unsigned shift = 12 + (policy >> GT_PTX_POLICY_SIZE & 15);
	const uint64_t start = address >> shift, end = (address + bytes + (UINT64_C(1) << shift) - 1) >> shift;
	const uint64_t n = end - start > 127 ? 127 : end - start > 0 ? end - start : 1;

	return n << GT_PTX_POLICY_BLOCKS | (start & 127) << GT_PTX_POLICY_START;
}
#define POLICIES(X)                                                                                \
	X(policy_fraction, "policy.fraction", b64, b64, f32, none, x | sixteenths(y) << GT_PTX_POLICY_SIZE) \
	X(policy_total, "policy.total", b64, b64, u32, none, x | size_of_blocks(y) << GT_PTX_POLICY_SIZE) \
	X(policy_range, "policy.range", b64, b64, b64, u32, x | blocks_of(x, y, z))

#define MOVES(X) COPIES(X) WIDTHS(X) PARTS(X) POLICIES(X)
MOVES(GT_LANES)
#define COPY_NAME(T, N) {"mov." #T, GT_TYPE_##T, {GT_TYPE_##T}, GT_STEPS(mov_##N)},
static const struct gt_ptx_form move_rows[] = {
	MOVES(GT_ROW) COPY_NAME(u32, 32) COPY_NAME(s32, 32) COPY_NAME(f32, 32) COPY_NAME(u64, 64) COPY_NAME(s64, 64)
	COPY_NAME(f64, 64) COPY_NAME(u16, 16) COPY_NAME(s16, 16) COPY_NAME(f16, 16) COPY_NAME(bf16, 16)
	COPY_NAME(f16x2, 32) COPY_NAME(bf16x2, 32) COPY_NAME(u8, 8) COPY_NAME(s8, 8)
};
const struct gt_ptx_forms gt_ptx_move_forms = {move_rows, sizeof move_rows / sizeof move_rows[0]};

/* ---- between lanes ---- */

/* Exchanges between the lanes of a warp. All lanes of the mask take part as one group: paths.c forms the groups of .sync
 * operations; for others it is the active lanes. */

/* shfl, as PTX defines it: c holds the last lane (bits 0-4) and the segment mask (bits 8-12). Where each lane's value comes from,
 * and whether that is in range; a lane of which it is not keeps its own. Sources may be negative. */
enum { UP, DOWN, BUTTERFLY, INDEX };
#define SOURCES(NAME, SOURCE, IN_RANGE)                                                            \
	GT_INLINE void sources_##NAME(const uint32_t *counts, const uint32_t *limits, uint32_t *sources, uint8_t *valid) \
	{                                                                                          \
		for (int lane = 0; lane < GT_WARP_SIZE; lane++) {                                  \
			const int b = (int)(counts[lane] & 31), segment = (int)(limits[lane] >> 8 & 31); \
			const int most = (lane & segment) | ((int)(limits[lane] & 31) & ~segment), source = SOURCE; \
			const bool in_range = IN_RANGE;                                            \
			valid[lane] = in_range;                                                    \
			sources[lane] = (uint32_t)(in_range ? source : lane) & 31;                 \
		}                                                                                  \
	}
SOURCES(up, lane - b, source >= most)
SOURCES(down, lane + b, source <= most)
SOURCES(butterfly, lane ^ b, source <= most)
SOURCES(index, (lane & segment) | (b & ~segment), source <= most)

#define SHUFFLE(TARGET, VARIANT, ...)                                                              \
	TARGET GT_STEP_HEAD(shfl##VARIANT)                                                         \
	{                                                                                          \
		uint32_t *lanes_d = gt_ptx_lanes(warp, op->d), sources[GT_WARP_SIZE], moved[GT_WARP_SIZE]; \
		uint8_t valid[GT_WARP_SIZE];                                                       \
		GT_OPERANDS(b32, u32, u32)                                                         \
		switch (op->choice) {                                                              \
		case UP: sources_up(lanes_b, lanes_c, sources, valid); break;                      \
		case DOWN: sources_down(lanes_b, lanes_c, sources, valid); break;                  \
		case BUTTERFLY: sources_butterfly(lanes_b, lanes_c, sources, valid); break;        \
		default: sources_index(lanes_b, lanes_c, sources, valid); break;                   \
		}                                                                                  \
		gt_ptx_permuted##VARIANT(lanes_a, sources, moved);                                 \
		for (int i = 0; i < GT_WARP_SIZE; i++)                                             \
			lanes_d[i] = mask >> i & 1 ? moved[i] : lanes_d[i];                        \
		if (op->q)                                                                         \
			gt_ptx_set_predicate(warp, op->q, mask, gt_ptx_packed##VARIANT(valid));    \
		return op + 1;                                                                     \
	}
GT_VARIANTS(SHUFFLE, )

/* One result for all lanes from a predicate: a predicate or a word. */
#define VOTES(X)                                                                                   \
	X(vote_all, "vote.all.pred", pred, held == mask ? GT_PTX_FULL : 0)                         \
	X(vote_any, "vote.any.pred", pred, held ? GT_PTX_FULL : 0)                                 \
	X(vote_uni, "vote.uni.pred", pred, held == mask || !held ? GT_PTX_FULL : 0)                \
	X(vote_ballot, "vote.ballot.b32", b32, held)
GT_INLINE void answer_pred(GT_STEP_ARGUMENTS, uint32_t value)
{
	gt_ptx_set_predicate(warp, op->d, mask, value);
}
GT_INLINE void answer_b32(GT_STEP_ARGUMENTS, uint32_t value)
{
	uint32_t *lanes = gt_ptx_lanes(warp, op->d);

	for (uint32_t m = mask; m; m &= m - 1)
		lanes[gt_ptx_lowest(m)] = value;
}
#define VOTE(ID, NAME, D, EXPRESSION)                                                              \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		uint32_t held = gt_ptx_predicate(warp, op->a) & mask;                              \
		(void)held;                                                                        \
		answer_##D(warp, op, mask, EXPRESSION);                                            \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(ID)
VOTES(VOTE)
VOTE(activemask, "activemask.b32", b32, mask)
#define VOTE_ROW(ID, NAME, D, EXPRESSION) {NAME, GT_TYPE_##D, {GT_PTX_PRED}, GT_STEPS(ID)},

/* redux: the expression of x and y is folded over the lanes. */
#define REDUCTIONS(X)                                                                            \
	X(redux_add_u32, "redux.add.u32", u32, x + y) X(redux_add_s32, "redux.add.s32", u32, x + y) \
	X(redux_min_u32, "redux.min.u32", u32, x < y ? x : y) X(redux_min_s32, "redux.min.s32", s32, x < y ? x : y) \
	X(redux_max_u32, "redux.max.u32", u32, x > y ? x : y) X(redux_max_s32, "redux.max.s32", s32, x > y ? x : y) \
	X(redux_and, "redux.and.b32", b32, x & y) X(redux_or, "redux.or.b32", b32, x | y)        \
	X(redux_xor, "redux.xor.b32", b32, x ^ y)
#define REDUCTION(ID, NAME, T, EXPRESSION)                                                         \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		const GT_LANE_##T *lanes = gt_ptx_lanes(warp, op->a);                              \
		GT_LANE_##T x = lanes[gt_ptx_lowest(mask)];                                        \
		for (uint32_t m = mask & (mask - 1); m; m &= m - 1) {                              \
			const GT_LANE_##T y = lanes[gt_ptx_lowest(m)];                             \
			x = EXPRESSION;                                                            \
		}                                                                                  \
		answer_b32(warp, op, mask, (uint32_t)x);                                           \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(ID)
REDUCTIONS(REDUCTION)
#define REDUCTION_ROW(ID, NAME, T, EXPRESSION) {NAME, GT_TYPE_##T, {GT_TYPE_##T}, GT_STEPS(ID)},

/* match.any: the lanes with the same value; match.all: all lanes if they agree, and whether they do. */
#define MATCHES(N)                                                                                 \
	GT_INLINE const struct gt_ptx_op *match_any_##N(GT_STEP_ARGUMENTS)                         \
	{                                                                                          \
		const GT_LANE_b##N *lanes = gt_ptx_lanes(warp, op->a);                             \
		uint32_t *lanes_d = gt_ptx_lanes(warp, op->d), found[GT_WARP_SIZE];                \
		for (uint32_t left = mask, same; left; left &= ~same) {                            \
			const GT_LANE_b##N value = lanes[gt_ptx_lowest(left)];                     \
			same = 0;                                                                  \
			for (unsigned i = 0; i < GT_WARP_SIZE; i++)                                \
				same |= (uint32_t)(lanes[i] == value) << i;                        \
			same &= mask;                                                              \
			for (uint32_t m = same; m; m &= m - 1)                                     \
				found[gt_ptx_lowest(m)] = same;                                    \
		}                                                                                  \
		for (uint32_t m = mask; m; m &= m - 1)                                             \
			lanes_d[gt_ptx_lowest(m)] = found[gt_ptx_lowest(m)];                       \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_INLINE const struct gt_ptx_op *match_all_##N(GT_STEP_ARGUMENTS)                         \
	{                                                                                          \
		const GT_LANE_b##N *lanes = gt_ptx_lanes(warp, op->a), first = lanes[gt_ptx_lowest(mask)]; \
		bool same = true;                                                                  \
		for (uint32_t m = mask; m; m &= m - 1)                                             \
			same &= lanes[gt_ptx_lowest(m)] == first;                                  \
		answer_b32(warp, op, mask, same ? mask : 0);                                       \
		if (op->q)                                                                         \
			gt_ptx_set_predicate(warp, op->q, mask, same ? GT_PTX_FULL : 0);           \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(match_any_##N)                                                                    \
	GT_EVERY(match_all_##N)
MATCHES(32)
MATCHES(64)

/* elect: the lowest lane, and a predicate that is true in that lane only. */
GT_INLINE const struct gt_ptx_op *elect(GT_STEP_ARGUMENTS)
{
	answer_b32(warp, op, mask, gt_ptx_lowest(mask));
	gt_ptx_set_predicate(warp, op->q, mask, mask & (0 - mask));
	return op + 1;
}
GT_EVERY(elect)

static const struct gt_ptx_form lane_rows[] = {
	VOTES(VOTE_ROW) REDUCTIONS(REDUCTION_ROW)
	{"shfl", GT_PTX_B32, {GT_PTX_B32, GT_PTX_U32, GT_PTX_U32}, GT_STEPS(shfl)},
	{"match.any.b32", GT_PTX_B32, {GT_PTX_B32}, GT_STEPS(match_any_32)},
	{"match.any.b64", GT_PTX_B32, {GT_PTX_B64}, GT_STEPS(match_any_64)},
	{"match.all.b32", GT_PTX_B32, {GT_PTX_B32}, GT_STEPS(match_all_32)},
	{"match.all.b64", GT_PTX_B32, {GT_PTX_B64}, GT_STEPS(match_all_64)},
	{"activemask.b32", GT_PTX_B32, {GT_PTX_NO_TYPE}, GT_STEPS(activemask)},
	{"elect", GT_PTX_B32, {GT_PTX_NO_TYPE}, GT_STEPS(elect)},
};
const struct gt_ptx_forms gt_ptx_lane_forms = {lane_rows, sizeof lane_rows / sizeof lane_rows[0]};
