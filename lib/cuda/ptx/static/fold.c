/* SPDX-License-Identifier: MIT */
/* Folds values into polynomials. Sums and products of 32-bit numbers are taken as exact: an address that overflows is
 * an error of the program. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/static/parts.h"

typedef const struct gt_static_poly *(*fold)(struct gt_static *analysis, const struct gt_static_value *value,
					     const struct gt_static_poly *const *o, bool *wide,
					     struct gt_error *error);

static const struct gt_static_poly *same(struct gt_static *analysis, const struct gt_static_value *value,
					 const struct gt_static_poly *const *o, bool *wide, struct gt_error *error)
{
	(void)analysis, (void)value, (void)wide, (void)error;
	return o[0];
}

static const struct gt_static_poly *fold_add(struct gt_static *analysis, const struct gt_static_value *value,
					     const struct gt_static_poly *const *o, bool *wide,
					     struct gt_error *error)
{
	(void)value;
	return gt_static_add(analysis, o[0], o[1], 1, wide, error);
}

static const struct gt_static_poly *fold_subtract(struct gt_static *analysis, const struct gt_static_value *value,
						  const struct gt_static_poly *const *o, bool *wide,
						  struct gt_error *error)
{
	(void)value;
	return gt_static_add(analysis, o[0], o[1], -1, wide, error);
}

static const struct gt_static_poly *fold_negate(struct gt_static *analysis, const struct gt_static_value *value,
						const struct gt_static_poly *const *o, bool *wide,
						struct gt_error *error)
{
	const struct gt_static_poly *zero = gt_static_constant(analysis, 0, error);

	(void)value;
	return zero ? gt_static_add(analysis, zero, o[0], -1, wide, error) : NULL;
}

static const struct gt_static_poly *fold_multiply(struct gt_static *analysis, const struct gt_static_value *value,
						  const struct gt_static_poly *const *o, bool *wide,
						  struct gt_error *error)
{
	const struct gt_static_poly *by = o[1];
	int64_t number;

	*wide = gt_ptx_has(value->instruction, "hi");
	if (*wide)
		return NULL;
	/* A negative immediate of a .u32 product is unsigned. */
	if (gt_static_type(value->instruction) == GT_PTX_U32 && gt_static_is_constant(by, &number) && number < 0)
		by = gt_static_constant(analysis, gt_static_narrow(number, GT_PTX_U32), error);
	return by ? gt_static_multiply(analysis, o[0], by, wide, error) : NULL;
}

static const struct gt_static_poly *fold_multiply_add(struct gt_static *analysis, const struct gt_static_value *value,
						      const struct gt_static_poly *const *o, bool *wide,
						      struct gt_error *error)
{
	const struct gt_static_poly *product = fold_multiply(analysis, value, o, wide, error);

	return product ? gt_static_add(analysis, product, o[2], 1, wide, error) : NULL;
}

static const struct gt_static_poly *fold_shift(struct gt_static *analysis, const struct gt_static_value *value,
					       const struct gt_static_poly *const *o, bool *wide,
					       struct gt_error *error)
{
	const struct gt_static_poly *power;
	int64_t shift;

	(void)value;
	*wide = !gt_static_is_constant(o[1], &shift) || shift < 0 || shift > 62;
	if (*wide)
		return NULL;
	power = gt_static_constant(analysis, INT64_C(1) << shift, error);
	return power ? gt_static_multiply(analysis, o[0], power, wide, error) : NULL;
}

/* x | c equals x + c if x is a multiple of a power of two above c; compilers emit it. */
static const struct gt_static_poly *fold_or(struct gt_static *analysis, const struct gt_static_value *value,
					    const struct gt_static_poly *const *o, bool *wide, struct gt_error *error)
{
	int64_t number;
	uint64_t power = 1;

	(void)value;
	*wide = !gt_static_is_constant(o[1], &number) || number < 0 || number > INT32_MAX;
	while (!*wide && power <= (uint64_t)number)
		power <<= 1;
	for (uint32_t i = 0; !*wide && i < o[0]->n; i++)
		*wide = (uint64_t)o[0]->terms[i].factor % power != 0;
	return *wide ? NULL : gt_static_add(analysis, o[0], o[1], 1, wide, error);
}

