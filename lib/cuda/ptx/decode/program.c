/* SPDX-License-Identifier: MIT */
/* Programs: a kernel and the functions that it can reach, each decoded into micro-ops, block by block, with the places of the kernel's
 * shared variables. A join stands first in a block where lanes may reconverge. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/native/segment.h"

/* ---- whether the blocks of a kernel can run at the same time with the result of one after the other ---- */

static bool has_one_of(const struct gt_ptx_instruction *instruction, const char *const names[])
{
	for (; *names; names++)
		if (gt_ptx_has(instruction, *names))
			return true;
	return false;
}

/* Memory that other blocks do not reach. */
static bool is_of_block(const struct gt_ptx_instruction *instruction)
{
	static const char *const spaces[] = {"shared", "shared::cta", "local", "param", "param::entry", "param::func", NULL};

	return has_one_of(instruction, spaces);
}

/* Whether an instruction has a result, or an effect, that depends on which blocks have run: an atomic, an access or a fence
 * that orders blocks, a tensor map that is changed. Of shared and local memory none has. */
static bool joins_blocks(const struct gt_ptx_instruction *instruction)
{
	static const char *const ordered[] = {"volatile", "cv", "relaxed", "acquire", "release", "mmio", NULL};
	static const char *const scopes[] = {"gl", "gpu", "sys", "cluster", NULL};

	switch (instruction->row) {
	case GT_PTX_OP_ATOM:
	case GT_PTX_OP_RED: return !is_of_block(instruction);
	case GT_PTX_OP_LD:
	case GT_PTX_OP_ST: return has_one_of(instruction, ordered) && !is_of_block(instruction);
	case GT_PTX_OP_CP: return gt_ptx_has(instruction, "reduce");
	case GT_PTX_OP_MEMBAR:
	case GT_PTX_OP_FENCE: return has_one_of(instruction, scopes);
	case GT_PTX_OP_MULTIMEM:
	case GT_PTX_OP_TENSORMAP: return true;
	default: return false;
	}
}

/* Whether it is one of these, and brings a value to a register: a load or an atomic that a loop may wait with. */
static bool polls(const struct gt_ptx_instruction *instruction)
{
	return (instruction->row == GT_PTX_OP_LD || instruction->row == GT_PTX_OP_ATOM) && joins_blocks(instruction);
}

/* Whether it may leave something behind when its block has ended: a store, an atomic, what a call does. */
static bool has_effect(const struct gt_ptx_instruction *instruction)
{
	const struct gt_ptx_opcode_row *row = gt_ptx_row(instruction);
	const bool changes = row->access != GT_PTX_ACCESS_NONE && row->access != GT_PTX_ACCESS_LOAD;

	switch (instruction->row) {
	case GT_PTX_OP_MULTIMEM:
	case GT_PTX_OP_TENSORMAP: return true;
	default: return row->ending == GT_PTX_CALLS || (changes && !is_of_block(instruction));
	}
}

/* ---- what machine code is told of the slots of a function ---- */

/* Marks the parts of the image that have constants: all but those with special registers and temporaries. */
static void find_constants(const struct gt_ptx_decoder *decoder, bool *constant)
{
	const struct gt_ptx_code *code = decoder->code;

	memset(constant, true, decoder->image_bytes / GT_NATIVE_UNIT + 1);
	for (size_t i = 0; i < code->n_specials; i++)
		constant[(code->specials[i].slot - code->image_at) / GT_NATIVE_UNIT] = false;
	for (size_t i = 0; i < decoder->n_temporaries; i++)
		constant[(decoder->temporaries[i].slot - code->image_at) / GT_NATIVE_UNIT] = false;
}

/* The registers that are live at the end of each block: bit i is that of register i. */
static void tell_liveness(const struct gt_ptx_liveness *live, struct gt_native_known *known)
{
	known->stride = GT_PTX_LIVENESS_SETS * live->words;
	known->sets = live->sets ? gt_ptx_liveness_of(live, 0, GT_PTX_LIVE_OUT) : NULL;
}

