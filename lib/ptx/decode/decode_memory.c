/* SPDX-License-Identifier: MIT */
/* Loads, stores, atomics, copies and texture fetches. */
#include <stdio.h>
#include <string.h>

#include "ptx/decode/decoder.h"
#include "ptx/exec/access.h"
#include "stream/op.h"

/* What a modifier of ld, st and their like says; others (.volatile, .relaxed, .gpu, ...) change
 * nothing here. */
static const struct {
	const char *word;
	int space, operation, n;
} meanings[] = {
	{"global", GT_PTX_GLOBAL, 0, 0},
	{"shared", GT_PTX_SHARED, 0, 0},
	{"shared::cta", GT_PTX_SHARED, 0, 0},
	{"shared::cluster", GT_PTX_SHARED, 0, 0},
	{"local", GT_PTX_LOCAL, 0, 0},
	{"const", GT_PTX_CONST, 0, 0},
	{"param", GT_PTX_PARAM, 0, 0},
	{"param::entry", GT_PTX_PARAM, 0, 0},
	{"param::func", GT_PTX_PARAM, 0, 0},
	{"ca", 0, GT_CA, 0},
	{"cg", 0, GT_CG, 0},
	{"cs", 0, GT_CS, 0},
	{"cv", 0, GT_CV, 0},
	{"nc", 0, GT_NC, 0},
	{"v2", 0, 0, 2},
	{"v4", 0, 0, 4},
	{"v8", 0, 0, 8},
};

static void read_meaning(struct gt_ptx_access *access, const struct gt_ptx_instruction *instruction,
			 enum gt_ptx_type *type)
{
	access->n = 1;
	*type = GT_PTX_NO_TYPE;
	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		enum gt_ptx_type named = gt_ptx_type_named(word, strlen(word));
		*type = named ? named : *type;
		for (size_t m = 0; m < sizeof meanings / sizeof meanings[0]; m++) {
			if (strcmp(word, meanings[m].word) != 0)
				continue;
			if (meanings[m].space)
				access->space = (enum gt_ptx_space)meanings[m].space;
			if (meanings[m].operation)
				access->operation = (uint8_t)meanings[m].operation;
			if (meanings[m].n)
				access->n = (uint8_t)meanings[m].n;
		}
	}
}

/* The address: a register's lanes and an offset, or a symbol's constant address. */
static int read_address(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
			const struct gt_ptx_operand *operand)
{
	const struct gt_ptx_register *reg = gt_ptx_register(&decoder->registers, operand->name);
	uint64_t address = 0;

	if (operand->kind != GT_PTX_ADDRESS)
		return gt_fail(decoder->error, "PTX line %u: an address in brackets expected",
			       decoder->instruction->line);
	if (reg) {
		unsigned size = gt_ptx_type_size(reg->type);
		if (size != 4 && size != 8)
			return gt_fail(decoder->error, "PTX line %u: '%s' is too narrow for an address",
				       decoder->instruction->line, operand->name);
		access->narrow = size == 4;
		access->address = reg->slot;
		access->offset = operand->offset;
		if (access->space == GT_PTX_PARAM && !decoder->function->entry)
			access->space = GT_PTX_LOCAL;
		access->untraced = gt_ptx_says(decoder, "param");
		return 0;
	}
	enum gt_ptx_symbol_kind kind =
		operand->name ? gt_ptx_symbol_of(decoder, operand->name, &address) : GT_PTX_IN_DEVICE;
	if (kind == GT_PTX_NO_SYMBOL)
		return gt_fail(decoder->error, "PTX line %u: '%s' is not declared",
			       decoder->instruction->line, operand->name);
	access->in_frame = kind == GT_PTX_IN_FRAME;
	access->untraced = access->space == GT_PTX_PARAM;
	if (kind == GT_PTX_IN_FRAME)
		access->space = GT_PTX_LOCAL;
	else if (kind == GT_PTX_IN_PARAMETERS)
		access->space = GT_PTX_PARAM;
	else if (kind == GT_PTX_IN_SHARED)
		access->space = GT_PTX_SHARED;
	access->address = gt_ptx_constant_slot(decoder, address + (uint64_t)operand->offset, 8);
	return access->address ? 0 : -1;
}

static struct gt_ptx_access *new_access(struct gt_ptx_decoder *decoder, enum gt_ptx_type *type)
{
	struct gt_ptx_access *access = gt_ptx_own(decoder, sizeof *access);

