/* SPDX-License-Identifier: MIT */
#include "ptx/decode/registers.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "ptx/exec/machine.h"

#define BITSETS_MAX (UINT64_C(1) << 31) /* bits; beyond, every register lives everywhere */

uint32_t gt_ptx_slot_bytes(enum gt_ptx_type type)
{
	return type == GT_PTX_PRED ? 4 : gt_ptx_type_size(type) * GT_WARP_SIZE;
}

/* The variable that declares a name: itself, or %r for %r17. */
static const struct gt_ptx_variable *declaration(const struct gt_ptx_function *function, const char *name)
{
	const struct gt_ptx_variable *lists[] = {function->variables, function->parameters,
						 function->returns};
	const size_t lengths[] = {function->n_variables, function->n_parameters, function->n_returns};

	for (size_t l = 0; l < 3; l++)
		for (size_t i = 0; i < lengths[l]; i++) {
			const struct gt_ptx_variable *variable = &lists[l][i];
			if (variable->space != GT_PTX_REG)
				continue;
			if (variable->count == 0) {
				if (strcmp(variable->name, name) == 0)
					return variable;
				continue;
			}
			size_t prefix = strlen(variable->name),
			       digits = strspn(name + (strncmp(name, variable->name, prefix) ? 0 : prefix),
					       "0123456789");
			if (strncmp(name, variable->name, prefix) != 0 || digits == 0 || digits > 9 ||
			    name[prefix + digits] != '\0' || (digits > 1 && name[prefix] == '0'))
				continue;
			if (strtoull(name + prefix, NULL, 10) < variable->count)
				return variable;
		}
	return NULL;
}

/* The index of a register; *index is GT_PTX_NO_REGISTER if the name is of none. */
static int find(struct gt_ptx_registers *registers, const char *name, size_t *index, struct gt_error *error)
{
	int fresh;
	uint64_t *place = gt_map_put(&registers->names, (uint64_t)(uintptr_t)name, SIZE_MAX, &fresh);

	if (!place)
		return gt_fail_memory(error, "a table of registers");
	*index = (size_t)*place;
	if (!fresh)
		return 0;
	const struct gt_ptx_variable *variable = declaration(registers->function, name);
	if (!variable)
		return 0;
	void *grown = gt_grown(registers->list, registers->n, &registers->capacity, sizeof *registers->list);
	if (!grown)
		return gt_fail_memory(error, "a table of registers");
	registers->list = grown;
	registers->list[registers->n] =
		(struct gt_ptx_register){.name = name, .type = variable->type, .first = SIZE_MAX};
	*index = registers->n++;
	*place = *index;
	return 0;
}

const struct gt_ptx_register *gt_ptx_register_named(const struct gt_ptx_registers *registers, const char *name)
{
	const uint64_t *place = name ? gt_map_get(&registers->names, (uint64_t)(uintptr_t)name) : NULL;

	return place && *place != SIZE_MAX ? &registers->list[*place] : NULL;
}

/* What is done with each register that an instruction names. */
struct visitor {
	struct gt_ptx_registers *registers;
	int (*visit)(struct visitor *visitor, size_t index, bool written);
	struct gt_error *error;
	bool guarded;
	/* Of a block under way. */
	uint64_t *live, *defined, *used;
	size_t position;
};

static int visit_name(struct visitor *visitor, const char *name, bool written)
{
	size_t index = GT_PTX_NO_REGISTER;

	if (!name)
		return 0;
	if (find(visitor->registers, name, &index, visitor->error) != 0)
		return -1;
	return index == GT_PTX_NO_REGISTER ? 0 : visitor->visit(visitor, index, written);
}

static int visit_operand(struct visitor *visitor, const struct gt_ptx_operand *operand, bool written)
{
	if (visit_name(visitor, operand->name, written && operand->kind != GT_PTX_ADDRESS) != 0)
		return -1;
	for (size_t i = 0; i < operand->n_elements; i++)
		if (visit_operand(visitor, &operand->elements[i],
				  written && operand->kind != GT_PTX_ADDRESS) != 0)
			return -1;
	return 0;
}

static int visit_all(struct visitor *visitor, const struct gt_ptx_operand *operands, size_t n, bool written)
{
	for (size_t i = 0; i < n; i++)
		if (visit_operand(visitor, &operands[i], written) != 0)
			return -1;
	return 0;
}

static int visit_results(struct visitor *visitor, const struct gt_ptx_instruction *instruction)
{
	visitor->guarded = instruction->guard != NULL;
	return visit_all(visitor, instruction->operands, gt_ptx_results(instruction), true) != 0 ||
			       visit_all(visitor, instruction->returns, instruction->n_returns, true) != 0
		       ? -1
		       : 0;
}

