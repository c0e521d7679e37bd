/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/record/sources.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct sources {
	uint64_t *pcs, *lines, *files;
	size_t n;
};

static bool has_place(const struct gt_ptx_instruction *instruction)
{
	return instruction->source_line > 0 && gt_ptx_row(instruction)->access != GT_PTX_ACCESS_NONE &&
	       !gt_ptx_has(instruction, "param");
}

/* The index of a file among those of the module; n_files if it has no name. */
static size_t file_index(const struct gt_ptx_module *module, unsigned number)
{
	size_t i = 0;

	while (i < module->n_files && (module->files[i].number != number || !module->files[i].name))
		i++;
	return i;
}

static void add_function(struct sources *sources, const struct gt_ptx_module *module, const struct gt_ptx_function *function)
{
	for (size_t i = 0; i < function->n_instructions; i++) {
		const struct gt_ptx_instruction *instruction = &function->instructions[i];
		size_t file = has_place(instruction) ? file_index(module, instruction->file) : module->n_files;
		if (file == module->n_files)
			continue;
		sources->pcs[sources->n] = instruction->line;
		sources->lines[sources->n] = instruction->source_line;
		sources->files[sources->n++] = file;
	}
}

/* Whether a kernel's launch may execute the function: itself, or one that can be called. */
static bool may_run(const struct gt_ptx_function *function, const struct gt_ptx_function *kernel)
{
	return function == kernel || !function->entry;
}

static size_t count_places(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel)
{
	size_t n = 0;

	for (size_t f = 0; f < module->n_functions; f++)
		for (size_t i = 0; may_run(&module->functions[f], kernel) && i < module->functions[f].n_instructions; i++)
			n += has_place(&module->functions[f].instructions[i]);
	return n;
}

/* The files' names, separated by commas; a comma inside a name becomes a dot. */
static char *join_files(const struct gt_ptx_module *module)
{
	size_t bytes = 1;

	for (size_t i = 0; i < module->n_files; i++)
		bytes += (module->files[i].name ? strlen(module->files[i].name) : 0) + 1;
	char *names = malloc(bytes), *end = names;
	for (size_t i = 0; names && i < module->n_files; i++) {
		const char *name = module->files[i].name ? module->files[i].name : "";
		if (i > 0)
			*end++ = ',';
		for (; *name; name++)
			*end++ = *name == ',' ? '.' : *name;
	}
	if (names)
		*end = '\0';
	return names;
}

int gt_ptx_sources_count(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
			 struct gt_count *count, struct gt_error *error)
{
	size_t n = count_places(module, kernel);
	uint64_t *places = malloc(3 * (n + 1) * sizeof *places);
	char *files = join_files(module);
	struct sources sources = {places, places + n, places + 2 * n, 0};
	int result = places && files ? 0 : gt_fail_memory(error, "source lines");

	for (size_t f = 0; result == 0 && f < module->n_functions; f++)
		if (may_run(&module->functions[f], kernel))
			add_function(&sources, module, &module->functions[f]);
	if (result == 0 && sources.n > 0 &&
	    (gt_count_array(count, "pcs", sources.pcs, sources.n, error) != 0 ||
	     gt_count_array(count, "lines", sources.lines, sources.n, error) != 0 ||
	     gt_count_array(count, "files", sources.files, sources.n, error) != 0 ||
	     gt_count_text(count, "names", files, error) != 0))
		result = -1;
	free(places);
	free(files);
	return result;
}
