/* SPDX-License-Identifier: MIT */
/* Products of matrices: mma and wmma.mma. */
#include "ptx/exec/product.h"

#include <stdio.h>
#include <string.h>

#include "ptx/decode/access.h"
#include "ptx/decode/matrix.h"
#include "ptx/exec/matrix.h"

/* What is written behind mma or wmma.mma. */
struct words {
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

static bool is_known(const struct words *words, bool wmma)
{
	const bool bits = words->elements[1] == GT_PTX_ELEMENT_B1, integers = words->elements[0] == GT_PTX_ELEMENT_S32;

	if (words->n_elements != 4 || words->n_layouts != 2 || !gt_ptx_is_product(words->shape, wmma, words->elements))
		return false;
	return words->counts == bits && (words->both != words->differs) == bits &&
	       (!words->saturates || (integers && !bits)) &&
	       (wmma || words->shape.quads || (!words->by_columns[0] && words->by_columns[1]));
}

/* The operands D, A, B, C. */
static int decode_product(struct gt_ptx_decoder *decoder, const struct words *words)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	struct gt_ptx_product *product = gt_ptx_own(decoder, sizeof *product);
	struct gt_ptx_result results[GT_PTX_FRAGMENT_REGISTERS];

	if (!product)
		return -1;
	struct gt_ptx_fragment *const fragments[] = {&product->d, &product->a, &product->b, &product->c};
	static const enum gt_ptx_role roles[] = {GT_PTX_MATRIX_C, GT_PTX_MATRIX_A, GT_PTX_MATRIX_B, GT_PTX_MATRIX_C};
	product->shape = words->shape;
	product->saturates = words->saturates;
	product->differs = words->differs;
	/* Sources before results, whose registers may be the same. */
	for (size_t i = 4; i-- > 0;) {
		size_t n = operands[i].kind == GT_PTX_VECTOR ? operands[i].n_elements : 1;
		bool by_columns = roles[i] != GT_PTX_MATRIX_C && words->by_columns[roles[i] == GT_PTX_MATRIX_B];
		if (!gt_ptx_fragment_lay_out(fragments[i], roles[i], words->shape, words->elements[i],
					     n > GT_PTX_FRAGMENT_REGISTERS ? 0 : (unsigned)n, by_columns))
			return gt_ptx_refuse(decoder, "is not known with so many registers");
		int read = gt_ptx_read_fragment(decoder, fragments[i], &operands[i], i == 0 ? results : NULL);
		if (read != 0)
			return gt_ptx_refused(read);
	}
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_product_step());
	if (!op)
		return -1;
	op->with.product = product;
	return gt_ptx_finish_fragment(decoder, &product->d, results);
}

static int decode_words(struct gt_ptx_decoder *decoder, bool wmma)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct words words = {0};
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
	if (instruction->n_operands != 4 || !is_known(&words, wmma))
		return gt_ptx_refuse(decoder, "is not known in this form");
	return decode_product(decoder, &words);
}

/* mma.sync.aligned.SHAPE.LAYOUT.LAYOUT(.satfinite).D.A.B.C(.OP.popc) d, a, b, c */
int gt_ptx_decode_mma(struct gt_ptx_decoder *decoder)
{
	return decode_words(decoder, false);
}

/* wmma.mma(.OP.popc).sync.aligned.LAYOUT.LAYOUT.SHAPE(.rn).D(.A.B).C(.satfinite) d, a, b, c. The layouts are those
 * that A and B had in memory. */
int gt_ptx_decode_wmma_product(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "mma") ? decode_words(decoder, true) : gt_ptx_refuse(decoder, "is not known in this form");
}
