/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/static/spread.h"

#include <string.h>

#include "cuda/ptx/decode/matrix.h"

#define WARP  32
#define PIECE 16 /* bytes that a lane copies, of a copy in bulk */

/* True if one of the modifiers is a space other than global memory. Generic addresses may be global. */
static bool is_elsewhere(const struct gt_ptx_instruction *instruction)
{
	static const char *const elsewhere[] = {"shared",      "local",		  "param",	  "const",
						"shared::cta", "shared::cluster", "param::entry", "param::func"};

	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (gt_ptx_has(instruction, elsewhere[i]))
			return true;
	return false;
}

static bool find_plain(const struct gt_ptx_instruction *instruction, struct gt_static_access *access)
{
	unsigned vector = gt_ptx_has(instruction, "v2") ? 2 : gt_ptx_has(instruction, "v4") ? 4 : gt_ptx_has(instruction, "v8") ? 8 : 1;

	access->bytes = vector * gt_ptx_type_size(gt_static_type(instruction));
	return !is_elsewhere(instruction);
}

/* The index of a modifier; n_modifiers if it is not there. */
static size_t place_of(const struct gt_ptx_instruction *instruction, const char *word)
{
	size_t i = 0;

	while (i < instruction->n_modifiers && strcmp(instruction->modifiers[i], word) != 0)
		i++;
	return i;
}

/* cp.async(.bulk)(.tensor): the space of the destination is written first. *at: the operand with the global address. */
static bool find_copy(const struct gt_ptx_instruction *instruction, const uint32_t *operands, size_t n,
		      const struct gt_static *analysis, struct gt_static_access *access, size_t *at)
{
	const size_t global = place_of(instruction, "global"), all = instruction->n_modifiers;
	const bool bulk = gt_ptx_has(instruction, "bulk");
	size_t first = all;

	for (size_t i = 0; i < all && first == all; i++)
		if (strncmp(instruction->modifiers[i], "shared", 6) == 0)
			first = i;
	if (global == all || n < 2 || gt_ptx_has(instruction, "prefetch"))
		return false;
	const bool stores = global < first;
	*at = stores ? 0 : 1;
	access->action = !stores ? GT_PTX_ACCESS_LOAD
			 : gt_ptx_has(instruction, "reduce") ? GT_PTX_ACCESS_REDUCTION : GT_PTX_ACCESS_STORE;
	access->bytes = PIECE;
	if (gt_ptx_has(instruction, "tensor")) {
		access->spread = GT_STATIC_FROM_MAP;
		return true;
	}
	if (n < 3)
		return false;
	const struct gt_static_value *bytes = &analysis->values[gt_static_same(analysis, operands[2])];
	const uint64_t known = bytes->kind == GT_STATIC_CONSTANT && bytes->number > 0 ? (uint64_t)bytes->number : 0;
	if (bulk)
		access->spread = GT_STATIC_IN_BULK;
	access->lanes = known && known < WARP * PIECE ? (unsigned)(known / PIECE) : WARP;
	if (!bulk)
		access->bytes = (unsigned)known;
	return true;
}

/* wmma.load {r, ...}, [address](, stride); wmma.store [address], {r, ...}(, stride). Returns as gt_static_find_access. */
static int find_tile(const struct gt_ptx_instruction *instruction, const uint32_t *operands, size_t n,
		     struct gt_ptx_arena *arena, struct gt_static_access *access, struct gt_error *error)
{
	const bool stores = gt_ptx_has(instruction, "store");
	struct gt_ptx_tile tile = {0};
	size_t registers;

	if (is_elsewhere(instruction) || !(stores || gt_ptx_has(instruction, "load")) || instruction->n_operands < 2)
		return 0;
	gt_ptx_elements(&instruction->operands[stores ? 1 : 0], &registers);
	access->action = stores ? GT_PTX_ACCESS_STORE : GT_PTX_ACCESS_LOAD;
	access->spread = GT_STATIC_BY_LINES;
	if (!gt_ptx_lay_out_tile(instruction, &tile, stores, registers))
		return 0;
	if (instruction->n_operands == 3)
		access->stride = operands[n - 1];
	access->tile = gt_ptx_arena_copy(arena, &tile, 1, sizeof tile, error);
	return access->tile ? 1 : -1;
}

int gt_static_find_access(const struct gt_static *analysis, const struct gt_ptx_instruction *instruction,
			  const uint32_t *operands, size_t n, struct gt_static_access *access, struct gt_error *error)
{
	size_t at = 0;
	int found = 0;

	*access = (struct gt_static_access){.action = gt_ptx_row(instruction)->access, .stride = GT_STATIC_NONE};
	switch (access->action) {
	case GT_PTX_ACCESS_LOAD:
	case GT_PTX_ACCESS_STORE:
	case GT_PTX_ACCESS_ATOMIC:
	case GT_PTX_ACCESS_REDUCTION: found = find_plain(instruction, access); break;
	case GT_PTX_ACCESS_COPY: found = find_copy(instruction, operands, n, analysis, access, &at); break;
	case GT_PTX_ACCESS_MATRIX: found = find_tile(instruction, operands, n, analysis->arena, access, error); break;
	default: break;
	}
	if (found > 0 && n <= at)
		return 0;
	access->address = found > 0 ? operands[at] : GT_STATIC_NONE;
	return found;
}

/* A matrix, line by line. */
static unsigned spread_lines(const struct gt_static_access *access, unsigned i, int64_t addresses[32], int64_t stride,
			     unsigned *bytes)
{
	struct gt_ptx_lines lines;
	const uint64_t first = (uint64_t)addresses[0];
	unsigned packed;

	gt_ptx_tile_lines(access->tile, first, access->stride == GT_STATIC_NONE ? gt_ptx_tile_stride(access->tile) : (uint64_t)stride,
			  &lines);
	if (i * WARP >= lines.n * lines.bytes / lines.piece)
		return 0;
	for (unsigned lane = 0; lane < WARP; lane++)
		addresses[lane] = (int64_t)(first + gt_ptx_piece_at(&lines, i * WARP + lane, &packed));
	*bytes = lines.piece;
	return WARP;
}

unsigned gt_static_request_of(const struct gt_static_access *access, unsigned i, int64_t addresses[32], unsigned n,
			  int64_t stride, unsigned *bytes)
{
	*bytes = access->bytes;
	if (n == 0 || (i > 0 && access->spread != GT_STATIC_BY_LINES))
		return 0;
	if (access->spread == GT_STATIC_BY_LINES)
		return spread_lines(access, i, addresses, stride, bytes);
	if (access->spread != GT_STATIC_IN_BULK)
		return n;
	for (unsigned lane = 1; lane < access->lanes; lane++)
		addresses[lane] = addresses[0] + (int64_t)lane * PIECE;
	return access->lanes;
}