/* Where blocks wait for each other, registers that are not live are kept up, too: what a warp repeats is told from all (exec/block.c). */
static int make_native(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_registers *registers = &decoder->registers;
	struct gt_native_known known = {.n = registers->n};
	uint32_t *slots = calloc(registers->n + 1, sizeof *slots);
	bool *constant = calloc(decoder->image_bytes / GT_NATIVE_UNIT + 1, sizeof *constant);
	int result = -1;

	if (slots && constant) {
		for (size_t r = 0; r < registers->n; r++)
			slots[r] = registers->list[r].slot;
		find_constants(decoder, constant);
		known.slots = slots;
		known.constant = constant;
		if (!decoder->program->joins_blocks)
			tell_liveness(&registers->live, &known);
		result = gt_ptx_native_make(decoder->code, decoder->starts, decoder->flow.n_blocks, &known, decoder->error);
	} else {
		gt_fail_memory(decoder->error, "machine code");
	}
	free(slots);
	free(constant);
	return result;
}

/* The decoder of an opcode, from the table of its file. */
static gt_ptx_decode_one *decoder_of(enum gt_ptx_opcode opcode)
{
	static gt_ptx_decode_one *const *const families[GT_PTX_OP_COUNT] = {
		[GT_PTX_OP_OTHER] = gt_ptx_decode_lanes,
#define FAMILY(IDENTIFIER, name, results, ending, access, family, folding) [GT_PTX_OP_##IDENTIFIER] = gt_ptx_decode_##family,
		GT_PTX_OPCODES(FAMILY)
#undef FAMILY
	};
	gt_ptx_decode_one *one = families[opcode][opcode];

	return one ? one : gt_ptx_decode_lanes[GT_PTX_OP_OTHER];
}

/* ---- .param variables that are registers in all but name ---- */

/* A compiler hands values to functions in .param variables, which it loads and stores as a whole. They are decoded as registers: a copy of
 * the function declares them so, and has mov where it loads or stores them. */

static bool may_be_register(const struct gt_ptx_variable *variable)
{
	return variable->space == GT_PTX_PARAM && variable->elements == 1 && variable->vector == 1 && (variable->bytes == 4 || variable->bytes == 8) &&
	       gt_ptx_type_size(variable->type) == variable->bytes;
}

enum { LOADED_OR_STORED = 1, USED_OTHERWISE = 2 };

/* The operand of a load or store of a .param variable that may move all of it; NULL if the instruction is none. */
static const struct gt_ptx_operand *whole_of(const struct gt_ptx_instruction *instruction)
{
	const bool loads = instruction->row == GT_PTX_OP_LD;

	if ((!loads && instruction->row != GT_PTX_OP_ST) || instruction->n_operands != 2 || instruction->n_modifiers != 2 ||
	    strcmp(instruction->modifiers[0], "param") != 0)
		return NULL;
	const struct gt_ptx_operand *variable = &instruction->operands[loads], *value = &instruction->operands[!loads];
	const bool whole = variable->kind == GT_PTX_ADDRESS && variable->offset == 0 && variable->n_elements == 0;
	return whole && (value->kind == GT_PTX_REGISTER || value->kind == GT_PTX_IMMEDIATE) ? variable : NULL;
}

/* Bytes of the type that the instruction's second modifier names. */
static unsigned bytes_moved(const struct gt_ptx_instruction *instruction)
{
	return gt_ptx_type_size(gt_ptx_type_named(instruction->modifiers[1], strlen(instruction->modifiers[1])));
}

static void note_uses(const struct gt_map *uses, const struct gt_ptx_operand *operands, size_t n, const struct gt_ptx_operand *whole, unsigned bytes)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t *use = operands[i].name ? gt_map_get(uses, (uint64_t)(uintptr_t)operands[i].name) : NULL;
		if (use && &operands[i] == whole && *use >> 8 == bytes)
			*use |= LOADED_OR_STORED;
		else if (use)
			*use |= USED_OTHERWISE;
		note_uses(uses, operands[i].elements, operands[i].n_elements, whole, bytes);
	}
}

/* Whether the variable of a name is a register: it is loaded or stored as a whole, or handed over, and nothing else. */
static bool is_register(const struct gt_map *uses, const char *name)
{
	const uint64_t *use = name ? gt_map_get(uses, (uint64_t)(uintptr_t)name) : NULL;

	return use && (*use & 255) == LOADED_OR_STORED;
}

/* The lists of variables that a function may have .param variables in. */
struct declared {
	struct gt_ptx_variable *list;
	size_t n;
};
enum { DECLARATIONS = 3 };
static void declarations_of(const struct gt_ptx_function *function, struct declared declared[DECLARATIONS])
{
	declared[0] = (struct declared){function->variables, function->n_variables};
	declared[1] = (struct declared){function->parameters, function->entry ? 0 : function->n_parameters};
	declared[2] = (struct declared){function->returns, function->entry ? 0 : function->n_returns};
}

