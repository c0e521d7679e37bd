/* SPDX-License-Identifier: MIT */
/* mov, also of vectors; cvta and isspacep. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"

static const enum gt_ptx_type bits_of[] = {
	[1] = GT_PTX_B8, [2] = GT_PTX_B16, [4] = GT_PTX_B32, [8] = GT_PTX_B64};

/* mov.b64 d, {a, b}: the elements are joined in a temporary. */
static int pack(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *vector, enum gt_ptx_type type)
{
	unsigned whole = gt_ptx_type_size(type), size = whole / (unsigned)vector->n_elements;
	uint32_t joined = gt_ptx_temporary_slot(decoder, type), zero = gt_ptx_constant_slot(decoder, 0, whole);
	struct gt_ptx_result result;
	char name[GT_PTX_NAME];

	snprintf(name, sizeof name, "join.b%u.b%u", 8 * whole, 8 * size);
	if (!joined || !zero ||
	    gt_ptx_result_slot(decoder, &decoder->instruction->operands[0], type, &result) != 0)
		return -1;
	for (unsigned i = 0; i < vector->n_elements; i++) {
		uint32_t element = gt_ptx_source(decoder, &vector->elements[i], bits_of[size]);
		struct gt_ptx_op *op =
			element ? gt_ptx_emit_form(decoder, name, joined, i ? joined : zero, element, 0)
				: NULL;
		if (!op)
			return -1;
		op->choice = (uint8_t)(8 * size * i);
	}
	snprintf(name, sizeof name, "mov.b%u", 8 * whole);
	return gt_ptx_emit_form(decoder, name, result.slot, joined, 0, 0)
		       ? gt_ptx_finish_result(decoder, &result)
		       : -1;
}

/* mov.b64 {a, b}, d. */
static int unpack(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *vector, enum gt_ptx_type type)
{
	unsigned whole = gt_ptx_type_size(type), size = whole / (unsigned)vector->n_elements;
	uint32_t from = gt_ptx_source(decoder, &decoder->instruction->operands[1], type);
	struct gt_ptx_result result;
	char name[GT_PTX_NAME];

	snprintf(name, sizeof name, "part.b%u.b%u", 8 * size, 8 * whole);
	if (!from)
		return -1;
	for (unsigned i = 0; i < vector->n_elements; i++) {
		if (vector->elements[i].kind == GT_PTX_SINK)
			continue;
		if (gt_ptx_result_slot(decoder, &vector->elements[i], bits_of[size], &result) != 0)
			return -1;
		struct gt_ptx_op *op = gt_ptx_emit_form(decoder, name, result.slot, from, 0, 0);
		if (!op)
			return -1;
		op->choice = (uint8_t)(8 * size * i);
		if (gt_ptx_finish_result(decoder, &result) != 0)
			return -1;
	}
	return 0;
}

static bool divides(const struct gt_ptx_operand *vector, enum gt_ptx_type type)
{
	unsigned whole = gt_ptx_type_size(type);
	size_t n = vector->n_elements;

	return (n == 2 || n == 4) && whole <= 8 && whole / n >= 1;
}

int gt_ptx_decode_mov(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_words words;

	gt_ptx_read_words(instruction, &words);
	if (instruction->n_operands != 2 || words.type == GT_PTX_B128)
		return gt_ptx_emit_unknown(decoder, "opcode '%s' is not known", words.name);
	for (size_t i = 0; i < 2; i++) {
		const struct gt_ptx_operand *vector = &instruction->operands[i];
		if (vector->kind != GT_PTX_VECTOR)
			continue;
		if (!divides(vector, words.type))
			return gt_ptx_emit_unknown(decoder, "'%s' of a vector that does not fit", words.name);
		return i == 0 ? unpack(decoder, vector, words.type) : pack(decoder, vector, words.type);
	}
	return gt_ptx_decode_lanes(decoder);
}

/* Where the state spaces begin in the generic address space. */
static const struct {
	const char *name;
	uint64_t base;
} windows[] = {
	{"global", 0},
	{"const", 0},
	{"shared", GT_PTX_SHARED_BASE},
	{"shared::cta", GT_PTX_SHARED_BASE},
	{"shared::cluster", GT_PTX_SHARED_BASE},
	{"local", GT_PTX_LOCAL_BASE},
	{"param", GT_PTX_PARAMETER_BASE},
	{"param::entry", GT_PTX_PARAMETER_BASE},
};

static int window_of(const struct gt_ptx_decoder *decoder, uint64_t *base)
{
	for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
		if (gt_ptx_says(decoder, windows[i].name)) {
			*base = windows[i].base;
			return 0;
		}
	return -1;
}

int gt_ptx_decode_cvta(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result;
	uint64_t base;

	if (instruction->n_operands != 2 || window_of(decoder, &base) != 0 || !gt_ptx_says(decoder, "u64"))
		return gt_ptx_emit_unknown(decoder, "cvta: a space, u64, and two operands expected");
	uint32_t from = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_U64);
	if (!from || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_U64, &result) != 0)
		return -1;
	const uint32_t offset = base ? gt_ptx_constant_slot(decoder, gt_ptx_says(decoder, "to") ? 0 - base : base, 8) : 0;
	if ((base && !offset) || !gt_ptx_emit_form(decoder, base ? "add.u64" : "mov.b64", result.slot, from, offset, 0))
		return -1;
	return gt_ptx_finish_result(decoder, &result);
}

int gt_ptx_decode_isspacep(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result;
	uint64_t base;

	if (instruction->n_operands != 2 || window_of(decoder, &base) != 0)
		return gt_ptx_emit_unknown(decoder, "isspacep: a space and two operands expected");
	uint32_t from = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_U64);
	if (!from || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_PRED, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_is_space);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = from;
	op->with.immediate = base;
	op->choice = gt_ptx_says(decoder, "const");
	op->b = base == GT_PTX_SHARED_BASE && !gt_ptx_says(decoder, "shared::cluster");
	return 0;
}
