/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/decode/visitor.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

/* The variable that declares a name: one of that name, or %r for %r17. */
static const struct gt_ptx_variable *declaration(const struct gt_ptx_function *function, const char *name)
{
	const struct gt_ptx_variable *lists[] = {function->variables, function->parameters,
						 function->returns};
	const size_t lengths[] = {function->n_variables, function->n_parameters, function->n_returns};

	for (size_t l = 0; l < 3; l++)
		for (size_t i = 0; i < lengths[l]; i++) {
			const struct gt_ptx_variable *variable = &lists[l][i];
			if (variable->space != GT_PTX_REG)
				continue;
			if (variable->count == 0) {
				if (strcmp(variable->name, name) == 0)
					return variable;
				continue;
			}
			size_t prefix = strlen(variable->name),
			       digits = strspn(name + (strncmp(name, variable->name, prefix) ? 0 : prefix),
					       "0123456789");
			if (strncmp(name, variable->name, prefix) != 0 || digits == 0 || digits > 9 ||
			    name[prefix + digits] != '\0' || (digits > 1 && name[prefix] == '0'))
				continue;
			if (strtoull(name + prefix, NULL, 10) < variable->count)
				return variable;
		}
	return NULL;
}

/* The index of a register, which is added if it is new; GT_PTX_NO_REGISTER if the name is that of none. */
static int find(struct gt_ptx_registers *registers, const char *name, size_t *index, struct gt_error *error)
{
	int fresh;
	uint64_t *place = gt_map_put(&registers->names, (uint64_t)(uintptr_t)name, SIZE_MAX, &fresh);

	if (!place)
		return gt_fail_memory(error, "a table of registers");
	*index = (size_t)*place;
	if (!fresh)
		return 0;
	const struct gt_ptx_variable *variable = declaration(registers->function, name);
	if (!variable)
		return 0;
	void *grown = gt_grown(registers->list, registers->n, &registers->capacity, sizeof *registers->list);
	if (!grown)
		return gt_fail_memory(error, "a table of registers");
	registers->list = grown;
	registers->list[registers->n] =
		(struct gt_ptx_register){.name = name, .type = variable->type, .first = SIZE_MAX};
	*index = registers->n++;
	*place = *index;
	return 0;
}

int gt_ptx_visit_name(struct gt_ptx_visitor *visitor, const char *name, bool written)
{
	size_t index = GT_PTX_NO_REGISTER;

	if (!name)
		return 0;
	if (find(visitor->registers, name, &index, visitor->error) != 0)
		return -1;
	return index == GT_PTX_NO_REGISTER ? 0 : visitor->visit(visitor, index, written);
}

static int visit_operand(struct gt_ptx_visitor *visitor, const struct gt_ptx_operand *operand, bool written)
{
	if (gt_ptx_visit_name(visitor, operand->name, written && operand->kind != GT_PTX_ADDRESS) != 0)
		return -1;
	for (size_t i = 0; i < operand->n_elements; i++)
		if (visit_operand(visitor, &operand->elements[i],
				  written && operand->kind != GT_PTX_ADDRESS) != 0)
			return -1;
	return 0;
}

static int visit_all(struct gt_ptx_visitor *visitor, const struct gt_ptx_operand *operands, size_t n, bool written)
{
	for (size_t i = 0; i < n; i++)
		if (visit_operand(visitor, &operands[i], written) != 0)
			return -1;
	return 0;
}

int gt_ptx_visit_results(struct gt_ptx_visitor *visitor, const struct gt_ptx_instruction *instruction)
{
	visitor->guarded = instruction->guard != NULL;
	return visit_all(visitor, instruction->operands, gt_ptx_results(instruction), true) != 0 ||
			       visit_all(visitor, instruction->returns, instruction->n_returns, true) != 0
		       ? -1
		       : 0;
}

int gt_ptx_visit_sources(struct gt_ptx_visitor *visitor, const struct gt_ptx_instruction *instruction)
{
	size_t first = gt_ptx_first_source(instruction);

	if (visit_all(visitor, instruction->operands + first, instruction->n_operands - first, false) !=
		    0 ||
	    visit_all(visitor, instruction->arguments, instruction->n_arguments, false) != 0 ||
	    gt_ptx_visit_name(visitor, instruction->guard, false) != 0)
		return -1;
	if (gt_ptx_row(instruction)->ending != GT_PTX_RETURNS)
		return 0;
	const struct gt_ptx_function *function = visitor->registers->function;
	for (size_t i = 0; i < function->n_returns; i++)
		if (function->returns[i].space == GT_PTX_REG &&
		    gt_ptx_visit_name(visitor, function->returns[i].name, false) != 0)
			return -1;
	return 0;
}
