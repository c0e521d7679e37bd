/* SPDX-License-Identifier: MIT */
/* wgmma: products of matrices by four warps. */
#include "cuda/ptx/exec/wgmma.h"

#include <string.h>

#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/matrix.h"
#include "stream/op.h"

#define ROWS 16 /* of a warp */

/* The kinds of products: of A and B by one letter each of the masks below, of D, and how deep they are. */
static const struct {
	enum gt_ptx_element a, b, d[2];
	uint16_t depth;
	bool transposes; /* A and B may lie along M and N, which two further operands say */
} kinds[] = {
	{GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F16, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 16, true},
	{GT_PTX_ELEMENT_BF16, GT_PTX_ELEMENT_BF16, {GT_PTX_ELEMENT_F32}, 16, true},
	{GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_TF32, {GT_PTX_ELEMENT_F32}, 8, false},
	{GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E4M3, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E5M2, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_E5M2, GT_PTX_ELEMENT_E4M3, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_E5M2, GT_PTX_ELEMENT_E5M2, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_S8, GT_PTX_ELEMENT_S8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_S8, GT_PTX_ELEMENT_U8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_U8, GT_PTX_ELEMENT_S8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_U8, GT_PTX_ELEMENT_U8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_B1, GT_PTX_ELEMENT_B1, {GT_PTX_ELEMENT_S32}, 256, false},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* Reads shape and elements; the kind, or KINDS if there is none such. */
static size_t read_kind(const struct gt_ptx_instruction *instruction, struct gt_ptx_wgmma *product, struct gt_ptx_shape *shape)
{
	enum gt_ptx_element elements[3] = {GT_PTX_NO_ELEMENT, GT_PTX_NO_ELEMENT, GT_PTX_NO_ELEMENT};
	size_t n = 0, kind = 0;

	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		enum gt_ptx_element element = gt_ptx_element_named(word);
		gt_ptx_read_shape(word, shape);
		if (element && n < 3)
			elements[n++] = element;
	}
	product->d_element = elements[0];
	product->a_element = elements[1];
	product->b_element = elements[2];
	while (kind < KINDS && (n != 3 || kinds[kind].a != elements[1] || kinds[kind].b != elements[2] ||
				(kinds[kind].d[0] != elements[0] && kinds[kind].d[1] != elements[0])))
		kind++;
	const bool bits = elements[1] == GT_PTX_ELEMENT_B1;
	if (kind == KINDS || shape->m != 64 || shape->k != kinds[kind].depth || shape->n == 0 || shape->n % 8 != 0 ||
	    shape->n > GT_PTX_WGMMA_COLUMNS || (bits && !(gt_ptx_has(instruction, "and") && gt_ptx_has(instruction, "popc"))))
		return KINDS;
	product->multiply = gt_ptx_multiply();
	product->columns = shape->n;
	product->depth = bits ? 8 : shape->k;
	product->saturates = gt_ptx_has(instruction, "satfinite");
	return kind;
}

/* A number that is written: 0, 1 or -1. */
static bool read_number(const struct gt_ptx_operand *operand, int64_t low, int64_t *number)
{
	*number = (int64_t)operand->bits;
	return operand->kind == GT_PTX_IMMEDIATE && (*number == 1 || *number == low);
}

/* What stands behind A and B: the predicate; for floats the signs of A and B, and which of them are transposed. */
static bool read_rest(const struct gt_ptx_instruction *instruction, size_t kind, struct gt_ptx_wgmma *product)
{
	const struct gt_ptx_operand *rest = instruction->operands + 4;
	const bool floats = product->d_element != GT_PTX_ELEMENT_S32;
	const size_t n = instruction->n_operands, transposes = !kinds[kind].transposes ? 0 : product->a_in_registers ? 1 : 2;
	int64_t number;

	if (n != 4U + (floats ? 2 : 0) + transposes)
		return false;
	if (!floats)
		return true;
	for (size_t i = 0; i < 2; i++) {
		if (!read_number(&rest[i], -1, &number))
			return false;
		*(i == 0 ? &product->a_negative : &product->b_negative) = number < 0;
	}
	for (size_t i = 0; i < transposes; i++) {
		if (!read_number(&rest[2 + i], 0, &number))
			return false;
		*(i + 1 == transposes ? &product->b_transposed : &product->a_transposed) = number == 1;
	}
	return true;
}

static int read_a(struct gt_ptx_decoder *decoder, struct gt_ptx_wgmma *product, struct gt_ptx_shape shape)
{
	const struct gt_ptx_operand *a = &decoder->instruction->operands[1];

	if (!product->a_in_registers)
		return (product->a_descriptor = gt_ptx_source(decoder, a, GT_PTX_B64)) ? 0 : -1;
	shape.m = ROWS;
	if (a->n_elements != 4 || !gt_ptx_fragment_lay_out(&product->a, GT_PTX_MATRIX_A, shape, product->a_element, 4, false))
		return gt_ptx_refuse(decoder, "is not known with so many registers") != 0 ? -1 : 1;
	return gt_ptx_read_fragment(decoder, &product->a, a, NULL);
}

/* wgmma.mma_async.sync.aligned.SHAPE.D.A.B d, a | {a, ...}, b, adds(, sign, sign(, transposed)...) */
static int decode_product(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_wgmma *product = gt_ptx_own(decoder, sizeof *product);
	struct gt_ptx_shape shape = {0};
	size_t n;

	if (!product)
		return -1;
	const size_t kind = read_kind(instruction, product, &shape);
	if (kind == KINDS || instruction->n_operands < 4)
		return gt_ptx_refuse(decoder, "is not known in this form");
	product->a_in_registers = instruction->operands[1].kind == GT_PTX_VECTOR;
	const struct gt_ptx_operand *d = gt_ptx_elements(&instruction->operands[0], &n);
	product->n = (uint16_t)(product->columns / (product->d_element == GT_PTX_ELEMENT_F16 ? 4 : 2));
	if (!read_rest(instruction, kind, product) || n != product->n)
		return gt_ptx_refuse(decoder, "is not known in this form");
	int read = read_a(decoder, product, shape);
	if (read != 0)
		return gt_ptx_refused(read);
	/* D is read and written in its own registers, which have 32 bits. */
	if (!(product->b_descriptor = gt_ptx_source(decoder, &instruction->operands[2], GT_PTX_B64)) ||
	    !(product->adds = gt_ptx_source(decoder, &instruction->operands[3], GT_PTX_PRED)) ||
	    gt_ptx_read_registers(decoder, product->d, d, n, GT_PTX_B32, NULL) != 0)
		return -1;
	product->access = (struct gt_ptx_access){.space = GT_PTX_SHARED, .low = 1, .n = 1, .size = 16, .action = GT_LOAD,
						 .address = gt_ptx_temporary_slot(decoder, GT_PTX_U64)};
	return product->access.address && gt_ptx_emit_access(decoder, &product->access, gt_ptx_wgmma_step()) ? 0 : -1;
}

int gt_ptx_decode_wgmma(struct gt_ptx_decoder *decoder)
{
	if (gt_ptx_says(decoder, "fence") || gt_ptx_says(decoder, "commit_group"))
		return gt_ptx_decode_nothing(decoder);
	if (gt_ptx_says(decoder, "wait_group"))
		return gt_ptx_emit(decoder, gt_ptx_wgmma_wait) ? 0 : -1;
	return gt_ptx_says(decoder, "mma_async") && !gt_ptx_says(decoder, "sp") ? decode_product(decoder)
										 : gt_ptx_refuse(decoder, "is not modelled");
}
