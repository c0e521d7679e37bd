/* SPDX-License-Identifier: MIT */
/* Comparisons: setp; and set, which becomes a setp and a selp. The halves of f16x2 are compared one by one. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"

struct comparison {
	const struct gt_ptx_form *form;
	enum gt_ptx_combination how;
	uint32_t a, b, c; /* slots; c: of the predicate that the result is combined with */
	bool pair;
};

static enum gt_ptx_type half_of(enum gt_ptx_type type)
{
	return type == GT_PTX_F16X2 ? GT_PTX_F16 : type == GT_PTX_BF16X2 ? GT_PTX_BF16 : GT_PTX_NO_TYPE;
}

/* How the result is combined with a predicate: .and, .or, .xor. */
static enum gt_ptx_combination combination_of(const struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "and")   ? GT_PTX_AND
	       : gt_ptx_says(decoder, "or")  ? GT_PTX_OR
	       : gt_ptx_says(decoder, "xor") ? GT_PTX_XOR
					     : GT_PTX_ALONE;
}

/* Reads the comparison (the first modifier) and its operands, which begin at `from`. Returns 1 if the comparison is
 * not known, -1 on error. */
static int read_comparison(struct gt_ptx_decoder *decoder, size_t from, const struct gt_ptx_words *words,
			   struct comparison *comparison)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const enum gt_ptx_type half = half_of(words->type), type = words->type;
	char name[GT_PTX_NAME];

	snprintf(name, sizeof name, "setp.%.20s.%s", instruction->modifiers[0],
		 gt_ptx_type_name(half ? half : type));
	*comparison = (struct comparison){
		.form = gt_ptx_form_named(name), .how = combination_of(decoder), .pair = half != GT_PTX_NO_TYPE};
	if (!comparison->form || instruction->n_operands != from + 2 + (comparison->how != GT_PTX_ALONE))
		return 1;
	if (!(comparison->a = gt_ptx_form_source(decoder, &instruction->operands[from], (uint8_t)type, words)) ||
	    !(comparison->b = gt_ptx_form_source(decoder, &instruction->operands[from + 1], (uint8_t)type, words)) ||
	    (comparison->how != GT_PTX_ALONE &&
	     !(comparison->c = gt_ptx_source(decoder, &instruction->operands[from + 2], GT_PTX_PRED))))
		return -1;
	return 0;
}

static int emit(struct gt_ptx_decoder *decoder, const struct comparison *comparison, uint32_t d, uint32_t q,
		uint32_t a, uint32_t b)
{
	struct gt_ptx_op *op = gt_ptx_emit_form(decoder, comparison->form->name, d, a, b, comparison->c);

	if (!op)
		return -1;
	op->q = q;
	op->choice = (uint8_t)comparison->how;
	return 0;
}

/* The slot of the half of a pair that begins at bit `from`; 0 on error. */
static uint32_t part(struct gt_ptx_decoder *decoder, uint32_t pair, uint8_t from)
{
	uint32_t half = gt_ptx_temporary_slot(decoder, GT_PTX_B16);
	struct gt_ptx_op *op = half ? gt_ptx_emit_form(decoder, "part.b16.b32", half, pair, 0, 0) : NULL;

	if (!op)
		return 0;
	op->choice = from;
	return half;
}

/* Compares both halves into temporaries, since a result may be the predicate that they are combined with. */
static int emit_pair(struct gt_ptx_decoder *decoder, const struct comparison *comparison, uint32_t holds[2])
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t a = part(decoder, comparison->a, (uint8_t)(16 * i));
		uint32_t b = part(decoder, comparison->b, (uint8_t)(16 * i));
		holds[i] = gt_ptx_temporary_slot(decoder, GT_PTX_PRED);
		if (!a || !b || !holds[i] || emit(decoder, comparison, holds[i], 0, a, b) != 0)
			return -1;
	}
	return 0;
}

static int unknown(struct gt_ptx_decoder *decoder, const struct gt_ptx_words *words)
{
	return gt_ptx_emit_unknown(decoder, "opcode '%s' is not known", words->name);
}

