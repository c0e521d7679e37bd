/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/decode/apart.h"

#include <stddef.h>
#include <string.h>

static bool has_one_of(const struct gt_ptx_instruction *instruction, const char *const names[])
{
	for (; *names; names++)
		if (gt_ptx_has(instruction, *names))
			return true;
	return false;
}

/* Memory that other blocks do not reach. */
static bool is_of_block(const struct gt_ptx_instruction *instruction)
{
	static const char *const spaces[] = {"shared", "shared::cta", "local", "param", "param::entry", "param::func", NULL};

	return has_one_of(instruction, spaces);
}

bool gt_ptx_joins_blocks(const struct gt_ptx_instruction *instruction)
{
	static const char *const ordered[] = {"volatile", "cv", "relaxed", "acquire", "release", "mmio", NULL};
	static const char *const scopes[] = {"gl", "gpu", "sys", "cluster", NULL};

	switch (instruction->row) {
	case GT_PTX_OP_ATOM:
	case GT_PTX_OP_RED: return !is_of_block(instruction);
	case GT_PTX_OP_LD:
	case GT_PTX_OP_ST: return has_one_of(instruction, ordered) && !is_of_block(instruction);
	case GT_PTX_OP_CP: return gt_ptx_has(instruction, "reduce");
	case GT_PTX_OP_MEMBAR:
	case GT_PTX_OP_FENCE: return has_one_of(instruction, scopes);
	case GT_PTX_OP_MULTIMEM:
	case GT_PTX_OP_TENSORMAP: return true;
	default: return false;
	}
}

bool gt_ptx_polls(const struct gt_ptx_instruction *instruction)
{
	return (instruction->row == GT_PTX_OP_LD || instruction->row == GT_PTX_OP_ATOM) && gt_ptx_joins_blocks(instruction);
}

bool gt_ptx_has_effect(const struct gt_ptx_instruction *instruction)
{
	const struct gt_ptx_opcode_row *row = gt_ptx_row(instruction);
	const bool changes = row->access != GT_PTX_ACCESS_NONE && row->access != GT_PTX_ACCESS_LOAD;

	switch (instruction->row) {
	case GT_PTX_OP_MULTIMEM:
	case GT_PTX_OP_TENSORMAP: return true;
	default: return row->ending == GT_PTX_CALLS || (changes && !is_of_block(instruction));
	}
}
