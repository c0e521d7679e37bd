/* SPDX-License-Identifier: MIT */
/* What lanes do by themselves: arithmetic, comparisons, moves, instructions for video. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/warp.h"

/* ---- lane operations: the form with the name of the instruction, and what its modifiers add ---- */

/* An instruction's name as forms have it, and the modifiers that are not part of a form's name. */
struct words {
	char name[GT_PTX_NAME];
	bool ftz, sat, relu, integral;
	enum gt_ptx_type type; /* the last one in the modifiers */
	enum gt_ptx_type first_type;
	uint8_t rounding;
};

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

static void add_word(struct words *words, const char *word)
{
	size_t length = strlen(words->name);

	snprintf(words->name + length, sizeof words->name - length, ".%s", word);
}

/* True if the modifier is a rounding, .ftz, or another that is not part of a form's name; it is kept in `words`. */
static bool read_aside(const struct gt_ptx_instruction *instruction, const char *word, bool floats,
		       struct words *words)
{
	for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++)
		if (strcmp(word, roundings[i].word) == 0) {
			words->rounding = roundings[i].rounding;
			words->integral = roundings[i].integral;
			return true;
		}
	if (strcmp(word, "ftz") == 0)
		return words->ftz = true;
	if (strcmp(word, "relu") == 0) {
		words->relu = floats;
		return true;
	}
	if (strcmp(word, "approx") == 0 || strcmp(word, "full") == 0 || strcmp(word, "noftz") == 0)
		return true;
	if (strcmp(word, "sat") != 0 || !(floats || instruction->row == GT_PTX_OP_CVT))
		return false;
	return words->sat = true;
}

/* min and max of three. */
static bool has_three_numbers(const struct gt_ptx_instruction *instruction)
{
	return instruction->n_operands == 4 && (instruction->row == GT_PTX_OP_MIN || instruction->row == GT_PTX_OP_MAX);
}

