/* SPDX-License-Identifier: MIT */
/* What all decoders of instructions use: micro-ops as they are appended to the code of a function; the slots that they name, of constants,
 * temporaries, special registers, and of operands, which are converted to the width of the instruction; accesses as instructions
 * write them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/warp.h"
#include "stream/hint.h"

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

int gt_ptx_emit_nothing(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_emit(decoder, gt_ptx_do_nothing) ? 0 : -1;
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

uint32_t gt_ptx_carry_slot(struct gt_ptx_decoder *decoder)
{
	struct gt_ptx_code *code = decoder->code;

	if (!code->carry)
		code->carry = add_slot(decoder, gt_ptx_slot_bytes(GT_PTX_U32));
	return code->carry;
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

/* Where the symbol of a name is in memory, and its address there. */
enum symbol_kind {
	NO_SYMBOL,
	IN_FRAME,
	IN_PARAMETERS,
	IN_SHARED,
	IN_DEVICE,
	IS_FUNCTION
};
static enum symbol_kind symbol_of(const struct gt_ptx_decoder *decoder, const char *name,
					 uint64_t *address)
{
	const struct gt_ptx_function *function = decoder->function;
	const uint64_t *in_frame = gt_map_get(&decoder->frame, (uint64_t)(uintptr_t)name);

	if (in_frame) {
		*address = *in_frame;
		return IN_FRAME;
	}
	for (size_t i = 0; function->entry && i < function->n_parameters; i++)
		if (function->parameters[i].name == name) {
			*address = gt_ptx_parameter_offset(function, i);
			return IN_PARAMETERS;
		}
	for (size_t i = 0; i < decoder->program->n_shared; i++)
		if (decoder->program->shared[i].variable->name == name) {
			*address = decoder->program->shared[i].offset;
			return IN_SHARED;
		}
	size_t index = gt_ptx_variable_index(decoder->machine->module, name);
	if (index != SIZE_MAX && decoder->machine->variables[index].address) {
		*address = decoder->machine->variables[index].address;
		return IN_DEVICE;
	}
	index = gt_ptx_function_index(decoder->machine->module, name);
	if (index == SIZE_MAX)
		return NO_SYMBOL;
	*address = GT_PTX_FUNCTION_BASE + index * GT_PTX_FUNCTION_STEP;
	return IS_FUNCTION;
}

/* ---- which operand fits which type: as ptxas has it ---- */

/* True if the instruction may read a register that is wider than its type, or write one. */
static bool takes_wider(enum gt_ptx_opcode row)
{
	return row == GT_PTX_OP_LD || row == GT_PTX_OP_LDU || row == GT_PTX_OP_ST || row == GT_PTX_OP_CVT || row == GT_PTX_OP_SULD ||
	       row == GT_PTX_OP_SUST;
}

static bool is_bits(enum gt_ptx_type type)
{
	return type >= GT_PTX_B8 && type <= GT_PTX_B128;
}

static bool is_integer(enum gt_ptx_type type)
{
	return type >= GT_PTX_U8 && type <= GT_PTX_S64;
}

static int fail_operand(struct gt_ptx_decoder *decoder, enum gt_ptx_type type, const char *found, const char *what)
{
	return gt_fail(decoder->error, "PTX line %u: operand of '%s': expected .%s, found %s%s", decoder->instruction->line,
		       decoder->instruction->opcode, gt_ptx_type_name(type), found, what);
}

/* Fails if a register of one type cannot stand for a value of another. */
static int check_register(struct gt_ptx_decoder *decoder, const char *name, enum gt_ptx_type found, enum gt_ptx_type type)
{
	const enum gt_ptx_opcode row = decoder->instruction->row;
	const unsigned size = gt_ptx_type_size(type), has = gt_ptx_type_size(found);
	const bool alike = is_bits(found) || is_bits(type) || is_integer(found) == is_integer(type);
	/* The stride of wmma has 32 bits, and becomes a part of an address; the mask of blocks of a cluster has 16, and is read as 32. */
	const bool fits = has == size || (has > size && takes_wider(row)) || row == GT_PTX_OP_WMMA ||
			  ((row == GT_PTX_OP_CP || row == GT_PTX_OP_TCGEN05) && has == 2);
	char text[GT_PTX_NAME];

	if ((found == GT_PTX_PRED) != (type == GT_PTX_PRED))
		return gt_fail(decoder->error, "PTX line %u: '%s' is %s predicate", decoder->instruction->line, name,
			       found == GT_PTX_PRED ? "a" : "no");
	if (found == GT_PTX_PRED || (alike && fits))
		return 0;
	snprintf(text, sizeof text, "%.80s of .%s", name, gt_ptx_type_name(found));
	return fail_operand(decoder, type, "the register ", text);
}

