/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "cuda/ptx/launch/run.h"

static void write_kernel(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, FILE *to)
{
	size_t length;
	const char *shown = gt_ptx_shown_name(module, kernel, &length);

	fprintf(to, "%.*s(", (int)length, shown);
	for (size_t i = 0; i < kernel->n_parameters; i++) {
		const struct gt_ptx_variable *parameter = &kernel->parameters[i];
		fprintf(to, "%s%s", i > 0 ? ", " : "", gt_ptx_type_name(parameter->type));
		if (parameter->elements != 1)
			fprintf(to, "[%" PRIu64 "]", parameter->elements);
	}
	fprintf(to, ")\tline=%u", kernel->line);
}

int gt_ptx_list_kernels(const struct gt_ptx_module *module, const struct gt_ptx_machine *machine, uint32_t given, FILE *to,
		struct gt_error *error)
{
	uint32_t registers;
	bool estimated;

	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *kernel = &module->functions[i];
		if (!kernel->entry || kernel->declaration)
			continue;
		if (gt_ptx_registers_of(machine, kernel, given, &registers, &estimated, error) != 0)
			return -1;
		write_kernel(module, kernel, to);
		fprintf(to, "\tregisters=%" PRIu32 "%s\tshared_bytes=%" PRIu64 "\tname=%s\n", registers,
			estimated ? " (estimated)" : "", gt_ptx_static_shared(machine, kernel), kernel->name);
	}
	return 0;
}
