/* SPDX-License-Identifier: MIT */
/* The static analysis of a launch, and of all kernels of a module. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/static/static.h"

static int write_shown(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
		       const struct gt_static_launch *launch, bool tree, FILE *to, struct gt_error *error)
{
	size_t length;
	const char *shown = gt_ptx_shown_name(module, kernel, &length);
	char *name = calloc(length + 1, 1);
	struct gt_static_choice choice = {.name = name, .tree = tree};
	int result;

	if (!name)
		return gt_fail_memory(error, "a kernel's name");
	memcpy(name, shown, length);
	result = gt_static_write(kernel, launch, choice, to, error);
	free(name);
	return result;
}

int gt_static_write_call(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
			 const struct gt_ptx_launch_line *call, const unsigned char *parameters, bool tree, FILE *to,
			 struct gt_error *error)
{
	const char **names = calloc(kernel->n_parameters + 1, sizeof(const char *));
	struct gt_static_launch launch = {.parameters = parameters, .names = names};
	int result;

	if (!names)
		return gt_fail_memory(error, "the names of parameters");
	for (size_t i = 0; i < call->n && i < kernel->n_parameters; i++)
		names[i] = call->arguments[i].name[0] ? call->arguments[i].name : NULL;
	memcpy(launch.grid, call->grid, sizeof launch.grid);
	memcpy(launch.block, call->block, sizeof launch.block);
	result = write_shown(module, kernel, &launch, tree, to, error);
	free(names);
	return result;
}

int gt_static_write_module(const struct gt_ptx_module *module, const struct gt_static_launch *shape, bool tree,
			   FILE *to, struct gt_error *error)
{
	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *kernel = &module->functions[i];

		if (kernel->entry && !kernel->declaration && write_shown(module, kernel, shape, tree, to, error) != 0)
			return -1;
	}
	return 0;
}
