/* SPDX-License-Identifier: MIT */
/* Micro-ops as they are appended to the code of a function, and the slots that they name: of constants, temporaries, special registers,
 * and of operands, which are converted to the width of the instruction. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/decode/decode.h"
#include "cuda/ptx/exec/half.h"

/* ---- micro-ops ---- */

struct gt_ptx_op *gt_ptx_emit(struct gt_ptx_decoder *decoder, gt_ptx_step *run)
{
	struct gt_ptx_code *code = decoder->code;

	struct gt_ptx_op *ops = gt_grown(code->ops, code->n_ops, &decoder->ops_capacity, sizeof *ops);
	if (!ops) {
		gt_fail_memory(decoder->error, "decoded instructions");
		return NULL;
	}
	code->ops = ops;
	struct gt_ptx_op *op = &code->ops[code->n_ops++];
	memset(op, 0, sizeof *op);
	op->run = run;
	op->guard = decoder->guard;
	op->guarded = decoder->guarded;
	op->counts = decoder->first;
	op->line = decoder->instruction ? decoder->instruction->line : decoder->function->line;
	decoder->first = false;
	return op;
}

struct gt_ptx_op *gt_ptx_emit_form(struct gt_ptx_decoder *decoder, const char *name, uint32_t d, uint32_t a,
				   uint32_t b, uint32_t c)
{
	const struct gt_ptx_form *form = gt_ptx_form_named(name);

	if (!form) {
		gt_fail(decoder->error, "PTX line %u: no operation '%s'", decoder->instruction->line, name);
		return NULL;
	}
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_form_step(form));
	if (op) {
		op->d = d;
		op->a = a;
		op->b = b;
		op->c = c;
	}
	return op;
}

void *gt_ptx_own(struct gt_ptx_decoder *decoder, size_t bytes)
{
	struct gt_ptx_code *code = decoder->code;
	void **grown = gt_grown(code->owned, code->n_owned, &decoder->owned_capacity, sizeof *grown);
	void *kept = grown ? calloc(1, bytes) : NULL;

	if (grown)
		code->owned = grown;
	if (kept)
		code->owned[code->n_owned++] = kept;
	else
		gt_fail_memory(decoder->error, "decoded instructions");
	return kept;
}

int gt_ptx_emit_unknown(struct gt_ptx_decoder *decoder, const char *format, ...)
{
	char *text = gt_ptx_own(decoder, 160);
	struct gt_ptx_op *op = text ? gt_ptx_emit(decoder, gt_ptx_unknown) : NULL;
	va_list arguments;

	if (!op)
		return -1;
	va_start(arguments, format);
	vsnprintf(text, 160, format, arguments);
	va_end(arguments);
	op->with.text = text;
	return 0;
}

/* ---- constants, temporaries, special registers; the code's image holds their first contents ---- */

/* A new slot at the end of the arena's image; 0 on error. */
static uint32_t add_slot(struct gt_ptx_decoder *decoder, uint32_t bytes)
{
	uint32_t at = (decoder->image_bytes + bytes - 1) / bytes * bytes;

	/* Machine code has 31 bits for the place of a slot. */
	if ((uint64_t)decoder->code->image_at + at + bytes > INT32_MAX) {
		gt_fail(decoder->error, "function '%s' has too many registers and constants", decoder->function->name);
		return 0;
	}
	unsigned char *image = gt_grown_to(decoder->code->image, at + bytes, &decoder->image_capacity, 1);
	if (!image) {
		gt_fail_memory(decoder->error, "constants of a function");
		return 0;
	}
	memset(image + decoder->image_bytes, 0, at + bytes - decoder->image_bytes);
	decoder->code->image = image;
	decoder->image_bytes = at + bytes;
	return decoder->code->image_at + at;
}

