/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/code.h"

#include <stdlib.h>
#include <sys/mman.h>

void gt_ptx_code_free(struct gt_ptx_code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->n_owned; i++)
		free(code->owned[i]);
	free(code->owned);
	if (code->native)
		munmap(code->native, code->native_bytes);
	free(code->segments);
	free(code->entries);
	free(code->accesses);
	free(code->specials);
	free(code->locals);
	free(code->image);
	free(code->ops);
	free(code);
}

void gt_ptx_program_free(struct gt_ptx_program *program, size_t n_functions)
{
	if (!program)
		return;
	gt_ptx_program_free(program->copy, n_functions);
	for (size_t i = 0; program->codes && i < n_functions; i++)
		gt_ptx_code_free(program->codes[i]);
	free(program->codes);
	free(program->shared);
	free(program);
}

void gt_ptx_forget_allocations(const struct gt_ptx_program *program, size_t n_functions)
{
	for (size_t f = 0; f < n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++) {
			program->codes[f]->accesses[i]->low = 1;
			program->codes[f]->accesses[i]->high = 0;
		}
}