/* The same for a number: integers have no float's bits, and 0f... and 0d... no integer's; .b32 and .b64 take what has their size. */
static int check_number(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, enum gt_ptx_type type)
{
	const bool bits = is_bits(type) && gt_ptx_type_size(type) == (operand->is_single ? 4 : 8);

	if (operand->is_float && !is_float(type) && !bits)
		return fail_operand(decoder, type, "a floating-point number", "");
	if (!operand->is_float && type >= GT_PTX_F16 && type <= GT_PTX_F64)
		return fail_operand(decoder, type, "an integer", "");
	return 0;
}

/* The same for the address of a symbol. ptxas takes one with an offset wherever it takes an integer, and one without in these. */
static int check_symbol(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, enum gt_ptx_type type)
{
	const enum gt_ptx_opcode row = decoder->instruction->row;
	const unsigned size = gt_ptx_type_size(type);
	const bool takes = row == GT_PTX_OP_MOV || row == GT_PTX_OP_CVTA || row == GT_PTX_OP_MAPA || row == GT_PTX_OP_GETCTARANK;

	if ((takes || operand->offset != 0) && size >= 2 && (is_bits(type) || is_integer(type)))
		return 0;
	return fail_operand(decoder, type, "the address of ", operand->name);
}

/* The address of a symbol as a value. */
static uint32_t symbol_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, enum gt_ptx_type type)
{
	const unsigned size = gt_ptx_type_size(type);
	uint64_t address;
	enum symbol_kind kind = symbol_of(decoder, operand->name, &address);

	if (check_symbol(decoder, operand, type) != 0)
		return 0;
	if (kind == NO_SYMBOL) {
		gt_fail(decoder->error, "PTX line %u: '%s' is not declared", decoder->instruction->line,
			operand->name);
		return 0;
	}
	address += (uint64_t)operand->offset;
	if (kind != IN_FRAME)
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

bool gt_ptx_is_number(const struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand)
{
	const struct gt_ptx_register *reg = operand->kind == GT_PTX_REGISTER ? gt_ptx_register_named(&decoder->registers, operand->name) : NULL;

	return operand->kind == GT_PTX_IMMEDIATE || (reg && reg->number);
}

uint32_t gt_ptx_source(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
		       enum gt_ptx_type type)
{
	unsigned size = gt_ptx_type_size(type), from_size;
	uint32_t slot;

	if (size > 8 || (size == 0 && type != GT_PTX_PRED)) {
		gt_fail(decoder->error, "PTX line %u: '%s' of this type is not modelled", decoder->instruction->line,
			decoder->instruction->opcode);
		return 0;
	}
	if (operand->kind == GT_PTX_IMMEDIATE && check_number(decoder, operand, type) != 0)
		return 0;
	if (operand->kind == GT_PTX_IMMEDIATE && type == GT_PTX_PRED)
		return immediate_predicate(decoder, operand);
	if (operand->kind == GT_PTX_IMMEDIATE)
		return gt_ptx_constant_slot(decoder, cut(immediate_bits(operand, type), size), size);
	if (operand->kind == GT_PTX_SYMBOL)
		return symbol_slot(decoder, operand, type);
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
	enum gt_ptx_type register_type = reg ? reg->type : special->type;
	slot = reg ? reg->slot : special_slot(decoder, special);
	if ((reg || (register_type == GT_PTX_PRED) != (type == GT_PTX_PRED)) && check_register(decoder, operand->name, register_type, type) != 0)
		return 0;
	if (register_type == GT_PTX_PRED)
		return predicate_slot(decoder, operand, slot);
	from_size = gt_ptx_type_size(register_type);
	if (reg && reg->number && from_size == size)
		return gt_ptx_constant_slot(decoder, cut(immediate_bits(&reg->number->operands[1], register_type), size), size);
	if (from_size == size || !slot)
		return slot;
	uint32_t changed = gt_ptx_temporary_slot(decoder, type);
	return changed && emit_width(decoder, changed, size, slot, from_size, is_signed(type)) == 0 ? changed
												    : 0;
}

uint32_t gt_ptx_wide_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand)
{
	const struct gt_ptx_register *reg = gt_ptx_register_named(&decoder->registers, operand->name);

	if (reg && gt_ptx_type_size(reg->type) == 2 * sizeof(uint64_t))
		return reg->slot;
	gt_fail(decoder->error, "PTX line %u: a register of 128 bits expected", decoder->instruction->line);
	return 0;
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
	if (check_register(decoder, operand->name, reg->type, type) != 0)
		return -1;
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

/* ---- accesses as instructions write them: modifiers, cache policies, addresses ---- */

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

enum kind {
	SAYS_NOTHING, /* no effect on the model */
	SPACE,
	OPERATOR,
	STRONG,	 /* not served by L1 if the scope is wider than a block */
	WIDER,	 /* such a scope */
	ELEMENTS,
	HINT,
	IGNORED,
};

/* Which instructions may have a modifier: bits, by how they access memory. */
enum {
	LOADS = 1 << GT_PTX_ACCESS_LOAD,
	STORES = 1 << GT_PTX_ACCESS_STORE,
	ATOMICS = 1 << GT_PTX_ACCESS_ATOMIC | 1 << GT_PTX_ACCESS_REDUCTION,
	COPIES = 1 << GT_PTX_ACCESS_COPY,
	MATRICES = 1 << GT_PTX_ACCESS_MATRIX,
	MBARRIERS = 1 << GT_PTX_ACCESS_MBARRIER,
	CHANGES = ATOMICS | COPIES, /* with an operation */
	LINES = 1 << GT_PTX_ACCESS_LINE,
};

static const struct {
	const char *word;
	unsigned accesses;
	enum kind kind;
	int value;
} modifiers[] = {
	{"global", LOADS | STORES | ATOMICS | COPIES | MATRICES | LINES, SPACE, GT_PTX_GLOBAL},
	{"shared", LOADS | STORES | ATOMICS | COPIES | MATRICES | MBARRIERS, SPACE, GT_PTX_SHARED},
	{"shared::cta", LOADS | STORES | ATOMICS | COPIES | MATRICES | MBARRIERS, SPACE, GT_PTX_SHARED},
	{"shared::cluster", LOADS | STORES | ATOMICS | COPIES | MBARRIERS, SPACE, GT_PTX_SHARED},
	{"local", LOADS | STORES | LINES, SPACE, GT_PTX_LOCAL},
	{"const", LOADS, SPACE, GT_PTX_CONST},
	{"param", LOADS | STORES, SPACE, GT_PTX_PARAM},
	{"param::entry", LOADS, SPACE, GT_PTX_PARAM},
	{"param::func", LOADS | STORES, SPACE, GT_PTX_PARAM},
	{"ca", LOADS | COPIES, OPERATOR, GT_CA},
	{"cg", LOADS | STORES | COPIES, OPERATOR, GT_CG},
	{"cs", LOADS | STORES, OPERATOR, GT_CS},
	{"cv", LOADS, OPERATOR, GT_CV},
	{"lu", LOADS, OPERATOR, GT_LU},
	{"nc", LOADS, OPERATOR, GT_NC},
	{"wb", STORES, SAYS_NOTHING, 0},
	{"wt", STORES, IGNORED, 0},
	{"weak", LOADS | STORES, SAYS_NOTHING, 0},
	{"volatile", LOADS | STORES, STRONG, true},
	{"mmio", LOADS | STORES, STRONG, true},
	{"relaxed", LOADS | STORES | ATOMICS | MBARRIERS, STRONG, false},
	{"acquire", LOADS | ATOMICS | MBARRIERS, STRONG, false},
	{"release", STORES | ATOMICS | MBARRIERS, SAYS_NOTHING, 0},
	{"acq_rel", ATOMICS, SAYS_NOTHING, 0},
	{"cta", LOADS | STORES | ATOMICS | MBARRIERS, SAYS_NOTHING, 0},
	{"cluster", LOADS | STORES | ATOMICS | MBARRIERS, WIDER, 0},
	{"gpu", LOADS | STORES | ATOMICS, WIDER, 0},
	{"sys", LOADS | STORES | ATOMICS, WIDER, 0},
	{"v2", LOADS | STORES | ATOMICS, ELEMENTS, 2},
	{"v4", LOADS | STORES | ATOMICS, ELEMENTS, 4},
	{"v8", LOADS | STORES | ATOMICS, ELEMENTS, 8},
	{"L1::evict_normal", LOADS | STORES, HINT, GT_EVICT_NORMAL},
	{"L1::evict_unchanged", LOADS | STORES, HINT, GT_EVICT_UNCHANGED},
	{"L1::evict_first", LOADS | STORES, HINT, GT_EVICT_FIRST},
	{"L1::evict_last", LOADS | STORES, HINT, GT_EVICT_LAST},
	{"L1::no_allocate", LOADS | STORES, HINT, GT_NO_ALLOCATE},
	{"L2::evict_normal", LOADS | STORES | LINES, HINT, GT_EVICT_NORMAL << 3},
	{"L2::evict_first", LOADS | STORES, HINT, GT_EVICT_FIRST << 3},
	{"L2::evict_last", LOADS | STORES | LINES, HINT, GT_EVICT_LAST << 3},
	{"L2::64B", LOADS | COPIES, HINT, GT_FETCH_64 << 6},
	{"L2::128B", LOADS | COPIES, HINT, GT_FETCH_128 << 6},
	{"L2::256B", LOADS | COPIES, HINT, GT_FETCH_256 << 6},
	{"L2::cache_hint", LOADS | STORES | ATOMICS | COPIES, SAYS_NOTHING, 0},
	{"async", COPIES | STORES | 1 << GT_PTX_ACCESS_REDUCTION, SAYS_NOTHING, 0},
	{"L1", LINES, SAYS_NOTHING, 0},
	{"L2", LINES | COPIES, SAYS_NOTHING, 0},
	{"noftz", CHANGES, SAYS_NOTHING, 0},
	{"add", CHANGES, SAYS_NOTHING, 0},
	{"min", CHANGES, SAYS_NOTHING, 0},
	{"max", CHANGES, SAYS_NOTHING, 0},
	{"inc", CHANGES, SAYS_NOTHING, 0},
	{"dec", CHANGES, SAYS_NOTHING, 0},
	{"and", CHANGES, SAYS_NOTHING, 0},
	{"or", CHANGES, SAYS_NOTHING, 0},
	{"xor", CHANGES, SAYS_NOTHING, 0},
	{"exch", ATOMICS, SAYS_NOTHING, 0},
	{"cas", ATOMICS, SAYS_NOTHING, 0},
	{"init", MBARRIERS, SAYS_NOTHING, 0},
	{"inval", MBARRIERS, SAYS_NOTHING, 0},
	{"arrive", MBARRIERS | COPIES, SAYS_NOTHING, 0},
	{"arrive_drop", MBARRIERS, SAYS_NOTHING, 0},
	{"noComplete", MBARRIERS, SAYS_NOTHING, 0},
	{"expect_tx", MBARRIERS, SAYS_NOTHING, 0},
	{"complete_tx", MBARRIERS, SAYS_NOTHING, 0},
	{"test_wait", MBARRIERS, SAYS_NOTHING, 0},
	{"try_wait", MBARRIERS, SAYS_NOTHING, 0},
	{"parity", MBARRIERS, SAYS_NOTHING, 0},
	{"mbarrier", COPIES, SAYS_NOTHING, 0},
	{"noinc", COPIES, SAYS_NOTHING, 0},
	{"bulk", COPIES, SAYS_NOTHING, 0},
	{"bulk_group", COPIES, SAYS_NOTHING, 0},
	{"reduce", COPIES, SAYS_NOTHING, 0},
	{"tensor", COPIES, SAYS_NOTHING, 0},
	{"1d", COPIES, SAYS_NOTHING, 0},
	{"2d", COPIES, SAYS_NOTHING, 0},
	{"3d", COPIES, SAYS_NOTHING, 0},
	{"4d", COPIES, SAYS_NOTHING, 0},
	{"5d", COPIES, SAYS_NOTHING, 0},
	{"tile", COPIES, SAYS_NOTHING, 0},
	{"tile::gather4", COPIES, SAYS_NOTHING, 0},
	{"tile::scatter4", COPIES, SAYS_NOTHING, 0},
	{"im2col", COPIES, SAYS_NOTHING, 0},
	{"im2col_no_offs", COPIES, SAYS_NOTHING, 0},
	{"multicast::cluster", COPIES, SAYS_NOTHING, 0},
	{"multicast::cluster::all", COPIES, SAYS_NOTHING, 0},
	{"cta_group::1", COPIES, SAYS_NOTHING, 0},
	{"cta_group::2", COPIES, SAYS_NOTHING, 0},
	{"try_cancel", COPIES, SAYS_NOTHING, 0},
	{"prefetch", COPIES, SAYS_NOTHING, 0},
	{"mbarrier::complete_tx::bytes", COPIES | STORES | 1 << GT_PTX_ACCESS_REDUCTION, SAYS_NOTHING, 0},
	{"x1", MATRICES, ELEMENTS, 1},
	{"x2", MATRICES, ELEMENTS, 2},
	{"x4", MATRICES, ELEMENTS, 4},
	{"load", MATRICES, SAYS_NOTHING, 0},
	{"store", MATRICES, SAYS_NOTHING, 0},
	{"a", MATRICES, SAYS_NOTHING, 0},
	{"b", MATRICES, SAYS_NOTHING, 0},
	{"c", MATRICES, SAYS_NOTHING, 0},
	{"d", MATRICES, SAYS_NOTHING, 0},
	{"sync", MATRICES, SAYS_NOTHING, 0},
	{"aligned", MATRICES, SAYS_NOTHING, 0},
	{"trans", MATRICES, SAYS_NOTHING, 0},
	{"row", MATRICES, SAYS_NOTHING, 0},
	{"col", MATRICES, SAYS_NOTHING, 0},
	{"m8n8", MATRICES, SAYS_NOTHING, 0},
	{"m8n16", MATRICES, SAYS_NOTHING, 0},
	{"m16n16", MATRICES, SAYS_NOTHING, 0},
	{"m16n8", MATRICES, SAYS_NOTHING, 0},
	{"b8x16", MATRICES, SAYS_NOTHING, 0},
	{"b4x16_p64", MATRICES, SAYS_NOTHING, 0},
	{"b6x16_p32", MATRICES, SAYS_NOTHING, 0},
	{"m8n8k4", MATRICES, SAYS_NOTHING, 0},
	{"m8n8k32", MATRICES, SAYS_NOTHING, 0},
	{"m8n8k128", MATRICES, SAYS_NOTHING, 0},
	{"m16n16k8", MATRICES, SAYS_NOTHING, 0},
	{"m16n16k16", MATRICES, SAYS_NOTHING, 0},
	{"m32n8k16", MATRICES, SAYS_NOTHING, 0},
	{"m8n32k16", MATRICES, SAYS_NOTHING, 0},
	{"tf32", MATRICES, SAYS_NOTHING, 0},
	{"s4", MATRICES, SAYS_NOTHING, 0},
	{"u4", MATRICES, SAYS_NOTHING, 0},
	{"b1", MATRICES, SAYS_NOTHING, 0},
};

/* The instruction as written, without its operands; truncated to the buffer. */
static const char *written(const struct gt_ptx_instruction *instruction, char *buffer, size_t bytes)
{
	int n = snprintf(buffer, bytes, "%s", instruction->opcode);

	for (size_t i = 0; i < instruction->n_modifiers && n >= 0 && (size_t)n < bytes; i++)
		n += snprintf(buffer + n, bytes - (size_t)n, ".%s", instruction->modifiers[i]);
	return buffer;
}

int gt_ptx_refuse(struct gt_ptx_decoder *decoder, const char *why)
{
	char name[160];

	return gt_ptx_emit_unknown(decoder, "'%s' %s", written(decoder->instruction, name, sizeof name), why);
}

/* Index of the modifier's row; LENGTH(modifiers) if such an access cannot have it. */
static size_t row_of(const char *word, enum gt_ptx_access_kind kind)
{
	size_t m = 0;

	while (m < LENGTH(modifiers) && (!(modifiers[m].accesses >> kind & 1) || strcmp(word, modifiers[m].word) != 0))
		m++;
	return m;
}

/* Of two operators, as in ld.global.cg.nc, the one that says which caches may hold the data wins. */
static void take_operator(struct gt_ptx_access *access, int operation)
{
	static const unsigned ranks[GT_OPERATORS] = {
		[GT_OPERATOR_NONE] = 0, [GT_CA] = 1, [GT_NC] = 2, [GT_CG] = 3, [GT_CS] = 3, [GT_CV] = 3, [GT_LU] = 3};

	if (ranks[operation] >= ranks[access->operation])
		access->operation = (uint8_t)operation;
}

/* Reads the modifiers of the instruction into the access: space, operator, elements, hint; and its type, the last
 * modifier that is one. Returns 0; 1 if a modifier is not modelled, and the instruction has been refused; or -1. */
static int read_modifiers(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, enum gt_ptx_type *type)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const enum gt_ptx_access_kind access_kind = gt_ptx_row(instruction)->access;
	bool strong = false, wide = false;
	char why[64];

	access->n = 1;
	access->remote = gt_ptx_has(instruction, "shared::cluster");
	*type = GT_PTX_NO_TYPE;
	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		enum gt_ptx_type named = gt_ptx_type_named(word, strlen(word));
		size_t m = row_of(word, access_kind);
		*type = named ? named : *type;
		if (named)
			continue;
		if (m == LENGTH(modifiers)) {
			snprintf(why, sizeof why, "is not modelled: '.%.32s'", word);
			return gt_ptx_refuse(decoder, why) != 0 ? -1 : 1;
		}
		int value = modifiers[m].value;
		switch (modifiers[m].kind) {
		case SAYS_NOTHING: break;
		case SPACE: access->space = (enum gt_ptx_space)value; break;
		case OPERATOR: take_operator(access, value); break;
		case STRONG: strong = true, wide |= value; break;
		case WIDER: wide = true; break;
		case ELEMENTS: access->n = (uint8_t)value; break;
		case HINT: access->hint |= (uint16_t)value; break;
		case IGNORED:
			gt_ptx_note_ignored(decoder->machine->notes, instruction->line, "'st.wt'",
					    "writing through L2 concerns system memory alone");
		}
	}
	if (access_kind == GT_PTX_ACCESS_LOAD && strong && wide && access->operation == GT_OPERATOR_NONE) {
		access->operation = GT_CG;
		access->scoped = true;
	}
	access->remote |= access->space == GT_PTX_GENERIC;
	return 0;
}

