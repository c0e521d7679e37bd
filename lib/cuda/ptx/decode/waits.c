/* SPDX-License-Identifier: MIT */
/* Before which accesses a warp waits for the data of its loads. A warp issues in order and goes on until an instruction reads a
 * register whose load is under way. The compiler that makes machine code of PTX moves the loads of a basic block before what
 * reads their data, so in a block only accesses wait that depend on a load before them; what else the block does with
 * loaded values holds up the first access that comes after it. Loads do not move over a barrier either. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/waits.h"
#include "cuda/ptx/decode/visitor.h"

struct waits {
	const struct gt_ptx_flow *flow;
	bool *waiting;		/* by instruction: what is found */
	unsigned char *loaded;	/* by register: some load writes it */
	unsigned char *pending; /* by register, in the block: its value comes from loads that may be under way */
	unsigned char *in, *out; /* by block: loaded values were used since the last access */
	size_t *first;		/* by block: its first access, or GT_PTX_NO_REGISTER */
	bool reads;		/* the instruction reads a pending register */
	unsigned char *marks, mark; /* of the results that are visited */
};

static int note_source(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	struct waits *waits = visitor->context;

	(void)written;
	waits->reads |= waits->pending[index];
	return 0;
}

static int mark_result(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	struct waits *waits = visitor->context;

	(void)written;
	waits->marks[index] = waits->mark | (visitor->guarded ? waits->marks[index] : 0);
	return 0;
}

/* Accesses that leave the SM. Those to its shared memory end soon. */
static bool goes_to_memory(const struct gt_ptx_instruction *instruction)
{
	return gt_ptx_row(instruction)->access != GT_PTX_ACCESS_NONE && !gt_ptx_has(instruction, "shared") &&
	       !gt_ptx_has(instruction, "param") && !gt_ptx_has(instruction, "const");
}

static bool is_barrier(const struct gt_ptx_instruction *instruction)
{
	return instruction->row == GT_PTX_OP_BAR || instruction->row == GT_PTX_OP_BARRIER;
}

static int mark(struct waits *waits, struct gt_ptx_visitor *visitor, const struct gt_ptx_instruction *instruction,
		unsigned char *marks, bool set)
{
	visitor->visit = mark_result;
	waits->marks = marks;
	waits->mark = set;
	return gt_ptx_visit_results(visitor, instruction);
}

static int find_loaded(struct waits *waits, struct gt_ptx_visitor *visitor)
{
	const struct gt_ptx_function *function = waits->flow->function;

	for (size_t i = 0; i < function->n_instructions; i++)
		if (goes_to_memory(&function->instructions[i]) &&
		    mark(waits, visitor, &function->instructions[i], waits->loaded, true) != 0)
			return -1;
	return 0;
}

/* Sets which accesses of the block wait, and whether it uses loaded values. */
static int walk_block(struct waits *waits, struct gt_ptx_visitor *visitor, size_t b)
{
	const struct gt_ptx_block *block = &waits->flow->blocks[b];
	size_t n = visitor->registers->n;
	bool used = false, held = false; /* loaded values, since the last access; before a barrier since then */

	memcpy(waits->pending, waits->loaded, n);
	waits->first[b] = GT_PTX_NO_REGISTER;
	for (size_t i = block->first; i < block->end; i++) {
		const struct gt_ptx_instruction *instruction = &waits->flow->function->instructions[i];
		bool access = goes_to_memory(instruction);
		visitor->visit = note_source;
		waits->reads = false;
		if (gt_ptx_visit_sources(visitor, instruction) != 0)
			return -1;
		waits->out[b] |= waits->reads;
		used |= waits->reads;
		held |= used && is_barrier(instruction);
		if (access && (waits->reads || held)) {
			waits->waiting[i] = true;
			memset(waits->pending, 0, n);
			used = held = false;
		}
		if (access && waits->first[b] == GT_PTX_NO_REGISTER)
			waits->first[b] = i;
		if (mark(waits, visitor, instruction, waits->pending, access || waits->reads) != 0)
			return -1;
	}
	return 0;
}

/* What is used in a block without an access holds up those behind it. */
static void spread(struct waits *waits)
{
	const struct gt_ptx_flow *flow = waits->flow;

	for (bool changed = true; changed;) {
		changed = false;
		for (size_t b = 0; b < flow->n_blocks; b++) {
			unsigned char out = waits->out[b] | (waits->first[b] == GT_PTX_NO_REGISTER ? waits->in[b] : 0);
			for (size_t s = 0; out && s < flow->blocks[b].n_successors; s++) {
				size_t to = flow->edges[flow->blocks[b].successors + s];
				changed |= to < flow->n_blocks && !waits->in[to];
				waits->in[to] = 1;
			}
			waits->out[b] = out;
		}
	}
	for (size_t b = 0; b < flow->n_blocks; b++)
		if (waits->in[b] && waits->first[b] != GT_PTX_NO_REGISTER)
			waits->waiting[waits->first[b]] = true;
}

static int find_waiting(struct waits *waits, struct gt_ptx_registers *registers, struct gt_error *error)
{
	struct gt_ptx_visitor visitor = {.registers = registers, .context = waits, .error = error};

	if (find_loaded(waits, &visitor) != 0)
		return -1;
	for (size_t b = 0; b < waits->flow->n_blocks; b++)
		if (walk_block(waits, &visitor, b) != 0)
			return -1;
	spread(waits);
	return 0;
}

int gt_ptx_find_waits(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, bool **waiting, struct gt_error *error)
{
	size_t n = registers->n + 1, blocks = flow->n_blocks + 1;
	struct waits waits = {.flow = flow, .loaded = calloc(n, 1), .pending = calloc(n, 1),
			      .in = calloc(blocks, 1), .out = calloc(blocks, 1), .first = calloc(blocks, sizeof *waits.first)};
	int result;

	*waiting = waits.waiting = calloc(flow->function->n_instructions + 1, sizeof *waits.waiting);
	if (waits.waiting && waits.loaded && waits.pending && waits.in && waits.out && waits.first)
		result = find_waiting(&waits, registers, error);
	else
		result = gt_fail_memory(error, "the loads of a function");
	free(waits.loaded);
	free(waits.pending);
	free(waits.in);
	free(waits.out);
	free(waits.first);
	return result;
}
