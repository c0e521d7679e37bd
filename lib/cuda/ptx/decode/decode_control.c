/* SPDX-License-Identifier: MIT */
/* Branches, calls, returns and barriers; clusters of blocks. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/device_runtime.h"

/* ---- clusters: mapa, getctarank, barrier.cluster ---- */

/* What mapa and getctarank have in common: the address, of 32 or 64 bits, in the window of shared memory or generic. */
static int emit_window(struct gt_ptx_decoder *decoder, gt_ptx_step *const steps[2], enum gt_ptx_type to, uint32_t other)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool within = gt_ptx_says(decoder, "shared::cluster"), narrow = gt_ptx_says(decoder, "u32");
	const enum gt_ptx_type type = narrow ? GT_PTX_U32 : GT_PTX_U64;
	struct gt_ptx_result result;

	if (narrow == gt_ptx_says(decoder, "u64") || (narrow && !within))
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint32_t from = gt_ptx_source(decoder, &instruction->operands[1], type);
	if (!from || gt_ptx_result_slot(decoder, &instruction->operands[0], to ? to : type, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, steps[narrow ? 0 : 1]);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = from;
	op->b = other;
	op->with.immediate = within ? 0 : GT_PTX_SHARED_BASE;
	return gt_ptx_finish_result(decoder, &result);
}

/* mapa(.shared::cluster).u32|u64 d, address, rank */
static int decode_mapa(struct gt_ptx_decoder *decoder)
{
	gt_ptx_step *const *steps = gt_ptx_barrier_steps.map_address;

	if (decoder->instruction->n_operands != 3)
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint32_t rank = gt_ptx_source(decoder, &decoder->instruction->operands[2], GT_PTX_U32);
	return rank ? emit_window(decoder, steps, GT_PTX_NO_TYPE, rank) : -1;
}

/* getctarank(.shared::cluster).u32|u64 d, address */
static int decode_getctarank(struct gt_ptx_decoder *decoder)
{
	gt_ptx_step *const *steps = gt_ptx_barrier_steps.rank_of;

	return decoder->instruction->n_operands == 2 ? emit_window(decoder, steps, GT_PTX_U32, 0)
						     : gt_ptx_refuse(decoder, "is not known in this form");
}

/* barrier.cluster.arrive(.release|.relaxed)(.aligned), barrier.cluster.wait(.acquire)(.aligned) */
static int decode_cluster_barrier(struct gt_ptx_decoder *decoder)
{
	const bool arrives = gt_ptx_says(decoder, "arrive");

	if (arrives == gt_ptx_says(decoder, "wait") || decoder->instruction->n_operands != 0)
		return gt_ptx_refuse(decoder, "is not known in this form");
	return gt_ptx_emit(decoder, arrives ? gt_ptx_barrier_steps.cluster_arrive : gt_ptx_barrier_steps.cluster_wait) ? 0 : -1;
}

/* ---- branches, calls, returns, barriers of a block ---- */

static int decode_nanosleep(struct gt_ptx_decoder *decoder)
{
	return decoder->instruction->n_operands == 1 ? gt_ptx_emit_nothing(decoder) : gt_ptx_refuse(decoder, "needs one operand");
}

/* Affects only timing or the number of registers, which are not executed: named in a note. */
static int decode_untimed(struct gt_ptx_decoder *decoder)
{
	bool registers = decoder->instruction->row == GT_PTX_OP_SETMAXNREG;

	if (decoder->instruction->n_operands != 1)
		return gt_ptx_refuse(decoder, "needs one operand");
	gt_ptx_note_ignored(decoder->machine->notes, decoder->instruction->line, registers ? "'setmaxnreg'" : "'pmevent'",
			    registers ? "registers are counted by the kernel" : "there are no performance monitors");
	return gt_ptx_emit_nothing(decoder);
}

/* The block where a branch joins; resolve_branches turns it into a distance. */
static int32_t join_of(const struct gt_ptx_decoder *decoder)
{
	return (int32_t)decoder->flow.blocks[decoder->flow.block_of[decoder->at]].join;
}

static int decode_bra(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;

	if (instruction->n_operands != 1)
		return gt_ptx_emit_unknown(decoder, "bra needs one label");
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_branch);
	if (!op)
		return -1;
	op->target = (int32_t)gt_ptx_flow_target(&decoder->flow, instruction->operands[0].name);
	op->join = join_of(decoder);
	return 0;
}

static int decode_brx(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;

	if (instruction->n_operands != 2 || instruction->operands[1].kind != GT_PTX_VECTOR)
		return gt_ptx_emit_unknown(decoder, "brx.idx needs an index and a list of targets");
	const struct gt_ptx_operand *labels = &instruction->operands[1];
	struct gt_ptx_switch *ways =
		gt_ptx_own(decoder, sizeof *ways + labels->n_elements * sizeof ways->targets[0]);
	uint32_t index = gt_ptx_source(decoder, &instruction->operands[0], GT_PTX_U32);
	struct gt_ptx_op *op = ways && index ? gt_ptx_emit(decoder, gt_ptx_branch_indexed) : NULL;
	if (!op)
		return -1;
	ways->n = labels->n_elements;
	for (size_t i = 0; i < ways->n; i++)
		ways->targets[i] = (int32_t)gt_ptx_flow_target(&decoder->flow, labels->elements[i].name);
	op->a = index;
	op->with.ways = ways;
	op->join = join_of(decoder);
	return 0;
}

