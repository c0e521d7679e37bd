/* SPDX-License-Identifier: MIT */
/* mbarrier, cp.async.mbarrier.arrive, and copies in bulk. */
#include "ptx/exec/mbarrier.h"

#include <string.h>

#include "ptx/decode/access.h"
#include "ptx/decode/bulk.h"
#include "stream/op.h"

/* The actions by what is written: the operand that they have behind the address, and whether they must have it. */
static const struct {
	const char *word, *further; /* NULL: no further word is needed */
	enum gt_ptx_mbarrier_action action;
	enum gt_action access;
	enum gt_ptx_type operand;
	bool needed, tests;
} actions[] = {
	{"init", NULL, GT_PTX_MBARRIER_INIT, GT_STORE, GT_PTX_U32, true, false},
	{"inval", NULL, GT_PTX_MBARRIER_INVALIDATE, GT_STORE, GT_PTX_NO_TYPE, false, false},
	{"arrive", "expect_tx", GT_PTX_MBARRIER_ARRIVE_EXPECTING, GT_ATOMIC, GT_PTX_U32, true, false},
	{"arrive", NULL, GT_PTX_MBARRIER_ARRIVE, GT_ATOMIC, GT_PTX_U32, false, false},
	{"arrive_drop", "expect_tx", GT_PTX_MBARRIER_DROP, GT_ATOMIC, GT_PTX_NO_TYPE, true, false}, /* is refused */
	{"arrive_drop", NULL, GT_PTX_MBARRIER_DROP, GT_ATOMIC, GT_PTX_U32, false, false},
	{"expect_tx", NULL, GT_PTX_MBARRIER_EXPECT, GT_REDUCTION, GT_PTX_U32, true, false},
	{"complete_tx", NULL, GT_PTX_MBARRIER_COMPLETE, GT_REDUCTION, GT_PTX_U32, true, false},
	{"test_wait", "parity", GT_PTX_MBARRIER_TEST_PARITY, GT_LOAD, GT_PTX_U32, true, true},
	{"test_wait", NULL, GT_PTX_MBARRIER_TEST, GT_LOAD, GT_PTX_B64, true, true},
	{"try_wait", "parity", GT_PTX_MBARRIER_TEST_PARITY, GT_LOAD, GT_PTX_U32, true, true},
	{"try_wait", NULL, GT_PTX_MBARRIER_TEST, GT_LOAD, GT_PTX_B64, true, true},
};

/* mbarrier.ACTION(.SEM.SCOPE)(.shared).b64 (state | predicate,) [address](, operand)(, time of try_wait) */
int gt_ptx_decode_mbarrier(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t at = gt_ptx_results(instruction), all = sizeof actions / sizeof actions[0];
	struct gt_ptx_result result = {0};
	struct gt_ptx_access *access;
	enum gt_ptx_type type;
	size_t i = 0, n = instruction->n_operands;
	uint32_t operand = 0;
	int read = gt_ptx_new_access(decoder, &access, &type);

	if (read != 0)
		return gt_ptx_refused(read);
	while (i < all && (!gt_ptx_says(decoder, actions[i].word) ||
			   (actions[i].further && !gt_ptx_says(decoder, actions[i].further))))
		i++;
	if (i == all || n < at + 1 + actions[i].needed || n > at + 2 + gt_ptx_says(decoder, "try_wait") ||
	    (n > at + 1 && !actions[i].operand) || (actions[i].tests && at != 1))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = (uint8_t)actions[i].access;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[at]) != 0 ||
	    (n > at + 1 && !(operand = gt_ptx_source(decoder, &instruction->operands[at + 1], actions[i].operand))) ||
	    (at > 0 && gt_ptx_result_slot(decoder, &instruction->operands[0], actions[i].tests ? GT_PTX_PRED : GT_PTX_B64,
					  &result) != 0))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_mbarrier);
	if (!op)
		return -1;
	op->a = operand;
	op->d = result.slot;
	op->choice = (uint8_t)actions[i].action;
	return gt_ptx_finish_result(decoder, &result);
}

