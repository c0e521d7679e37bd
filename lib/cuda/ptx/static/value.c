/* SPDX-License-Identifier: MIT */
/* Makes a value of every instruction, from the values that reach the registers it reads. */
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/static/parts.h"
#include "cuda/ptx/static/static.h"

static uint32_t read_variable(struct gt_static *analysis, uint32_t block, uint32_t variable, struct gt_error *error);

/* Evaluates integer operations that are no sums of products, in the width and sign of their type. */

static bool is_signed(enum gt_ptx_type type) { return type >= GT_PTX_S8 && type <= GT_PTX_S64; }
static unsigned bits_of(enum gt_ptx_type type) { return 8 * gt_ptx_type_size(type); }

enum gt_ptx_type gt_static_type(const struct gt_ptx_instruction *instruction)
{
	for (size_t i = instruction->n_modifiers; i-- > 0;) {
		const char *modifier = instruction->modifiers[i];
		enum gt_ptx_type type = gt_ptx_type_named(modifier, strlen(modifier));

		if (type != GT_PTX_NO_TYPE)
			return type;
	}
	return GT_PTX_NO_TYPE;
}

int64_t gt_static_narrow(int64_t number, enum gt_ptx_type type)
{
	unsigned bits = bits_of(type);
	uint64_t kept, sign;

	if (bits == 0 || bits >= 64)
		return number;
	kept = (uint64_t)number & ((UINT64_C(1) << bits) - 1);
	sign = UINT64_C(1) << (bits - 1);
	return is_signed(type) && kept & sign ? (int64_t)(kept - (sign << 1)) : (int64_t)kept;
}

static int64_t shift_right(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	uint64_t shift = (uint64_t)o[1] & UINT32_MAX;

	(void)instruction;
	if (is_signed(type)) {
		if (shift > 63)
			shift = 63;
		return o[0] < 0 ? (int64_t) ~(~(uint64_t)o[0] >> shift) : (int64_t)((uint64_t)o[0] >> shift);
	}
	return shift >= bits_of(type) ? 0 : (int64_t)((uint64_t)o[0] >> shift);
}

static int64_t shift_left(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	uint64_t shift = (uint64_t)o[1] & UINT32_MAX;

	(void)instruction;
	return shift >= bits_of(type) ? 0 : (int64_t)((uint64_t)o[0] << shift);
}

static int64_t both(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return o[0] & o[1];
}

static int64_t either(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return o[0] | o[1];
}

static int64_t differing(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return o[0] ^ o[1];
}

static int64_t inverted(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction, (void)type;
	return ~o[0];
}

/* Division by zero gives all ones, as on GPUs. */
static int64_t quotient(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	if (o[1] == 0)
		return -1;
	if (!is_signed(type))
		return (int64_t)((uint64_t)o[0] / (uint64_t)o[1]);
	return o[1] == -1 ? (int64_t) - (uint64_t)o[0] : o[0] / o[1];
}

static int64_t remainder_of(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	if (o[1] == 0)
		return o[0];
	if (!is_signed(type))
		return (int64_t)((uint64_t)o[0] % (uint64_t)o[1]);
	return o[1] == -1 ? 0 : o[0] % o[1];
}

static bool less(enum gt_ptx_type type, const int64_t *o)
{
	return is_signed(type) ? o[0] < o[1] : (uint64_t)o[0] < (uint64_t)o[1];
}

static int64_t smaller(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	return less(type, o) ? o[0] : o[1];
}

static int64_t larger(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	return less(type, o) ? o[1] : o[0];
}

/* mul.hi of 32-bit types: compilers divide by constants with it. */
static int64_t high_product(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	(void)instruction;
	if (is_signed(type))
		return (o[0] * o[1]) < 0 ? ~(~(o[0] * o[1]) >> 32) : (o[0] * o[1]) >> 32;
	return (int64_t)(((uint64_t)o[0] * (uint64_t)o[1]) >> 32);
}

/* Truncates to the type of the result. */
static int64_t converted(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type, const int64_t *o)
{
	const char *to = instruction->modifiers[instruction->n_modifiers - 2];

	(void)type;
	return gt_static_narrow(o[0], gt_ptx_type_named(to, strlen(to)));
}

