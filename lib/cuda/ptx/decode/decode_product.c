/* SPDX-License-Identifier: MIT */
/* Products of matrices: mma, mma.sp and wmma.mma. */
#include "cuda/ptx/exec/product.h"

#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/matrix.h"
#include "cuda/ptx/exec/matrix.h"

/* What is written behind mma or wmma.mma. */
struct words {
	enum gt_ptx_product_kind kind;
	struct gt_ptx_shape shape;
	bool by_columns[2]; /* of A and B */
	size_t n_layouts, n_elements;
	enum gt_ptx_element elements[4];
	bool saturates, counts, both, differs; /* .satfinite, .popc, .and, .xor */
};

/* False if the word is none that is known. */
static bool take_word(struct words *words, const char *word)
{
	static const char *const silent[] = {"mma", "sync", "aligned", "rn"};
	enum gt_ptx_element element = gt_ptx_element_named(word);

	for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
		if (strcmp(word, silent[i]) == 0)
			return true;
	if (element && words->n_elements < 4) {
		words->elements[words->n_elements++] = element;
		return true;
	}
	if ((strcmp(word, "row") == 0 || strcmp(word, "col") == 0) && words->n_layouts < 2) {
		words->by_columns[words->n_layouts++] = word[0] == 'c';
		return true;
	}
	/* What ::ordered_metadata promises is not asked for. */
	if (strcmp(word, "sp") == 0 || strcmp(word, "sp::ordered_metadata") == 0) {
		words->kind = GT_PTX_SPARSE;
		return true;
	}
	if (strcmp(word, "satfinite") == 0)
		return words->saturates = true;
	if (strcmp(word, "popc") == 0)
		return words->counts = true;
	if (strcmp(word, "and") == 0)
		return words->both = true;
	if (strcmp(word, "xor") == 0)
		return words->differs = true;
	return gt_ptx_read_shape(word, &words->shape);
}

static bool is_known(const struct words *words)
{
	const bool bits = words->elements[1] == GT_PTX_ELEMENT_B1, integers = words->elements[0] == GT_PTX_ELEMENT_S32;

	if (words->n_elements != 4 || words->n_layouts != 2 || !gt_ptx_is_product(words->shape, words->kind, words->elements))
		return false;
	return words->counts == bits && (words->both != words->differs) == bits &&
	       (!words->saturates || (integers && !bits)) &&
	       (words->kind == GT_PTX_WMMA || words->shape.quads || (!words->by_columns[0] && words->by_columns[1]));
}

/* The lanes of each four whose metadata count: the operands E and F of mma.sp. Returns 1 if there are none such, and the
 * instruction has been refused. */
static int read_metadata(struct gt_ptx_decoder *decoder, const struct words *words, uint32_t *slot, unsigned *first)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const unsigned lanes = gt_ptx_metadata_lanes(words->shape, words->elements[1]);

	if (operands[5].kind != GT_PTX_IMMEDIATE || operands[5].bits >= 4 / lanes)
		return gt_ptx_refuse(decoder, "is not known with this sparsity selector") != 0 ? -1 : 1;
	*first = (unsigned)operands[5].bits * lanes;
	*slot = gt_ptx_source(decoder, &operands[4], GT_PTX_B32);
	return *slot ? 0 : -1;
}

/* The operands D, A, B, C, and what mma.sp has beside them. */
static int decode_product(struct gt_ptx_decoder *decoder, const struct words *words)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	struct gt_ptx_product *product = gt_ptx_own(decoder, sizeof *product);
	struct gt_ptx_result results[GT_PTX_FRAGMENT_REGISTERS];

	if (!product)
		return -1;
	struct gt_ptx_fragment *const fragments[] = {&product->d, &product->a, &product->b, &product->c};
	static const enum gt_ptx_role roles[] = {GT_PTX_MATRIX_C, GT_PTX_MATRIX_A, GT_PTX_MATRIX_B, GT_PTX_MATRIX_C};
	product->multiply = gt_ptx_multiply();
	product->shape = words->shape;
	product->saturates = words->saturates;
	product->differs = words->differs;
	const bool sparse = words->kind == GT_PTX_SPARSE;
	unsigned first = 0;
	uint32_t metadata = 0;
	int read = sparse ? read_metadata(decoder, words, &metadata, &first) : 0;
	if (read != 0)
		return gt_ptx_refused(read);
	/* Sources before results, whose registers may be the same. */
	for (size_t i = 4; i-- > 0;) {
		size_t n = operands[i].kind == GT_PTX_VECTOR ? operands[i].n_elements : 1;
		bool by_columns = roles[i] != GT_PTX_MATRIX_C && words->by_columns[roles[i] == GT_PTX_MATRIX_B];
		struct gt_ptx_shape shape = words->shape;
		if (sparse && roles[i] == GT_PTX_MATRIX_A)
			shape.k /= 2;
		if (!gt_ptx_fragment_lay_out(fragments[i], roles[i], shape, words->elements[i],
					     n > GT_PTX_FRAGMENT_REGISTERS ? 0 : (unsigned)n, by_columns))
			return gt_ptx_refuse(decoder, "is not known with so many registers");
		read = gt_ptx_read_fragment(decoder, fragments[i], &operands[i], i == 0 ? results : NULL);
		if (read != 0)
			return gt_ptx_refused(read);
	}
	struct gt_ptx_op *op = gt_ptx_emit(decoder, sparse ? gt_ptx_sparse_product : gt_ptx_product_step(product));
	if (!op)
		return -1;
	op->with.product = product;
	op->a = metadata;
	op->choice = (uint8_t)first;
	return gt_ptx_finish_fragment(decoder, &product->d, results);
}

static int decode_words(struct gt_ptx_decoder *decoder, enum gt_ptx_product_kind kind)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool wmma = kind == GT_PTX_WMMA;
	struct words words = {.kind = kind};
	char why[64];

	for (size_t i = 0; i < instruction->n_modifiers; i++)
		if (!take_word(&words, instruction->modifiers[i])) {
			snprintf(why, sizeof why, "is not modelled: '.%.32s'", instruction->modifiers[i]);
			return gt_ptx_refuse(decoder, why);
		}
	/* wmma of f16 names D and C alone. */
	if (wmma && words.n_elements == 2) {
		words.elements[3] = words.elements[1];
		words.elements[1] = words.elements[2] = GT_PTX_ELEMENT_F16;
		words.n_elements = 4;
	}
	words.shape.quads = !wmma && words.shape.m == 8 && words.elements[1] == GT_PTX_ELEMENT_F16;
	if (instruction->n_operands != (words.kind == GT_PTX_SPARSE ? 6 : 4) || !is_known(&words))
		return gt_ptx_refuse(decoder, "is not known in this form");
	return decode_product(decoder, &words);
}

/* mma.sync.aligned.SHAPE.LAYOUT.LAYOUT(.satfinite).D.A.B.C(.OP.popc) d, a, b, c; mma.sp(::ordered_metadata).sync and so on:
 * d, a, b, c, metadata, selector */
int gt_ptx_decode_mma(struct gt_ptx_decoder *decoder)
{
	return decode_words(decoder, GT_PTX_MMA);
}

/* wmma.mma(.OP.popc).sync.aligned.LAYOUT.LAYOUT.SHAPE(.rn).D(.A.B).C(.satfinite) d, a, b, c. The layouts are those
 * that A and B had in memory. */
int gt_ptx_decode_wmma_product(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "mma") ? decode_words(decoder, GT_PTX_WMMA) : gt_ptx_refuse(decoder, "is not known in this form");
}
