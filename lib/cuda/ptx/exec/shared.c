/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/shared.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_dynamic(const struct gt_ptx_variable *variable)
{
	return variable->external || variable->bytes == 0;
}

bool gt_ptx_find_shared(const struct gt_ptx_program *program, size_t i, uint64_t dynamic, struct gt_ptx_shared_array *array)
{
	const struct gt_ptx_shared_variable *shared = &program->shared[i];
	bool named = false;
	unsigned same = 0;

	for (size_t j = 0; j < i; j++) {
		const struct gt_ptx_variable *earlier = program->shared[j].variable;
		named |= is_dynamic(earlier);
		same += gt_ptx_plain_same(earlier->name, shared->variable->name);
	}
	gt_ptx_variable_name(shared->variable->name, same, array->name);
	array->at = shared->offset;
	array->bytes = !is_dynamic(shared->variable) ? shared->variable->bytes : named ? 0 : dynamic;
	return array->bytes > 0;
}

const char *gt_ptx_shared_describe(const struct gt_ptx_core *core, uint64_t at, char text[GT_PTX_SHARED_TEXT])
{
	struct gt_ptx_shared_array array, nearest = {.bytes = 0};
	uint32_t least = UINT32_MAX;

	/* Distances modulo 2^32: an address below 0 is near the first variable. */
	for (size_t i = 0; i < core->program->n_shared; i++) {
		if (!gt_ptx_find_shared(core->program, i, core->launch->dynamic_shared, &array))
			continue;
		uint32_t before = (uint32_t)(array.at - at), behind = (uint32_t)(at - array.at - array.bytes);
		uint32_t distance = before < behind ? before : behind;
		if (distance >= least)
			continue;
		nearest = array;
		least = distance;
	}
	text[0] = '\0';
	if (nearest.bytes > 0)
		snprintf(text, GT_PTX_SHARED_TEXT, "; nearest is '%s', %" PRIu64 " bytes at 0x%" PRIx64, nearest.name,
			 nearest.bytes, nearest.at);
	return text;
}