uint32_t gt_ptx_constant_slot(struct gt_ptx_decoder *decoder, uint64_t bits, unsigned size)
{
	/* A map has no key of all ones, which is a usual constant; turned, it stands for one that is none. */
	const uint64_t key = bits ^ UINT64_C(0x5a5a5a5a5a5a5a5a);
	struct gt_map *known = &decoder->constants[gt_ptx_lowest(size)];
	const uint64_t *found = gt_map_get(known, key);
	int fresh;

	if (found)
		return (uint32_t)*found;
	uint32_t slot = add_slot(decoder, size <= 4 ? 128 : 256);
	if (!slot)
		return 0;
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		memcpy(decoder->code->image + (slot - decoder->code->image_at) + lane * size, &bits, size);
	if (key != GT_MAP_EMPTY && !gt_map_put(known, key, slot, &fresh)) {
		gt_fail_memory(decoder->error, "constants of a function");
		return 0;
	}
	return slot;
}

uint32_t gt_ptx_temporary_slot(struct gt_ptx_decoder *decoder, enum gt_ptx_type type)
{
	uint32_t bytes = gt_ptx_slot_bytes(type);

	for (size_t i = 0; i < decoder->n_temporaries; i++)
		if (decoder->temporaries[i].bytes == bytes &&
		    decoder->temporaries[i].taken != decoder->at + 1) {
			decoder->temporaries[i].taken = decoder->at + 1;
			return decoder->temporaries[i].slot;
		}
	void *grown = gt_grown(decoder->temporaries, decoder->n_temporaries, &decoder->temporaries_capacity,
			       sizeof *decoder->temporaries);
	if (!grown) {
		gt_fail_memory(decoder->error, "temporaries of a function");
		return 0;
	}
	decoder->temporaries = grown;
	uint32_t slot = add_slot(decoder, bytes);
	if (slot)
		decoder->temporaries[decoder->n_temporaries++] =
			(struct gt_ptx_temporary){slot, bytes, decoder->at + 1};
	return slot;
}

static uint32_t special_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_special *special)
{
	struct gt_ptx_code *code = decoder->code;
	size_t i = 0;

	while (i < code->n_specials && code->specials[i].special != special)
		i++;
	if (i == code->n_specials) {
		void *grown = gt_grown(code->specials, i, &decoder->specials_capacity, sizeof *code->specials);
		if (!grown) {
			gt_fail_memory(decoder->error, "special registers of a function");
			return 0;
		}
		code->specials = grown;
		code->specials[i] = (struct gt_ptx_special_use){
			special, add_slot(decoder, gt_ptx_slot_bytes(special->type))};
		if (!code->specials[i].slot)
			return 0;
		code->n_specials++;
	}
	if (special->life == GT_PTX_OF_MOMENT) {
		struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_read_special);
		if (!op)
			return 0;
		op->d = code->specials[i].slot;
		op->with.immediate = i;
	}
	return code->specials[i].slot;
}

/* ---- operands ---- */

const struct gt_ptx_operand *gt_ptx_elements(const struct gt_ptx_operand *operand, size_t *n)
{
	*n = operand->kind == GT_PTX_VECTOR ? operand->n_elements : 1;
	return operand->kind == GT_PTX_VECTOR ? operand->elements : operand;
}

static bool is_signed(enum gt_ptx_type type)
{
	return type == GT_PTX_S8 || type == GT_PTX_S16 || type == GT_PTX_S32 || type == GT_PTX_S64;
}

/* Emits a conversion from one width to another. */
static int emit_width(struct gt_ptx_decoder *decoder, uint32_t to, unsigned to_size, uint32_t from,
		      unsigned from_size, bool with_sign)
{
	char name[GT_PTX_NAME], kind = with_sign && to_size > from_size ? 's' : 'b';

	snprintf(name, sizeof name, "width.%c%u.%c%u", kind, 8 * to_size, kind, 8 * from_size);
	return gt_ptx_emit_form(decoder, name, to, from, 0, 0) ? 0 : -1;
}

static bool is_float(enum gt_ptx_type type)
{
	return type == GT_PTX_F32 || type == GT_PTX_F64 || type == GT_PTX_F16 || type == GT_PTX_BF16;
}

