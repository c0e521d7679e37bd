/* SPDX-License-Identifier: MIT */
/* Makes the program of a kernel: finds the functions that it can reach, and places its shared variables. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "cuda/ptx/decode/decode.h"
#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/service.h"

struct search {
	const struct gt_ptx_machine *machine;
	struct gt_ptx_program *program;
	struct gt_map names; /* that the functions found so far mention */
	unsigned char *reached; /* indexed as the functions of the module */
	size_t *list, n; /* the reached functions */
	size_t shared_capacity;
	struct gt_error *error;
};

static int reach_function(struct search *search, size_t index)
{
	/* A kernel that is named is one to be launched. */
	const struct gt_ptx_function *functions = search->machine->module->functions;
	if (index == SIZE_MAX || search->reached[index] || functions[index].declaration ||
	    (functions[index].entry && &functions[index] != search->program->kernel))
		return 0;
	search->reached[index] = 1;
	search->list[search->n++] = index;
	return 0;
}

/* Adds a name; a function of that name is reached, and so are functions whose addresses are in a variable of that
 * name. */
static int note_name(struct search *search, const char *name)
{
	const struct gt_ptx_module *module = search->machine->module;
	int fresh;

	if (!name)
		return 0;
	if (!gt_map_put(&search->names, (uint64_t)(uintptr_t)name, 0, &fresh))
		return gt_fail_memory(search->error, "the names of a program");
	if (!fresh)
		return 0;
	reach_function(search, gt_ptx_function_index(search->machine->module, name));
	size_t variable = gt_ptx_variable_index(search->machine->module, name);
	for (size_t i = 0; variable != SIZE_MAX && i < module->variables[variable].n_references; i++)
		if (note_name(search, module->variables[variable].references[i].symbol) != 0)
			return -1;
	return 0;
}

static int note_operands(struct search *search, const struct gt_ptx_operand *operands, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (note_name(search, operands[i].name) != 0 ||
		    note_operands(search, operands[i].elements, operands[i].n_elements) != 0)
			return -1;
	return 0;
}

/* A call by address may reach any function of the module. */
static bool calls_by_address(const struct gt_ptx_function *function)
{
	for (size_t i = 0; i < function->n_instructions; i++)
		if (gt_ptx_row(&function->instructions[i])->ending == GT_PTX_CALLS &&
		    function->instructions[i].n_operands > 0 &&
		    function->instructions[i].operands[0].kind == GT_PTX_REGISTER)
			return true;
	return false;
}

/* A function without PTX may be one of the device's runtime. */
static void note_service(struct search *search, const struct gt_ptx_instruction *instruction)
{
	const char *name = gt_ptx_row(instruction)->ending == GT_PTX_CALLS && instruction->n_operands > 0
				   ? instruction->operands[0].name : NULL;

	if (!name || gt_ptx_function_body(search->machine->module, name))
		return;
	bool driver;
	const struct gt_ptx_service *service = gt_ptx_service_named(name, &driver);
	search->program->uses_heap |= service && service->uses_heap;
	search->program->launches |= service && service->launches;
	search->program->joins_blocks |= service != NULL;
}

static int find_functions(struct search *search)
{
	const struct gt_ptx_module *module = search->machine->module;
	const struct gt_ptx_function *kernel = search->program->kernel;

	if (kernel->declaration)
		return gt_fail(search->error, "kernel '%s' is declared and has no instructions", kernel->name);
	reach_function(search, (size_t)(kernel - module->functions));
	for (size_t k = 0; k < search->n; k++) {
		const struct gt_ptx_function *function = &module->functions[search->list[k]];
		for (size_t i = 0; i < function->n_instructions; i++) {
			const struct gt_ptx_instruction *instruction = &function->instructions[i];
			if (note_operands(search, instruction->operands, instruction->n_operands) != 0 ||
			    note_operands(search, instruction->arguments, instruction->n_arguments) != 0)
				return -1;
			note_service(search, instruction);
			search->program->joins_blocks |= gt_ptx_joins_blocks(instruction);
			search->program->has_effects |= gt_ptx_has_effect(instruction);
		}
		for (size_t f = 0; calls_by_address(function) && f < module->n_functions; f++)
			if (!module->functions[f].entry)
				reach_function(search, f);
	}
	return 0;
}

