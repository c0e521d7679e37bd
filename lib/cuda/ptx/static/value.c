/* SPDX-License-Identifier: MIT */
/* Makes a value of every instruction, from the values that reach the registers it reads. */
#include <string.h>

#include "cuda/ptx/static/parts.h"
#include "cuda/ptx/static/spread.h"

/* The value of a name that is read: a register, a special register (%tid.x), or a symbol. */
static uint32_t read_name(struct gt_static *analysis, uint32_t block, const char *name, struct gt_error *error)
{
	const uint64_t *variable = gt_map_get(&analysis->variables, (uint64_t)(uintptr_t)name);
	uint32_t value;

	if (variable)
		return gt_static_read_variable(analysis, block, (uint32_t)*variable, error);
	value = gt_static_new_value(analysis, name[0] == '%' ? GT_STATIC_SPECIAL : GT_STATIC_SYMBOL, error);
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
	value = gt_static_new_value(analysis, GT_STATIC_SUM, error);
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
		value = gt_static_new_value(analysis, GT_STATIC_CONSTANT, error);
		if (value != GT_STATIC_NONE)
			analysis->values[value].number = operand->offset;
		return value;
	case GT_PTX_IMMEDIATE:
		value = gt_static_new_value(analysis, operand->is_float ? GT_STATIC_OPAQUE : GT_STATIC_CONSTANT, error);
		if (value != GT_STATIC_NONE)
			analysis->values[value].number = (int64_t)operand->bits;
		return value;
	default:
		return gt_static_new_value(analysis, GT_STATIC_OPAQUE, error);
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
	value = gt_static_new_value(analysis, kind, error);
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
		return gt_static_write_variable(analysis, block, (uint32_t)*variable, value, error);
	pair[1] = gt_static_read_variable(analysis, block, (uint32_t)*variable, error);
	if (pair[1] == GT_STATIC_NONE)
		return -1;
	choice = gt_static_new_value(analysis, GT_STATIC_CHOICE, error);
	if (choice == GT_STATIC_NONE)
		return -1;
	analysis->values[choice].instruction = instruction;
	analysis->values[choice].operands = gt_ptx_arena_copy(analysis->arena, pair, 2, sizeof *pair, error);
	analysis->values[choice].n = 2;
	if (!analysis->values[choice].operands)
		return -1;
	return gt_static_write_variable(analysis, block, (uint32_t)*variable, choice, error);
}

/* Assigns to the registers of an operand. Each element of a vector is a value of its own; those of a parameter differ in
 * their offsets. */
static int define_operand(struct gt_static *analysis, uint32_t block, const struct gt_ptx_instruction *instruction,
			  const struct gt_ptx_operand *operand, uint32_t value, struct gt_error *error)
{
	if (operand->kind == GT_PTX_REGISTER)
		return define(analysis, block, instruction, operand->name, value, error);
	for (size_t i = 0; i < operand->n_elements; i++) {
		uint32_t element = gt_static_new_value(analysis, GT_STATIC_OPAQUE, error);
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

static int take_instruction(struct gt_static *analysis, uint32_t block, uint32_t at, struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = &analysis->kernel->instructions[at];
	size_t n_written = gt_ptx_results(instruction), n = instruction->n_operands - n_written;
	uint32_t *operands, value;

	if (gt_ptx_row(instruction)->ending == GT_PTX_CALLS) {
		for (size_t i = 0; i < instruction->n_returns; i++) {
			value = gt_static_new_value(analysis, GT_STATIC_OPAQUE, error);
			if (value == GT_STATIC_NONE ||
			    define_operand(analysis, block, instruction, &instruction->returns[i], value, error) != 0)
				return -1;
		}
		return 0;
	}
	operands = gt_ptx_arena_take(analysis->arena, n, sizeof *operands, error);
	if (!operands || read_sources(analysis, block, operands, n_written, instruction, error) != 0)
		return -1;
	int found = gt_static_find_access(analysis, instruction, operands, n, &analysis->accesses[analysis->n_accesses], error);
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
	if (!analysis->accesses || number_registers(analysis, error) != 0)
		return -1;
	for (uint32_t i = 0; i < analysis->kernel->n_instructions; i++)
		if (take_instruction(analysis, (uint32_t)analysis->flow.block_of[i], i, error) != 0)
			return -1;
	return gt_static_fill_joins(analysis, error);
}
