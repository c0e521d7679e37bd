/* SPDX-License-Identifier: MIT */
/* Copies in bulk: cp.async.bulk(.tensor), cp.async.bulk.prefetch(.tensor), cp.reduce.async.bulk(.tensor). */
#include "cuda/ptx/exec/bulk.h"

#include <string.h>

#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/bulk.h"
#include "stream/hint.h"
#include "stream/op.h"

/* The first two state spaces written: that of the destination, and that of the source. */
static size_t read_spaces(const struct gt_ptx_instruction *instruction, bool global[2])
{
	size_t n = 0;

	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		const bool is_global = strcmp(word, "global") == 0;
		if (is_global || strcmp(word, "shared::cta") == 0 || strcmp(word, "shared::cluster") == 0) {
			if (n < 2)
				global[n] = is_global;
			n++;
		}
	}
	return n;
}

/* An access in the space, at the address of an operand; its own address slot is for pieces. */
static int read_end(struct gt_ptx_decoder *decoder, struct gt_ptx_access *end, struct gt_ptx_access *base,
		    const struct gt_ptx_operand *operand, enum gt_ptx_space space, enum gt_action action)
{
	*base = (struct gt_ptx_access){.space = space, .n = 1, .low = 1, .action = (uint8_t)action};
	if (gt_ptx_read_address(decoder, base, operand) != 0)
		return -1;
	end->space = space;
	end->action = (uint8_t)action;
	end->remote = space == GT_PTX_SHARED;
	end->n = 1;
	end->low = 1;
	end->size = 16;
	end->address = gt_ptx_temporary_slot(decoder, GT_PTX_U64);
	return end->address ? 0 : -1;
}

/* The coordinates behind the address of a tensor map. Returns 1 if the instruction has been refused. */
static int read_coordinates(struct gt_ptx_decoder *decoder, struct gt_ptx_bulk *bulk, const struct gt_ptx_operand *map)
{
	static const char *const ranks[GT_TENSOR_RANK_MAX] = {"1d", "2d", "3d", "4d", "5d"};
	const struct gt_ptx_operand *list = map->n_elements == 1 && map->elements[0].kind == GT_PTX_VECTOR ? &map->elements[0] : NULL;

	for (uint8_t rank = 0; rank < GT_TENSOR_RANK_MAX; rank++)
		if (gt_ptx_says(decoder, ranks[rank]))
			bulk->rank = (uint8_t)(rank + 1);
	if (!list || list->n_elements != bulk->rank || bulk->rank == 0)
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	for (unsigned d = 0; d < bulk->rank; d++)
		if (!(bulk->coordinates[d] = gt_ptx_source(decoder, &list->elements[d], GT_PTX_S32)))
			return -1;
	return 0;
}

/* The operands: (destination, source)(, bytes)(, mbarrier)(, blocks)(, policy), of which a policy has been taken off. */
static int read_operands(struct gt_ptx_decoder *decoder, struct gt_ptx_bulk *bulk, const bool global[2], size_t n)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const bool reports = gt_ptx_says(decoder, "mbarrier::complete_tx::bytes"), tensor = gt_ptx_says(decoder, "tensor");
	const bool multicast = gt_ptx_says(decoder, "multicast::cluster");
	const size_t ends = bulk->prefetches ? 1 : 2;
	const struct gt_ptx_operand *outer = &operands[bulk->stores || bulk->prefetches ? 0 : 1];
	const enum gt_ptx_space space = bulk->stores && !global[0] ? GT_PTX_SHARED : GT_PTX_GLOBAL;
	const enum gt_action action = bulk->reduces ? GT_REDUCTION : bulk->stores ? GT_STORE : GT_LOAD;
	size_t at = ends;

	if (n != ends + !tensor + reports + multicast)
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	if (read_end(decoder, &bulk->outer, &bulk->outer_base, outer, space, action) != 0 ||
	    (!bulk->prefetches && read_end(decoder, &bulk->inner, &bulk->inner_base, &operands[bulk->stores ? 1 : 0], GT_PTX_SHARED,
					   bulk->stores ? GT_LOAD : GT_STORE) != 0) ||
	    (!tensor && !(bulk->bytes = gt_ptx_source(decoder, &operands[at++], GT_PTX_U32))))
		return -1;
	if (tensor) {
		/* A map is found by its generic address. */
		bulk->outer_base.space = GT_PTX_GENERIC;
		int read = read_coordinates(decoder, bulk, outer);
		if (read != 0)
			return read;
	}
	bulk->mbarrier = (struct gt_ptx_access){.space = GT_PTX_SHARED, .n = 1, .low = 1, .size = 8, .action = GT_REDUCTION, .remote = true};
	if (reports && gt_ptx_read_address(decoder, &bulk->mbarrier, &operands[at++]) != 0)
		return -1;
	if (multicast && !(bulk->blocks = gt_ptx_source(decoder, &operands[at], GT_PTX_U32)))
		return -1;
	return 0;
}

/* cp(.reduce).async.bulk(.prefetch)(.tensor.RANK).DESTINATION(.SOURCE)... */
int gt_ptx_decode_bulk(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool reports = gt_ptx_says(decoder, "mbarrier::complete_tx::bytes");
	struct gt_ptx_bulk *bulk = gt_ptx_own(decoder, sizeof *bulk);
	struct gt_ptx_access *said;
	bool global[2] = {false, false};
	size_t n = instruction->n_operands;
	enum gt_ptx_type type;
	int read = gt_ptx_new_access(decoder, &said, &type);

	if (!bulk || read != 0)
		return bulk ? gt_ptx_refused(read) : -1;
	bulk->outer = *said;
	if (gt_ptx_read_policy(decoder, &bulk->outer, &n) != 0)
		return -1;
	bulk->prefetches = gt_ptx_says(decoder, "prefetch");
	bulk->type = type;
	bulk->reduces = gt_ptx_says(decoder, "reduce") ? instruction : NULL;
	if (read_spaces(instruction, global) != (bulk->prefetches ? 1U : 2U) || (global[0] && global[1]))
		return gt_ptx_refuse(decoder, "is not known in this form");
	bulk->stores = !global[1] && !bulk->prefetches;
	/* Into global memory copies are waited for by groups, into shared memory by an mbarrier. */
	if (reports == (global[0] || bulk->prefetches) || (bulk->reduces && !bulk->stores) ||
	    (gt_ptx_says(decoder, "tensor") && bulk->stores && !global[0]))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (bulk->reduces && bulk->type != GT_PTX_NO_TYPE && !gt_ptx_change(instruction, bulk->type))
		return gt_ptx_refuse(decoder, "is not modelled");
	/* Copies in bulk do not pass through L1. */
	bulk->outer.operation = bulk->stores || bulk->prefetches ? GT_OPERATOR_NONE : GT_CG;
	if (bulk->prefetches)
		bulk->outer.hint |= gt_hint(GT_PRIORITY_NONE, GT_PRIORITY_NONE, GT_FETCH_NONE, GT_PREFETCH_L2);
	bulk->hint = bulk->outer.hint;
	read = read_operands(decoder, bulk, global, n);
	if (read != 0)
		return gt_ptx_refused(read);
	return gt_ptx_emit_access(decoder, &bulk->outer, gt_ptx_copy_bulk) ? 0 : -1;
}
