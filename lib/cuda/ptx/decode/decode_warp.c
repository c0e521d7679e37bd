/* SPDX-License-Identifier: MIT */
/* Operations among the lanes of a warp: shfl, vote, match, redux, activemask, elect. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"

static int unknown(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_emit_unknown(decoder, "this form of '%.20s' is not known",
				   decoder->instruction->opcode);
}

/* Wraps a micro-op into one that first waits for the lanes of the member mask. */
static void emit_members(struct gt_ptx_decoder *decoder, struct gt_ptx_op *op, uint32_t members, size_t at)
{
	if (!members)
		return;
	op->with.inner = op->run;
	op->run = decoder->instruction->operands[at].kind == GT_PTX_IMMEDIATE ? gt_ptx_sync_alike : gt_ptx_sync;
	op->e = members;
}

/* The slot of the member mask, operand `at` of a .sync operation; 0 for others. -1 on error. */
static int members_of(struct gt_ptx_decoder *decoder, size_t at, uint32_t *members)
{
	*members = 0;
	if (!gt_ptx_says(decoder, "sync"))
		return 0;
	*members = gt_ptx_source(decoder, &decoder->instruction->operands[at], GT_PTX_U32);
	return *members ? 0 : -1;
}

/* bar.warp.sync members */
int gt_ptx_decode_bar_warp(struct gt_ptx_decoder *decoder)
{
	uint32_t members;

	if (decoder->instruction->n_operands != 1)
		return unknown(decoder);
	if (members_of(decoder, 0, &members) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_do_nothing);
	if (!op)
		return -1;
	emit_members(decoder, op, members, 0);
	return 0;
}

/* shfl(.sync).MODE.b32 d(|p), a, b, c(, members) */
int gt_ptx_decode_shfl(struct gt_ptx_decoder *decoder)
{
	static const char *const modes[] = {"up", "down", "bfly", "idx"};
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	size_t results = gt_ptx_results(instruction), mode = 0;
	struct gt_ptx_result d, p = {0};
	uint32_t a, b, c, members;

	while (mode < 4 && !gt_ptx_says(decoder, modes[mode]))
		mode++;
	if (mode == 4 || instruction->n_operands != results + 3 + gt_ptx_says(decoder, "sync"))
		return unknown(decoder);
	if (!(a = gt_ptx_source(decoder, &instruction->operands[results], GT_PTX_B32)) ||
	    !(b = gt_ptx_source(decoder, &instruction->operands[results + 1], GT_PTX_U32)) ||
	    !(c = gt_ptx_source(decoder, &instruction->operands[results + 2], GT_PTX_U32)) ||
	    members_of(decoder, results + 3, &members) != 0 ||
	    gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B32, &d) != 0 ||
	    (results == 2 && gt_ptx_result_slot(decoder, &instruction->operands[1], GT_PTX_PRED, &p) != 0))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_form(decoder, "shfl", d.slot, a, b, c);
	if (!op)
		return -1;
	op->q = p.slot;
	op->choice = (uint8_t)mode;
	emit_members(decoder, op, members, results + 3);
	return gt_ptx_finish_result(decoder, &d);
}

/* Emits a form with one result and at most one source. */
static int emit_one(struct gt_ptx_decoder *decoder, const char *name, enum gt_ptx_type to,
		    enum gt_ptx_type from)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	size_t at = 1 + (size_t)(from != GT_PTX_NO_TYPE);
	struct gt_ptx_result result;
	uint32_t a = 0, members;

	if (!gt_ptx_form_named(name) || instruction->n_operands != at + gt_ptx_says(decoder, "sync"))
		return unknown(decoder);
	if ((from != GT_PTX_NO_TYPE && !(a = gt_ptx_source(decoder, &instruction->operands[1], from))) ||
	    members_of(decoder, at, &members) != 0 ||
	    gt_ptx_result_slot(decoder, &instruction->operands[0], to, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_form(decoder, name, result.slot, a, 0, 0);
	if (!op)
		return -1;
	emit_members(decoder, op, members, at);
	return gt_ptx_finish_result(decoder, &result);
}

/* The form's name: the instruction's without .sync. */
static void plain_name(const struct gt_ptx_instruction *instruction, char name[GT_PTX_NAME])
{
	size_t length = (size_t)snprintf(name, GT_PTX_NAME, "%s", instruction->opcode);

	for (size_t i = 0; i < instruction->n_modifiers && length < GT_PTX_NAME; i++)
		if (strcmp(instruction->modifiers[i], "sync") != 0)
			length += (size_t)snprintf(name + length, GT_PTX_NAME - length, ".%s",
						   instruction->modifiers[i]);
}

int gt_ptx_decode_vote(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	char name[GT_PTX_NAME];

	plain_name(instruction, name);
	const struct gt_ptx_form *form = gt_ptx_form_named(name);
	if (!form)
		return unknown(decoder);
	return emit_one(decoder, name, (enum gt_ptx_type)form->d, (enum gt_ptx_type)form->sources[0]);
}

/* match.{any,all}.sync.TYPE d(|p), a, members; elect.sync d|p, members */
int gt_ptx_decode_match(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	size_t results = gt_ptx_results(instruction);
	struct gt_ptx_result d, p = {0};
	char name[GT_PTX_NAME];
	uint32_t a = 0, members;

	plain_name(instruction, name);
	const struct gt_ptx_form *form = gt_ptx_form_named(name);
	size_t at = results + (form && form->sources[0]);
	if (!form || instruction->n_operands != at + gt_ptx_says(decoder, "sync"))
		return unknown(decoder);
	if ((form->sources[0] && !(a = gt_ptx_source(decoder, &instruction->operands[results],
						     (enum gt_ptx_type)form->sources[0]))) ||
	    members_of(decoder, at, &members) != 0 ||
	    gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B32, &d) != 0 ||
	    (results == 2 && gt_ptx_result_slot(decoder, &instruction->operands[1], GT_PTX_PRED, &p) != 0))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_form(decoder, name, d.slot, a, 0, 0);
	if (!op)
		return -1;
	op->q = p.slot;
	emit_members(decoder, op, members, at);
	return gt_ptx_finish_result(decoder, &d);
}
