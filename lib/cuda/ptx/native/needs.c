/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/native/needs.h"

#include <stdlib.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/rules.h"

int gt_native_needs_open(struct gt_native_needs *needs, const struct gt_ptx_code *code, const struct gt_native_known *known,
			 struct gt_error *error)
{
	const size_t units = code->arena_bytes / GT_NATIVE_UNIT + 1;

	*needs = (struct gt_native_needs){.code = code, .known = known};
	needs->named = calloc(units, sizeof *needs->named);
	needs->kept = calloc(units, sizeof *needs->kept);
	return needs->named && needs->kept ? 0 : gt_fail_memory(error, "machine code");
}

void gt_native_needs_close(struct gt_native_needs *needs)
{
	free(needs->named);
	free(needs->kept);
}

static void name_slots(struct gt_native_needs *needs, const uint32_t *slots, size_t n, size_t op)
{
	for (size_t i = 0; i < n; i++)
		needs->named[slots[i] / GT_NATIVE_UNIT] = op + 1;
}

/* What a load found is kept in any case: by it a warp that waits is known from one that goes on (exec/watch.c). */
static void name_access(struct gt_native_needs *needs, const struct gt_ptx_access *access, size_t op)
{
	name_slots(needs, &access->address, 1, op);
	name_slots(needs, access->slots, access->n, op);
	for (unsigned k = 0; k < access->n; k++)
		needs->kept[access->slots[k] / GT_NATIVE_UNIT] = needs->block + 1;
}

static void name(struct gt_native_needs *needs, size_t i)
{
	const struct gt_ptx_op *op = &needs->code->ops[i];
	const uint32_t slots[] = {op->d, op->q, op->a, op->b, op->c, op->e};
	bool loads;

	if (gt_ptx_is_moved(op, &loads))
		name_access(needs, op->with.access, i);
	else if (gt_native_rule_of(op->run))
		name_slots(needs, slots, sizeof slots / sizeof *slots, i);
	else if (op->run != gt_ptx_branch && op->run != gt_ptx_join)
		needs->others = i + 1;
}

void gt_native_needs_block(struct gt_native_needs *needs, size_t block, size_t first, size_t end)
{
	const struct gt_native_known *known = needs->known;

	needs->block = block;
	needs->others = 0;
	for (size_t w = 0; known->sets && w < known->n / 64 + 1; w++)
		for (uint64_t rest = known->sets[block * known->stride + w]; rest; rest &= rest - 1)
			needs->kept[known->slots[64 * w + (size_t)__builtin_ctzll(rest)] / GT_NATIVE_UNIT] = block + 1;
	for (size_t i = first; i < end; i++)
		name(needs, i);
}

bool gt_native_needed(const struct gt_native_needs *needs, uint32_t slot, size_t from)
{
	const size_t unit = slot / GT_NATIVE_UNIT;

	return !needs->known->sets || needs->kept[unit] == needs->block + 1 || needs->named[unit] > from || needs->others > from;
}

bool gt_native_is_named(const struct gt_native_needs *needs, uint32_t slot, size_t from)
{
	return needs->named[slot / GT_NATIVE_UNIT] > from;
}

bool gt_native_is_constant(const struct gt_native_needs *needs, uint32_t slot)
{
	const uint32_t image_at = needs->code->image_at;

	return slot >= image_at && needs->known->constant[(slot - image_at) / GT_NATIVE_UNIT];
}
