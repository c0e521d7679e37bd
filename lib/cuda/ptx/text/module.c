/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/text/module.h"

#include <string.h>

#include "cuda/ptx/text/arena.h"
#include "stream/kernel.h"

static const struct {
	const char *name;
	unsigned size;
} types[GT_PTX_TYPES] = {
	[GT_PTX_NO_TYPE] = {"", 0},
	[GT_PTX_B8] = {"b8", 1}, [GT_PTX_B16] = {"b16", 2}, [GT_PTX_B32] = {"b32", 4}, [GT_PTX_B64] = {"b64", 8},
	[GT_PTX_B128] = {"b128", 16},
	[GT_PTX_U8] = {"u8", 1}, [GT_PTX_U16] = {"u16", 2}, [GT_PTX_U32] = {"u32", 4}, [GT_PTX_U64] = {"u64", 8},
	[GT_PTX_S8] = {"s8", 1}, [GT_PTX_S16] = {"s16", 2}, [GT_PTX_S32] = {"s32", 4}, [GT_PTX_S64] = {"s64", 8},
	[GT_PTX_F16] = {"f16", 2}, [GT_PTX_F16X2] = {"f16x2", 4}, [GT_PTX_BF16] = {"bf16", 2},
	[GT_PTX_BF16X2] = {"bf16x2", 4}, [GT_PTX_F32] = {"f32", 4}, [GT_PTX_F64] = {"f64", 8},
	[GT_PTX_PRED] = {"pred", 0}, [GT_PTX_TEXREF] = {"texref", 8},
};

unsigned gt_ptx_type_size(enum gt_ptx_type type)
{
	return types[type].size;
}

const char *gt_ptx_type_name(enum gt_ptx_type type)
{
	return types[type].name;
}

enum gt_ptx_type gt_ptx_type_named(const char *text, size_t length)
{
	for (int type = GT_PTX_NO_TYPE + 1; type < GT_PTX_TYPES; type++)
		if (strlen(types[type].name) == length && memcmp(types[type].name, text, length) == 0)
			return (enum gt_ptx_type)type;
	return GT_PTX_NO_TYPE;
}

void gt_ptx_module_free(struct gt_ptx_module *module)
{
	gt_ptx_arena_close(module->arena);
	gt_map_close(&module->function_indices);
	gt_map_close(&module->variable_indices);
	*module = (struct gt_ptx_module){0};
}

/* Among functions of one name, a definition that is not weak has precedence. */
const struct gt_ptx_function *gt_ptx_function_named(const struct gt_ptx_module *module, const char *name)
{
	const struct gt_ptx_function *found = NULL;

	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *function = &module->functions[i];
		if (!function->declaration && strcmp(function->name, name) == 0 && (!found || found->weak))
			found = function;
	}
	return found;
}

static int index_functions(struct gt_ptx_module *module, struct gt_error *error)
{
	int fresh;

	if (gt_map_open(&module->function_indices, module->n_functions, error) != 0)
		return -1;
	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *function = &module->functions[i];
		uint64_t *place = gt_map_put(&module->function_indices, (uint64_t)(uintptr_t)function->name, i, &fresh);
		if (!place)
			return gt_fail_memory(error, "a module");
		const struct gt_ptx_function *before = &module->functions[*place];
		if (!function->declaration && (before->declaration || before->weak))
			*place = i;
	}
	return 0;
}

static int index_variables(struct gt_ptx_module *module, struct gt_error *error)
{
	int fresh;

	if (gt_map_open(&module->variable_indices, module->n_variables, error) != 0)
		return -1;
	for (size_t i = 0; i < module->n_variables; i++) {
		const struct gt_ptx_variable *variable = &module->variables[i];
		uint64_t *place = gt_map_put(&module->variable_indices, (uint64_t)(uintptr_t)variable->name, i, &fresh);
		if (!place)
			return gt_fail_memory(error, "a module");
		if (!variable->external && module->variables[*place].external)
			*place = i;
	}
	return 0;
}

int gt_ptx_module_index(struct gt_ptx_module *module, struct gt_error *error)
{
	return index_functions(module, error) == 0 && index_variables(module, error) == 0 ? 0 : -1;
}

static size_t index_of(const struct gt_map *indices, const char *name)
{
	const uint64_t *place = gt_map_get(indices, (uint64_t)(uintptr_t)name);

	return place ? (size_t)*place : SIZE_MAX;
}

size_t gt_ptx_function_index(const struct gt_ptx_module *module, const char *name)
{
	return index_of(&module->function_indices, name);
}

size_t gt_ptx_variable_index(const struct gt_ptx_module *module, const char *name)
{
	return index_of(&module->variable_indices, name);
}

const struct gt_ptx_function *gt_ptx_function_body(const struct gt_ptx_module *module, const char *name)
{
	size_t index = gt_ptx_function_index(module, name);

	return index == SIZE_MAX || module->functions[index].declaration ? NULL : &module->functions[index];
}

const struct gt_ptx_function *gt_ptx_kernel(const struct gt_ptx_module *module, const char *name)
{
	const struct gt_ptx_function *found = gt_ptx_function_named(module, name);
	size_t length, wanted = strlen(name);

	if (found)
		return found->entry ? found : NULL;
	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *function = &module->functions[i];
		const char *plain = gt_ptx_plain_name(function->name, &length);
		if (!function->entry || function->declaration || length != wanted || memcmp(plain, name, length) != 0)
			continue;
		if (found)
			return NULL;
		found = function;
	}
	return found;
}

const char *gt_ptx_shown_name(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, size_t *length)
{
	const char *plain = gt_ptx_plain_name(kernel->name, length);
	char name[GT_KERNEL_NAME];

	if (*length < sizeof name) {
		memcpy(name, plain, *length);
		name[*length] = '\0';
		if (gt_ptx_kernel(module, name) == kernel)
			return plain;
	}
	*length = strlen(kernel->name);
	return kernel->name;
}

static const struct gt_ptx_instruction *at_line(const struct gt_ptx_module *module, unsigned line)
{
	for (size_t f = 0; f < module->n_functions; f++)
		for (size_t i = 0; i < module->functions[f].n_instructions; i++)
			if (module->functions[f].instructions[i].line == line)
				return &module->functions[f].instructions[i];
	return NULL;
}

bool gt_ptx_source_place(const struct gt_ptx_module *module, unsigned line, const char **file, unsigned *source_line)
{
	const struct gt_ptx_instruction *instruction = at_line(module, line);

	for (size_t i = 0; instruction && instruction->source_line > 0 && i < module->n_files; i++) {
		const char *name = module->files[i].name;
		if (module->files[i].number != instruction->file || !name)
			continue;
		*file = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
		*source_line = instruction->source_line;
		return true;
	}
	return false;
}

bool gt_ptx_has(const struct gt_ptx_instruction *instruction, const char *modifier)
{
	for (size_t i = 0; i < instruction->n_modifiers; i++)
		if (strcmp(instruction->modifiers[i], modifier) == 0)
			return true;
	return false;
}