/* The bits of an immediate as a value of a type. */
static uint64_t immediate_bits(const struct gt_ptx_operand *operand, enum gt_ptx_type type)
{
	double value = 0;
	uint64_t bits = operand->bits;

	if (!operand->is_float || !is_float(type))
		return bits;
	if (operand->is_single) {
		value = (double)gt_ptx_from_bits((uint32_t)bits);
		if (type == GT_PTX_F32)
			return bits;
	} else {
		memcpy(&value, &bits, sizeof value);
	}
	if (type == GT_PTX_F16)
		return gt_ptx_to_half(value, GT_PTX_RN);
	if (type == GT_PTX_BF16)
		return gt_ptx_to_bfloat(value, GT_PTX_RN);
	if (type == GT_PTX_F32) {
		float single = (float)value;
		uint32_t small;
		memcpy(&small, &single, sizeof small);
		return small;
	}
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static uint64_t cut(uint64_t bits, unsigned size)
{
	return size >= 8 ? bits : bits & ((UINT64_C(1) << 8 * size) - 1);
}

enum gt_ptx_symbol_kind gt_ptx_symbol_of(const struct gt_ptx_decoder *decoder, const char *name,
					 uint64_t *address)
{
	const struct gt_ptx_function *function = decoder->function;
	const uint64_t *in_frame = gt_map_get(&decoder->frame, (uint64_t)(uintptr_t)name);

	if (in_frame) {
		*address = *in_frame;
		return GT_PTX_IN_FRAME;
	}
	for (size_t i = 0; function->entry && i < function->n_parameters; i++)
		if (function->parameters[i].name == name) {
			*address = gt_ptx_parameter_offset(function, i);
			return GT_PTX_IN_PARAMETERS;
		}
	for (size_t i = 0; i < decoder->program->n_shared; i++)
		if (decoder->program->shared[i].variable->name == name) {
			*address = decoder->program->shared[i].offset;
			return GT_PTX_IN_SHARED;
		}
	size_t index = gt_ptx_variable_index(decoder->machine->module, name);
	if (index != SIZE_MAX && decoder->machine->variables[index].address) {
		*address = decoder->machine->variables[index].address;
		return GT_PTX_IN_DEVICE;
	}
	index = gt_ptx_function_index(decoder->machine->module, name);
	if (index == SIZE_MAX)
		return GT_PTX_NO_SYMBOL;
	*address = GT_PTX_FUNCTION_BASE + index * GT_PTX_FUNCTION_STEP;
	return GT_PTX_IS_FUNCTION;
}

/* The address of a symbol as a value. */
static uint32_t symbol_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
			    unsigned size)
{
	uint64_t address;
	enum gt_ptx_symbol_kind kind = gt_ptx_symbol_of(decoder, operand->name, &address);

	if (kind == GT_PTX_NO_SYMBOL) {
		gt_fail(decoder->error, "PTX line %u: '%s' is not declared", decoder->instruction->line,
			operand->name);
		return 0;
	}
	address += (uint64_t)operand->offset;
	if (kind != GT_PTX_IN_FRAME)
		return gt_ptx_constant_slot(decoder, cut(address, size), size);
	uint32_t slot = gt_ptx_temporary_slot(decoder, GT_PTX_U64);
	struct gt_ptx_op *op = slot ? gt_ptx_emit(decoder, gt_ptx_local_address) : NULL;
	if (!op)
		return 0;
	op->d = slot;
	op->with.immediate = address;
	if (size == 8)
		return slot;
	uint32_t narrow = gt_ptx_temporary_slot(decoder, GT_PTX_U32);
	return narrow && emit_width(decoder, narrow, size, slot, 8, false) == 0 ? narrow : 0;
}

/* A predicate, negated if the operand is written !p. */
static uint32_t predicate_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
			       uint32_t slot)
{
	if (!operand->negated)
		return slot;
	uint32_t turned = gt_ptx_temporary_slot(decoder, GT_PTX_PRED);
	return turned && gt_ptx_emit_form(decoder, "not.pred", turned, slot, 0, 0) ? turned : 0;
}