static int decode_ret(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_emit(decoder, gt_ptx_return) ? 0 : -1;
}

static int decode_exit(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_emit(decoder, gt_ptx_control_steps.exit) ? 0 : -1;
}

static int decode_trap(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_emit(decoder, gt_ptx_control_steps.trap) ? 0 : -1;
}

/* Where the arguments or the return values of a call are: registers, constants, .param variables. */
static struct gt_ptx_place *place_actuals(struct gt_ptx_decoder *decoder,
					  const struct gt_ptx_operand *operands, size_t n, bool written)
{
	struct gt_ptx_place *places = gt_ptx_own(decoder, (n + 1) * sizeof *places);

	for (size_t i = 0; places && i < n; i++) {
		const struct gt_ptx_operand *operand = &operands[i];
		const uint64_t *in_frame =
			operand->name ? gt_map_get(&decoder->frame, (uint64_t)(uintptr_t)operand->name)
				      : NULL;
		const struct gt_ptx_register *reg = gt_ptx_register_named(&decoder->registers, operand->name);
		if (operand->kind == GT_PTX_SINK) {
			continue;
		} else if (in_frame) {
			places[i] = (struct gt_ptx_place){false, (uint32_t)*in_frame, 0};
			for (size_t v = 0; v < decoder->function->n_variables; v++)
				if (decoder->function->variables[v].name == operand->name)
					places[i].bytes = (uint32_t)decoder->function->variables[v].bytes;
		} else if (reg) {
			places[i] = (struct gt_ptx_place){true, reg->slot, gt_ptx_type_size(reg->type)};
		} else if (!written && operand->kind == GT_PTX_IMMEDIATE) {
			places[i] = (struct gt_ptx_place){true,
							  gt_ptx_constant_slot(decoder, operand->bits, 8), 8};
		} else {
			gt_fail(decoder->error,
				"PTX line %u: a call hands over registers and .param variables",
				decoder->instruction->line);
			return NULL;
		}
	}
	return places;
}

static int decode_call(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;

	if (instruction->n_operands < 1 || !instruction->operands[0].name)
		return gt_ptx_emit_unknown(decoder, "call needs a function");
	const struct gt_ptx_operand *target = &instruction->operands[0];
	struct gt_ptx_call *call = gt_ptx_own(decoder, sizeof *call);
	if (!call)
		return -1;
	const struct gt_ptx_runtime_function *function = NULL;
	bool driver = false;
	if (gt_ptx_register_named(&decoder->registers, target->name)) {
		if (!(call->address = gt_ptx_source(decoder, target, GT_PTX_U64)))
			return -1;
	} else {
		call->callee = gt_ptx_function_body(decoder->machine->module, target->name);
		function = call->callee ? NULL : gt_ptx_runtime_function_named(target->name, &driver);
		call->second_interface = gt_ptx_runtime_is_second(target->name);
	}
	if (!call->callee && !call->address && !function)
		return gt_ptx_emit_unknown(decoder, strstr(target->name, "cudaDeviceSynchronize")
							    ? "call of '%.80s': CUDA 12 has removed it from kernels, and it is not modelled"
							    : "call of '%.80s', which has no body here",
					   target->name);
	if (call->callee && (call->callee->n_parameters != instruction->n_arguments || call->callee->n_returns != instruction->n_returns ||
			     instruction->n_operands != 1))
		return gt_ptx_emit_unknown(decoder, "call of '%.60s': expected %zu arguments and %zu results", target->name,
					   call->callee->n_parameters, call->callee->n_returns);
	decoder->code->deepens |= call->callee == decoder->code->function;
	call->n_arguments = instruction->n_arguments;
	call->n_returns = instruction->n_returns;
	call->arguments = place_actuals(decoder, instruction->arguments, instruction->n_arguments, false);
	call->returns = place_actuals(decoder, instruction->returns, instruction->n_returns, true);
	struct gt_ptx_op *op = call->arguments && call->returns ? gt_ptx_emit(decoder, function ? function->run : gt_ptx_control_steps.call) : NULL;
	if (!op)
		return -1;
	op->with.call = call;
	op->choice = driver;
	return 0;
}

