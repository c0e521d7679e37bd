/* SPDX-License-Identifier: MIT */
/* Atomics, one lane after the other from the lowest, and what else needs the memory of lanes. */
#include <string.h>

#include "cuda/ptx/exec/cluster.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/forms.h"
#include "cuda/ptx/exec/half.h"
#include "stream/op.h"

#define CHANGE(ID, T, EXPRESSION)                                                                            \
	static uint64_t ID(uint64_t old, uint64_t b, uint64_t c)                                             \
	{                                                                                                    \
		const T x = (T)old, y = (T)b, z = (T)c;                                                      \
		(void)x, (void)y, (void)z;                                                                   \
		return (uint64_t)(EXPRESSION);                                                               \
	}
#define INTEGERS(BITS)                                                                                       \
	CHANGE(add_##BITS, uint##BITS##_t, (uint##BITS##_t)(x + y))                                          \
	CHANGE(and_##BITS, uint##BITS##_t, x &y)                                                             \
	CHANGE(or_##BITS, uint##BITS##_t, x | y)                                                             \
	CHANGE(xor_##BITS, uint##BITS##_t, x ^ y)                                                            \
	CHANGE(exch_##BITS, uint##BITS##_t, y)                                                               \
	CHANGE(cas_##BITS, uint##BITS##_t, x == y ? z : x)                                                   \
	CHANGE(inc_##BITS, uint##BITS##_t, x >= y ? 0 : x + 1)                                               \
	CHANGE(dec_##BITS, uint##BITS##_t, x == 0 || x > y ? y : x - 1)                                      \
	CHANGE(min_u##BITS, uint##BITS##_t, x < y ? x : y)                                                   \
	CHANGE(max_u##BITS, uint##BITS##_t, x > y ? x : y)                                                   \
	CHANGE(min_s##BITS, int##BITS##_t, x < y ? x : y)                                                    \
	CHANGE(max_s##BITS, int##BITS##_t, x > y ? x : y)
INTEGERS(32)
INTEGERS(64)
CHANGE(exch_16, uint16_t, y)
CHANGE(cas_16, uint16_t, x == y ? z : x)

static uint64_t add_f32(uint64_t old, uint64_t b, uint64_t c)
{
	float sum = gt_ptx_from_bits((uint32_t)old) + gt_ptx_from_bits((uint32_t)b);
	uint32_t bits;

	(void)c;
	memcpy(&bits, &sum, sizeof bits);
	return sum == sum ? bits : 0x7fffffff;
}

static uint64_t flushed(uint64_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* In global memory subnormal values count as zeros, in shared memory they do not (PTX, atom). */
static uint64_t add_f32_global(uint64_t old, uint64_t b, uint64_t c)
{
	return flushed(add_f32(flushed(old), flushed(b), c));
}

static uint64_t add_f64(uint64_t old, uint64_t b, uint64_t c)
{
	double x, y;

	(void)c;
	memcpy(&x, &old, sizeof x);
	memcpy(&y, &b, sizeof y);
	x += y;
	memcpy(&old, &x, sizeof old);
	return old;
}

static uint64_t add_f16(uint64_t old, uint64_t b, uint64_t c)
{
	(void)c;
	return gt_ptx_to_half((double)gt_ptx_from_half((uint16_t)old) + (double)gt_ptx_from_half((uint16_t)b),
			      GT_PTX_RN);
}

static uint64_t add_bf16(uint64_t old, uint64_t b, uint64_t c)
{
	(void)c;
	return gt_ptx_to_bfloat(gt_ptx_odd_sum((double)gt_ptx_from_bfloat((uint16_t)old),
					       (double)gt_ptx_from_bfloat((uint16_t)b)),
				GT_PTX_RN);
}

static uint64_t add_f16x2(uint64_t old, uint64_t b, uint64_t c)
{
	return add_f16(old & 0xffff, b & 0xffff, c) | add_f16(old >> 16 & 0xffff, b >> 16 & 0xffff, c) << 16;
}

static uint64_t add_bf16x2(uint64_t old, uint64_t b, uint64_t c)
{
	return add_bf16(old & 0xffff, b & 0xffff, c) | add_bf16(old >> 16 & 0xffff, b >> 16 & 0xffff, c)
							       << 16;
}

static const struct {
	const char *operation;
	enum gt_ptx_type type;
	uint64_t (*change)(uint64_t old, uint64_t b, uint64_t c);
} changes[] = {
	{"add", GT_PTX_U32, add_32},	    {"add", GT_PTX_S32, add_32},      {"add", GT_PTX_U64, add_64},
	{"add", GT_PTX_S64, add_64},	    {"add", GT_PTX_F32, add_f32},     {"add", GT_PTX_F64, add_f64},
	{"add", GT_PTX_F16, add_f16},	    {"add", GT_PTX_F16X2, add_f16x2}, {"add", GT_PTX_BF16, add_bf16},
	{"add", GT_PTX_BF16X2, add_bf16x2}, {"inc", GT_PTX_U32, inc_32},      {"dec", GT_PTX_U32, dec_32},
	{"inc", GT_PTX_U64, inc_64},	    {"dec", GT_PTX_U64, dec_64},      {"min", GT_PTX_U32, min_u32},
	{"min", GT_PTX_S32, min_s32},	    {"min", GT_PTX_U64, min_u64},     {"min", GT_PTX_S64, min_s64},
	{"max", GT_PTX_U32, max_u32},	    {"max", GT_PTX_S32, max_s32},     {"max", GT_PTX_U64, max_u64},
	{"max", GT_PTX_S64, max_s64},	    {"and", GT_PTX_B32, and_32},      {"or", GT_PTX_B32, or_32},
	{"xor", GT_PTX_B32, xor_32},	    {"and", GT_PTX_B64, and_64},      {"or", GT_PTX_B64, or_64},
	{"xor", GT_PTX_B64, xor_64},	    {"exch", GT_PTX_B32, exch_32},    {"exch", GT_PTX_B64, exch_64},
	{"exch", GT_PTX_B16, exch_16},	    {"cas", GT_PTX_B32, cas_32},      {"cas", GT_PTX_B64, cas_64},
	{"cas", GT_PTX_B16, cas_16},
};

uint64_t (*gt_ptx_change(const struct gt_ptx_instruction *instruction,
			 enum gt_ptx_type type))(uint64_t, uint64_t, uint64_t)
{
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
		if (type == changes[i].type && gt_ptx_has(instruction, changes[i].operation))
			return changes[i].change;
	return NULL;
}

/* Lane by lane; inlined for each size. */
static inline __attribute__((always_inline)) void
change_lanes(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, const struct gt_ptx_reach *reach,
	     uint64_t (*change)(uint64_t, uint64_t, uint64_t), const unsigned size)
{
	const struct gt_ptx_access *access = op->with.access;
	const unsigned char *b_lanes = gt_ptx_lanes(warp, access->slots[0]);
	const unsigned char *c_lanes = gt_ptx_lanes(warp, access->slots[1]);
	unsigned char *d_lanes = op->d ? gt_ptx_lanes(warp, op->d) : NULL;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		unsigned char *place = gt_ptx_place_of(reach, lane);
		uint64_t old = 0, b = 0, c = 0;
		memcpy(&old, place, size);
		memcpy(&b, b_lanes + lane * size, size);
		memcpy(&c, c_lanes + lane * size, size);
		uint64_t new = change(old, b, c);
		memcpy(place, &new, size);
		if (d_lanes)
			memcpy(d_lanes + lane * size, &old, size);
	}
}

const struct gt_ptx_op *gt_ptx_atomic(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	struct gt_ptx_reach reach;
	unsigned size = access->size;

	if (gt_ptx_reach(warp, op, mask, &reach, size) != 0 || gt_ptx_note(warp, op, mask, &reach, size) != 0)
		return NULL;
	uint64_t (*change)(uint64_t, uint64_t, uint64_t) = access->change;
	if (change == add_f32 && reach.space == GT_PTX_GLOBAL)
		change = add_f32_global;
	/* Hash tables are larger than the host's caches: its misses overlap. */
	for (uint32_t m = mask; m; m &= m - 1)
		__builtin_prefetch(gt_ptx_place_of(&reach, gt_ptx_lowest(m)), 1);
	if (size == 4)
		change_lanes(warp, op, mask, &reach, change, 4);
	else if (size == 8)
		change_lanes(warp, op, mask, &reach, change, 8);
	else
		change_lanes(warp, op, mask, &reach, change, 2);
	return op + 1;
}

/* Each element of a vector is an atomic by itself. */
const struct gt_ptx_op *gt_ptx_vector_atomic(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	const unsigned size = access->size, bytes = size * access->n;
	struct gt_ptx_reach reach;

	if (gt_ptx_reach(warp, op, mask, &reach, bytes) != 0 || gt_ptx_note(warp, op, mask, &reach, bytes) != 0)
		return NULL;
	uint64_t (*change)(uint64_t, uint64_t, uint64_t) = access->change == add_f32 ? add_f32_global : access->change;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		unsigned char *place = gt_ptx_place_of(&reach, lane);
		for (unsigned k = 0; k < access->n; k++, place += size) {
			const unsigned char *b_lanes = gt_ptx_lanes(warp, access->slots[k]);
			uint64_t old = 0, b = 0;
			memcpy(&old, place, size);
			memcpy(&b, b_lanes + lane * size, size);
			uint64_t new = change(old, b, 0);
			memcpy(place, &new, size);
			if (access->results[k])
				memcpy((unsigned char *)gt_ptx_lanes(warp, access->results[k]) + lane * size, &old, size);
		}
	}
	return op + 1;
}

static bool is_constant(const struct gt_ptx_machine *machine, uint64_t address)
{
	for (size_t i = 0; i < machine->module->n_variables; i++)
		if (machine->variables[i].address && machine->module->variables[i].space == GT_PTX_CONST &&
		    address - machine->variables[i].address < machine->module->variables[i].bytes)
			return true;
	return false;
}

const struct gt_ptx_op *gt_ptx_is_space(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint64_t *lanes = gt_ptx_lanes(warp, op->a);
	const struct gt_ptx_machine *machine = warp->core->machine;
	uint32_t inside = 0;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t base = op->with.immediate ? op->with.immediate : GT_PTX_GLOBAL_BASE;
		/* Of a cluster's window the first part is the block's own. */
		bool is = lanes[lane] - base < (op->b ? GT_PTX_CLUSTER_STEP : GT_PTX_WINDOW);
		/* Constants lie among global memory. */
		if (!op->with.immediate)
			is = is && is_constant(machine, lanes[lane]) == op->choice;
		inside |= (uint32_t)is << lane;
	}
	gt_ptx_set_predicate(warp, op->d, mask, inside);
	return op + 1;
}