/* Finds by name how .param variables are used: their bytes, shifted, and the two above. Returns how many may be registers; -1 on error. */
static int find_uses(const struct gt_ptx_function *function, struct gt_map *uses, struct gt_error *error)
{
	struct declared declared[DECLARATIONS];
	int fresh, n = 0;

	declarations_of(function, declared);
	for (size_t d = 0; d < DECLARATIONS; d++)
		for (size_t i = 0; i < declared[d].n; i++) {
			const struct gt_ptx_variable *variable = &declared[d].list[i];
			if (may_be_register(variable) && !gt_map_put(uses, (uint64_t)(uintptr_t)variable->name, variable->bytes << 8, &fresh))
				return gt_fail_memory(error, "the parameters of calls");
			n += may_be_register(variable);
		}
	for (size_t i = 0; n > 0 && i < function->n_instructions; i++) {
		const struct gt_ptx_instruction *instruction = &function->instructions[i];
		const struct gt_ptx_operand *whole = whole_of(instruction);
		note_uses(uses, instruction->operands, instruction->n_operands, whole, whole ? bytes_moved(instruction) : 0);
	}
	return n;
}

static void *copied(struct gt_ptx_decoder *decoder, const void *from, size_t bytes)
{
	void *to = gt_ptx_own(decoder, bytes + 1);

	return to && bytes > 0 ? memcpy(to, from, bytes) : to;
}

/* Makes mov of a load or store of such a variable. */
static int move_instead(struct gt_ptx_decoder *decoder, struct gt_ptx_instruction *instruction, const char *name)
{
	static char opcode[] = "mov", bits[2][4] = {"b32", "b64"};
	struct gt_ptx_operand *operands = copied(decoder, instruction->operands, 2 * sizeof *operands);

	if (!operands)
		return -1;
	operands[operands[0].name != name].kind = GT_PTX_REGISTER;
	instruction->operands = operands;
	instruction->modifiers[0] = bits[bytes_moved(instruction) == 8];
	instruction->n_modifiers = 1;
	instruction->opcode = opcode;
	instruction->row = GT_PTX_OP_MOV;
	return 0;
}

/* The copy of the function. NULL when memory is short. */
static const struct gt_ptx_function *with_registers(struct gt_ptx_decoder *decoder, const struct gt_map *uses)
{
	const struct gt_ptx_function *from = decoder->function;
	struct gt_ptx_function *to = copied(decoder, from, sizeof *from);
	struct declared declared[DECLARATIONS];

	if (!to || !(to->variables = copied(decoder, from->variables, from->n_variables * sizeof *from->variables)) ||
	    !(to->parameters = copied(decoder, from->parameters, from->n_parameters * sizeof *from->parameters)) ||
	    !(to->returns = copied(decoder, from->returns, from->n_returns * sizeof *from->returns)) ||
	    !(to->instructions = copied(decoder, from->instructions, from->n_instructions * sizeof *from->instructions)))
		return NULL;
	declarations_of(to, declared);
	for (size_t d = 0; d < DECLARATIONS; d++)
		for (size_t i = 0; i < declared[d].n; i++)
			if (is_register(uses, declared[d].list[i].name))
				declared[d].list[i].space = GT_PTX_REG;
	for (size_t i = 0; i < to->n_instructions; i++) {
		const struct gt_ptx_operand *whole = whole_of(&to->instructions[i]);
		if (whole && is_register(uses, whole->name) && move_instead(decoder, &to->instructions[i], whole->name) != 0)
			return NULL;
	}
	return to;
}

static int take_registers(struct gt_ptx_decoder *decoder)
{
	struct gt_map uses;

	if (gt_map_open(&uses, 16, decoder->error) != 0)
		return -1;
	const int n = find_uses(decoder->function, &uses, decoder->error);
	if (n > 0)
		decoder->function = with_registers(decoder, &uses);
	gt_map_close(&uses);
	return n < 0 || !decoder->function ? -1 : 0;
}

/* Gives a variable its place in the function's local frame. Variables never touch, so that one step beyond the end of one is no
 * step into the next. */