	if (!access)
		return NULL;
	read_meaning(access, decoder->instruction, type);
	access->size = (uint8_t)gt_ptx_type_size(*type);
	access->low = 1; /* nothing is between 1 and 0 */
	return access;
}

static struct gt_ptx_op *emit_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
				     gt_ptx_step *run)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, run);

	if (op) {
		op->with.access = access;
		op->accesses = 1;
	}
	return op;
}

/* The elements of a vector, or the one value. */
static const struct gt_ptx_operand *elements(const struct gt_ptx_operand *operand, size_t *n)
{
	*n = operand->kind == GT_PTX_VECTOR ? operand->n_elements : 1;
	return operand->kind == GT_PTX_VECTOR ? operand->elements : operand;
}

static bool fits(const struct gt_ptx_access *access, size_t n)
{
	unsigned bytes = (unsigned)access->size * access->n;

	return n == access->n && n <= 8 && access->size > 0 && access->size <= 8 &&
	       bytes <= GT_ACCESS_SIZE_MAX;
}

int gt_ptx_decode_ld(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result results[8];
	enum gt_ptx_type type;
	struct gt_ptx_access *access = new_access(decoder, &type);
	size_t n = 0;

	if (!access)
		return -1;
	const struct gt_ptx_operand *values =
		instruction->n_operands >= 2 ? elements(&instruction->operands[0], &n) : NULL;
	if (!values || !fits(access, n))
		return gt_ptx_emit_unknown(decoder, "a load of this form is not known");
	access->action = GT_LOAD;
	if (read_address(decoder, access, &instruction->operands[1]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		results[i] = (struct gt_ptx_result){0};
		if (values[i].kind == GT_PTX_SINK)
			continue;
		if (gt_ptx_result(decoder, &values[i], type, &results[i]) != 0)
			return -1;
		access->slots[i] = results[i].slot;
		access->keeps |= n > 1 && results[i].slot == access->address;
	}
	if (!emit_access(decoder, access, gt_ptx_load_step(access->size)))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

int gt_ptx_decode_st(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	enum gt_ptx_type type;
	struct gt_ptx_access *access = new_access(decoder, &type);
	size_t n = 0;

	if (!access)
		return -1;
	const struct gt_ptx_operand *values =
		instruction->n_operands >= 2 ? elements(&instruction->operands[1], &n) : NULL;
	if (!values || !fits(access, n))
		return gt_ptx_emit_unknown(decoder, "a store of this form is not known");
	access->action = GT_STORE;
	if (read_address(decoder, access, &instruction->operands[0]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!(access->slots[i] = gt_ptx_source(decoder, &values[i], type)))
			return -1;
	return emit_access(decoder, access, gt_ptx_store_step(access->size)) ? 0 : -1;
}

/* atom.OP.TYPE d, [a], b(, c); red without d. An atom whose result nothing reads is a reduction, as
 * the assembler makes it. */
int gt_ptx_decode_atom(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool returns = strcmp(instruction->opcode, "atom") == 0;
	size_t at = returns ? 1 : 0, n = instruction->n_operands;
	struct gt_ptx_result result = {0};
	enum gt_ptx_type type;
	struct gt_ptx_access *access = new_access(decoder, &type);

	if (!access)
		return -1;
	access->change = gt_ptx_change(instruction, type);
	if (!access->change || n < at + 2 || n > at + 3 || access->n != 1)
		return gt_ptx_emit_unknown(decoder, "an atomic of this form is not known");
	if (read_address(decoder, access, &instruction->operands[at]) != 0 ||
	    !(access->slots[0] = gt_ptx_source(decoder, &instruction->operands[at + 1], type)) ||
	    (n == at + 3 &&
	     !(access->slots[1] = gt_ptx_source(decoder, &instruction->operands[at + 2], type))))
		return -1;
	if (returns && instruction->operands[0].kind == GT_PTX_REGISTER) {
		const struct gt_ptx_register *reg =
			gt_ptx_register(&decoder->registers, instruction->operands[0].name);
		returns = reg && reg->read;
		if (gt_ptx_result(decoder, &instruction->operands[0], type, &result) != 0)
			return -1;
	}
	access->action = returns && result.slot ? GT_ATOMIC : GT_REDUCTION;
	struct gt_ptx_op *op = emit_access(decoder, access, gt_ptx_atomic);
	if (!op)
		return -1;
	op->d = result.slot;
	return gt_ptx_finish_result(decoder, &result);
}

/* cp.async.CACHE.shared.global [to], [from], bytes(, bytes that are copied, the rest is zero). */
int gt_ptx_decode_cp(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	enum gt_ptx_type type;

	if (gt_ptx_says(decoder, "commit_group") || gt_ptx_says(decoder, "wait_group") ||
	    gt_ptx_says(decoder, "wait_all"))
		return gt_ptx_decode_nothing(decoder);
	if (!gt_ptx_says(decoder, "async") || gt_ptx_says(decoder, "bulk") ||
	    gt_ptx_says(decoder, "mbarrier") || instruction->n_operands < 3 ||
	    instruction->operands[2].kind != GT_PTX_IMMEDIATE)
		return gt_ptx_emit_unknown(decoder, "this form of cp is not known");
	struct gt_ptx_access *from = new_access(decoder, &type), *to = new_access(decoder, &type);
	if (!from || !to)
		return -1;
	uint64_t bytes = instruction->operands[2].bits;
	if (bytes != 4 && bytes != 8 && bytes != 16)
		return gt_ptx_emit_unknown(decoder, "cp.async of other than 4, 8 or 16 bytes");
	from->space = GT_PTX_GLOBAL;
	from->action = GT_LOAD;
	to->space = GT_PTX_SHARED;
	to->action = GT_STORE;
	to->operation = GT_OPERATOR_NONE;
	from->size = to->size = (uint8_t)bytes;
	if (read_address(decoder, to, &instruction->operands[0]) != 0 ||
	    read_address(decoder, from, &instruction->operands[1]) != 0)
		return -1;
	uint32_t copied = 0;
	if (instruction->n_operands > 3 &&
	    !(copied = gt_ptx_source(decoder, &instruction->operands[3], GT_PTX_U32)))
		return -1;
	/* Two micro-ops: the bytes pass through the warp's buffer. */
	struct gt_ptx_op *op = emit_access(decoder, from, gt_ptx_copy_from);
	if (!op)
		return -1;
	op->a = copied;
	return emit_access(decoder, to, gt_ptx_copy_to) ? 0 : -1;
}

/* tex.1d.v4.TYPE.s32 {a, b, c, d}, [texture, {x}]: an unfiltered fetch from linear memory. */
int gt_ptx_decode_tex(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_words words;
	enum gt_ptx_type type;

	gt_ptx_read_words(instruction, &words);
	if (!gt_ptx_says(decoder, "1d") || !gt_ptx_says(decoder, "v4") || words.type != GT_PTX_S32 ||
	    gt_ptx_type_size(words.first_type) != 4 || instruction->n_operands != 2 ||
	    instruction->operands[0].n_elements != 4 || instruction->operands[1].n_elements < 1)
		return gt_ptx_emit_unknown(
			decoder, "opcode '%s' is not known: textures are fetched by integers, 1D, linear",
			words.name);
	const struct gt_ptx_operand *handle = &instruction->operands[1], *x = &handle->elements[0];
	struct gt_ptx_access *access = new_access(decoder, &type);
	if (!access)
		return -1;
	access->space = GT_PTX_GLOBAL;
	access->action = GT_LOAD;
	access->size = 4;
	access->n = 4;
	struct gt_ptx_operand reg = *handle;
	reg.kind = GT_PTX_REGISTER;
	reg.n_elements = 0;
	uint32_t texture = gt_ptx_source(decoder, &reg, GT_PTX_U64);
	uint32_t at =
		texture ? gt_ptx_source(decoder, x->kind == GT_PTX_VECTOR ? &x->elements[0] : x, GT_PTX_S32)
			: 0;
	if (!at)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		struct gt_ptx_result result = {0};
		const struct gt_ptx_operand *element = &instruction->operands[0].elements[i];
		if (element->kind != GT_PTX_SINK && gt_ptx_result(decoder, element, GT_PTX_B32, &result) != 0)
			return -1;
		access->slots[i] = result.slot;
	}
	struct gt_ptx_op *op = emit_access(decoder, access, gt_ptx_texture);
	if (!op)
		return -1;
	op->a = texture;
	op->b = at;
	return 0;
}
