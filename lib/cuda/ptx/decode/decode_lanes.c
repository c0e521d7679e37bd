/* SPDX-License-Identifier: MIT */
/* Lane operations: the form with the name of the instruction, and what its modifiers add. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/half.h"

/* Rounding modifiers, which are not part of a form's name. */
static const struct {
	const char *word;
	uint8_t rounding;
	bool integral;
} roundings[] = {
	{"rn", GT_PTX_RN, false}, {"rz", GT_PTX_RZ, false}, {"rm", GT_PTX_RM, false},
	{"rp", GT_PTX_RP, false}, {"rni", GT_PTX_RN, true}, {"rzi", GT_PTX_RZ, true},
	{"rmi", GT_PTX_RM, true}, {"rpi", GT_PTX_RP, true}, {"rna", GT_PTX_RNA, false},
};

static bool is_float_word(const char *word)
{
	return word[0] == 'f' || strncmp(word, "bf16", 4) == 0 || strcmp(word, "tf32") == 0;
}

static void add_word(struct gt_ptx_words *words, const char *word)
{
	size_t length = strlen(words->name);

	snprintf(words->name + length, sizeof words->name - length, ".%s", word);
}

/* True if the modifier is a rounding, .ftz, or another that is not part of a form's name; it is kept in `words`. */
static bool read_aside(const struct gt_ptx_instruction *instruction, const char *word, bool floats,
		       struct gt_ptx_words *words)
{
	for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++)
		if (strcmp(word, roundings[i].word) == 0) {
			words->rounding = roundings[i].rounding;
			words->integral = roundings[i].integral;
			return true;
		}
	if (strcmp(word, "ftz") == 0)
		return words->ftz = true;
	if (strcmp(word, "relu") == 0 && floats)
		return words->relu = true;
	if (strcmp(word, "approx") == 0 || strcmp(word, "full") == 0 || strcmp(word, "noftz") == 0)
		return true;
	if (strcmp(word, "sat") != 0 || !(floats || instruction->row == GT_PTX_OP_CVT))
		return false;
	return words->sat = true;
}

void gt_ptx_read_words(const struct gt_ptx_instruction *instruction, struct gt_ptx_words *words)
{
	bool floats = false;

	memset(words, 0, sizeof *words);
	snprintf(words->name, sizeof words->name, "%s", instruction->opcode);
	for (size_t i = 0; i < instruction->n_modifiers; i++)
		floats |= is_float_word(instruction->modifiers[i]) && strlen(instruction->modifiers[i]) > 2 &&
			  strcmp(instruction->modifiers[i], "ftz") != 0;
	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		enum gt_ptx_type type = gt_ptx_type_named(word, strlen(word));
		if (type != GT_PTX_NO_TYPE) {
			words->first_type = words->first_type ? words->first_type : type;
			words->type = type;
		}
		if (!read_aside(instruction, word, floats, words))
			add_word(words, word);
	}
}

static bool is_small_float(enum gt_ptx_type type)
{
	return type >= GT_PTX_F16 && type <= GT_PTX_BF16X2;
}

/* Forms whose name depends on such modifiers: cvt to integers with .sat, cvt to floats rounded to integers, and the
 * .approx.ftz operations of f64. */
static void refine_name(struct gt_ptx_words *words, const struct gt_ptx_instruction *instruction)
{
	char rest[GT_PTX_NAME];
	bool to_float = words->first_type >= GT_PTX_F16 && words->first_type <= GT_PTX_F64;
	bool from_float = words->type >= GT_PTX_F16 && words->type <= GT_PTX_F64;

	if (instruction->row == GT_PTX_OP_CVT) {
		const char *types = words->name + strlen("cvt");
		snprintf(rest, sizeof rest, "%s", types);
		if (words->sat && !to_float && !from_float)
			snprintf(words->name, sizeof words->name, "cvt.sat%.100s", rest);
		else if (words->integral && to_float && from_float)
			snprintf(words->name, sizeof words->name, "cvt.i%.100s", rest);
		words->sat = words->sat && to_float;
	} else if (words->type == GT_PTX_F64 && words->ftz) {
		snprintf(words->name, sizeof words->name, "%.50s.approx.ftz.f64", instruction->opcode);
	}
}

/* True if .ftz flushes the subnormals of a type; in a conversion it flushes those of f32 only. */
static bool is_flushed(const struct gt_ptx_decoder *decoder, uint8_t type, const struct gt_ptx_words *words)
{
	return words->ftz && (type == GT_PTX_F32 || (is_small_float((enum gt_ptx_type)type) &&
						     decoder->instruction->row != GT_PTX_OP_CVT));
}