static int place_in_frame(struct gt_ptx_decoder *decoder, const struct gt_ptx_variable *variable)
{
	struct gt_ptx_code *code = decoder->code;
	uint32_t alignment = variable->alignment ? variable->alignment : 1;
	uint64_t at = code->n_locals ? ((uint64_t)code->local_bytes + alignment) / alignment * alignment : 0;
	int fresh;

	if (variable->bytes > GT_PTX_LOCAL_MAX || at + variable->bytes > GT_PTX_LOCAL_MAX)
		return gt_fail(decoder->error, "function '%s' has more than %u bytes of local memory",
			       decoder->function->name, GT_PTX_LOCAL_MAX);
	struct gt_ptx_local *grown = gt_grown(code->locals, code->n_locals, &decoder->locals_capacity, sizeof *grown);
	if (grown)
		code->locals = grown;
	if (!grown || !gt_map_put(&decoder->frame, (uint64_t)(uintptr_t)variable->name, at, &fresh))
		return gt_fail_memory(decoder->error, "a local frame");
	code->locals[code->n_locals++] = (struct gt_ptx_local){variable->name, (uint32_t)at, (uint32_t)variable->bytes};
	code->local_bytes = (uint32_t)(at + variable->bytes);
	return 0;
}

/* Places the parameters or the return values of a device function: registers, or bytes of its frame. */
static int place_formals(struct gt_ptx_decoder *decoder, const struct gt_ptx_variable *formals, size_t n,
			 struct gt_ptx_place **places, size_t *n_places)
{
	*places = gt_ptx_own(decoder, (n + 1) * sizeof **places);
	if (!*places)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct gt_ptx_place *place = &(*places)[i];
		if (formals[i].space == GT_PTX_REG) {
			const struct gt_ptx_register *reg =
				gt_ptx_register_named(&decoder->registers, formals[i].name);
			*place = (struct gt_ptx_place){true, reg ? reg->slot : 0,
						       gt_ptx_type_size(formals[i].type)};
		} else {
			if (place_in_frame(decoder, &formals[i]) != 0)
				return -1;
			*place = (struct gt_ptx_place){
				false,
				(uint32_t)*gt_map_get(&decoder->frame, (uint64_t)(uintptr_t)formals[i].name),
				(uint32_t)formals[i].bytes};
		}
	}
	*n_places = n;
	return 0;
}

static int lay_out_frame(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_function *function = decoder->function;
	struct gt_ptx_code *code = decoder->code;

	for (size_t i = 0; i < function->n_variables; i++) {
		const struct gt_ptx_variable *variable = &function->variables[i];
		if ((variable->space == GT_PTX_LOCAL || variable->space == GT_PTX_PARAM) &&
		    place_in_frame(decoder, variable) != 0)
			return -1;
	}
	if (function->entry)
		return 0;
	if (place_formals(decoder, function->parameters, function->n_parameters, &code->parameters,
			  &code->n_parameters) != 0 ||
	    place_formals(decoder, function->returns, function->n_returns, &code->returns,
			  &code->n_returns) != 0)
		return -1;
	return 0;
}

static int read_guard(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;

	decoder->guarded = 0;
	decoder->guard = 0;
	if (!instruction->guard)
		return 0;
	const struct gt_ptx_register *reg = gt_ptx_register_named(&decoder->registers, instruction->guard);
	if (!reg || reg->type != GT_PTX_PRED)
		return gt_fail(decoder->error, "PTX line %u: guard '%s' is no predicate", instruction->line,
			       instruction->guard);
	decoder->guard = reg->slot;
	decoder->guarded = instruction->guard_negated ? 2 : 1;
	return 0;
}

/* An instruction with two results may become several micro-ops. If it writes its own guard, they are guarded by a
 * copy of it. */
static int keep_guard(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const uint8_t guarded = decoder->guarded;

	if (!guarded || gt_ptx_results(instruction) != 2 ||
	    (instruction->operands[0].name != instruction->guard &&
	     instruction->operands[1].name != instruction->guard))
		return 0;
	uint32_t copy = gt_ptx_temporary_slot(decoder, GT_PTX_PRED);
	decoder->guarded = 0;
	if (!copy || !gt_ptx_emit_form(decoder, "mov.pred", copy, decoder->guard, 0, 0))
		return -1;
	decoder->guard = copy;
	decoder->guarded = guarded;
	return 0;
}

/* What follows an access that may be a poll is given the slot of what it found, and its bytes. */
static int emit_poll(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_operand *found = &decoder->instruction->operands[0];
	const struct gt_ptx_register *reg =
		gt_ptx_register_named(&decoder->registers, found->n_elements > 0 ? found->elements[0].name : found->name);
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_poll);

	if (!op)
		return -1;
	op->d = reg ? reg->slot : 0;
	op->a = reg ? gt_ptx_slot_bytes(reg->type) : 0;
	return 0;
}

