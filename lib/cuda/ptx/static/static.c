/* SPDX-License-Identifier: MIT */
/* The steps of the static analysis, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/static/parts.h"

static int prepare(struct gt_static *analysis, struct gt_error *error)
{
	const struct gt_ptx_function *kernel = analysis->kernel;
	int fresh;

	analysis->arena = gt_ptx_arena_open(error);
	if (!analysis->arena || gt_map_open(&analysis->variables, 64, error) != 0 ||
	    gt_map_open(&analysis->reaching, 256, error) != 0 || gt_map_open(&analysis->parameters, 16, error) != 0)
		return -1;
	if (kernel->n_instructions >= UINT32_MAX / 4)
		return gt_fail(error, "kernel %s has too many instructions", kernel->name);
	for (size_t i = 0; i < kernel->n_parameters; i++)
		if (!gt_map_put(&analysis->parameters, (uint64_t)(uintptr_t)kernel->parameters[i].name, i, &fresh))
			return gt_fail_memory(error, "the parameters of a kernel");
	return 0;
}

struct gt_static *gt_static_open(const struct gt_ptx_function *kernel, struct gt_error *error)
{
	struct gt_static *analysis = calloc(1, sizeof *analysis);

	if (!analysis) {
		gt_fail_memory(error, "the analysis of a kernel");
		return NULL;
	}
	analysis->kernel = kernel;
	if (prepare(analysis, error) == 0 && gt_ptx_flow_make(&analysis->flow, kernel, error) == 0 &&
	    gt_static_find_values(analysis, error) == 0 && gt_static_fold(analysis, error) == 0 &&
	    gt_static_solve(analysis, error) == 0)
		return analysis;
	gt_static_close(analysis);
	return NULL;
}

void gt_static_close(struct gt_static *analysis)
{
	if (!analysis)
		return;
	gt_map_close(&analysis->variables);
	gt_map_close(&analysis->reaching);
	gt_map_close(&analysis->parameters);
	gt_ptx_flow_free(&analysis->flow);
	if (analysis->arena)
		gt_ptx_arena_close(analysis->arena);
	free(analysis->values);
	free(analysis->atoms);
	free(analysis);
}

size_t gt_static_accesses(const struct gt_static *analysis) { return analysis->n_accesses; }

const struct gt_ptx_instruction *gt_static_instruction(const struct gt_static *analysis, size_t access)
{
	return &analysis->kernel->instructions[analysis->accesses[access].instruction];
}

unsigned gt_static_bytes(const struct gt_static *analysis, size_t access) { return analysis->accesses[access].bytes; }

enum gt_ptx_access_kind gt_static_action(const struct gt_static *analysis, size_t access) { return analysis->accesses[access].action; }

bool gt_static_is_load(const struct gt_static *analysis, size_t access) { return gt_static_action(analysis, access) == GT_PTX_ACCESS_LOAD; }