/* Emits the form "flush.TYPE", "saturate.TYPE" or "relu.TYPE". */
static bool emit_adjustment(struct gt_ptx_decoder *decoder, const char *what, uint8_t type, uint32_t to,
			    uint32_t from)
{
	char name[GT_PTX_NAME];

	snprintf(name, sizeof name, "%s.%s", what, gt_ptx_type_name((enum gt_ptx_type)type));
	return gt_ptx_emit_form(decoder, name, to, from, 0, 0) != NULL;
}

uint32_t gt_ptx_form_source(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
			    uint8_t type, const struct gt_ptx_words *words)
{
	uint32_t slot = gt_ptx_source(decoder, operand, (enum gt_ptx_type)type);

	if (!slot || !is_flushed(decoder, type, words))
		return slot;
	uint32_t flushed = gt_ptx_temporary_slot(decoder, (enum gt_ptx_type)type);
	return flushed && emit_adjustment(decoder, "flush", type, flushed, slot) ? flushed : 0;
}

/* Wraps the step into one that sets the rounding mode, where the form rounds by the processor's arithmetic. */
static void set_rounding(struct gt_ptx_op *op, const struct gt_ptx_form *form,
			 const struct gt_ptx_words *words)
{
	bool converts = strncmp(form->name, "cvt.", 4) == 0;
	bool native = form->d == GT_PTX_F32 || form->d == GT_PTX_F64;

	op->choice = words->rounding;
	if (words->rounding <= GT_PTX_RN || words->rounding == GT_PTX_RNA || !native || words->integral)
		return;
	if (converts && form->d == GT_PTX_F64 && form->sources[0] == GT_PTX_F32)
		return;
	op->with.inner = op->run;
	op->run = gt_ptx_rounded;
}

static size_t sources_of(const struct gt_ptx_form *form)
{
	size_t n = 0;

	while (n < GT_PTX_SOURCES && form->sources[n] != GT_PTX_NO_TYPE)
		n++;
	return n;
}

int gt_ptx_decode_lanes(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_words words;
	struct gt_ptx_result result;
	uint32_t slots[GT_PTX_SOURCES] = {0};

	gt_ptx_read_words(instruction, &words);
	/* slct.ftz flushes only the operand whose sign it tests. */
	const bool chooses = instruction->row == GT_PTX_OP_SLCT;
	char written[GT_PTX_NAME];
	snprintf(written, sizeof written, "%s", words.name);
	refine_name(&words, instruction);
	const struct gt_ptx_form *form = gt_ptx_form_named(words.name);
	if (!form || instruction->n_operands != sources_of(form) + 1)
		return gt_ptx_emit_unknown(decoder, "opcode '%s' is not known", written);
	for (size_t i = 0; i < sources_of(form); i++) {
		const struct gt_ptx_operand *operand = &instruction->operands[i + 1];
		slots[i] = chooses && i < 2 ? gt_ptx_source(decoder, operand, (enum gt_ptx_type)form->sources[i])
					    : gt_ptx_form_source(decoder, operand, form->sources[i], &words);
		if (!slots[i])
			return -1;
	}
	if (gt_ptx_result_slot(decoder, &instruction->operands[0], (enum gt_ptx_type)form->d, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_form_step(form));
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = slots[0];
	op->b = slots[1];
	op->c = slots[2];
	op->e = slots[3];
	set_rounding(op, form, &words);
	const bool is_float = form->d == GT_PTX_F32 || form->d == GT_PTX_F64 ||
			      is_small_float((enum gt_ptx_type)form->d);
	if ((!chooses && is_flushed(decoder, form->d, &words) &&
	     !emit_adjustment(decoder, "flush", form->d, result.slot, result.slot)) ||
	    (words.sat && is_float &&
	     !emit_adjustment(decoder, "saturate", form->d, result.slot, result.slot)) ||
	    (words.relu && !emit_adjustment(decoder, "relu", form->d, result.slot, result.slot)))
		return -1;
	return gt_ptx_finish_result(decoder, &result);
}

int gt_ptx_decode_lop3(struct gt_ptx_decoder *decoder)
{
	/* lop3.BOOL.b32 d|p, a, b, c, table, q, which also gives a predicate, is refused. */
	if (decoder->instruction->n_operands != 5)
		return gt_ptx_emit_unknown(decoder, "opcode 'lop3' with a predicate is not known");
	return gt_ptx_decode_lanes(decoder);
}