static const struct gt_static_operation operations[GT_PTX_FOLDINGS] = {
	[GT_PTX_FOLD_CONVERT] = {1, converted},
	[GT_PTX_FOLD_MULTIPLY] = {2, high_product},
	[GT_PTX_FOLD_DIVIDE] = {2, quotient},
	[GT_PTX_FOLD_REMAINDER] = {2, remainder_of},
	[GT_PTX_FOLD_MIN] = {2, smaller},
	[GT_PTX_FOLD_MAX] = {2, larger},
	[GT_PTX_FOLD_SHIFT_LEFT] = {2, shift_left},
	[GT_PTX_FOLD_SHIFT_RIGHT] = {2, shift_right},
	[GT_PTX_FOLD_AND] = {2, both},
	[GT_PTX_FOLD_OR] = {2, either},
	[GT_PTX_FOLD_XOR] = {2, differing},
	[GT_PTX_FOLD_NOT] = {1, inverted},
};

const struct gt_static_operation *gt_static_operation_of(const struct gt_ptx_instruction *instruction)
{
	enum gt_ptx_type type = gt_static_type(instruction);
	enum gt_ptx_folding folding = gt_ptx_row(instruction)->folding;

	if (type < GT_PTX_B8 || type > GT_PTX_S64 || type == GT_PTX_B128)
		return NULL;
	if (gt_ptx_has(instruction, "relu"))
		return NULL;
	if (folding == GT_PTX_FOLD_MULTIPLY && (!gt_ptx_has(instruction, "hi") || gt_ptx_type_size(type) != 4))
		return NULL;
	if (folding == GT_PTX_FOLD_CONVERT && instruction->n_modifiers < 2)
		return NULL;
	return operations[folding].result ? &operations[folding] : NULL;
}

static void doubt(struct gt_static_place *place, enum gt_static_basis basis)
{
	if (basis > place->basis)
		place->basis = basis;
}

static int64_t special(struct gt_static_place *place, const char *name)
{
	static const char *const kinds[] = {"%tid.", "%ctaid.", "%ntid.", "%nctaid."};
	const uint32_t *from[] = {place->thread, place->block, place->launch->block, place->launch->grid};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t length = strlen(kinds[i]);

		if (!strncmp(name, kinds[i], length) && name[length] >= 'x' && name[length] <= 'z')
			return from[i][name[length] - 'x'];
	}
	if (!strcmp(name, "%laneid")) {
		const uint32_t *t = place->thread, *n = place->launch->block;

		return (t[0] + n[0] * (t[1] + (uint64_t)n[1] * t[2])) % GT_STATIC_WARP;
	}
	doubt(place, GT_STATIC_UNKNOWN);
	return 0;
}

static int64_t parameter(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	enum gt_ptx_type type = (enum gt_ptx_type)atom->value;
	const struct gt_ptx_variable *variable = &place->analysis->kernel->parameters[atom->number];
	unsigned bytes = gt_ptx_type_size(type);
	int64_t value = 0;

	if (!place->launch->parameters) {
		doubt(place, GT_STATIC_ASSUMED);
		return GT_STATIC_SIZE;
	}
	if (atom->offset < 0 || bytes > sizeof value || (uint64_t)atom->offset + bytes > variable->bytes) {
		doubt(place, GT_STATIC_UNKNOWN);
		return 0;
	}
	memcpy(&value,
	       place->launch->parameters + gt_ptx_parameter_offset(place->analysis->kernel, (size_t)atom->number) +
		       atom->offset,
	       bytes);
	/* Compilers load an int parameter as .b32 or .u32: it is taken as signed. */
	return gt_static_narrow(value, bytes == 4 ? GT_PTX_S32 : type);
}

static int64_t operation(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	const struct gt_ptx_instruction *instruction = place->analysis->values[atom->value].instruction;
	enum gt_ptx_type type = gt_static_type(instruction);
	int64_t operands[2] = {0, 0};

	for (uint32_t i = 0; i < atom->n && i < 2; i++)
		operands[i] = gt_static_narrow(gt_static_evaluate(place, atom->children[i]), type);
	return gt_static_narrow(gt_static_operation_of(instruction)->result(instruction, type, operands), type);
}