static int decode_instruction(struct gt_ptx_decoder *decoder)
{
	decoder->first = true;
	if (read_guard(decoder) != 0 || (decoder->n_followed > 0 && gt_ptx_unset_emit(decoder) != 0) || keep_guard(decoder) != 0)
		return -1;
	if (decoder_of(decoder->instruction->row)(decoder) != 0)
		return -1;
	return polls(decoder->instruction) ? emit_poll(decoder) : 0;
}

static int decode_blocks(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_flow *flow = &decoder->flow;
	unsigned char *joins = calloc(flow->n_blocks + 1, 1);
	int result = 0;

	if (!joins)
		return gt_fail_memory(decoder->error, "a flow graph");
	for (size_t b = 0; b < flow->n_blocks; b++)
		joins[flow->blocks[b].join] |= flow->blocks[b].n_successors > 1;
	for (size_t b = 0; result == 0 && b < flow->n_blocks; b++) {
		decoder->starts[b] = decoder->code->n_ops;
		decoder->in_unrolled = decoder->unrolled[b];
		decoder->round = NULL;
		decoder->first = false;
		decoder->guarded = 0;
		decoder->instruction = &decoder->function->instructions[flow->blocks[b].first];
		if (joins[b] && !gt_ptx_emit(decoder, gt_ptx_join))
			result = -1;
		for (size_t i = flow->blocks[b].first; result == 0 && i < flow->blocks[b].end; i++) {
			decoder->at = i;
			decoder->instruction = &decoder->function->instructions[i];
			result = decode_instruction(decoder);
		}
	}
	free(joins);
	/* A body may end without ret: one is added. */
	decoder->starts[flow->n_blocks] = decoder->code->n_ops;
	decoder->first = false;
	decoder->guarded = 0;
	if (result == 0 && !gt_ptx_emit(decoder, gt_ptx_return))
		result = -1;
	return result;
}

/* Turns the targets of branches from blocks into distances in micro-ops. */
static void resolve_branches(struct gt_ptx_decoder *decoder)
{
	struct gt_ptx_code *code = decoder->code;
	size_t n = decoder->flow.n_blocks;

	for (size_t i = 0; i < code->n_ops; i++) {
		struct gt_ptx_op *op = &code->ops[i];
		if (op->run != gt_ptx_branch && op->run != gt_ptx_branch_indexed)
			continue;
		op->join = (size_t)op->join == n ? 0 : (int32_t)(decoder->starts[op->join] - i);
		if (op->run == gt_ptx_branch) {
			op->target = (int32_t)(decoder->starts[op->target] - i);
			continue;
		}
		struct gt_ptx_switch *ways = (struct gt_ptx_switch *)(uintptr_t)op->with.ways;
		for (size_t t = 0; t < ways->n; t++)
			ways->targets[t] = (int32_t)(decoder->starts[ways->targets[t]] - i);
	}
}

static int list_accesses(struct gt_ptx_code *code, struct gt_error *error)
{
	code->accesses = calloc(code->n_ops + 1, sizeof *code->accesses);
	if (!code->accesses)
		return gt_fail_memory(error, "decoded instructions");
	for (size_t i = 0; i < code->n_ops; i++)
		if (code->ops[i].accesses)
			code->accesses[code->n_accesses++] = code->ops[i].with.access;
	return 0;
}

/* Slot 0 is the predicate that is always true, so that 0 can mean "no slot" elsewhere. */
static int place_registers(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_registers *registers = &decoder->registers;
	struct gt_ptx_code *code = decoder->code;
	const uint32_t before = 512;

	const uint32_t masks = (before + registers->slot_bytes + 3) / 4 * 4;
	size_t n = 0;
	for (size_t r = 0; decoder->n_followed > 0 && r < registers->n; r++)
		registers->list[r].written = masks + 4 * (uint32_t)(registers->list[r].origin ? n++ : 0);
	code->image_at = (masks + 4 * (uint32_t)n + 511) / 512 * 512;
	code->slots = calloc(registers->n + 1, sizeof *code->slots);
	bool *there = calloc(code->image_at, sizeof *there);
	for (size_t r = 0; code->slots && there && r < registers->n; r++) {
		const uint32_t at = registers->list[r].slot += before;
		if (!there[at])
			code->slots[code->n_slots++] = (struct gt_ptx_slot){at, gt_ptx_slot_bytes(registers->list[r].type)};
		there[at] = true;
	}
	bool failed = !code->slots || !there;
	free(there);
	return failed ? gt_fail_memory(decoder->error, "slots of registers") : 0;
}

