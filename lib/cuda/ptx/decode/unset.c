/* SPDX-License-Identifier: MIT */
/* Registers that are read before anything has written them, for --memcheck. A register with one of them among its sources may not be
 * written either, so each such register has a mask in the arena, of the lanes in which it is; an operation before each instruction
 * that names one keeps it up, and reports a lane in which a value that is not written decides something. Where only a part of a value
 * may be missing, as where two halves are packed, it counts as written. */
#include <string.h>

#include "cuda/ptx/decode/decoder.h"

/* What a result needs to be written. */
static enum gt_ptx_written_if need_of(const struct gt_ptx_instruction *instruction)
{
	static const char *const bitwise[] = {"prmt", "bfi", "bfe", "shf", "slct"};
	const struct gt_ptx_operand *operands = instruction->operands;

	for (size_t i = 0; i < sizeof bitwise / sizeof bitwise[0]; i++)
		if (strcmp(instruction->opcode, bitwise[i]) == 0)
			return GT_PTX_NEEDS_ONE;
	switch (instruction->row) {
	case GT_PTX_OP_SUB:
	case GT_PTX_OP_XOR:
		if (instruction->n_operands == 3 && operands[1].name && operands[1].name == operands[2].name)
			return GT_PTX_NEEDS_NONE;
		return instruction->row == GT_PTX_OP_XOR ? GT_PTX_NEEDS_ONE : GT_PTX_NEEDS_ALL;
	case GT_PTX_OP_AND: return gt_ptx_has(instruction, "pred") && instruction->n_operands == 3 ? GT_PTX_NEEDS_AND : GT_PTX_NEEDS_ONE;
	case GT_PTX_OP_OR: return gt_ptx_has(instruction, "pred") && instruction->n_operands == 3 ? GT_PTX_NEEDS_OR : GT_PTX_NEEDS_ONE;
	case GT_PTX_OP_LOP3: return GT_PTX_NEEDS_ONE;
	case GT_PTX_OP_MOV: return instruction->n_operands == 2 && operands[1].kind == GT_PTX_VECTOR ? GT_PTX_NEEDS_ONE : GT_PTX_NEEDS_ALL;
	case GT_PTX_OP_WMMA: return gt_ptx_has(instruction, "mma") ? GT_PTX_NEEDS_ALL : GT_PTX_NEEDS_NONE;
	/* Of other lanes, or of all. */
	case GT_PTX_OP_SHFL:
	case GT_PTX_OP_VOTE:
	case GT_PTX_OP_MATCH:
	case GT_PTX_OP_REDUX:
	case GT_PTX_OP_ELECT:
	case GT_PTX_OP_BAR:
	case GT_PTX_OP_BARRIER:
	case GT_PTX_OP_CALL:
	case GT_PTX_OP_MULTIMEM: return GT_PTX_NEEDS_NONE;
	default: break;
	}
	if (gt_ptx_row(instruction)->access != GT_PTX_ACCESS_NONE || gt_ptx_has(instruction, "sp"))
		return GT_PTX_NEEDS_NONE;
	return strcmp(instruction->opcode, "selp") == 0 && instruction->n_operands == 4 ? GT_PTX_NEEDS_CHOSEN : GT_PTX_NEEDS_ALL;
}

static struct gt_ptx_register *followed(const struct gt_ptx_registers *registers, const char *name)
{
	struct gt_ptx_register *reg = (struct gt_ptx_register *)gt_ptx_register_named(registers, name);

	return reg && reg->origin ? reg : NULL;
}

/* ---- which registers are followed ---- */

/* The first register among operands, and what is in them, that is followed. */
static const struct gt_ptx_register *find_followed(const struct gt_ptx_registers *registers, const struct gt_ptx_operand *operands, size_t n)
{
	const struct gt_ptx_register *found = NULL;

	for (size_t i = 0; i < n && !found; i++) {
		found = followed(registers, operands[i].name);
		if (!found)
			found = find_followed(registers, operands[i].elements, operands[i].n_elements);
	}
	return found;
}

/* True if a register was added. */
static bool follow_results(const struct gt_ptx_registers *registers, const struct gt_ptx_operand *operands, size_t n, const char *origin)
{
	bool added = false;

	for (size_t i = 0; i < n; i++) {
		struct gt_ptx_register *reg = (struct gt_ptx_register *)gt_ptx_register_named(registers, operands[i].name);
		if (reg && !reg->origin) {
			reg->origin = origin;
			added = true;
		}
		added |= follow_results(registers, operands[i].elements, operands[i].n_elements, origin);
	}
	return added;
}

size_t gt_ptx_unset_find(struct gt_ptx_registers *registers)
{
	const struct gt_ptx_function *function = registers->function;
	size_t n = 0;

	for (size_t r = 0; r < registers->n; r++)
		registers->list[r].origin = registers->list[r].unset ? registers->list[r].name : NULL;
	for (bool added = true; added;) {
		added = false;
		for (size_t i = 0; i < function->n_instructions; i++) {
			const struct gt_ptx_instruction *one = &function->instructions[i];
			const size_t first = gt_ptx_first_source(one);
			const struct gt_ptx_register *source =
				need_of(one) == GT_PTX_NEEDS_NONE ? NULL : find_followed(registers, one->operands + first, one->n_operands - first);
			if (source)
				added |= follow_results(registers, one->operands, gt_ptx_results(one), source->origin);
		}
	}
	for (size_t r = 0; r < registers->n; r++)
		n += registers->list[r].origin != NULL;
	return n;
}