static int64_t turn(const struct gt_static_place *place, uint32_t block)
{
	for (uint32_t i = 0; i < place->n_loops; i++)
		if (place->loops[i] == block)
			return place->turns[i];
	return 0;
}

/* Takes the first of several values. The basis is the worst of all of them. */
static int64_t first_of(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	doubt(place, GT_STATIC_ASSUMED);
	for (uint32_t i = 1; i < atom->n; i++)
		gt_static_evaluate(place, atom->children[i]);
	return gt_static_evaluate(place, atom->children[0]);
}

int64_t gt_static_atom_value(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	switch (atom->kind) {
	case GT_STATIC_ATOM_PARAMETER:
		return parameter(place, atom);
	case GT_STATIC_ATOM_SYMBOL:
		return 0;
	case GT_STATIC_ATOM_SPECIAL:
		return special(place, atom->name);
	case GT_STATIC_ATOM_LOOP:
		return turn(place, atom->block);
	case GT_STATIC_ATOM_OPERATION:
		return operation(place, atom);
	case GT_STATIC_ATOM_CHOICE:
		return first_of(place, atom);
	case GT_STATIC_ATOM_LOADED:
		doubt(place, GT_STATIC_LOADED);
		return 0;
	default:
		doubt(place, GT_STATIC_UNKNOWN);
		return 0;
	}
}

/* True for the base address of a buffer. It counts as 0: allocations begin at multiples of a line. */
static bool is_pointer(const struct gt_static_place *place, const struct gt_static_term *term)
{
	if (term->n != 1 || term->factor != 1 || place->launch->parameters)
		return false;
	const struct gt_static_atom *atom = &place->analysis->atoms[term->atoms[0]];
	return atom->kind == GT_STATIC_ATOM_PARAMETER && gt_ptx_type_size((enum gt_ptx_type)atom->value) == 8;
}

int64_t gt_static_evaluate(struct gt_static_place *place, const struct gt_static_poly *poly)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < poly->n; i++) {
		const struct gt_static_term *term = &poly->terms[i];
		uint64_t product = (uint64_t)term->factor;

		if (is_pointer(place, term))
			continue;
		for (uint32_t j = 0; j < term->n; j++)
			product *= (uint64_t)gt_static_atom_value(place, &place->analysis->atoms[term->atoms[j]]);
		sum += product;
	}
	return (int64_t)sum;
}

/* Finds the value that reaches a register read; where several do, a join of them (the phi of SSA form). */

/* ssa.c: which value reaches a read of a register. A variable is the number of a register. GT_STATIC_NONE when memory
 * is short. */
static uint32_t new_value(struct gt_static *analysis, enum gt_static_kind kind, struct gt_error *error)
{
	struct gt_static_value *values =
		analysis->n_values < GT_STATIC_NUMBERS
			? gt_grown(analysis->values, analysis->n_values, &analysis->value_capacity, sizeof *values)
			: NULL;

	if (!values) {
		gt_fail_memory(error, "the values of a kernel");
		return GT_STATIC_NONE;
	}
	analysis->values = values;
	memset(&values[analysis->n_values], 0, sizeof *values);
	values[analysis->n_values].kind = kind;
	values[analysis->n_values].same = analysis->n_values;
	return analysis->n_values++;
}

uint32_t gt_static_same(const struct gt_static *analysis, uint32_t value)
{
	while (analysis->values[value].same != value)
		value = analysis->values[value].same;
	return value;
}

static int write_variable(struct gt_static *analysis, uint32_t block, uint32_t variable, uint32_t value,
			  struct gt_error *error)
{
	int fresh;
	uint64_t *place = gt_map_put(&analysis->reaching, (uint64_t)block << 32 | variable, value, &fresh);

	if (!place)
		return gt_fail_memory(error, "the values of a kernel");
	*place = value;
	return 0;
}