/* cp.async.mbarrier.arrive(.noinc)(.shared).b64 [address]: the copies before it are done. */
int gt_ptx_decode_copies_arrive(struct gt_ptx_decoder *decoder)
{
	struct gt_ptx_access *access;
	enum gt_ptx_type type;
	int read = gt_ptx_new_access(decoder, &access, &type);

	if (read != 0)
		return gt_ptx_refused(read);
	if (decoder->instruction->n_operands != 1)
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_REDUCTION;
	if (gt_ptx_read_address(decoder, access, &decoder->instruction->operands[0]) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_mbarrier);
	if (op)
		op->choice = gt_ptx_says(decoder, "noinc") ? GT_PTX_MBARRIER_ARRIVE : GT_PTX_MBARRIER_LOOK;
	return op ? 0 : -1;
}

/* An access in the space, at the address of an operand; its own address slot is for pieces. */
static int read_end(struct gt_ptx_decoder *decoder, struct gt_ptx_access *end, struct gt_ptx_access *base,
		    const struct gt_ptx_operand *operand, enum gt_ptx_space space, enum gt_action action)
{
	*base = (struct gt_ptx_access){.space = space, .n = 1, .low = 1, .action = (uint8_t)action};
	if (gt_ptx_read_address(decoder, base, operand) != 0)
		return -1;
	end->space = base->space;
	end->action = (uint8_t)action;
	end->n = 1;
	end->low = 1;
	end->size = 16;
	end->address = gt_ptx_temporary_slot(decoder, GT_PTX_U64);
	return end->address ? 0 : -1;
}

/* Index of a modifier; n_modifiers if it is not there. */
static size_t index_of(const struct gt_ptx_instruction *instruction, const char *word)
{
	size_t i = 0;

	while (i < instruction->n_modifiers && strcmp(instruction->modifiers[i], word) != 0)
		i++;
	return i;
}

/* cp.async.bulk.SHARED.global.mbarrier::complete_tx::bytes(.L2::cache_hint) [to], [from], bytes, [mbarrier](, policy);
 * cp.async.bulk.global.shared::cta.bulk_group(.L2::cache_hint) [to], [from], bytes(, policy) */
int gt_ptx_decode_bulk(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const struct gt_ptx_operand *operands = instruction->operands;
	const bool reports = gt_ptx_says(decoder, "mbarrier::complete_tx::bytes");
	const size_t global = index_of(instruction, "global");
	const bool stores = global < index_of(instruction, "shared::cta") && !reports;
	struct gt_ptx_bulk *bulk = gt_ptx_own(decoder, sizeof *bulk);
	struct gt_ptx_access *said;
	enum gt_ptx_type type;
	size_t n = instruction->n_operands;
	int read = gt_ptx_new_access(decoder, &said, &type);

	if (!bulk || read != 0)
		return bulk ? gt_ptx_refused(read) : -1;
	bulk->outer = *said;
	if (gt_ptx_read_policy(decoder, &bulk->outer, &n) != 0)
		return -1;
	if (n != (reports ? 4U : 3U) || global == instruction->n_modifiers || reports == gt_ptx_says(decoder, "bulk_group"))
		return gt_ptx_refuse(decoder, "is not known in this form");
	/* Copies in bulk do not pass through L1. */
	bulk->outer.operation = stores ? GT_OPERATOR_NONE : GT_CG;
	if (read_end(decoder, &bulk->outer, &bulk->outer_base, &operands[stores ? 0 : 1], GT_PTX_GLOBAL, stores ? GT_STORE : GT_LOAD) != 0 ||
	    read_end(decoder, &bulk->inner, &bulk->inner_base, &operands[stores ? 1 : 0], GT_PTX_SHARED, stores ? GT_LOAD : GT_STORE) != 0 ||
	    !(bulk->bytes = gt_ptx_source(decoder, &operands[2], GT_PTX_U32)))
		return -1;
	bulk->mbarrier = (struct gt_ptx_access){.space = GT_PTX_SHARED, .n = 1, .low = 1, .size = 8, .action = GT_REDUCTION};
	if (reports && gt_ptx_read_address(decoder, &bulk->mbarrier, &operands[3]) != 0)
		return -1;
	return gt_ptx_emit_access(decoder, &bulk->outer, gt_ptx_copy_bulk) ? 0 : -1;
}