static int list_unset(struct gt_ptx_code *code, const struct gt_ptx_registers *registers, struct gt_error *error)
{
	code->unset = malloc((2 * registers->n + 1) * sizeof *code->unset);
	if (!code->unset)
		return gt_fail_memory(error, "the registers of a function");
	for (size_t r = 0; r < registers->n; r++) {
		if (registers->list[r].unset)
			code->unset[code->n_unset++] = (struct gt_ptx_slot){registers->list[r].slot, gt_ptx_slot_bytes(registers->list[r].type)};
		if (registers->list[r].origin)
			code->unset[code->n_unset++] = (struct gt_ptx_slot){registers->list[r].written, 4};
	}
	return 0;
}

static int decode_function(struct gt_ptx_decoder *decoder)
{
	struct gt_ptx_code *code = decoder->code;

	for (size_t i = 0; i < sizeof decoder->constants / sizeof *decoder->constants; i++)
		if (gt_map_open(&decoder->constants[i], 16, decoder->error) != 0)
			return -1;
	if (gt_map_open(&decoder->frame, 16, decoder->error) != 0 || take_registers(decoder) != 0 ||
	    gt_ptx_flow_make(&decoder->flow, decoder->function, decoder->error) != 0 ||
	    gt_ptx_flow_find_joins(&decoder->flow, decoder->error) != 0 ||
	    gt_ptx_registers_make(&decoder->registers, decoder->function, &decoder->flow, decoder->error) !=
		    0 ||
	    gt_ptx_registers_place(&decoder->registers, decoder->error) != 0 ||
	    gt_ptx_find_unrolled(decoder->function, &decoder->flow, &decoder->registers, &decoder->unrolled, decoder->error) != 0 ||
	    gt_ptx_find_waits(&decoder->registers, &decoder->flow, decoder->unrolled, &decoder->waits, decoder->error) != 0)
		return -1;
	if (decoder->machine->memory->written)
		decoder->n_followed = gt_ptx_unset_find(&decoder->registers);
	if (place_registers(decoder) != 0 || list_unset(code, &decoder->registers, decoder->error) != 0)
		return -1;
	decoder->starts = calloc(decoder->flow.n_blocks + 1, sizeof *decoder->starts);
	if (!decoder->starts)
		return gt_fail_memory(decoder->error, "a flow graph");
	if (lay_out_frame(decoder) != 0 || decode_blocks(decoder) != 0)
		return -1;
	resolve_branches(decoder);
	if (list_accesses(code, decoder->error) != 0)
		return -1;
	code->arena_bytes = code->image_at + decoder->image_bytes;
	/* What is followed looks at registers in the arena. */
	return decoder->n_followed > 0 ? 0 : make_native(decoder);
}

/* Decodes one function of a program. NULL on error. */
static struct gt_ptx_code *decode(const struct gt_ptx_machine *machine, const struct gt_ptx_program *program,
				  const struct gt_ptx_function *function, struct gt_error *error)
{
	struct gt_ptx_decoder decoder = {
		.machine = machine,
		.program = program,
		.function = function,
		.error = error,
		.code = calloc(1, sizeof(struct gt_ptx_code)),
	};
	struct gt_ptx_code *code = decoder.code;

	if (!code) {
		gt_fail_memory(error, "decoded instructions");
		return NULL;
	}
	code->function = function;
	int result = decode_function(&decoder);
	gt_ptx_flow_free(&decoder.flow);
	gt_ptx_registers_free(&decoder.registers);
	gt_map_close(&decoder.frame);
	free(decoder.starts);
	for (size_t i = 0; i < sizeof decoder.constants / sizeof *decoder.constants; i++)
		gt_map_close(&decoder.constants[i]);
	free(decoder.waits);
	free(decoder.unrolled);
	free(decoder.temporaries);
	if (result == 0)
		return code;
	gt_ptx_code_free(code);
	return NULL;
}

/* ---- a program: the functions that a kernel can reach, and its shared variables ---- */

struct search {
	const struct gt_ptx_machine *machine;
	struct gt_ptx_program *program;
	struct gt_map names; /* that the functions found so far mention */
	unsigned char *reached; /* indexed as the functions of the module */
	size_t *list, n; /* the reached functions */
	size_t shared_capacity;
	struct gt_error *error;
};