/* Fills a join with the values at the ends of the predecessors. */
static int fill_join(struct gt_static *analysis, uint32_t join, struct gt_error *error)
{
	const struct gt_ptx_block *block = &analysis->flow.blocks[analysis->values[join].block];
	const size_t *before = analysis->flow.sources + block->predecessors;
	uint32_t variable = analysis->values[join].variable;
	uint32_t *operands = gt_ptx_arena_take(analysis->arena, block->n_predecessors, sizeof *operands, error);

	if (!operands)
		return -1;
	for (size_t i = 0; i < block->n_predecessors; i++) {
		operands[i] = read_variable(analysis, (uint32_t)before[i], variable, error);
		if (operands[i] == GT_STATIC_NONE)
			return -1;
	}
	analysis->values[join].operands = operands;
	analysis->values[join].n = (uint32_t)block->n_predecessors;
	return 0;
}

/* True for a block with a back edge, as long as the values at its source are not known. */
static bool is_late(const struct gt_static *analysis, uint32_t block)
{
	const struct gt_ptx_block *b = &analysis->flow.blocks[block];

	return !analysis->complete && b->n_predecessors > 0 &&
	       analysis->flow.sources[b->predecessors + b->n_predecessors - 1] >= block;
}

/* The depth of the recursion is bounded: in a long chain of blocks the value is opaque. */
static uint32_t read_variable(struct gt_static *analysis, uint32_t block, uint32_t variable, struct gt_error *error)
{
	const struct gt_ptx_block *b = &analysis->flow.blocks[block];
	const uint64_t *known = gt_map_get(&analysis->reaching, (uint64_t)block << 32 | variable);
	uint32_t value;
	bool deep = analysis->depth > 2000, first = b->n_predecessors == 0, late = is_late(analysis, block);

	if (known)
		return (uint32_t)*known;
	if (!deep && block > 0 && !late && b->n_predecessors == 1) {
		analysis->depth++;
		value = read_variable(analysis, (uint32_t)analysis->flow.sources[b->predecessors], variable, error);
		analysis->depth--;
		if (value == GT_STATIC_NONE || write_variable(analysis, block, variable, value, error) != 0)
			return GT_STATIC_NONE;
		return value;
	}
	value = new_value(analysis, deep || first ? GT_STATIC_OPAQUE : GT_STATIC_JOIN, error);
	if (value == GT_STATIC_NONE)
		return value;
	analysis->values[value].block = block;
	analysis->values[value].variable = variable;
	if (write_variable(analysis, block, variable, value, error) != 0)
		return GT_STATIC_NONE;
	if (deep || first || late)
		return value;
	analysis->depth++;
	if (fill_join(analysis, value, error) != 0)
		value = GT_STATIC_NONE;
	analysis->depth--;
	return value;
}

/* A join whose operands are one value and the join itself equals that value. */
static bool simplify(struct gt_static *analysis)
{
	bool changed = false;

	for (uint32_t i = 0; i < analysis->n_values; i++) {
		struct gt_static_value *value = &analysis->values[i];
		uint32_t only = GT_STATIC_NONE, others = 0;

		if (value->kind != GT_STATIC_JOIN || value->same != i || value->n == 0)
			continue;
		for (uint32_t j = 0; j < value->n; j++) {
			uint32_t operand = gt_static_same(analysis, value->operands[j]);

			if (operand == i || operand == only)
				continue;
			only = operand;
			others++;
		}
		if (others == 1 && value->block > 0) {
			value->same = only;
			changed = true;
		}
	}
	return changed;
}

/* After the last instruction: completes the joins of blocks that loops come back to. */
static int fill_joins(struct gt_static *analysis, struct gt_error *error)
{
	/* Filling one may add others behind it. */
	analysis->complete = true;
	for (uint32_t i = 0; i < analysis->n_values; i++)
		if (analysis->values[i].kind == GT_STATIC_JOIN && !analysis->values[i].operands &&
		    fill_join(analysis, i, error) != 0)
			return -1;
	for (int pass = 0; pass < 64 && simplify(analysis); pass++)
		;
	return 0;
}