static void read_words(const struct gt_ptx_instruction *instruction, struct words *words)
{
	bool floats = false;

	memset(words, 0, sizeof *words);
	snprintf(words->name, sizeof words->name, "%s%s", instruction->opcode, has_three_numbers(instruction) ? "3" : "");
	for (size_t i = 0; i < instruction->n_modifiers; i++)
		floats |= is_float_word(instruction->modifiers[i]) && strlen(instruction->modifiers[i]) > 2 &&
			  strcmp(instruction->modifiers[i], "ftz") != 0;
	if (!floats && gt_ptx_has(instruction, "relu")) /* before the type or behind it */
		add_word(words, "relu");
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

/* Forms whose name depends on such modifiers: cvt to integers with .sat, cvt to floats rounded to integers, the
 * .approx.ftz operations of f64, and approximate reciprocals and quotients. */
static void refine_name(struct words *words, const struct gt_ptx_instruction *instruction)
{
	char rest[GT_PTX_NAME];
	bool to_float = words->first_type >= GT_PTX_F16 && words->first_type <= GT_PTX_F64;
	bool from_float = words->type >= GT_PTX_F16 && words->type <= GT_PTX_F64;

	if (instruction->row == GT_PTX_OP_CVT) {
		const char *types = words->name + strlen("cvt");
		snprintf(rest, sizeof rest, "%s", types);
		if (words->sat && !to_float && !from_float)
			snprintf(words->name, sizeof words->name, "cvt.sat%.100s", rest);
		else if (words->rounding == GT_PTX_RNA && !strstr(rest, ".tf32.")) /* there is none */
			snprintf(words->name, sizeof words->name, "cvt.rna%.100s", rest);
		else if (words->integral && to_float && from_float)
			snprintf(words->name, sizeof words->name, "cvt.i%.100s", rest);
		words->sat = words->sat && to_float;
	} else if (words->type == GT_PTX_F64 && words->ftz && gt_ptx_has(instruction, "approx")) {
		snprintf(words->name, sizeof words->name, "%.50s.approx.ftz.f64", instruction->opcode);
	} else if (strcmp(words->name, "rcp.f32") == 0 || strcmp(words->name, "div.f32") == 0) {
		const char *how = gt_ptx_has(instruction, "approx") ? ".approx" : gt_ptx_has(instruction, "full") ? ".full" : "";
		snprintf(rest, sizeof rest, "%.3s%s.f32", words->name, how);
		snprintf(words->name, sizeof words->name, "%.100s", rest);
	}
}

static bool is_type(const char *word)
{
	return gt_ptx_type_named(word, strlen(word)) != GT_PTX_NO_TYPE;
}

/* The form of an instruction, and its words. ptxas takes words and types in any order, as long as types keep theirs; in the name of a
 * form types are last, but in those of prmt. NULL: there is none. */
static const struct gt_ptx_form *find_form(const struct gt_ptx_instruction *instruction, struct words *words)
{
	const bool types_first = strcmp(instruction->opcode, "prmt") == 0;
	struct gt_ptx_instruction sorted = *instruction;
	const struct gt_ptx_form *form = NULL;

	for (unsigned attempt = 0; !form && attempt < 2; attempt++) {
		read_words(&sorted, words);
		refine_name(words, &sorted);
		form = gt_ptx_form_named(words->name);
		sorted.n_modifiers = 0;
		for (unsigned part = 0; part < 2; part++)
			for (size_t i = 0; i < instruction->n_modifiers; i++)
				if (is_type(instruction->modifiers[i]) == ((part == 1) != types_first))
					sorted.modifiers[sorted.n_modifiers++] = instruction->modifiers[i];
	}
	return form;
}

/* True if .ftz flushes the subnormals of a type, of which b64 is two of f32; in a conversion it flushes those of f32 only. */
static bool is_flushed(const struct gt_ptx_decoder *decoder, uint8_t type, const struct words *words)
{
	/* cvt.ftz.f16.f32 flushes nothing on an H100, as its results of .rm and .rp show. */
	if (decoder->instruction->row == GT_PTX_OP_CVT && words->first_type == GT_PTX_F16)
		return false;
	return words->ftz && (type == GT_PTX_F32 || type == GT_PTX_B64 || (is_small_float((enum gt_ptx_type)type) &&
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

static uint32_t adjusted_source(struct gt_ptx_decoder *decoder, const char *what, uint8_t type, uint32_t slot)
{
	const uint32_t adjusted = gt_ptx_temporary_slot(decoder, (enum gt_ptx_type)type);

	return adjusted && emit_adjustment(decoder, what, type, adjusted, slot) ? adjusted : 0;
}

/* As gt_ptx_source; with .ftz, subnormals are flushed to zero. A conversion to floats of 8 bits or less, or to tf32, has no
 * result that .relu could be applied to, so its sources become 0 where they are negative: rounding keeps the order. */
static uint32_t form_source(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
			    uint8_t type, const struct words *words, bool is_float)
{
	uint32_t slot = gt_ptx_source(decoder, operand, (enum gt_ptx_type)type);

	if (slot && is_flushed(decoder, type, words))
		slot = adjusted_source(decoder, "flush", type, slot);
	return slot && words->relu && !is_float ? adjusted_source(decoder, "relu", type, slot) : slot;
}

/* Wraps the step into one that sets the rounding mode, where the form rounds by the processor's arithmetic. */
static void set_rounding(struct gt_ptx_op *op, const struct gt_ptx_form *form,
			 const struct words *words)
{
	bool converts = strncmp(form->name, "cvt.", 4) == 0;
	bool native = form->d == GT_PTX_F32 || form->d == GT_PTX_F64 || strstr(form->name, ".f32x2");

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

/* Sums with a carry: addc, subc and madc read one, what has .cc makes one. */
static bool has_carry(const struct gt_ptx_instruction *instruction)
{
	static const char *const readers[] = {"addc", "subc", "madc"};
	bool found = gt_ptx_has(instruction, "cc");

	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		found |= strcmp(instruction->opcode, readers[i]) == 0;
	return found;
}

static int decode_lanes(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct words words;
	struct gt_ptx_result result;
	uint32_t slots[GT_PTX_SOURCES] = {0};

	/* slct.ftz flushes only the operand whose sign it tests. */
	const bool chooses = instruction->row == GT_PTX_OP_SLCT;
	const struct gt_ptx_form *form = find_form(instruction, &words);
	if (!form || instruction->n_operands != sources_of(form) + 1) {
		read_words(instruction, &words);
		return gt_ptx_emit_unknown(decoder, "opcode '%s' is not known", words.name);
	}
	const bool is_float = form->d == GT_PTX_F32 || form->d == GT_PTX_F64 ||
			      is_small_float((enum gt_ptx_type)form->d);
	for (size_t i = 0; i < sources_of(form); i++) {
		const struct gt_ptx_operand *operand = &instruction->operands[i + 1];
		slots[i] = chooses && i < 2 ? gt_ptx_source(decoder, operand, (enum gt_ptx_type)form->sources[i])
					    : form_source(decoder, operand, form->sources[i], &words, is_float);
		if (slots[i] && i == 1 && instruction->row == GT_PTX_OP_DIV && form->d == GT_PTX_F32 && gt_ptx_has(instruction, "approx"))
			slots[i] = adjusted_source(decoder, "divisor", GT_PTX_F32, slots[i]);
		if (!slots[i])
			return -1;
	}
	if (gt_ptx_result_slot(decoder, &instruction->operands[0], (enum gt_ptx_type)form->d, &result) != 0)
		return -1;
	const bool carries = has_carry(instruction);
	const uint32_t carry = carries ? gt_ptx_carry_slot(decoder) : 0;
	if (carries && !carry)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_form_step(form));
	if (!op)
		return -1;
	op->d = result.slot;
	op->q = carry;
	op->a = slots[0];
	op->b = slots[1];
	op->c = slots[2];
	op->e = slots[3];
	set_rounding(op, form, &words);
	if ((!chooses && is_flushed(decoder, form->d, &words) &&
	     !emit_adjustment(decoder, "flush", form->d, result.slot, result.slot)) ||
	    (words.sat && is_float &&
	     !emit_adjustment(decoder, "saturate", form->d, result.slot, result.slot)) ||
	    (words.relu && is_float && !emit_adjustment(decoder, "relu", form->d, result.slot, result.slot)))
		return -1;
	return gt_ptx_finish_result(decoder, &result);
}

/* ---- comparisons: setp; and set, which becomes a setp and a selp; the halves of f16x2 are compared one by one ---- */

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

/* Reads the comparison (the first modifier that is no type) and its operands, which begin at `from`. Returns 1 if the comparison is
 * not known, -1 on error. */
static int read_comparison(struct gt_ptx_decoder *decoder, size_t from, const struct words *words,
			   struct comparison *comparison)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const enum gt_ptx_type half = half_of(words->type), type = words->type;
	char name[GT_PTX_NAME];
	size_t first = 0;

	while (first + 1 < instruction->n_modifiers && (is_type(instruction->modifiers[first]) || strcmp(instruction->modifiers[first], "ftz") == 0))
		first++;
	snprintf(name, sizeof name, "setp.%.20s.%s", instruction->n_modifiers > 0 ? instruction->modifiers[first] : "",
		 gt_ptx_type_name(half ? half : type));
	*comparison = (struct comparison){
		.form = gt_ptx_form_named(name), .how = combination_of(decoder), .pair = half != GT_PTX_NO_TYPE};
	if (!comparison->form || instruction->n_operands != from + 2 + (comparison->how != GT_PTX_ALONE))
		return 1;
	if (!(comparison->a = form_source(decoder, &instruction->operands[from], (uint8_t)type, words, true)) ||
	    !(comparison->b = form_source(decoder, &instruction->operands[from + 1], (uint8_t)type, words, true)) ||
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

static int unknown_comparison(struct gt_ptx_decoder *decoder, const struct words *words)
{
	return gt_ptx_emit_unknown(decoder, "opcode '%s' is not known", words->name);
}

static int decode_setp(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	size_t results = gt_ptx_results(instruction);
	struct gt_ptx_result p, q = {0};
	struct words words;
	struct comparison comparison;
	uint32_t holds[2];

	if (instruction->n_operands < 3 || instruction->n_modifiers < 2)
		return gt_ptx_emit_unknown(decoder, "setp needs a comparison, a type and three operands");
	read_words(instruction, &words);
	int result = read_comparison(decoder, results, &words, &comparison);
	if (result != 0)
		return result > 0 ? unknown_comparison(decoder, &words) : -1;
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

/* lop3.b32 d, a, b, c, table; lop3.BOOL.b32 d|p, a, b, c, table, q: p is whether d is not 0, combined with q. */
static int decode_lop3(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const enum gt_ptx_combination how = combination_of(decoder);
	struct gt_ptx_result d, p;
	uint32_t sources[5], zero;

	if (how == GT_PTX_ALONE)
		return decode_lanes(decoder);
	if (instruction->n_operands != 7 || how == GT_PTX_XOR)
		return gt_ptx_emit_unknown(decoder, "this form of 'lop3' is not known");
	for (size_t i = 0; i < 5; i++)
		if (!(sources[i] = gt_ptx_source(decoder, &instruction->operands[i + 2], i < 4 ? GT_PTX_B32 : GT_PTX_PRED)))
			return -1;
	if (gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B32, &d) != 0 ||
	    gt_ptx_result_slot(decoder, &instruction->operands[1], GT_PTX_PRED, &p) != 0 ||
	    !(zero = gt_ptx_constant_slot(decoder, 0, 4)))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_form(decoder, "lop3.b32", d.slot, sources[0], sources[1], sources[2]);
	if (!op)
		return -1;
	op->e = sources[3];
	op = gt_ptx_emit_form(decoder, "setp.ne.b32", p.slot, d.slot, zero, sources[4]);
	if (!op)
		return -1;
	op->choice = (uint8_t)how;
	return gt_ptx_finish_result(decoder, &d);
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
static int decode_set(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct words words;
	struct gt_ptx_result result;
	struct comparison comparison;

	read_words(instruction, &words);
	const enum gt_ptx_type type = words.first_type;
	const unsigned size = gt_ptx_type_size(type);
	if (instruction->n_modifiers < 3 || (size != 2 && size != 4) || (half_of(words.type) && size != 4))
		return unknown_comparison(decoder, &words);
	int read = read_comparison(decoder, 1, &words, &comparison);
	if (read != 0)
		return read > 0 ? unknown_comparison(decoder, &words) : -1;
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

/* ---- and, which may clear the bit of a block in its pair ---- */

/* Whether a kernel of the module has instructions for pairs of blocks. */
static bool has_pairs(const struct gt_ptx_module *module)
{
	for (size_t f = 0; f < module->n_functions; f++)
		for (size_t i = 0; i < module->functions[f].n_instructions; i++)
			if (gt_ptx_has(&module->functions[f].instructions[i], "cta_group::2"))
				return true;
	return false;
}

/* and.b32 d, a, 0xfeffffff: of an address of shared memory, that in the even block of the pair. The lowest 10 bits of the mask may align
 * it, too. */
static int decode_and(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const uint32_t mask = decoder->instruction->n_operands == 3 ? (uint32_t)operands[2].bits : 0;
	struct gt_ptx_result result;

	if (mask >> 10 != UINT32_C(0xfeffffff) >> 10 || operands[2].kind != GT_PTX_IMMEDIATE || !gt_ptx_says(decoder, "b32") ||
	    !has_pairs(decoder->machine->module))
		return decode_lanes(decoder);
	const uint32_t from = gt_ptx_source(decoder, &operands[1], GT_PTX_B32);
	if (!from || gt_ptx_result_slot(decoder, &operands[0], GT_PTX_B32, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_barrier_steps.lead);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = from;
	op->with.immediate = mask;
	return gt_ptx_finish_result(decoder, &result);
}

/* ---- mov, also of vectors ---- */

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

/* The slot of a half of a register of 128 bits, or of the element of a vector of two; a result may be the sink. 0 on error. */
static uint32_t wide_half(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, unsigned half, struct gt_ptx_result *result)
{
	const bool vector = operand->kind == GT_PTX_VECTOR;
	const uint32_t whole = vector ? 0 : gt_ptx_wide_slot(decoder, operand);

	if (!vector)
		return whole ? whole + half * GT_PTX_WIDE_HALF : 0;
	if (!result)
		return gt_ptx_source(decoder, &operand->elements[half], GT_PTX_B64);
	return gt_ptx_result_slot(decoder, &operand->elements[half], GT_PTX_B64, result) == 0 ? result->slot : 0;
}

/* mov.b128 of registers, or of vectors of two of 64 bits: half by half. */
static int decode_wide_mov(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_operand *to = &decoder->instruction->operands[0], *from = &decoder->instruction->operands[1];
	uint32_t halves[2];

	for (size_t i = 0; i < 2; i++)
		if (decoder->instruction->operands[i].kind == GT_PTX_VECTOR && decoder->instruction->operands[i].n_elements != 2)
			return gt_ptx_emit_unknown(decoder, "'mov.b128' of a vector that does not fit");
	for (unsigned i = 0; i < 2; i++)
		if (!(halves[i] = wide_half(decoder, from, i, NULL)))
			return -1;
	for (unsigned i = 0; i < 2; i++) {
		struct gt_ptx_result result = {0};
		const uint32_t slot = wide_half(decoder, to, i, &result);
		if (!slot || !gt_ptx_emit_form(decoder, "mov.b64", slot, halves[i], 0, 0) ||
		    (result.slot && gt_ptx_finish_result(decoder, &result) != 0))
			return -1;
	}
	return 0;
}

static int decode_mov(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct words words;

	read_words(instruction, &words);
	if (instruction->n_operands != 2)
		return gt_ptx_emit_unknown(decoder, "opcode '%s' is not known", words.name);
	if (words.type == GT_PTX_B128)
		return decode_wide_mov(decoder);
	for (size_t i = 0; i < 2; i++) {
		const struct gt_ptx_operand *vector = &instruction->operands[i];
		if (vector->kind != GT_PTX_VECTOR)
			continue;
		if (!divides(vector, words.type))
			return gt_ptx_emit_unknown(decoder, "'%s' of a vector that does not fit", words.name);
		return i == 0 ? unpack(decoder, vector, words.type) : pack(decoder, vector, words.type);
	}
	return decode_lanes(decoder);
}

/* ---- instructions for video ---- */

enum video_shape { SCALAR = 1, VECTOR = 2, BOTH = SCALAR | VECTOR };
static const struct {
	const char *name;
	enum gt_ptx_video_operation operation;
	enum video_shape shapes;
} video_rows[] = {
	{"vadd", GT_PTX_VIDEO_ADD, BOTH},      {"vsub", GT_PTX_VIDEO_SUB, BOTH},   {"vabsdiff", GT_PTX_VIDEO_DIFFERENCE, BOTH},
	{"vmin", GT_PTX_VIDEO_MIN, BOTH},      {"vmax", GT_PTX_VIDEO_MAX, BOTH},   {"vavrg", GT_PTX_VIDEO_AVERAGE, VECTOR},
	{"vshl", GT_PTX_VIDEO_SHL, SCALAR},    {"vshr", GT_PTX_VIDEO_SHR, SCALAR}, {"vmad", GT_PTX_VIDEO_MAD, SCALAR},
	{"vset", GT_PTX_VIDEO_EQ, BOTH},
};

/* The modifiers that are no types and no comparisons. */
enum video_word { SATURATES, THEN_ADD, THEN_MIN, THEN_MAX, CLAMPS, WRAPS, ADDS_ONE, SHIFTS_7, SHIFTS_15, VIDEO_WORDS };
static const char *const video_words[VIDEO_WORDS] = {"sat", "add", "min", "max", "clamp", "wrap", "po", "shr7", "shr15"};
static const char *const video_comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

/* What an instruction for video says. */
struct video_form {
	struct gt_ptx_video video;
	unsigned n; /* parts of a vector; 0: of a scalar */
	unsigned words; /* bits, by enum video_word */
	unsigned compares;
	bool is_signed[3];
	unsigned n_types;
};

/* Reads the opcode: its operation, and the 2 or 4 behind that of vectors. */
static bool read_video_opcode(const char *opcode, struct video_form *form)
{
	for (size_t i = 0; i < sizeof video_rows / sizeof video_rows[0]; i++) {
		const size_t length = strlen(video_rows[i].name);
		const char *rest = opcode + length;
		if (strncmp(opcode, video_rows[i].name, length) != 0)
			continue;
		form->n = strcmp(rest, "2") == 0 ? 2 : strcmp(rest, "4") == 0 ? 4 : 0;
		form->video.operation = video_rows[i].operation;
		return (form->n || !*rest) && video_rows[i].shapes & (form->n ? VECTOR : SCALAR);
	}
	return false;
}

static bool read_video_word(const char *word, struct video_form *form)
{
	if ((strcmp(word, "u32") == 0 || strcmp(word, "s32") == 0) && form->n_types < 3) {
		form->is_signed[form->n_types++] = *word == 's';
		return true;
	}
	for (unsigned i = 0; i < VIDEO_WORDS; i++)
		if (strcmp(word, video_words[i]) == 0) {
			form->words |= 1U << i;
			return true;
		}
	for (unsigned i = 0; i < sizeof video_comparisons / sizeof video_comparisons[0]; i++)
		if (strcmp(word, video_comparisons[i]) == 0 && form->video.operation == GT_PTX_VIDEO_EQ && !form->compares++) {
			form->video.operation = (enum gt_ptx_video_operation)(GT_PTX_VIDEO_EQ + i);
			return true;
		}
	return false;
}

/* Whether the operation has these modifiers. */
static bool allows_words(const struct video_form *form)
{
	const enum gt_ptx_video_operation operation = form->video.operation;
	const unsigned sat = 1 << SATURATES, add = 1 << THEN_ADD, ends = add | 1 << THEN_MIN | 1 << THEN_MAX, ways = 1 << CLAMPS | 1 << WRAPS;
	const unsigned shifts = 1 << SHIFTS_7 | 1 << SHIFTS_15, end = form->words & ends, way = form->words & ways, shift = form->words & shifts;
	unsigned allowed = form->n ? add : ends;

	if (operation == GT_PTX_VIDEO_MAD)
		allowed = sat | shifts | 1 << ADDS_ONE;
	else if (operation < GT_PTX_VIDEO_EQ && !(form->n && end))
		allowed |= sat;
	if (operation == GT_PTX_VIDEO_SHL || operation == GT_PTX_VIDEO_SHR) {
		if (!way || form->is_signed[2])
			return false;
		allowed |= ways;
	}
	return !(form->words & ~allowed) && !(end & (end - 1)) && !(way & (way - 1)) && !(shift & (shift - 1)) &&
	       form->n_types == (operation < GT_PTX_VIDEO_EQ ? 3 : 2) && (operation < GT_PTX_VIDEO_EQ || form->compares);
}

/* The part that .b0 to .b3, .h0 or .h1 names, or the word. */
static bool read_part(const char *text, struct gt_ptx_part *part)
{
	const unsigned bits = !text ? 32 : *text == 'b' ? 8 : *text == 'h' ? 16 : 0, number = text ? (unsigned)(text[1] - '0') : 0;

	*part = (struct gt_ptx_part){(uint8_t)(number * bits), (uint8_t)bits};
	return bits && number < 32 / bits && (!text || !text[2]);
}

/* The parts that a selection names, as .h10, its last digit of the first part; without one those from `first` on. Digits are below
 * `limit`; those of a mask fall, and each names the part of its own number. */
static bool read_parts(const char *text, unsigned n, unsigned first, unsigned limit, bool mask, struct gt_ptx_part *parts)
{
	const unsigned bits = 32 / n, given = text ? (unsigned)strlen(text + (*text != '\0')) : n;
	unsigned above = limit;

	if (text && (*text != (n == 2 ? 'h' : 'b') || given == 0 || (mask ? given > n : given != n)))
		return false;
	for (unsigned i = given; i-- > 0;) {
		const unsigned digit = text ? (unsigned)(text[given - i] - '0') : first + i;
		if (digit >= (mask ? above : limit))
			return false;
		parts[mask ? digit : i] = (struct gt_ptx_part){(uint8_t)(digit * bits), (uint8_t)bits};
		above = digit;
	}
	return true;
}

/* Whether the operation has these operands, with these signs and parts: without a third word there is nothing to be done with the result. */
static bool allows_operands(const struct gt_ptx_instruction *instruction, const struct video_form *form)
{
	const struct gt_ptx_operand *d = instruction->operands, *c = d + 3;
	const bool multiplies = form->video.operation == GT_PTX_VIDEO_MAD, merges = form->video.end == GT_PTX_VIDEO_MERGE;
	bool negated = false;

	if (instruction->n_operands != 3 && instruction->n_operands != 4)
		return false;
	for (size_t i = 1; i < instruction->n_operands; i++)
		negated |= instruction->operands[i].negated;
	if (d->negated || (negated && (!multiplies || form->words & 1 << ADDS_ONE)))
		return false;
	if (instruction->n_operands == 3)
		return !form->n && !multiplies && merges && !d->part;
	return !c->part && (form->n || !d->part || (merges && !multiplies));
}

/* Reads the parts and the signs of the operands. */
static bool read_video_operands(const struct gt_ptx_instruction *instruction, struct video_form *form)
{
	const struct gt_ptx_operand *d = &instruction->operands[0], *a = d + 1, *b = d + 2, *c = d + 3;
	struct gt_ptx_video *video = &form->video;

	if (!allows_operands(instruction, form))
		return false;
	if (form->n)
		return read_parts(a->part, form->n, 0, 2 * form->n, false, video->a) &&
		       read_parts(b->part, form->n, form->n, 2 * form->n, false, video->b) && read_parts(d->part, form->n, 0, form->n, true, video->d);
	if (video->operation == GT_PTX_VIDEO_MAD) {
		video->turn = a->negated != b->negated ? UINT64_MAX : 0;
		video->turn_c = c->negated ? UINT64_MAX : 0;
		video->one = video->turn || video->turn_c || form->words & 1 << ADDS_ONE;
		video->d_signed = video->a_signed || video->b_signed || video->turn || video->turn_c;
		if (video->turn && video->turn_c)
			return false;
	}
	const bool known = read_part(a->part, &video->a[0]) && read_part(b->part, &video->b[0]) && read_part(d->part, &video->d[0]);
	video->b[0].at = (uint8_t)(video->b[0].at + 32);
	return known;
}

/* What the words and types say. */
static void read_video_types(struct video_form *form)
{
	struct gt_ptx_video *video = &form->video;
	const bool *sources = form->is_signed + (form->n_types == 3);

	video->n = form->n ? form->n : 1;
	video->d_signed = form->n_types == 3 && form->is_signed[0];
	video->a_signed = sources[0];
	video->b_signed = sources[1];
	video->saturates = form->words & 1 << SATURATES;
	video->wraps = form->words & 1 << WRAPS;
	video->shift = form->words & 1 << SHIFTS_7 ? 7 : form->words & 1 << SHIFTS_15 ? 15 : 0;
	video->end = form->words & 1 << THEN_ADD ? GT_PTX_VIDEO_THEN_ADD : form->words & 1 << THEN_MIN ? GT_PTX_VIDEO_THEN_MIN :
		     form->words & 1 << THEN_MAX ? GT_PTX_VIDEO_THEN_MAX : GT_PTX_VIDEO_MERGE;
}

/* True if it is an instruction for video with a meaning. */
static bool read_video(const struct gt_ptx_instruction *instruction, struct video_form *form)
{
	struct gt_ptx_video *video = &form->video;

	memset(form, 0, sizeof *form);
	if (!read_video_opcode(instruction->opcode, form))
		return false;
	for (size_t i = 0; i < instruction->n_modifiers; i++)
		if (!read_video_word(instruction->modifiers[i], form))
			return false;
	read_video_types(form);
	if (!allows_words(form) || !read_video_operands(instruction, form))
		return false;
	const unsigned bits = form->n ? 32 / form->n : video->d[0].bits;
	video->least = video->d_signed ? -(INT64_C(1) << (bits - 1)) : 0;
	video->most = (INT64_C(1) << (video->d_signed ? bits - 1 : bits)) - 1;
	return true;
}

static int decode_video(struct gt_ptx_decoder *decoder, const struct video_form *form)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result;
	uint32_t slots[3] = {0};

	for (size_t i = 0; i + 1 < instruction->n_operands; i++)
		if (!(slots[i] = gt_ptx_source(decoder, &instruction->operands[i + 1], GT_PTX_U32)))
			return -1;
	struct gt_ptx_video *video = gt_ptx_own(decoder, sizeof *video);
	if (!video || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_U32, &result) != 0)
		return -1;
	*video = form->video;
	struct gt_ptx_op *op = gt_ptx_emit_form(decoder, GT_PTX_VIDEO, result.slot, slots[0], slots[1], slots[2] ? slots[2] : slots[0]);
	if (!op)
		return -1;
	op->with.video = video;
	return gt_ptx_finish_result(decoder, &result);
}

/* A lane operation, or an instruction for video. Those of them that are lane operations, too, are faster as such, but have no parts and signs. */
static int decode_other(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct video_form form;
	struct words words;
	bool parts = false, signs = false;

	if (*instruction->opcode != 'v')
		return decode_lanes(decoder);
	for (size_t i = 0; i < instruction->n_operands; i++) {
		parts |= instruction->operands[i].part != NULL;
		signs |= instruction->operands[i].negated;
	}
	const bool has_form = find_form(instruction, &words) != NULL;
	if (has_form && !parts && !signs)
		return decode_lanes(decoder);
	if (read_video(instruction, &form))
		return decode_video(decoder, &form);
	return has_form || parts ? gt_ptx_emit_unknown(decoder, "this form of '%.20s' is not known", instruction->opcode) : decode_lanes(decoder);
}

gt_ptx_decode_one *const gt_ptx_decode_lanes[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_AND] = decode_and,
	[GT_PTX_OP_OTHER] = decode_other,
	[GT_PTX_OP_LOP3] = decode_lop3,
	[GT_PTX_OP_MOV] = decode_mov,
	[GT_PTX_OP_SET] = decode_set,
	[GT_PTX_OP_SETP] = decode_setp,
};
