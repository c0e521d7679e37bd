/* SPDX-License-Identifier: MIT */
#include "stream/op.h"

#include <stdio.h>
#include <string.h>

static const char *const actions[] = {"load", "store", "atomic", "reduction"};
static const char *const spaces[] = {"global", "local", "shared", "texture", "constant"};
static const char *const operators[] = {"", ".ca", ".cg", ".cs", ".cv", ".nc", ".lu"};

bool gt_op_valid(uint8_t op)
{
	return gt_op_space(op) < GT_SPACES && gt_op_operator(op) < GT_OPERATORS;
}

const char *gt_op_format(uint8_t op, char *buffer)
{
	if (gt_op_valid(op))
		snprintf(buffer, GT_OP_TEXT, "%s.%s%s", actions[gt_op_action(op)], spaces[gt_op_space(op)],
			 operators[gt_op_operator(op)]);
	else
		snprintf(buffer, GT_OP_TEXT, "%u", op);
	return buffer;
}

int gt_op_parse(const char *text, uint8_t *op)
{
	char name[GT_OP_TEXT];

	for (unsigned i = 0; i < 256; i++) {
		if (!gt_op_valid((uint8_t)i) || strcmp(gt_op_format((uint8_t)i, name), text) != 0)
			continue;
		*op = (uint8_t)i;
		return 0;
	}
	return -1;
}
