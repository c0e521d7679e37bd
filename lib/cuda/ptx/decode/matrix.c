/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/decode/matrix.h"

#include <stdio.h>

#include "cuda/ptx/decode/access.h"

#define BIT(ELEMENT) (1U << GT_PTX_ELEMENT_##ELEMENT)
#define BYTES	     (BIT(S8) | BIT(U8))
#define NIBBLES	     (BIT(S4) | BIT(U4))
#define SMALL_FLOATS (BIT(E4M3) | BIT(E5M2))

/* The shapes that there are, and the elements that A and B may have in them. */
struct shape_row {
	uint16_t m, n, k;
	uint32_t elements[GT_PTX_PRODUCTS];
};
static const struct shape_row shapes[] = {
	{8, 8, 4, {BIT(F16) | BIT(F64), BIT(F64), 0}},
	{8, 8, 16, {BYTES, 0, 0}},
	{8, 8, 32, {NIBBLES, NIBBLES, 0}},
	{8, 8, 128, {BIT(B1), BIT(B1), 0}},
	{16, 8, 4, {BIT(TF32) | BIT(F64), 0, 0}},
	{16, 8, 8, {BIT(F16) | BIT(BF16) | BIT(TF32) | BIT(F64), 0, BIT(TF32)}},
	{16, 8, 16, {BIT(F16) | BIT(BF16) | BYTES | BIT(F64) | SMALL_FLOATS, 0, BIT(F16) | BIT(BF16) | BIT(TF32)}},
	{16, 8, 32, {BYTES | NIBBLES | SMALL_FLOATS, 0, BIT(F16) | BIT(BF16) | BYTES}},
	{16, 8, 64, {NIBBLES, 0, BYTES | NIBBLES | SMALL_FLOATS}},
	{16, 8, 128, {BIT(B1), 0, NIBBLES}},
	{16, 8, 256, {BIT(B1), 0, 0}},
	{16, 16, 8, {0, BIT(TF32), 0}},
	{16, 16, 16, {0, BIT(F16) | BIT(BF16) | BYTES, 0}},
	{32, 8, 16, {0, BIT(F16) | BIT(BF16) | BYTES, 0}},
	{8, 32, 16, {0, BIT(F16) | BIT(BF16) | BYTES, 0}},
};

/* The elements that C and D may have, for those of A and B, which may differ within a row. */
static const struct {
	uint32_t multiplied, added;
} sums[] = {
	{BIT(F16), BIT(F16) | BIT(F32)}, {SMALL_FLOATS, BIT(F16) | BIT(F32)}, {BIT(BF16), BIT(F32)}, {BIT(TF32), BIT(F32)},
	{BIT(F64), BIT(F64)},		 {BYTES, BIT(S32)},		      {NIBBLES, BIT(S32)},   {BIT(B1), BIT(S32)},
};

static const struct shape_row *row_of(struct gt_ptx_shape shape)
{
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		if (shapes[i].m == shape.m && shapes[i].n == shape.n && shapes[i].k == shape.k)
			return &shapes[i];
	return NULL;
}

static uint32_t added_to(uint32_t multiplied)
{
	uint32_t added = 0;

	for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
		added |= sums[i].multiplied & multiplied ? sums[i].added : 0;
	return added;
}

bool gt_ptx_is_wmma(struct gt_ptx_shape shape, enum gt_ptx_role role, enum gt_ptx_element element)
{
	const struct shape_row *row = row_of(shape);

	const uint32_t there = row ? row->elements[GT_PTX_WMMA] : 0;

	return (role == GT_PTX_MATRIX_C ? added_to(there) : there) >> element & 1;
}

bool gt_ptx_is_product(struct gt_ptx_shape shape, enum gt_ptx_product_kind kind, const enum gt_ptx_element e[4])
{
	static const uint32_t families[] = {BYTES, NIBBLES, SMALL_FLOATS};
	const struct shape_row *row = row_of(shape);
	const uint32_t a = 1U << e[1], b = 1U << e[2], there = row ? row->elements[kind] : 0;
	bool alike = a == b;

	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		alike |= (families[i] & a) && (families[i] & b);
	return alike && (there & a) && (there & b) && (added_to(a) >> e[0] & 1) && (added_to(a) >> e[3] & 1);
}

bool gt_ptx_read_shape(const char *word, struct gt_ptx_shape *shape)
{
	unsigned m, n, k;
	char rest;

	if (sscanf(word, "m%3un%3uk%3u%c", &m, &n, &k, &rest) != 3)
		return false;
	*shape = (struct gt_ptx_shape){(uint16_t)m, (uint16_t)n, (uint16_t)k, false};
	return true;
}

const struct gt_ptx_operand *gt_ptx_elements(const struct gt_ptx_operand *operand, size_t *n)
{
	*n = operand->kind == GT_PTX_VECTOR ? operand->n_elements : 1;
	return operand->kind == GT_PTX_VECTOR ? operand->elements : operand;
}

int gt_ptx_read_registers(struct gt_ptx_decoder *decoder, uint32_t *slots, const struct gt_ptx_operand *operands,
			  size_t n, enum gt_ptx_type type, struct gt_ptx_result *results)
{
	for (size_t i = 0; i < n; i++) {
		if (results && gt_ptx_result_slot(decoder, &operands[i], type, &results[i]) != 0)
			return -1;
		slots[i] = results ? results[i].slot : gt_ptx_source(decoder, &operands[i], type);
		if (!slots[i])
			return -1;
	}
	return 0;
}

int gt_ptx_read_fragment(struct gt_ptx_decoder *decoder, struct gt_ptx_fragment *fragment,
			 const struct gt_ptx_operand *operand, struct gt_ptx_result *results)
{
	size_t n;
	const struct gt_ptx_operand *registers = gt_ptx_elements(operand, &n);

	if (n != fragment->n)
		return gt_ptx_refuse(decoder, "is not known with so many registers") != 0 ? -1 : 1;
	return gt_ptx_read_registers(decoder, fragment->slots, registers, n,
			      fragment->element == GT_PTX_ELEMENT_F64 ? GT_PTX_B64 : GT_PTX_B32, results);
}

int gt_ptx_finish_fragment(struct gt_ptx_decoder *decoder, const struct gt_ptx_fragment *fragment,
			   const struct gt_ptx_result *results)
{
	for (size_t i = 0; i < fragment->n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}
