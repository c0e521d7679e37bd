/* SPDX-License-Identifier: MIT */
/* What a line of NVBit's mem_trace says behind those before it. */
#include <inttypes.h>

#include "import/nvbit.h"
#include "import/place.h"

static int find_block(const struct gt_nvbit *reader, const uint64_t position[3], uint32_t *block)
{
	const uint32_t *grid = reader->current->kernel.grid;

	if (position[0] >= grid[0] || position[1] >= grid[1] || position[2] >= grid[2])
		return gt_input_fail(reader->input, reader->error,
				     "CTA %" PRIu64 ",%" PRIu64 ",%" PRIu64
				     ": expected one in the grid of %" PRIu32 ",%" PRIu32 ",%" PRIu32,
				     position[0], position[1], position[2], grid[0], grid[1], grid[2]);
	*block = (uint32_t)((position[2] * grid[1] + position[1]) * grid[0] + position[0]);
	return 0;
}

/* What is wrong with a line is told in the order of what stands in it. */
static int take_access(struct gt_nvbit *reader, const struct gt_nvbit_line *line)
{
	struct gt_trace_access access = {.numbering = GT_AN_OF_WARP, .op = line->op, .size = line->size, .hint = line->hint,
					 .mask = line->mask, .addresses = line->addresses, .base = line->base, .stride = line->stride};

	if (gt_nvbit_select_launch(reader, line->launch) != 0)
		return -1;
	if (line->placed && find_block(reader, line->position, &access.block) != 0)
		return -1;
	if (line->wrong)
		return gt_nvbit_fail(reader, line->wrong);
	if (!line->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s: expected the opcode of a load, a store or an atomic",
				     (int)line->length, line->text);
	if (line->mask == 0)
		return reader->to->passed_over(reader->to->context, "accesses without an active lane", 1,
					       reader->error);
	if (gt_nvbit_find_warp(reader, line, &access) != 0 || (line->two && gt_nvbit_pair_halves(reader, &access) != 0))
		return -1;
	return gt_import_access(reader->input, reader->to, &access, reader->error);
}

int gt_nvbit_take(struct gt_nvbit *reader, const struct gt_nvbit_line *line)
{
	switch (line->kind) {
	case GT_NVBIT_OTHER: return 0;
	case GT_NVBIT_LAUNCH: return gt_nvbit_add_launch(reader, line->text, line->length);
	case GT_NVBIT_WRONG: return gt_nvbit_fail(reader, line->wrong);
	case GT_NVBIT_ACCESS: break;
	}
	return take_access(reader, line);
}