/* bar.red: reads the result after the barrier. */
static int emit_reduction(struct gt_ptx_decoder *decoder, uint32_t number)
{
	bool counts = gt_ptx_says(decoder, "popc");
	struct gt_ptx_result result;

	if (gt_ptx_result_slot(decoder, &decoder->instruction->operands[0], counts ? GT_PTX_U32 : GT_PTX_PRED,
			  &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_path_steps.barrier_result);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = number;
	op->choice = counts ? 0 : gt_ptx_says(decoder, "or") ? 1 : 2;
	return gt_ptx_finish_result(decoder, &result);
}

static int decode_bar(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool reduces = gt_ptx_says(decoder, "red"), arrives = gt_ptx_says(decoder, "arrive");
	size_t first = reduces ? 1 : 0, n = instruction->n_operands, last = reduces ? n - 1 : n;
	uint32_t number, threads = 0, predicate = 0;

	if (gt_ptx_says(decoder, "warp"))
		return gt_ptx_decode_bar_warp(decoder);
	if (gt_ptx_says(decoder, "cluster"))
		return decode_cluster_barrier(decoder);
	if (n < first + 1 + reduces || n > first + 2 + reduces)
		return gt_ptx_emit_unknown(decoder,
					   "a barrier needs a number and, if any, a count of threads");
	if (!(number = gt_ptx_source(decoder, &instruction->operands[first], GT_PTX_U32)) ||
	    (last > first + 1 &&
	     !(threads = gt_ptx_source(decoder, &instruction->operands[first + 1], GT_PTX_U32))) ||
	    (reduces && !(predicate = gt_ptx_source(decoder, &instruction->operands[last], GT_PTX_PRED))))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_barrier_steps.wait);
	if (!op)
		return -1;
	op->a = number;
	op->b = threads;
	op->c = predicate;
	op->choice = arrives ? 1 : reduces ? 2 : 0;
	return reduces ? emit_reduction(decoder, number) : 0;
}

/* alloca.u32|u64 d, bytes(, alignment): d is an address in local memory. */
static int decode_alloca(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const struct gt_ptx_operand *operands = instruction->operands;
	const uint64_t alignment = instruction->n_operands == 3 ? operands[2].bits : 8;
	struct gt_ptx_result result;
	uint32_t bytes;

	if (instruction->n_operands < 2 || instruction->n_operands > 3 ||
	    (instruction->n_operands == 3 && operands[2].kind != GT_PTX_IMMEDIATE) || alignment == 0 || (alignment & (alignment - 1)) != 0)
		return gt_ptx_refuse(decoder, "needs a size and, if any, an alignment that is a power of 2");
	if (gt_ptx_result_slot(decoder, &operands[0], GT_PTX_U64, &result) != 0 ||
	    !(bytes = gt_ptx_source(decoder, &operands[1], GT_PTX_U64)))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_control_steps.alloca);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = bytes;
	op->with.immediate = alignment;
	decoder->code->deepens = true;
	return gt_ptx_finish_result(decoder, &result);
}

/* stacksave.u32|u64 d; stackrestore.u32|u64 a */
static int decode_stack(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool saves = instruction->row == GT_PTX_OP_STACKSAVE;
	struct gt_ptx_result result;
	uint32_t from = 0;

	if (instruction->n_operands != 1)
		return gt_ptx_refuse(decoder, "needs one operand");
	if (saves ? gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_U64, &result) != 0
		  : !(from = gt_ptx_source(decoder, &instruction->operands[0], GT_PTX_U64)))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, saves ? gt_ptx_control_steps.stack_save : gt_ptx_control_steps.stack_restore);
	if (!op)
		return -1;
	op->a = from;
	if (!saves)
		return 0;
	op->d = result.slot;
	return gt_ptx_finish_result(decoder, &result);
}

/* Of several devices' memory at once. */
static int decode_unmodelled(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_refuse(decoder, "is not modelled");
}

gt_ptx_decode_one *const gt_ptx_decode_control[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_ALLOCA] = decode_alloca,
	[GT_PTX_OP_BAR] = decode_bar,
	[GT_PTX_OP_BARRIER] = decode_bar,
	[GT_PTX_OP_BRA] = decode_bra,
	[GT_PTX_OP_BRKPT] = decode_trap,
	[GT_PTX_OP_BRX] = decode_brx,
	[GT_PTX_OP_CALL] = decode_call,
	[GT_PTX_OP_EXIT] = decode_exit,
	[GT_PTX_OP_FENCE] = gt_ptx_emit_nothing,
	[GT_PTX_OP_GETCTARANK] = decode_getctarank,
	[GT_PTX_OP_GRIDDEPCONTROL] = gt_ptx_emit_nothing,
	[GT_PTX_OP_MAPA] = decode_mapa,
	[GT_PTX_OP_MEMBAR] = gt_ptx_emit_nothing,
	[GT_PTX_OP_MULTIMEM] = decode_unmodelled,
	[GT_PTX_OP_NANOSLEEP] = decode_nanosleep,
	[GT_PTX_OP_PMEVENT] = decode_untimed,
	[GT_PTX_OP_RET] = decode_ret,
	[GT_PTX_OP_SETMAXNREG] = decode_untimed,
	[GT_PTX_OP_STACKRESTORE] = decode_stack,
	[GT_PTX_OP_STACKSAVE] = decode_stack,
	[GT_PTX_OP_TRAP] = decode_trap,
};