static int reach_function(struct search *search, size_t index)
{
	/* A kernel that is named is one to be launched. */
	const struct gt_ptx_function *functions = search->machine->module->functions;
	if (index == SIZE_MAX || search->reached[index] || functions[index].declaration ||
	    (functions[index].entry && &functions[index] != search->program->kernel))
		return 0;
	search->reached[index] = 1;
	search->list[search->n++] = index;
	return 0;
}

/* Adds a name; a function of that name is reached, and so are functions whose addresses are in a variable of that
 * name. */
static int note_name(struct search *search, const char *name)
{
	const struct gt_ptx_module *module = search->machine->module;
	int fresh;

	if (!name)
		return 0;
	if (!gt_map_put(&search->names, (uint64_t)(uintptr_t)name, 0, &fresh))
		return gt_fail_memory(search->error, "the names of a program");
	if (!fresh)
		return 0;
	search->program->is_unique |= strcmp(name, "%gridid") == 0 || strcmp(name, "%current_graph_exec") == 0;
	reach_function(search, gt_ptx_function_index(search->machine->module, name));
	size_t variable = gt_ptx_variable_index(search->machine->module, name);
	for (size_t i = 0; variable != SIZE_MAX && i < module->variables[variable].n_references; i++)
		if (note_name(search, module->variables[variable].references[i].symbol) != 0)
			return -1;
	return 0;
}

static int note_operands(struct search *search, const struct gt_ptx_operand *operands, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (note_name(search, operands[i].name) != 0 ||
		    note_operands(search, operands[i].elements, operands[i].n_elements) != 0)
			return -1;
	return 0;
}

/* A call by address may reach any function of the module. */
static bool calls_by_address(const struct gt_ptx_function *function)
{
	for (size_t i = 0; i < function->n_instructions; i++)
		if (gt_ptx_row(&function->instructions[i])->ending == GT_PTX_CALLS &&
		    function->instructions[i].n_operands > 0 &&
		    function->instructions[i].operands[0].kind == GT_PTX_REGISTER)
			return true;
	return false;
}

/* A function without PTX may be one of the device's runtime. */
static void note_runtime_function(struct search *search, const struct gt_ptx_instruction *instruction)
{
	const char *name = gt_ptx_row(instruction)->ending == GT_PTX_CALLS && instruction->n_operands > 0
				   ? instruction->operands[0].name : NULL;

	if (!name || gt_ptx_function_body(search->machine->module, name))
		return;
	bool driver;
	const struct gt_ptx_runtime_function *function = gt_ptx_runtime_function_named(name, &driver);
	search->program->uses_heap |= function && function->uses_heap;
	search->program->launches |= function && function->launches;
	search->program->joins_blocks |= function != NULL;
	search->program->is_unique |= function && strcmp(function->name, "__assertfail") != 0;
}

static int find_functions(struct search *search)
{
	const struct gt_ptx_module *module = search->machine->module;
	const struct gt_ptx_function *kernel = search->program->kernel;

	if (kernel->declaration)
		return gt_fail(search->error, "kernel '%s' is declared and has no instructions", kernel->name);
	reach_function(search, (size_t)(kernel - module->functions));
	for (size_t k = 0; k < search->n; k++) {
		const struct gt_ptx_function *function = &module->functions[search->list[k]];
		for (size_t i = 0; i < function->n_instructions; i++) {
			const struct gt_ptx_instruction *instruction = &function->instructions[i];
			if (note_operands(search, instruction->operands, instruction->n_operands) != 0 ||
			    note_operands(search, instruction->arguments, instruction->n_arguments) != 0)
				return -1;
			note_runtime_function(search, instruction);
			search->program->joins_blocks |= joins_blocks(instruction);
			search->program->has_effects |= has_effect(instruction);
		}
		for (size_t f = 0; calls_by_address(function) && f < module->n_functions; f++)
			if (!module->functions[f].entry)
				reach_function(search, f);
	}
	return 0;
}

static int place_shared(struct search *search, const struct gt_ptx_variable *variable)
{
	struct gt_ptx_program *program = search->program;
	struct gt_ptx_shared_variable *grown =
		gt_grown(program->shared, program->n_shared, &search->shared_capacity, sizeof *grown);
	uint64_t alignment = variable->alignment ? variable->alignment : 1;

	if (!grown)
		return gt_fail_memory(search->error, "shared variables");
	program->shared = grown;
	grown[program->n_shared].variable = variable;
	grown[program->n_shared++].offset = 0;
	/* Variables without a size share the dynamic memory behind all others. */
	if (variable->external || variable->bytes == 0) {
		program->dynamic_offset =
			alignment > program->dynamic_offset ? alignment : program->dynamic_offset;
		return 0;
	}
	uint64_t at = (program->static_shared + alignment - 1) / alignment * alignment;
	if (variable->bytes > GT_PTX_WINDOW - at)
		return gt_fail(search->error, "shared variable '%s' is too large", variable->name);
	grown[program->n_shared - 1].offset = at;
	program->static_shared = at + variable->bytes;
	return 0;
}

