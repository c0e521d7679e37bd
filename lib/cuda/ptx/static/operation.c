/* SPDX-License-Identifier: MIT */
/* Evaluates integer operations that are no sums of products, in the width and sign of their type. */
#include <string.h>

#include "cuda/ptx/static/parts.h"

static bool is_signed(enum gt_ptx_type type) { return type >= GT_PTX_S8 && type <= GT_PTX_S64; }
static unsigned bits_of(enum gt_ptx_type type) { return 8 * gt_ptx_type_size(type); }

enum gt_ptx_type gt_static_type(const struct gt_ptx_instruction *instruction)
{
	for (size_t i = instruction->n_modifiers; i-- > 0;) {
		const char *modifier = instruction->modifiers[i];
		enum gt_ptx_type type = gt_ptx_type_named(modifier, strlen(modifier));

		if (type != GT_PTX_NO_TYPE)
			return type;
	}
	return GT_PTX_NO_TYPE;
}

int64_t gt_static_narrow(int64_t number, enum gt_ptx_type type)
{
	unsigned bits = bits_of(type);
	uint64_t kept, sign;

	if (bits == 0 || bits >= 64)
		return number;
	kept = (uint64_t)number & ((UINT64_C(1) << bits) - 1);
	sign = UINT64_C(1) << (bits - 1);
	return is_signed(type) && kept & sign ? (int64_t)(kept - (sign << 1)) : (int64_t)kept;
}

static int64_t shift_right(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	uint64_t shift = (uint64_t)o[1] & UINT32_MAX;

	(void)instruction;
	if (is_signed(type)) {
		if (shift > 63)
			shift = 63;
		return o[0] < 0 ? (int64_t) ~(~(uint64_t)o[0] >> shift) : (int64_t)((uint64_t)o[0] >> shift);
	}
	return shift >= bits_of(type) ? 0 : (int64_t)((uint64_t)o[0] >> shift);
}

static int64_t shift_left(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	uint64_t shift = (uint64_t)o[1] & UINT32_MAX;

	(void)instruction;
	return shift >= bits_of(type) ? 0 : (int64_t)((uint64_t)o[0] << shift);
}

static int64_t both(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return o[0] & o[1];
}

static int64_t either(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return o[0] | o[1];
}

static int64_t differing(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return o[0] ^ o[1];
}

static int64_t inverted(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return ~o[0];
}

/* Division by zero gives all ones, as on GPUs. */
static int64_t quotient(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	if (o[1] == 0)
		return -1;
	if (!is_signed(type))
		return (int64_t)((uint64_t)o[0] / (uint64_t)o[1]);
	return o[1] == -1 ? (int64_t) - (uint64_t)o[0] : o[0] / o[1];
}

static int64_t remainder_of(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	if (o[1] == 0)
		return o[0];
	if (!is_signed(type))
		return (int64_t)((uint64_t)o[0] % (uint64_t)o[1]);
	return o[1] == -1 ? 0 : o[0] % o[1];
}

static bool less(enum gt_ptx_type type, const int64_t *o)
{
	return is_signed(type) ? o[0] < o[1] : (uint64_t)o[0] < (uint64_t)o[1];
}

static int64_t smaller(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	return less(type, o) ? o[0] : o[1];
}

static int64_t larger(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	return less(type, o) ? o[1] : o[0];
}

/* mul.hi of 32-bit types: compilers divide by constants with it. */
static int64_t high_product(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	if (is_signed(type))
		return (o[0] * o[1]) < 0 ? ~(~(o[0] * o[1]) >> 32) : (o[0] * o[1]) >> 32;
	return (int64_t)(((uint64_t)o[0] * (uint64_t)o[1]) >> 32);
}

/* Truncates to the type of the result. */
static int64_t converted(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	const char *to = instruction->modifiers[instruction->n_modifiers - 2];

	(void)type;
	return gt_static_narrow(o[0], gt_ptx_type_named(to, strlen(to)));
}

static const struct gt_static_operation operations[GT_PTX_FOLDINGS] = {
	[GT_PTX_FOLD_CONVERT] = {1, converted},
	[GT_PTX_FOLD_MULTIPLY] = {2, high_product},
	[GT_PTX_FOLD_DIVIDE] = {2, quotient},
	[GT_PTX_FOLD_REMAINDER] = {2, remainder_of},
	[GT_PTX_FOLD_MIN] = {2, smaller},
	[GT_PTX_FOLD_MAX] = {2, larger},
	[GT_PTX_FOLD_SHIFT_LEFT] = {2, shift_left},
	[GT_PTX_FOLD_SHIFT_RIGHT] = {2, shift_right},
	[GT_PTX_FOLD_AND] = {2, both},
	[GT_PTX_FOLD_OR] = {2, either},
	[GT_PTX_FOLD_XOR] = {2, differing},
	[GT_PTX_FOLD_NOT] = {1, inverted},
};

const struct gt_static_operation *gt_static_operation_of(const struct gt_ptx_instruction *instruction)
{
	enum gt_ptx_type type = gt_static_type(instruction);
	enum gt_ptx_folding folding = gt_ptx_row(instruction)->folding;

	if (type < GT_PTX_B8 || type > GT_PTX_S64 || type == GT_PTX_B128)
		return NULL;
	if (gt_ptx_has(instruction, "relu"))
		return NULL;
	if (folding == GT_PTX_FOLD_MULTIPLY && (!gt_ptx_has(instruction, "hi") || gt_ptx_type_size(type) != 4))
		return NULL;
	if (folding == GT_PTX_FOLD_CONVERT && instruction->n_modifiers < 2)
		return NULL;
	return operations[folding].result ? &operations[folding] : NULL;
}