/* The value of a name that is read: a register, a special register (%tid.x), or a symbol. */
static uint32_t read_name(struct gt_static *analysis, uint32_t block, const char *name, struct gt_error *error)
{
	const uint64_t *variable = gt_map_get(&analysis->variables, (uint64_t)(uintptr_t)name);
	uint32_t value;

	if (variable)
		return read_variable(analysis, block, (uint32_t)*variable, error);
	value = new_value(analysis, name[0] == '%' ? GT_STATIC_SPECIAL : GT_STATIC_SYMBOL, error);
	if (value != GT_STATIC_NONE)
		analysis->values[value].name = name;
	return value;
}

/* base + number. */
static uint32_t sum(struct gt_static *analysis, uint32_t base, int64_t number, struct gt_error *error)
{
	uint32_t value, *operand;

	if (base == GT_STATIC_NONE || number == 0)
		return base;
	value = new_value(analysis, GT_STATIC_SUM, error);
	operand = gt_ptx_arena_copy(analysis->arena, &base, 1, sizeof base, error);
	if (value == GT_STATIC_NONE || !operand)
		return GT_STATIC_NONE;
	analysis->values[value].number = number;
	analysis->values[value].operands = operand;
	analysis->values[value].n = 1;
	return value;
}

static uint32_t read_operand(struct gt_static *analysis, uint32_t block, const struct gt_ptx_operand *operand,
			     struct gt_error *error)
{
	uint32_t value;

	switch (operand->kind) {
	case GT_PTX_REGISTER:
		return read_name(analysis, block, operand->name, error);
	case GT_PTX_SYMBOL:
	case GT_PTX_ADDRESS:
		if (operand->name)
			return sum(analysis, read_name(analysis, block, operand->name, error), operand->offset,
				   error);
		value = new_value(analysis, GT_STATIC_CONSTANT, error);
		if (value != GT_STATIC_NONE)
			analysis->values[value].number = operand->offset;
		return value;
	case GT_PTX_IMMEDIATE:
		value = new_value(analysis, operand->is_float ? GT_STATIC_OPAQUE : GT_STATIC_CONSTANT, error);
		if (value != GT_STATIC_NONE)
			analysis->values[value].number = (int64_t)operand->bits;
		return value;
	default:
		return new_value(analysis, GT_STATIC_OPAQUE, error);
	}
}

/* Begins the value of an instruction, without operands. ld.param of a parameter of the kernel is that parameter. */
static uint32_t begin_value(struct gt_static *analysis, const struct gt_ptx_instruction *instruction,
			    struct gt_error *error)
{
	const struct gt_ptx_operand *from = instruction->n_operands > 1 ? &instruction->operands[1] : NULL;
	enum gt_ptx_access_kind access = gt_ptx_row(instruction)->access;
	bool loads = access == GT_PTX_ACCESS_LOAD || access == GT_PTX_ACCESS_ATOMIC || access == GT_PTX_ACCESS_FETCH;
	enum gt_static_kind kind = GT_STATIC_OPERATION;
	const uint64_t *parameter = NULL;
	uint32_t value;

	if (loads && from && from->name && gt_ptx_has(instruction, "param"))
		parameter = gt_map_get(&analysis->parameters, (uint64_t)(uintptr_t)from->name);
	/* Other reads of the parameter space are results of calls. */
	if (loads)
		kind = parameter			  ? GT_STATIC_PARAMETER
		       : gt_ptx_has(instruction, "param") ? GT_STATIC_OPAQUE
							  : GT_STATIC_LOAD;
	value = new_value(analysis, kind, error);
	if (value == GT_STATIC_NONE)
		return value;
	analysis->values[value].instruction = instruction;
	if (parameter) {
		analysis->values[value].number = (int64_t)*parameter;
		analysis->values[value].offset = from->offset;
	}
	return value;
}

static int read_sources(struct gt_static *analysis, uint32_t block, uint32_t *operands, size_t first,
			const struct gt_ptx_instruction *instruction, struct gt_error *error)
{
	for (size_t i = first; i < instruction->n_operands; i++) {
		operands[i - first] = read_operand(analysis, block, &instruction->operands[i], error);
		if (operands[i - first] == GT_STATIC_NONE)
			return -1;
	}
	return 0;
}

