/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/text/opcode.h"

#include <string.h>

#include "cuda/ptx/text/module.h"

const struct gt_ptx_opcode_row gt_ptx_opcode_rows[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_OTHER] = {.name = ""},
#define FACTS(IDENTIFIER, name, results, ending, access, family, folding) \
	[GT_PTX_OP_##IDENTIFIER] = {name, GT_PTX_RESULTS_##results, GT_PTX_##ending, GT_PTX_ACCESS_##access, \
				    GT_PTX_FOLD_##folding},
	GT_PTX_OPCODES(FACTS)
#undef FACTS
};

enum gt_ptx_opcode gt_ptx_opcode_named(const char *name)
{
	unsigned low = GT_PTX_OP_OTHER + 1, high = GT_PTX_OP_COUNT;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		int order = strcmp(name, gt_ptx_opcode_rows[middle].name);
		if (order == 0)
			return (enum gt_ptx_opcode)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return GT_PTX_OP_OTHER;
}

size_t gt_ptx_results(const struct gt_ptx_instruction *instruction)
{
	if (instruction->n_operands == 0)
		return 0;
	switch (gt_ptx_row(instruction)->results) {
	case GT_PTX_RESULTS_NONE: return 0;
	case GT_PTX_RESULTS_IF_RED: return gt_ptx_has(instruction, "red");
	case GT_PTX_RESULTS_UNLESS_ADDRESS: return instruction->operands[0].kind != GT_PTX_ADDRESS;
	default: return instruction->operands[0].paired ? 2 : 1;
	}
}

size_t gt_ptx_first_source(const struct gt_ptx_instruction *instruction)
{
	return gt_ptx_row(instruction)->results == GT_PTX_RESULTS_UPDATED ? 0 : gt_ptx_results(instruction);
}