/* Conversions between integers of 32 and 64 bits keep the number. */
static const struct gt_static_poly *fold_convert(struct gt_static *analysis, const struct gt_static_value *value,
						 const struct gt_static_poly *const *o, bool *wide,
						 struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = value->instruction;

	(void)analysis, (void)error;
	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		enum gt_ptx_type type =
			gt_ptx_type_named(instruction->modifiers[i], strlen(instruction->modifiers[i]));

		if (type > GT_PTX_S64 || (type != GT_PTX_NO_TYPE && gt_ptx_type_size(type) < 4))
			*wide = true;
	}
	return *wide ? NULL : o[0];
}

static const struct {
	uint32_t operands;
	fold fold; /* NULL: not a sum of products */
} folds[GT_PTX_FOLDINGS] = {
	[GT_PTX_FOLD_COPY] = {1, same},
	[GT_PTX_FOLD_CONVERT] = {1, fold_convert},
	[GT_PTX_FOLD_ADD] = {2, fold_add},
	[GT_PTX_FOLD_SUBTRACT] = {2, fold_subtract},
	[GT_PTX_FOLD_NEGATE] = {1, fold_negate},
	[GT_PTX_FOLD_MULTIPLY] = {2, fold_multiply},
	[GT_PTX_FOLD_MULTIPLY_24] = {2, fold_multiply},
	[GT_PTX_FOLD_MULTIPLY_ADD] = {3, fold_multiply_add},
	[GT_PTX_FOLD_SHIFT_LEFT] = {2, fold_shift},
	[GT_PTX_FOLD_OR] = {2, fold_or},
};

static bool is_integer(enum gt_ptx_type type) { return type >= GT_PTX_B8 && type <= GT_PTX_S64; }

static const struct gt_static_poly *fold_operation(struct gt_static *analysis, uint32_t v,
						   const struct gt_static_poly **o, struct gt_error *error)
{
	const struct gt_static_value *value = &analysis->values[v];
	const struct gt_static_operation *operation = gt_static_operation_of(value->instruction);
	enum gt_ptx_folding folding = gt_ptx_row(value->instruction)->folding;
	bool wide = false;

	if (folds[folding].fold && folds[folding].operands == value->n &&
	    is_integer(gt_static_type(value->instruction))) {
		const struct gt_static_poly *poly = folds[folding].fold(analysis, value, o, &wide, error);
		if (poly || !wide)
			return poly;
	}
	if (operation && operation->operands == value->n)
		return gt_static_compound(analysis, GT_STATIC_ATOM_OPERATION, v, o, value->n, error);
	return gt_static_opaque(analysis, v, error);
}

static const struct gt_static_poly *fold_value(struct gt_static *analysis, uint32_t v,
					       const struct gt_static_poly **o, struct gt_error *error)
{
	const struct gt_static_value *value = &analysis->values[v];
	struct gt_static_atom atom = {
		.value = v, .name = value->name, .number = value->number, .offset = value->offset};
	const struct gt_static_poly *number;
	bool wide = false;

	switch (value->kind) {
	case GT_STATIC_CONSTANT:
		return gt_static_constant(analysis, value->number, error);
	case GT_STATIC_SUM:
		number = gt_static_constant(analysis, value->number, error);
		number = number ? gt_static_add(analysis, o[0], number, 1, &wide, error) : NULL;
		return number || !wide ? number : gt_static_opaque(analysis, v, error);
	case GT_STATIC_OPERATION:
		return fold_operation(analysis, v, o, error);
	case GT_STATIC_CHOICE:
		return gt_static_compound(analysis, GT_STATIC_ATOM_CHOICE, v, o, value->n, error);
	case GT_STATIC_SPECIAL:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_SPECIAL, .name = value->name};
		return gt_static_alone(analysis, &atom, error);
	case GT_STATIC_SYMBOL:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_SYMBOL, .name = value->name};
		return gt_static_alone(analysis, &atom, error);
	case GT_STATIC_PARAMETER:
		atom.kind = GT_STATIC_ATOM_PARAMETER;
		atom.value = (uint32_t)gt_static_type(value->instruction);
		return gt_static_alone(analysis, &atom, error);
	case GT_STATIC_JOIN:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_JOIN, .value = v};
		return gt_static_alone(analysis, &atom, error);
	case GT_STATIC_LOAD:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_LOADED, .value = v};
		return gt_static_alone(analysis, &atom, error);
	default:
		return gt_static_opaque(analysis, v, error);
	}
}

