/* SPDX-License-Identifier: MIT */
/* mbarrier, and cp.async.mbarrier.arrive. */
#include "cuda/ptx/exec/mbarrier.h"

#include <string.h>

#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/bulk.h"
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

bool gt_ptx_is_reported(const struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "mbarrier::complete_tx::bytes") && !gt_ptx_says(decoder, "global");
}

int gt_ptx_emit_report(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, uint32_t bytes)
{
	struct gt_ptx_access *access = gt_ptx_own(decoder, sizeof *access);
	uint32_t slot = gt_ptx_constant_slot(decoder, bytes, 4);

	if (!access || !slot)
		return -1;
	*access = (struct gt_ptx_access){.space = GT_PTX_SHARED, .n = 1, .low = 1, .size = 8, .action = GT_REDUCTION, .remote = true};
	if (gt_ptx_read_address(decoder, access, operand) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_mbarrier);
	if (!op)
		return -1;
	op->a = slot;
	op->choice = GT_PTX_MBARRIER_COMPLETE;
	return 0;
}