static int visit_sources(struct visitor *visitor, const struct gt_ptx_instruction *instruction)
{
	size_t results = gt_ptx_results(instruction);

	if (visit_all(visitor, instruction->operands + results, instruction->n_operands - results, false) !=
		    0 ||
	    visit_all(visitor, instruction->arguments, instruction->n_arguments, false) != 0 ||
	    visit_name(visitor, instruction->guard, false) != 0)
		return -1;
	if (gt_ptx_row(instruction)->ending != GT_PTX_RETURNS)
		return 0;
	const struct gt_ptx_function *function = visitor->registers->function;
	for (size_t i = 0; i < function->n_returns; i++)
		if (function->returns[i].space == GT_PTX_REG &&
		    visit_name(visitor, function->returns[i].name, false) != 0)
			return -1;
	return 0;
}

static bool is_in(const uint64_t *set, size_t i)
{
	return set[i / 64] >> i % 64 & 1;
}
static void put_in(uint64_t *set, size_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}
static void take_out(uint64_t *set, size_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static int only_count(struct visitor *visitor, size_t index, bool written)
{
	visitor->registers->list[index].read |= !written;
	return 0;
}

/* First what a block reads before it writes, and what it surely writes. */
static int collect(struct visitor *visitor, size_t index, bool written)
{
	if (!written) {
		if (!is_in(visitor->defined, index))
			put_in(visitor->used, index);
	} else if (!visitor->guarded) {
		put_in(visitor->defined, index);
	}
	return 0;
}

static void extend(struct gt_ptx_register *reg, size_t position)
{
	reg->first = position < reg->first ? position : reg->first;
	reg->last = position > reg->last ? position : reg->last;
}

/* Then, backwards, where each register lives. A result never shares the slot of a source of the
 * same instruction: sources live to the next position after the result's. */
static int trace_lives(struct visitor *visitor, size_t index, bool written)
{
	struct gt_ptx_register *reg = &visitor->registers->list[index];

	if (written) {
		extend(reg, visitor->position + 1);
		extend(reg, visitor->position + 2);
		if (!visitor->guarded)
			take_out(visitor->live, index);
		return 0;
	}
	extend(reg, visitor->position);
	extend(reg, visitor->position + 2);
	put_in(visitor->live, index);
	return 0;
}

struct lives {
	const struct gt_ptx_function *function;
	const struct gt_ptx_flow *flow;
	size_t words; /* of a set */
	uint64_t *sets; /* used, defined, live at the beginning, live at the end: of each block */
};

static uint64_t *set_of(const struct lives *lives, size_t block, size_t which)
{
	return lives->sets + (block * 4 + which) * lives->words;
}

static void iterate(const struct lives *lives)
{
	const struct gt_ptx_flow *flow = lives->flow;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t b = flow->n_blocks; b-- > 0;) {
			uint64_t *used = set_of(lives, b, 0), *defined = set_of(lives, b, 1);
			uint64_t *in = set_of(lives, b, 2), *out = set_of(lives, b, 3);
			for (size_t s = 0; s < flow->blocks[b].n_successors; s++) {
				size_t to = flow->edges[flow->blocks[b].successors + s];
				for (size_t w = 0; to < flow->n_blocks && w < lives->words; w++)
					out[w] |= set_of(lives, to, 2)[w];
			}
			for (size_t w = 0; w < lives->words; w++) {
				uint64_t now = used[w] | (out[w] & ~defined[w]);
				changed |= now != in[w];
				in[w] = now;
			}
		}
	}
}

static int walk_block(const struct lives *lives, struct visitor *visitor, size_t b)
{
	const struct gt_ptx_block *block = &lives->flow->blocks[b];
	struct gt_ptx_registers *registers = visitor->registers;

	visitor->live = set_of(lives, b, 3);
	visitor->visit = trace_lives;
	for (size_t r = 0; r < registers->n; r++) {
		if (is_in(visitor->live, r))
			extend(&registers->list[r], 2 * block->end);
		if (is_in(set_of(lives, b, 2), r))
			extend(&registers->list[r], 2 * block->first);
	}
	for (size_t i = block->end; i-- > block->first;) {
		const struct gt_ptx_instruction *instruction = &lives->function->instructions[i];
		visitor->position = 2 * i;
		if (visit_results(visitor, instruction) != 0 || visit_sources(visitor, instruction) != 0)
			return -1;
	}
	return 0;
}

