/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/native/segment.h"

#include "cuda/ptx/exec/half.h"
#include "cuda/ptx/native/general.h"

bool gt_native_takes(const struct gt_ptx_op *op, const struct gt_native_rule **rule)
{
	*rule = op->guarded ? NULL : gt_native_rule_of(op->run);
	if (!*rule)
		return false;
	return (*rule)->kind != GT_NATIVE_TRUNCATE || (op->choice != GT_PTX_RN && op->choice != GT_PTX_RM && op->choice != GT_PTX_RP);
}

void gt_native_write(struct gt_native_segment *segment, const struct gt_ptx_op *ops, size_t n)
{
	struct gt_native_code *code = segment->code;
	const size_t end = segment->op + n;
	const struct gt_native_rule *rule;

	gt_native_text(code, "\x49\x89\xf8\x49\x89\xf9\x49\x89\xfa"); /* mov r8, rdi; mov r9, rdi; mov r10, rdi */
	gt_native_text(code, "\x4c\x8d\x5c\x24\x80");		      /* lea r11, [rsp - 128] */
	segment->isa->begin(segment);
	for (; segment->op < end; segment->op++) {
		gt_native_takes(&ops[segment->op], &rule);
		segment->now++;
		gt_native_emit(segment, rule, &ops[segment->op]);
	}
	gt_native_store_all(segment);
	if (segment->skip)
		gt_general_land(code, segment->skip);
	segment->isa->end(segment);
	gt_native_store_predicates(segment);
	gt_native_text(code, "\xc5\xf8\x77\xc3"); /* vzeroupper; ret */
}
