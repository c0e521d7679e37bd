/* SPDX-License-Identifier: MIT */
#include "ptx/text/module.h"

#include <string.h>

#include "ptx/text/arena.h"

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
	*module = (struct gt_ptx_module){0};
}

/* Among functions of one name, a definition that is not weak comes first. */
const struct gt_ptx_function *gt_ptx_function(const struct gt_ptx_module *module, const char *name)
{
	const struct gt_ptx_function *found = NULL;

	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *function = &module->functions[i];
		if (!function->declaration && strcmp(function->name, name) == 0 && (!found || found->weak))
			found = function;
	}
	return found;
}

/* The <length><identifier> of the Itanium mangling; NULL if there is none. */
static const char *source_name(const char *at, size_t *length)
{
	size_t digits = strspn(at, "0123456789");
	size_t n = 0;

	if (digits == 0 || digits > 4)
		return NULL;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (size_t)(at[i] - '0');
	if (n == 0 || strlen(at + digits) < n)
		return NULL;
	*length = n;
	return at + digits;
}

const char *gt_ptx_plain_name(const char *name, size_t *length)
{
	const char *at = name, *found = NULL, *part;
	size_t n;

	*length = strlen(name);
	if (strncmp(at, "_Z", 2) != 0)
		return name;
	at += 2;
	bool nested = *at == 'N';
	at += nested;
	at += *at == 'L'; /* of internal linkage */
	while ((part = source_name(at, &n)) != NULL) {
		found = part;
		*length = n;
		at = part + n;
		if (!nested)
			break;
	}
	return found ? found : name;
}

const struct gt_ptx_function *gt_ptx_kernel(const struct gt_ptx_module *module, const char *name)
{
	const struct gt_ptx_function *found = gt_ptx_function(module, name);
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
