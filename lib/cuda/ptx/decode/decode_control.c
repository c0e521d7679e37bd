/* SPDX-License-Identifier: MIT */
/* Branches, calls, returns and barriers; clusters of blocks; operations among the lanes of a warp; state spaces of addresses. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/device_runtime.h"

/* ---- operations among the lanes of a warp: shfl, vote, match, redux, activemask, elect ---- */

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
	op->run = gt_ptx_is_number(decoder, &decoder->instruction->operands[at]) ? gt_ptx_path_steps.sync_alike : gt_ptx_path_steps.sync;
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
static int decode_bar_warp(struct gt_ptx_decoder *decoder)
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
static int decode_shfl(struct gt_ptx_decoder *decoder)
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

static int decode_vote(struct gt_ptx_decoder *decoder)
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
static int decode_match(struct gt_ptx_decoder *decoder)
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
		return decode_bar_warp(decoder);
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

/* ---- addresses of state spaces: cvta, isspacep ---- */

/* Where the state spaces begin in the generic address space. */
static const struct {
	const char *name;
	uint64_t base;
} windows[] = {
	{"global", 0},
	{"const", 0},
	{"shared", GT_PTX_SHARED_BASE},
	{"shared::cta", GT_PTX_SHARED_BASE},
	{"shared::cluster", GT_PTX_SHARED_BASE},
	{"local", GT_PTX_LOCAL_BASE},
	{"param", GT_PTX_PARAMETER_BASE},
	{"param::entry", GT_PTX_PARAMETER_BASE},
};

static int window_of(const struct gt_ptx_decoder *decoder, uint64_t *base)
{
	for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
		if (gt_ptx_says(decoder, windows[i].name)) {
			*base = windows[i].base;
			return 0;
		}
	return -1;
}

static int decode_cvta(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result;
	uint64_t base;

	if (instruction->n_operands != 2 || window_of(decoder, &base) != 0 || !gt_ptx_says(decoder, "u64"))
		return gt_ptx_emit_unknown(decoder, "cvta: a space, u64, and two operands expected");
	uint32_t from = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_U64);
	if (!from || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_U64, &result) != 0)
		return -1;
	const uint32_t offset = base ? gt_ptx_constant_slot(decoder, gt_ptx_says(decoder, "to") ? 0 - base : base, 8) : 0;
	if ((base && !offset) || !gt_ptx_emit_form(decoder, base ? "add.u64" : "mov.b64", result.slot, from, offset, 0))
		return -1;
	return gt_ptx_finish_result(decoder, &result);
}

static int decode_isspacep(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result;
	uint64_t base;

	if (instruction->n_operands != 2 || window_of(decoder, &base) != 0)
		return gt_ptx_emit_unknown(decoder, "isspacep: a space and two operands expected");
	uint32_t from = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_U64);
	if (!from || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_PRED, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_atomic_steps.is_space);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = from;
	op->with.immediate = base;
	op->choice = gt_ptx_says(decoder, "const");
	op->b = base == GT_PTX_SHARED_BASE && !gt_ptx_says(decoder, "shared::cluster");
	return 0;
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
	[GT_PTX_OP_ACTIVEMASK] = decode_vote,
	[GT_PTX_OP_ELECT] = decode_match,
	[GT_PTX_OP_MATCH] = decode_match,
	[GT_PTX_OP_REDUX] = decode_vote,
	[GT_PTX_OP_SHFL] = decode_shfl,
	[GT_PTX_OP_VOTE] = decode_vote,
	[GT_PTX_OP_CVTA] = decode_cvta,
	[GT_PTX_OP_ISSPACEP] = decode_isspacep,
};
