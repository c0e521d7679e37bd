/* SPDX-License-Identifier: MIT */
/* mov: copies, and vectors packed into one value or unpacked from it. Forms whose names are not PTX opcodes are steps that the
 * decoder inserts: changes of width (registers may be wider than the value loaded), and parts of vectors. */
#include "cuda/ptx/exec/lanes.h"

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

#define MOVES(X) COPIES(X) WIDTHS(X) PARTS(X)
MOVES(GT_LANES)
#define COPY_NAME(T, N) {"mov." #T, GT_TYPE_##T, {GT_TYPE_##T}, GT_STEPS(mov_##N)},
static const struct gt_ptx_form move_rows[] = {
	MOVES(GT_ROW) COPY_NAME(u32, 32) COPY_NAME(s32, 32) COPY_NAME(f32, 32) COPY_NAME(u64, 64) COPY_NAME(s64, 64)
	COPY_NAME(f64, 64) COPY_NAME(u16, 16) COPY_NAME(s16, 16) COPY_NAME(f16, 16) COPY_NAME(bf16, 16)
	COPY_NAME(f16x2, 32) COPY_NAME(bf16x2, 32) COPY_NAME(u8, 8) COPY_NAME(s8, 8)
};
const struct gt_ptx_forms gt_ptx_move_forms = {move_rows, sizeof move_rows / sizeof move_rows[0]};
