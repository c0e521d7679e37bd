/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/decode/registers.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/visitor.h"
#include "stream/rows.h"

uint32_t gt_ptx_slot_bytes(enum gt_ptx_type type)
{
	return type == GT_PTX_PRED ? 4 : gt_ptx_type_size(type) * GT_WARP_SIZE;
}

const struct gt_ptx_register *gt_ptx_register_named(const struct gt_ptx_registers *registers, const char *name)
{
	const uint64_t *place = name ? gt_map_get(&registers->names, (uint64_t)(uintptr_t)name) : NULL;

	return place && *place != SIZE_MAX ? &registers->list[*place] : NULL;
}

static int only_count(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	visitor->registers->list[index].read |= !written;
	return 0;
}

int gt_ptx_registers_make(struct gt_ptx_registers *registers, const struct gt_ptx_function *function,
			  const struct gt_ptx_flow *flow, struct gt_error *error)
{
	struct gt_ptx_visitor visitor = {.registers = registers, .visit = only_count, .error = error};

	memset(registers, 0, sizeof *registers);
	registers->function = function;
	if (gt_map_open(&registers->names, 64, error) != 0)
		return -1;
	for (size_t i = 0; i < function->n_instructions; i++)
		if (gt_ptx_visit_results(&visitor, &function->instructions[i]) != 0 ||
		    gt_ptx_visit_sources(&visitor, &function->instructions[i]) != 0)
			return -1;
	/* Parameters and return values are registers even if no instruction names them. */
	for (size_t i = 0; i < function->n_parameters; i++)
		if (function->parameters[i].space == GT_PTX_REG &&
		    gt_ptx_visit_name(&visitor, function->parameters[i].name, false))
			return -1;
	for (size_t i = 0; i < function->n_returns; i++)
		if (function->returns[i].space == GT_PTX_REG &&
		    gt_ptx_visit_name(&visitor, function->returns[i].name, false))
			return -1;
	int result = gt_ptx_find_live_ranges(registers, flow, error);
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
	gt_ptx_liveness_free(&registers->live);
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