static uint32_t immediate_predicate(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand)
{
	uint32_t slot = gt_ptx_temporary_slot(decoder, GT_PTX_PRED);

	return slot && gt_ptx_emit_form(decoder, operand->bits ? "mov.pred" : "not.pred", slot,
					GT_PTX_ALL_ONES, 0, 0)
		       ? slot
		       : 0;
}

uint32_t gt_ptx_source(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
		       enum gt_ptx_type type)
{
	unsigned size = gt_ptx_type_size(type), from_size;
	uint32_t slot;

	if (operand->kind == GT_PTX_IMMEDIATE && type == GT_PTX_PRED)
		return immediate_predicate(decoder, operand);
	if (operand->kind == GT_PTX_IMMEDIATE)
		return gt_ptx_constant_slot(decoder, cut(immediate_bits(operand, type), size), size);
	if (operand->kind == GT_PTX_SYMBOL)
		return symbol_slot(decoder, operand, size);
	if (operand->kind != GT_PTX_REGISTER) {
		gt_fail(decoder->error, "PTX line %u: operand of '%s': a register or a constant expected",
			decoder->instruction->line, decoder->instruction->opcode);
		return 0;
	}
	const struct gt_ptx_register *reg = gt_ptx_register_named(&decoder->registers, operand->name);
	const struct gt_ptx_special *special = reg ? NULL : gt_ptx_special_named(operand->name);
	if (!reg && !special) {
		gt_fail(decoder->error, "PTX line %u: register '%s' is not declared",
			decoder->instruction->line, operand->name);
		return 0;
	}
	enum gt_ptx_type own = reg ? reg->type : special->type;
	slot = reg ? reg->slot : special_slot(decoder, special);
	if ((own == GT_PTX_PRED) != (type == GT_PTX_PRED)) {
		gt_fail(decoder->error, "PTX line %u: '%s' is %s predicate", decoder->instruction->line,
			operand->name, own == GT_PTX_PRED ? "a" : "no");
		return 0;
	}
	if (own == GT_PTX_PRED)
		return predicate_slot(decoder, operand, slot);
	from_size = gt_ptx_type_size(own);
	if (from_size == size || !slot)
		return slot;
	uint32_t changed = gt_ptx_temporary_slot(decoder, type);
	return changed && emit_width(decoder, changed, size, slot, from_size, is_signed(type)) == 0 ? changed
												    : 0;
}

int gt_ptx_result_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, enum gt_ptx_type type,
		  struct gt_ptx_result *result)
{
	unsigned line = decoder->instruction->line;

	*result = (struct gt_ptx_result){.type = type};
	if (operand->kind == GT_PTX_SINK) {
		result->slot = gt_ptx_temporary_slot(decoder, type);
		return result->slot ? 0 : -1;
	}
	const struct gt_ptx_register *reg =
		operand->kind == GT_PTX_REGISTER ? gt_ptx_register_named(&decoder->registers, operand->name) : NULL;
	if (!reg)
		return gt_fail(decoder->error, "PTX line %u: '%s' needs a register for its result", line,
			       decoder->instruction->opcode);
	if ((reg->type == GT_PTX_PRED) != (type == GT_PTX_PRED))
		return gt_fail(decoder->error, "PTX line %u: '%s' is %s predicate", line, operand->name,
			       reg->type == GT_PTX_PRED ? "a" : "no");
	result->slot = reg->slot;
	if (gt_ptx_type_size(reg->type) == gt_ptx_type_size(type))
		return 0;
	result->wider = reg;
	result->slot = gt_ptx_temporary_slot(decoder, type);
	return result->slot ? 0 : -1;
}

int gt_ptx_finish_result(struct gt_ptx_decoder *decoder, const struct gt_ptx_result *result)
{
	if (!result->wider)
		return 0;
	return emit_width(decoder, result->wider->slot, gt_ptx_type_size(result->wider->type), result->slot,
			  gt_ptx_type_size(result->type), is_signed(result->type));
}