int gt_ptx_decode_setp(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	size_t results = gt_ptx_results(instruction);
	struct gt_ptx_result p, q = {0};
	struct gt_ptx_words words;
	struct comparison comparison;
	uint32_t holds[2];

	if (instruction->n_operands < 3 || instruction->n_modifiers < 2)
		return gt_ptx_emit_unknown(decoder, "setp needs a comparison, a type and three operands");
	gt_ptx_read_words(instruction, &words);
	int result = read_comparison(decoder, results, &words, &comparison);
	if (result != 0)
		return result > 0 ? unknown(decoder, &words) : -1;
	if (gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_PRED, &p) != 0 ||
	    (results == 2 && gt_ptx_result_slot(decoder, &instruction->operands[1], GT_PTX_PRED, &q) != 0))
		return -1;
	if (!comparison.pair)
		return emit(decoder, &comparison, p.slot, q.slot, comparison.a, comparison.b);
	if (emit_pair(decoder, &comparison, holds) != 0 ||
	    !gt_ptx_emit_form(decoder, "mov.pred", p.slot, holds[0], 0, 0) ||
	    (results == 2 && !gt_ptx_emit_form(decoder, "mov.pred", q.slot, holds[1], 0, 0)))
		return -1;
	return 0;
}

/* The value that set writes where the comparison is true: 1.0, or all ones. */
static uint64_t yes_of(enum gt_ptx_type type)
{
	switch (type) {
	case GT_PTX_F16: return 0x3c00;
	case GT_PTX_BF16: return 0x3f80;
	case GT_PTX_F32: return 0x3f800000;
	default: return gt_ptx_type_size(type) == 2 ? UINT16_MAX : UINT32_MAX;
	}
}

/* selp between that value and 0. */
static int emit_choice(struct gt_ptx_decoder *decoder, enum gt_ptx_type type, uint32_t to, uint32_t holds)
{
	unsigned size = gt_ptx_type_size(type);
	uint32_t yes = gt_ptx_constant_slot(decoder, yes_of(type), size);
	uint32_t no = gt_ptx_constant_slot(decoder, 0, size);

	return yes && no &&
			       gt_ptx_emit_form(decoder, size == 2 ? "selp.b16" : "selp.b32", to, yes, no, holds)
		       ? 0
		       : -1;
}

static int emit_chosen_pair(struct gt_ptx_decoder *decoder, const struct comparison *comparison,
			    enum gt_ptx_type type, uint32_t to)
{
	const enum gt_ptx_type half = half_of(type) ? half_of(type) : GT_PTX_B16;
	uint32_t holds[2], joined = gt_ptx_constant_slot(decoder, 0, 4);

	if (!joined || emit_pair(decoder, comparison, holds) != 0)
		return -1;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t chosen = gt_ptx_temporary_slot(decoder, GT_PTX_B16);
		if (!chosen || emit_choice(decoder, half, chosen, holds[i]) != 0)
			return -1;
		struct gt_ptx_op *op = gt_ptx_emit_form(decoder, "join.b32.b16", to, joined, chosen, 0);
		if (!op)
			return -1;
		op->choice = (uint8_t)(16 * i);
		joined = to;
	}
	return 0;
}

/* set.CMP.TYPE.TYPE d, a, b: all ones or 1.0 where the comparison is true, else 0. */
int gt_ptx_decode_set(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_words words;
	struct gt_ptx_result result;
	struct comparison comparison;

	gt_ptx_read_words(instruction, &words);
	const enum gt_ptx_type type = words.first_type;
	const unsigned size = gt_ptx_type_size(type);
	if (instruction->n_modifiers < 3 || (size != 2 && size != 4) || (half_of(words.type) && size != 4))
		return unknown(decoder, &words);
	int read = read_comparison(decoder, 1, &words, &comparison);
	if (read != 0)
		return read > 0 ? unknown(decoder, &words) : -1;
	if (gt_ptx_result_slot(decoder, &instruction->operands[0], type, &result) != 0)
		return -1;
	if (comparison.pair) {
		if (emit_chosen_pair(decoder, &comparison, type, result.slot) != 0)
			return -1;
	} else {
		uint32_t holds = gt_ptx_temporary_slot(decoder, GT_PTX_PRED);
		if (!holds || emit(decoder, &comparison, holds, 0, comparison.a, comparison.b) != 0 ||
		    emit_choice(decoder, type, result.slot, holds) != 0)
			return -1;
	}
	return gt_ptx_finish_result(decoder, &result);
}