/* Marks the values that addresses depend on. The search ends at loads, whose results are not known. */
static int mark_needed(struct gt_static *analysis, struct gt_error *error)
{
	uint32_t *stack = gt_ptx_arena_take(analysis->arena, (size_t)analysis->n_values + 1, sizeof *stack, error);
	size_t n = 0;

	if (!stack)
		return -1;
	for (size_t i = 0; i < 2 * analysis->n_accesses; i++) {
		const struct gt_static_access *access = &analysis->accesses[i / 2];
		uint32_t v = i % 2 ? access->stride : access->address;

		if (v == GT_STATIC_NONE)
			continue;
		v = gt_static_same(analysis, v);
		if (!analysis->values[v].needed)
			stack[n++] = v;
		analysis->values[v].needed = true;
	}
	while (n > 0) {
		const struct gt_static_value *value = &analysis->values[stack[--n]];

		for (uint32_t i = 0; value->kind != GT_STATIC_LOAD && i < value->n; i++) {
			uint32_t v = gt_static_same(analysis, value->operands[i]);

			if (!analysis->values[v].needed)
				stack[n++] = v;
			analysis->values[v].needed = true;
		}
	}
	return 0;
}

/* Folds the operands of a value, then the value; joins and loads are atoms, whatever their operands are. A value that
 * depends on itself (in unreachable code), or is nested too deep, is opaque. */
static const struct gt_static_poly *fold_one(struct gt_static *analysis, uint32_t v, struct gt_error *error)
{
	struct gt_static_value *value = &analysis->values[v];
	const struct gt_static_poly *operands[8];
	uint32_t n = value->kind == GT_STATIC_JOIN || value->kind == GT_STATIC_LOAD ? 0 : value->n;

	if (value->poly)
		return value->poly;
	if (n > 8 || value->folding || analysis->depth > 2000)
		return gt_static_opaque(analysis, v, error);
	value->folding = true;
	analysis->depth++;
	for (uint32_t i = 0; i < n; i++) {
		operands[i] = fold_one(analysis, gt_static_same(analysis, value->operands[i]), error);
		if (!operands[i])
			return NULL;
	}
	analysis->depth--;
	value->folding = false;
	value->poly = fold_value(analysis, v, operands, error);
	return value->poly;
}

int gt_static_fold(struct gt_static *analysis, struct gt_error *error)
{
	if (mark_needed(analysis, error) != 0)
		return -1;
	for (uint32_t v = 0; v < analysis->n_values; v++)
		if (analysis->values[v].needed && analysis->values[v].same == v && !fold_one(analysis, v, error))
			return -1;
	for (size_t i = 0; i < analysis->n_accesses; i++) {
		struct gt_static_access *access = &analysis->accesses[i];

		access->poly = analysis->values[gt_static_same(analysis, access->address)].poly;
		if (access->stride != GT_STATIC_NONE)
			access->stride_poly = analysis->values[gt_static_same(analysis, access->stride)].poly;
	}
	return 0;
}