/* ---- the operation before an instruction ---- */

static bool add(struct gt_ptx_followed_list *list, const struct gt_ptx_register *reg, const char *decides)
{
	if (!reg)
		return false;
	list->of[list->n++] = (struct gt_ptx_followed){reg->written, reg->name, reg->origin, decides};
	return true;
}

/* The registers of values among operands, without those in addresses; false if one is not followed, or no register. */
static bool add_values(const struct gt_ptx_registers *registers, struct gt_ptx_followed_list *list, const struct gt_ptx_operand *operands,
		       size_t n)
{
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		if (operands[i].kind == GT_PTX_VECTOR)
			all &= add_values(registers, list, operands[i].elements, operands[i].n_elements);
		else if (operands[i].kind != GT_PTX_ADDRESS)
			all &= add(list, followed(registers, operands[i].name), NULL);
	}
	return all;
}

static void add_addresses(const struct gt_ptx_registers *registers, struct gt_ptx_followed_list *list, const struct gt_ptx_operand *operands,
			  size_t n, bool inside)
{
	for (size_t i = 0; i < n; i++) {
		const bool address = inside || operands[i].kind == GT_PTX_ADDRESS;
		if (address)
			add(list, followed(registers, operands[i].name), "decides an address");
		add_addresses(registers, list, operands[i].elements, operands[i].n_elements, address);
	}
}

/* Whether it stores to global or shared memory, and says so: what is stored in local memory may be a part of a structure. */
static bool stores(const struct gt_ptx_instruction *instruction)
{
	static const char *const spaces[] = {"global", "shared", "shared::cta", "shared::cluster"};
	const enum gt_ptx_access_kind access = gt_ptx_row(instruction)->access;
	bool named = false;

	for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
		named |= gt_ptx_has(instruction, spaces[i]);
	return named && (access == GT_PTX_ACCESS_STORE || access == GT_PTX_ACCESS_ATOMIC || access == GT_PTX_ACCESS_REDUCTION);
}

static size_t count_names(const struct gt_ptx_operand *operands, size_t n)
{
	size_t names = n;

	for (size_t i = 0; i < n; i++)
		names += count_names(operands[i].elements, operands[i].n_elements);
	return names;
}

/* Room for all that its lists may have. */
static struct gt_ptx_follow *make(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *one = decoder->instruction;
	const size_t n = count_names(one->operands, one->n_operands) + count_names(one->returns, one->n_returns) + 1;
	struct gt_ptx_follow *follow = gt_ptx_own(decoder, sizeof *follow);
	struct gt_ptx_followed *of = gt_ptx_own(decoder, 4 * n * sizeof *of);

	if (!follow || !of)
		return NULL;
	follow->guards.of = of;
	follow->uses.of = of + n;
	follow->sources.of = of + 2 * n;
	follow->results.of = of + 3 * n;
	return follow;
}

static void fill(const struct gt_ptx_decoder *decoder, struct gt_ptx_follow *follow)
{
	const struct gt_ptx_instruction *one = decoder->instruction;
	const struct gt_ptx_registers *registers = &decoder->registers;
	const size_t first = gt_ptx_first_source(one), n = one->n_operands - first;
	const enum gt_ptx_ending ending = gt_ptx_row(one)->ending;

	follow->guard = decoder->guard;
	follow->guarded = decoder->guarded;
	follow->need = need_of(one);
	add(&follow->guards, followed(registers, one->guard), ending == GT_PTX_BRANCHES ? "decides a branch" : "decides whether an instruction is executed");
	add_addresses(registers, &follow->uses, one->operands, one->n_operands, false);
	if (ending == GT_PTX_BRANCHES_BY_INDEX || ending == GT_PTX_CALLS)
		add(&follow->uses, n > 0 ? followed(registers, one->operands[first].name) : NULL, "decides a branch");
	const bool all = add_values(registers, &follow->sources, one->operands + first, n);
	follow->stores = stores(one) && all && follow->sources.n > 0;
	/* A source that is not followed is written. */
	if (follow->need == GT_PTX_NEEDS_ONE && !all)
		follow->need = GT_PTX_NEEDS_NONE;
	for (size_t i = 0; follow->need >= GT_PTX_NEEDS_CHOSEN && i < n && i < 3; i++) {
		const struct gt_ptx_register *reg = gt_ptx_register_named(registers, one->operands[first + i].name);
		follow->masks[i] = reg && reg->origin ? reg->written : GT_PTX_ALL_ONES;
		follow->slots[i] = reg ? reg->slot : GT_PTX_ALL_ONES;
	}
	add_values(registers, &follow->results, one->operands, gt_ptx_results(one));
	add_values(registers, &follow->results, one->returns, one->n_returns);
}

int gt_ptx_unset_emit(struct gt_ptx_decoder *decoder)
{
	struct gt_ptx_follow *follow = make(decoder);
	const uint8_t guarded = decoder->guarded;

	if (!follow)
		return -1;
	fill(decoder, follow);
	if (follow->guards.n + follow->uses.n + follow->results.n == 0 && !follow->stores)
		return 0;
	decoder->guarded = 0;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_follow_written);
	decoder->guarded = guarded;
	decoder->first = true;
	if (!op)
		return -1;
	op->counts = 0;
	op->with.follow = follow;
	return 0;
}
