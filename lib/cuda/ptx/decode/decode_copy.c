/* SPDX-License-Identifier: MIT */
/* Accesses that are no plain loads and stores: asynchronous copies, cache lines as a whole. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/bulk.h"
#include "cuda/ptx/exec/access.h"
#include "stream/hint.h"
#include "stream/op.h"

/* The optional operand of cp.async: how many bytes are copied, or a predicate that ignores all of them. The other
 * bytes are zeros. */
static int read_copied(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, uint32_t *copied,
		       uint32_t *ignored)
{
	const struct gt_ptx_register *reg =
		operand->kind == GT_PTX_REGISTER ? gt_ptx_register_named(&decoder->registers, operand->name) : NULL;

	if (reg && reg->type == GT_PTX_PRED)
		return (*ignored = gt_ptx_source(decoder, operand, GT_PTX_PRED)) ? 0 : -1;
	return (*copied = gt_ptx_source(decoder, operand, GT_PTX_U32)) ? 0 : -1;
}

/* cp.async.CACHE.shared.global [to], [from], bytes(, bytes copied | ignore predicate)(, policy). */
static int decode_async(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	enum gt_ptx_type type;
	struct gt_ptx_access *from, *to = gt_ptx_own(decoder, sizeof *to);
	size_t n = instruction->n_operands;
	uint32_t copied = 0, ignored = 0;
	int read = gt_ptx_new_access(decoder, &from, &type);

	if (!to || read != 0)
		return to ? gt_ptx_refused(read) : -1;
	if (gt_ptx_read_policy(decoder, from, &n) != 0)
		return -1;
	if (n < 3 || n > 4 || instruction->operands[2].kind != GT_PTX_IMMEDIATE)
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint64_t bytes = instruction->operands[2].bits;
	if (bytes != 4 && bytes != 8 && bytes != 16)
		return gt_ptx_refuse(decoder, "copies 4, 8 or 16 bytes");
	*to = (struct gt_ptx_access){.space = GT_PTX_SHARED, .action = GT_STORE, .n = 1, .low = 1};
	from->space = GT_PTX_GLOBAL;
	from->action = GT_LOAD;
	from->size = to->size = (uint8_t)bytes;
	if (gt_ptx_read_address(decoder, to, &instruction->operands[0]) != 0 ||
	    gt_ptx_read_address(decoder, from, &instruction->operands[1]) != 0 ||
	    (n == 4 && read_copied(decoder, &instruction->operands[3], &copied, &ignored) != 0))
		return -1;
	/* Two micro-ops, a load and a store: the bytes pass through the warp's buffer. */
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, from, gt_ptx_copy_step(false));
	if (!op)
		return -1;
	op->a = copied;
	op->b = ignored;
	return gt_ptx_emit_access(decoder, to, gt_ptx_copy_step(true)) ? 0 : -1;
}

int gt_ptx_decode_cp(struct gt_ptx_decoder *decoder)
{
	if (gt_ptx_says(decoder, "commit_group") || gt_ptx_says(decoder, "wait_group") ||
	    gt_ptx_says(decoder, "wait_all"))
		return gt_ptx_decode_nothing(decoder);
	if (gt_ptx_says(decoder, "mbarrier"))
		return gt_ptx_decode_copies_arrive(decoder);
	if (gt_ptx_says(decoder, "bulk"))
		return gt_ptx_decode_bulk(decoder);
	return gt_ptx_says(decoder, "async") ? decode_async(decoder) : gt_ptx_refuse(decoder, "is not modelled");
}

/* Instructions that act on cache lines: the modifier that they need, the action, how many operands they have. */
static const struct {
	enum gt_ptx_opcode opcode;
	const char *level;
	enum gt_line_action action;
	size_t operands;
} line_actions[] = {
	{GT_PTX_OP_PREFETCH, "L1", GT_PREFETCH_L1, 1},
	{GT_PTX_OP_PREFETCH, "L2", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCH, "L2::evict_last", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCH, "L2::evict_normal", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCHU, "L1", GT_PREFETCH_L1, 1},
	{GT_PTX_OP_DISCARD, "L2", GT_DISCARD_L2, 2},
	{GT_PTX_OP_APPLYPRIORITY, "L2::evict_normal", GT_APPLY_PRIORITY_L2, 2},
};

/* prefetch(.global).LEVEL [a]; discard(.global).L2 [a], 128; applypriority(.global).L2::evict_normal [a], 128. */
int gt_ptx_decode_line(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t all = sizeof line_actions / sizeof line_actions[0];
	struct gt_ptx_access *access;
	enum gt_ptx_type type;
	size_t i = 0, n = instruction->n_operands;

	if (gt_ptx_says(decoder, "tensormap")) {
		gt_ptx_note_ignored(decoder->machine->notes, instruction->line, "'prefetch.tensormap'", "tensor maps are not cached");
		return gt_ptx_decode_nothing(decoder);
	}
	int read = gt_ptx_new_access(decoder, &access, &type);

	if (read != 0)
		return gt_ptx_refused(read);
	while (i < all && (instruction->row != line_actions[i].opcode || !gt_ptx_says(decoder, line_actions[i].level)))
		i++;
	if (i == all || n != line_actions[i].operands || type != GT_PTX_NO_TYPE ||
	    (n == 2 && (instruction->operands[1].kind != GT_PTX_IMMEDIATE || instruction->operands[1].bits != GT_LINE)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (access->space == GT_PTX_LOCAL) {
		gt_ptx_note_ignored(decoder->machine->notes, instruction->line, "'prefetch.local'",
				    "local memory is not prefetched");
		return gt_ptx_decode_nothing(decoder);
	}
	access->hint |= gt_hint(GT_PRIORITY_NONE, GT_PRIORITY_NONE, GT_FETCH_NONE, line_actions[i].action);
	access->action = GT_LOAD;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[0]) != 0)
		return -1;
	return gt_ptx_emit_access(decoder, access, gt_ptx_touch_lines) ? 0 : -1;
}
