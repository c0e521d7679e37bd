/* SPDX-License-Identifier: MIT */
/* Whether the addresses of lanes are side by side, or one place. Accesses by the same register, as of neighbours in an array, differ in
 * their offsets only, so that the first one tests for all: a word of the stack has the stride that it found. */
#include <stddef.h>

#include "cuda/ptx/native/stretch_lanes.h"

#define UNKNOWN UINT32_MAX
#define FARTHEST 32 /* points back that an access is looked for: a bound for long blocks */

/* Whether a point writes to a slot. */
static bool writes(const struct gt_stretch *stretch, const struct gt_stretch_point *point, uint32_t slot)
{
	const struct gt_ptx_op *ops = &stretch->code->ops[point->op];

	if (point->kind == GT_STRETCH_MOVE) {
		for (unsigned k = 0; ops->with.access->action == GT_LOAD && k < ops->with.access->n; k++)
			if (ops->with.access->slots[k] == slot)
				return true;
		return false;
	}
	for (size_t i = 0; point->kind == GT_STRETCH_LANES && i < point->n; i++)
		if (ops[i].d == slot)
			return true;
	return false;
}

/* The last access before point i by a register that has the same since; NULL: there is none. */
static struct gt_stretch_point *find_like(const struct gt_stretch *stretch, size_t i)
{
	const struct gt_ptx_access *access = stretch->code->ops[stretch->points[i].op].with.access;

	for (size_t j = i; j-- > 0 && i - j <= FARTHEST;) {
		struct gt_stretch_point *point = &stretch->points[j];
		bool fast = false;
		if (writes(stretch, point, access->address))
			return NULL;
		if (point->kind != GT_STRETCH_MOVE || !gt_stretch_moves(&stretch->code->ops[point->op], &fast) || !fast)
			continue;
		if (stretch->code->ops[point->op].with.access->address == access->address)
			return point;
	}
	return NULL;
}

void gt_stretch_find_shapes(struct gt_stretch *stretch)
{
	stretch->n_shapes = 0;
	for (size_t i = 0; i < stretch->n; i++) {
		bool fast = false;
		if (stretch->points[i].kind != GT_STRETCH_MOVE || !gt_stretch_moves(&stretch->code->ops[stretch->points[i].op], &fast) || !fast)
			continue;
		struct gt_stretch_point *like = find_like(stretch, i);
		if (like && like->shape == 0 && stretch->n_shapes < GT_STRETCH_SHAPES) {
			like->shape = ++stretch->n_shapes;
			like->finds_shape = true;
		}
		stretch->points[i].shape = like ? like->shape : 0;
	}
}

/* mov dword [rbp + offset], stride */
static void set(struct gt_native_code *code, unsigned shape, uint32_t stride)
{
	gt_native_text(code, "\xc7\x85");
	gt_native_word(code, 4 * (shape - 1));
	gt_native_word(code, stride);
}

void gt_stretch_forget_shapes(const struct gt_stretch *stretch)
{
	for (unsigned shape = 1; shape <= stretch->n_shapes; shape++)
		set(stretch->segment.code, shape, UNKNOWN);
}

void gt_stretch_begin_shape(const struct gt_stretch_move *move)
{
	if (move->point->finds_shape)
		set(move->code, move->point->shape, UNKNOWN);
}

bool gt_stretch_is_constant(const struct gt_stretch_move *move)
{
	return gt_native_is_constant(move->stretch->segment.needs, move->access->address);
}

/* The jump if lanes are not as expected. */
static size_t write_comparisons(const struct gt_stretch_move *move, bool next)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;
	const struct gt_native_op add = {GT_0F, GT_66, wide, wide ? 0xd4 : 0xfe};
	const enum gt_stretch_apart apart = move->bytes == 8 ? GT_STRETCH_APART8 : GT_STRETCH_APART4;

	gt_stretch_vector(move, gt_native_xor, isa->third, isa->third, isa->third);
	for (unsigned i = 0; i < move->n_lanes; i++) {
		if (next)
			gt_stretch_constant(move, add, isa->second, isa->first, gt_stretch_apart(move, apart, i));
		isa->differ(segment, isa->third, next ? isa->second : isa->first, move->lanes[i]);
	}
	isa->compare_zero(segment, isa->third, isa->third);
	return gt_general_jump(move->code, GT_NOT_EQUAL);
}

size_t gt_stretch_write_tests(const struct gt_stretch_move *move, bool next)
{
	struct gt_native_code *code = move->code;
	const unsigned shape = move->point->shape;
	const uint32_t stride = next ? move->bytes : 0;
	size_t known = 0, differ = 0;

	if (shape) {
		gt_general_number_at(code, false, GT_COMPARE_NUMBER, GT_RBP, 4 * (shape - 1), stride);
		known = gt_general_jump(code, GT_EQUAL);
	}
	if (next || !gt_stretch_is_constant(move))
		differ = write_comparisons(move, next);
	if (shape) {
		set(code, shape, stride);
		gt_general_land(code, known);
	}
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RSI, next ? GT_WARP_SIZE * move->bytes : move->bytes);
	gt_stretch_slow_if(move, GT_BELOW);
	return differ;
}