/* Assigns a value to a register; under a guard, a choice of it and the value before. */
static int define(struct gt_static *analysis, uint32_t block, const struct gt_ptx_instruction *instruction,
		  const char *name, uint32_t value, struct gt_error *error)
{
	const uint64_t *variable = gt_map_get(&analysis->variables, (uint64_t)(uintptr_t)name);
	uint32_t pair[2] = {value, 0}, choice;

	if (!variable)
		return 0;
	if (!instruction->guard)
		return write_variable(analysis, block, (uint32_t)*variable, value, error);
	pair[1] = read_variable(analysis, block, (uint32_t)*variable, error);
	if (pair[1] == GT_STATIC_NONE)
		return -1;
	choice = new_value(analysis, GT_STATIC_CHOICE, error);
	if (choice == GT_STATIC_NONE)
		return -1;
	analysis->values[choice].instruction = instruction;
	analysis->values[choice].operands = gt_ptx_arena_copy(analysis->arena, pair, 2, sizeof *pair, error);
	analysis->values[choice].n = 2;
	if (!analysis->values[choice].operands)
		return -1;
	return write_variable(analysis, block, (uint32_t)*variable, choice, error);
}

/* Assigns to the registers of an operand. Each element of a vector is a value of its own; those of a parameter differ in
 * their offsets. */