static int lay_out_shared(struct search *search)
{
	const struct gt_ptx_module *module = search->machine->module;
	struct gt_ptx_program *program = search->program;

	program->dynamic_offset = 16; /* holds its alignment until all static variables are placed */
	for (size_t i = 0; i < module->n_variables; i++)
		if (module->variables[i].space == GT_PTX_SHARED &&
		    gt_map_get(&search->names, (uint64_t)(uintptr_t)module->variables[i].name) &&
		    place_shared(search, &module->variables[i]) != 0)
			return -1;
	for (size_t k = 0; k < search->n; k++) {
		const struct gt_ptx_function *function = &module->functions[search->list[k]];
		for (size_t i = 0; i < function->n_variables; i++)
			if (function->variables[i].space == GT_PTX_SHARED &&
			    place_shared(search, &function->variables[i]) != 0)
				return -1;
	}
	uint64_t alignment = program->dynamic_offset;
	program->dynamic_offset = (program->static_shared + alignment - 1) / alignment * alignment;
	for (size_t i = 0; i < program->n_shared; i++)
		if (program->shared[i].variable->external || program->shared[i].variable->bytes == 0)
			program->shared[i].offset = program->dynamic_offset;
	return 0;
}

static bool reads_reserved(const struct gt_ptx_code *code)
{
	for (size_t i = 0; i < code->n_specials; i++)
		if (strncmp(code->specials[i].special->name, "%reserved_smem", 14) == 0)
			return true;
	return false;
}

static int decode_all(struct search *search)
{
	struct gt_ptx_program *program = search->program;

	for (size_t k = 0; k < search->n; k++) {
		const struct gt_ptx_function *function = &search->machine->module->functions[search->list[k]];
		struct gt_ptx_code *code = decode(search->machine, program, function, search->error);
		if (!code)
			return -1;
		program->codes[search->list[k]] = code;
		program->local_bytes += gt_ptx_local_span(code);
		program->deepens |= code->deepens;
		program->reads_reserved |= reads_reserved(code);
	}
	return 0;
}

struct gt_ptx_program *gt_ptx_program_make(const struct gt_ptx_machine *machine,
					   const struct gt_ptx_function *kernel, bool decode,
					   struct gt_error *error)
{
	size_t n = machine->module->n_functions;
	struct search search = {
		.machine = machine,
		.program = calloc(1, sizeof(struct gt_ptx_program)),
		.error = error,
		.reached = calloc(n + 1, 1),
		.list = calloc(n + 1, sizeof(size_t)),
	};
	struct gt_ptx_program *program = search.program;
	int result = -1;

	if (program && (program->codes = calloc(n + 1, sizeof *program->codes)) && search.reached &&
	    search.list) {
		program->kernel = kernel;
		if (gt_map_open(&search.names, 256, error) == 0 && find_functions(&search) == 0 &&
		    lay_out_shared(&search) == 0 && (!decode || decode_all(&search) == 0))
			result = 0;
	} else {
		gt_fail_memory(error, "a program");
	}
	gt_map_close(&search.names);
	free(search.reached);
	free(search.list);
	if (result == 0)
		return program;
	gt_ptx_program_free(program, n);
	return NULL;
}

struct gt_ptx_program *gt_ptx_program_of(struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel,
					 struct gt_error *error)
{
	struct gt_ptx_program *program = machine->programs;

	while (program && program->kernel != kernel)
		program = program->next;
	if (!program && (program = gt_ptx_program_make(machine, kernel, true, error))) {
		program->next = machine->programs;
		machine->programs = program;
	}
	return program;
}

struct gt_ptx_program *gt_ptx_program_copy(const struct gt_ptx_machine *machine, struct gt_ptx_program *program, size_t i,
					   struct gt_error *error)
{
	/* What decoding ignores was noted when the program was decoded first. */
	struct gt_ptx_machine silent = *machine;

	silent.notes = NULL;
	for (;; i--) {
		if (!program->copy && !(program->copy = gt_ptx_program_make(&silent, program->kernel, true, error)))
			return NULL;
		program = program->copy;
		if (i == 0)
			return program;
	}
}