static int find_lives(struct lives *lives, struct visitor *visitor, struct gt_error *error)
{
	const struct gt_ptx_flow *flow = lives->flow;

	lives->words = visitor->registers->n / 64 + 1;
	if ((uint64_t)lives->words * 64 * 4 * (flow->n_blocks + 1) > BITSETS_MAX) {
		for (size_t r = 0; r < visitor->registers->n; r++)
			visitor->registers->list[r].last = SIZE_MAX;
		return 0;
	}
	lives->sets = calloc((flow->n_blocks + 1) * 4 * lives->words, sizeof *lives->sets);
	if (!lives->sets)
		return gt_fail_memory(error, "the lives of registers");
	for (size_t b = 0; b < flow->n_blocks; b++) {
		visitor->used = set_of(lives, b, 0);
		visitor->defined = set_of(lives, b, 1);
		visitor->visit = collect;
		for (size_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
			if (visit_sources(visitor, &lives->function->instructions[i]) != 0 ||
			    visit_results(visitor, &lives->function->instructions[i]) != 0)
				return -1;
	}
	iterate(lives);
	for (size_t b = 0; b < flow->n_blocks; b++)
		if (walk_block(lives, visitor, b) != 0)
			return -1;
	return 0;
}

int gt_ptx_registers_make(struct gt_ptx_registers *registers, const struct gt_ptx_function *function,
			  const struct gt_ptx_flow *flow, struct gt_error *error)
{
	struct visitor visitor = {.registers = registers, .visit = only_count, .error = error};
	struct lives lives = {.function = function, .flow = flow};

	memset(registers, 0, sizeof *registers);
	registers->function = function;
	if (gt_map_open(&registers->names, 64, error) != 0)
		return -1;
	for (size_t i = 0; i < function->n_instructions; i++)
		if (visit_results(&visitor, &function->instructions[i]) != 0 ||
		    visit_sources(&visitor, &function->instructions[i]) != 0)
			return -1;
	/* Those of the interface are there even if nothing names them. */
	for (size_t i = 0; i < function->n_parameters; i++)
		if (function->parameters[i].space == GT_PTX_REG &&
		    visit_name(&visitor, function->parameters[i].name, false))
			return -1;
	for (size_t i = 0; i < function->n_returns; i++)
		if (function->returns[i].space == GT_PTX_REG &&
		    visit_name(&visitor, function->returns[i].name, false))
			return -1;
	int result = find_lives(&lives, &visitor, error);
	free(lives.sets);
	/* Parameters in registers are written before the first instruction, results read after the last. */
	for (size_t i = 0; result == 0 && i < function->n_parameters; i++)
		if (function->parameters[i].space == GT_PTX_REG) {
			struct gt_ptx_register *reg = &registers->list[*gt_map_get(
				&registers->names, (uint64_t)(uintptr_t)function->parameters[i].name)];
			reg->first = 0;
		}
	return result;
}

void gt_ptx_registers_free(struct gt_ptx_registers *registers)
{
	gt_map_close(&registers->names);
	free(registers->list);
	memset(registers, 0, sizeof *registers);
}

static int by_first(const void *left, const void *right)
{
	const struct gt_ptx_register *a = *(struct gt_ptx_register *const *)left;
	const struct gt_ptx_register *b = *(struct gt_ptx_register *const *)right;

	return a->first != b->first ? (a->first > b->first ? 1 : -1) : a < b ? -1 : a > b;
}

int gt_ptx_registers_place(struct gt_ptx_registers *registers, struct gt_error *error)
{
	struct slot {
		uint32_t at, bytes;
		size_t last;
	} *slots = calloc(registers->n + 1, sizeof *slots);
	struct gt_ptx_register **order = calloc(registers->n + 1, sizeof *order);
	size_t n_slots = 0;
	uint64_t end = 0;

	for (size_t r = 0; order && r < registers->n; r++)
		order[r] = &registers->list[r];
	if (slots && order)
		qsort(order, registers->n, sizeof *order, by_first);
	for (size_t r = 0; slots && order && r < registers->n; r++) {
		uint32_t bytes = gt_ptx_slot_bytes(order[r]->type);
		size_t s = 0;
		while (s < n_slots && (slots[s].bytes != bytes || slots[s].last >= order[r]->first))
			s++;
		if (s == n_slots) {
			end = (end + bytes - 1) / bytes * bytes;
			slots[n_slots++] = (struct slot){.at = (uint32_t)end, .bytes = bytes};
			end += bytes;
		}
		slots[s].last = order[r]->last;
		order[r]->slot = slots[s].at;
	}
	bool failed = !slots || !order;
	free(slots);
	free(order);
	registers->slot_bytes = (uint32_t)end;
	if (failed)
		return gt_fail_memory(error, "slots of registers");
	if (end > UINT32_MAX / 2)
		return gt_fail(error, "function '%s' has too many registers", registers->function->name);
	return 0;
}