int gt_ptx_read_address(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
			const struct gt_ptx_operand *operand)
{
	const struct gt_ptx_register *reg = gt_ptx_register_named(&decoder->registers, operand->name);
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
	enum symbol_kind kind =
		operand->name ? symbol_of(decoder, operand->name, &address) : IN_DEVICE;
	if (kind == NO_SYMBOL)
		return gt_fail(decoder->error, "PTX line %u: '%s' is not declared",
			       decoder->instruction->line, operand->name);
	access->in_frame = kind == IN_FRAME;
	access->untraced = access->space == GT_PTX_PARAM;
	if (kind == IN_FRAME)
		access->space = GT_PTX_LOCAL;
	else if (kind == IN_PARAMETERS)
		access->space = GT_PTX_PARAM;
	else if (kind == IN_SHARED)
		access->space = GT_PTX_SHARED;
	access->address = gt_ptx_constant_slot(decoder, address + (uint64_t)operand->offset, 8);
	return access->address ? 0 : -1;
}

int gt_ptx_new_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access **access, enum gt_ptx_type *type)
{
	*access = gt_ptx_own(decoder, sizeof **access);
	if (!*access)
		return -1;
	int result = read_modifiers(decoder, *access, type);
	(*access)->size = (uint8_t)gt_ptx_type_size(*type);
	(*access)->waits = decoder->waits[decoder->at];
	if (decoder->in_unrolled && !decoder->round && (*access)->space != GT_PTX_SHARED && (*access)->space != GT_PTX_PARAM)
		decoder->round = *access;
	(*access)->round = decoder->round;
	(*access)->low = 1; /* low > high: no allocation is cached */
	return result;
}

struct gt_ptx_access gt_ptx_shared_access(enum gt_action action, uint8_t size)
{
	return (struct gt_ptx_access){.space = GT_PTX_SHARED, .low = 1, .n = 1, .size = size, .action = (uint8_t)action};
}

int gt_ptx_refused(int result)
{
	return result > 0 ? 0 : result;
}

struct gt_ptx_op *gt_ptx_emit_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
				     gt_ptx_step *run)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, run);

	if (op) {
		op->with.access = access;
		op->accesses = 1;
	}
	return op;
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