static int place_shared(struct search *search, const struct gt_ptx_variable *variable)
{
	struct gt_ptx_program *program = search->program;
	struct gt_ptx_shared_variable *grown =
		gt_grown(program->shared, program->n_shared, &search->shared_capacity, sizeof *grown);
	uint64_t alignment = variable->alignment ? variable->alignment : 1;

	if (!grown)
		return gt_fail_memory(search->error, "shared variables");
	program->shared = grown;
	grown[program->n_shared].variable = variable;
	grown[program->n_shared++].offset = 0;
	/* Variables without a size share the dynamic memory behind all others. */
	if (variable->external || variable->bytes == 0) {
		program->dynamic_offset =
			alignment > program->dynamic_offset ? alignment : program->dynamic_offset;
		return 0;
	}
	uint64_t at = (program->static_shared + alignment - 1) / alignment * alignment;
	if (variable->bytes > GT_PTX_WINDOW - at)
		return gt_fail(search->error, "shared variable '%s' is too large", variable->name);
	grown[program->n_shared - 1].offset = at;
	program->static_shared = at + variable->bytes;
	return 0;
}

static int lay_out_shared(struct search *search)
{
	const struct gt_ptx_module *module = search->machine->module;
	struct gt_ptx_program *program = search->program;

	program->dynamic_offset = 16; /* holds its alignment until all static variables are placed */
	for (size_t i = 0; i < module->n_variables; i++)
		if (module->variables[i].space == GT_PTX_SHARED &&
		    gt_map_get(&search->names, (uint64_t)(uintptr_t)module->variables[i].name) &&
		    place_shared(search, &module->variables[i]) != 0)
			return -1;
	for (size_t k = 0; k < search->n; k++) {
		const struct gt_ptx_function *function = &module->functions[search->list[k]];
		for (size_t i = 0; i < function->n_variables; i++)
			if (function->variables[i].space == GT_PTX_SHARED &&
			    place_shared(search, &function->variables[i]) != 0)
				return -1;
	}
	uint64_t alignment = program->dynamic_offset;
	program->dynamic_offset = (program->static_shared + alignment - 1) / alignment * alignment;
	for (size_t i = 0; i < program->n_shared; i++)
		if (program->shared[i].variable->external || program->shared[i].variable->bytes == 0)
			program->shared[i].offset = program->dynamic_offset;
	return 0;
}

static int decode_all(struct search *search)
{
	struct gt_ptx_program *program = search->program;

	for (size_t k = 0; k < search->n; k++) {
		const struct gt_ptx_function *function = &search->machine->module->functions[search->list[k]];
		struct gt_ptx_code *code = gt_ptx_decode(search->machine, program, function, search->error);
		if (!code)
			return -1;
		program->codes[search->list[k]] = code;
		program->local_bytes += gt_ptx_local_span(code);
	}
	return 0;
}

struct gt_ptx_program *gt_ptx_program_make(const struct gt_ptx_machine *machine,
					   const struct gt_ptx_function *kernel, bool decode,
					   struct gt_error *error)
{
	size_t n = machine->module->n_functions;
	struct search search = {
		.machine = machine,
		.program = calloc(1, sizeof(struct gt_ptx_program)),
		.error = error,
		.reached = calloc(n + 1, 1),
		.list = calloc(n + 1, sizeof(size_t)),
	};
	struct gt_ptx_program *program = search.program;
	int result = -1;

	if (program && (program->codes = calloc(n + 1, sizeof *program->codes)) && search.reached &&
	    search.list) {
		program->kernel = kernel;
		if (gt_map_open(&search.names, 256, error) == 0 && find_functions(&search) == 0 &&
		    lay_out_shared(&search) == 0 && (!decode || decode_all(&search) == 0))
			result = 0;
	} else {
		gt_fail_memory(error, "a program");
	}
	gt_map_close(&search.names);
	free(search.reached);
	free(search.list);
	if (result == 0)
		return program;
	gt_ptx_program_free(program, n);
	return NULL;
}

struct gt_ptx_program *gt_ptx_program_of(struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel,
					 struct gt_error *error)
{
	struct gt_ptx_program *program = machine->programs;

	while (program && program->kernel != kernel)
		program = program->next;
	if (!program && (program = gt_ptx_program_make(machine, kernel, true, error))) {
		program->next = machine->programs;
		machine->programs = program;
	}
	return program;
}

struct gt_ptx_program *gt_ptx_program_copy(const struct gt_ptx_machine *machine, struct gt_ptx_program *program, size_t i,
					   struct gt_error *error)
{
	/* What decoding ignores was noted when the program was decoded first. */
	struct gt_ptx_machine silent = *machine;

	silent.notes = NULL;
	for (;; i--) {
		if (!program->copy && !(program->copy = gt_ptx_program_make(&silent, program->kernel, true, error)))
			return NULL;
		program = program->copy;
		if (i == 0)
			return program;
	}
}