static int define_operand(struct gt_static *analysis, uint32_t block, const struct gt_ptx_instruction *instruction,
			  const struct gt_ptx_operand *operand, uint32_t value, struct gt_error *error)
{
	if (operand->kind == GT_PTX_REGISTER)
		return define(analysis, block, instruction, operand->name, value, error);
	for (size_t i = 0; i < operand->n_elements; i++) {
		uint32_t element = new_value(analysis, GT_STATIC_OPAQUE, error);
		const struct gt_static_value *whole;

		if (element == GT_STATIC_NONE)
			return -1;
		whole = &analysis->values[value];
		analysis->values[element].instruction = instruction;
		if (whole->kind == GT_STATIC_PARAMETER) {
			analysis->values[element].kind = GT_STATIC_PARAMETER;
			analysis->values[element].number = whole->number;
			analysis->values[element].offset =
				whole->offset + (int64_t)(i * gt_ptx_type_size(gt_static_type(instruction)));
		} else if (whole->kind == GT_STATIC_LOAD) {
			analysis->values[element].kind = GT_STATIC_LOAD;
			analysis->values[element].operands = whole->operands;
			analysis->values[element].n = whole->n;
		}
		if (operand->elements[i].kind == GT_PTX_REGISTER &&
		    define(analysis, block, instruction, operand->elements[i].name, element, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- accesses ---- */

/* True if one of the modifiers is a space other than global memory. Generic addresses may be global. */
static bool is_elsewhere(const struct gt_ptx_instruction *instruction)
{
	static const char *const elsewhere[] = {"shared",      "local",		  "param",	  "const",
						"shared::cta", "shared::cluster", "param::entry", "param::func"};

	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (gt_ptx_has(instruction, elsewhere[i]))
			return true;
	return false;
}

static bool find_plain(const struct gt_ptx_instruction *instruction, struct gt_static_access *access)
{
	unsigned vector = gt_ptx_has(instruction, "v2") ? 2 : gt_ptx_has(instruction, "v4") ? 4 : gt_ptx_has(instruction, "v8") ? 8 : 1;

	access->bytes = vector * gt_ptx_type_size(gt_static_type(instruction));
	return !is_elsewhere(instruction);
}

/* The index of a modifier; n_modifiers if it is not there. */
static size_t place_of(const struct gt_ptx_instruction *instruction, const char *word)
{
	size_t i = 0;

	while (i < instruction->n_modifiers && strcmp(instruction->modifiers[i], word) != 0)
		i++;
	return i;
}

/* cp.async(.bulk)(.tensor): the space of the destination is written first. *at: the operand with the global address. */
static bool find_copy(const struct gt_ptx_instruction *instruction, const uint32_t *operands, size_t n,
		      const struct gt_static *analysis, struct gt_static_access *access, size_t *at)
{
	const size_t global = place_of(instruction, "global"), all = instruction->n_modifiers;
	const bool bulk = gt_ptx_has(instruction, "bulk");
	size_t first = all;

	for (size_t i = 0; i < all && first == all; i++)
		if (strncmp(instruction->modifiers[i], "shared", 6) == 0)
			first = i;
	if (global == all || n < 2 || gt_ptx_has(instruction, "prefetch"))
		return false;
	const bool stores = global < first;
	*at = stores ? 0 : 1;
	access->action = !stores ? GT_PTX_ACCESS_LOAD
			 : gt_ptx_has(instruction, "reduce") ? GT_PTX_ACCESS_REDUCTION : GT_PTX_ACCESS_STORE;
	access->bytes = GT_STATIC_PIECE;
	if (gt_ptx_has(instruction, "tensor")) {
		access->spread = GT_STATIC_FROM_MAP;
		return true;
	}
	if (n < 3)
		return false;
	const struct gt_static_value *bytes = &analysis->values[gt_static_same(analysis, operands[2])];
	const uint64_t known = bytes->kind == GT_STATIC_CONSTANT && bytes->number > 0 ? (uint64_t)bytes->number : 0;
	if (bulk)
		access->spread = GT_STATIC_IN_BULK;
	access->lanes = known && known < GT_STATIC_WARP * GT_STATIC_PIECE ? (unsigned)(known / GT_STATIC_PIECE) : GT_STATIC_WARP;
	if (!bulk)
		access->bytes = (unsigned)known;
	return true;
}

/* wmma.load {r, ...}, [address](, stride); wmma.store [address], {r, ...}(, stride). Returns as find_access. */
static int find_tile(const struct gt_ptx_instruction *instruction, const uint32_t *operands, size_t n,
		     struct gt_ptx_arena *arena, struct gt_static_access *access, struct gt_error *error)
{
	const bool stores = gt_ptx_has(instruction, "store");
	struct gt_ptx_tile tile = {0};
	size_t registers;

	if (is_elsewhere(instruction) || !(stores || gt_ptx_has(instruction, "load")) || instruction->n_operands < 2)
		return 0;
	gt_ptx_elements(&instruction->operands[stores ? 1 : 0], &registers);
	access->action = stores ? GT_PTX_ACCESS_STORE : GT_PTX_ACCESS_LOAD;
	access->spread = GT_STATIC_BY_LINES;
	if (!gt_ptx_lay_out_tile(instruction, &tile, stores, registers))
		return 0;
	if (instruction->n_operands == 3)
		access->stride = operands[n - 1];
	access->tile = gt_ptx_arena_copy(arena, &tile, 1, sizeof tile, error);
	return access->tile ? 1 : -1;
}

/* static.c: fills all but the polynomials: the values of the instruction's operands behind its results, of which there are n.
 * Returns 1; 0 if it does not access global memory; -1 when memory is short. */
static int find_access(const struct gt_static *analysis, const struct gt_ptx_instruction *instruction,
		       const uint32_t *operands, size_t n, struct gt_static_access *access, struct gt_error *error)
{
	size_t at = 0;
	int found = 0;

	*access = (struct gt_static_access){.action = gt_ptx_row(instruction)->access, .stride = GT_STATIC_NONE};
	switch (access->action) {
	case GT_PTX_ACCESS_LOAD:
	case GT_PTX_ACCESS_STORE:
	case GT_PTX_ACCESS_ATOMIC:
	case GT_PTX_ACCESS_REDUCTION: found = find_plain(instruction, access); break;
	case GT_PTX_ACCESS_COPY: found = find_copy(instruction, operands, n, analysis, access, &at); break;
	case GT_PTX_ACCESS_MATRIX: found = find_tile(instruction, operands, n, analysis->arena, access, error); break;
	default: break;
	}
	if (found > 0 && n <= at)
		return 0;
	access->address = found > 0 ? operands[at] : GT_STATIC_NONE;
	return found;
}

/* ---- instructions of the kernel, in order ---- */

static int take_instruction(struct gt_static *analysis, uint32_t block, uint32_t at, struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = &analysis->kernel->instructions[at];
	size_t n_written = gt_ptx_results(instruction), n = instruction->n_operands - n_written;
	uint32_t *operands, value;

	if (gt_ptx_row(instruction)->ending == GT_PTX_CALLS) {
		for (size_t i = 0; i < instruction->n_returns; i++) {
			value = new_value(analysis, GT_STATIC_OPAQUE, error);
			if (value == GT_STATIC_NONE ||
			    define_operand(analysis, block, instruction, &instruction->returns[i], value, error) != 0)
				return -1;
		}
		return 0;
	}
	if (instruction->guard && (analysis->guards[at] = read_name(analysis, block, instruction->guard, error)) == GT_STATIC_NONE)
		return -1;
	operands = gt_ptx_arena_take(analysis->arena, n, sizeof *operands, error);
	if (!operands || read_sources(analysis, block, operands, n_written, instruction, error) != 0)
		return -1;
	int found = find_access(analysis, instruction, operands, n, &analysis->accesses[analysis->n_accesses], error);
	if (found < 0)
		return -1;
	if (found > 0)
		analysis->accesses[analysis->n_accesses++].instruction = at;
	if (n_written == 0)
		return 0;
	value = begin_value(analysis, instruction, error);
	if (value == GT_STATIC_NONE)
		return -1;
	analysis->values[value].operands = operands;
	analysis->values[value].n = (uint32_t)n;
	for (size_t i = 0; i < n_written; i++)
		if (define_operand(analysis, block, instruction, &instruction->operands[i], value, error) != 0)
			return -1;
	return 0;
}

static int number_register(struct gt_static *analysis, const struct gt_ptx_operand *operand, struct gt_error *error)
{
	int fresh;

	for (size_t i = 0; i < operand->n_elements; i++)
		if (number_register(analysis, &operand->elements[i], error) != 0)
			return -1;
	if (operand->kind != GT_PTX_REGISTER)
		return 0;
	if (!gt_map_put(&analysis->variables, (uint64_t)(uintptr_t)operand->name, analysis->n_variables, &fresh))
		return gt_fail_memory(error, "the registers of a kernel");
	analysis->n_variables += fresh != 0;
	return 0;
}

/* Numbers every register that is written. */
static int number_registers(struct gt_static *analysis, struct gt_error *error)
{
	const struct gt_ptx_function *kernel = analysis->kernel;

	for (size_t i = 0; i < kernel->n_instructions; i++) {
		const struct gt_ptx_instruction *instruction = &kernel->instructions[i];
		size_t n = gt_ptx_results(instruction);

		for (size_t j = 0; j < n; j++)
			if (number_register(analysis, &instruction->operands[j], error) != 0)
				return -1;
		for (size_t j = 0; j < instruction->n_returns; j++)
			if (number_register(analysis, &instruction->returns[j], error) != 0)
				return -1;
	}
	return 0;
}

int gt_static_find_values(struct gt_static *analysis, struct gt_error *error)
{
	analysis->accesses = gt_ptx_arena_take(analysis->arena, analysis->kernel->n_instructions,
					       sizeof *analysis->accesses, error);
	analysis->guards = gt_ptx_arena_take(analysis->arena, analysis->kernel->n_instructions, sizeof *analysis->guards, error);
	if (!analysis->accesses || !analysis->guards || number_registers(analysis, error) != 0)
		return -1;
	for (uint32_t i = 0; i < analysis->kernel->n_instructions; i++)
		if (take_instruction(analysis, (uint32_t)analysis->flow.block_of[i], i, error) != 0)
			return -1;
	return fill_joins(analysis, error);
}

/* ---- names ---- */

const char *const gt_static_bases[] = {"exact", "assumed", "loaded", "unknown"};

const char *gt_static_action_name(enum gt_ptx_access_kind action)
{
	switch (action) {
	case GT_PTX_ACCESS_LOAD: return "load";
	case GT_PTX_ACCESS_STORE: return "store";
	case GT_PTX_ACCESS_ATOMIC: return "atomic";
	default: return "reduction";
	}
}
