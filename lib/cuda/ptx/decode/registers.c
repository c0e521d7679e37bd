/* SPDX-License-Identifier: MIT */
/* The registers of a function: which there are, their live ranges, the slots that they share, and before which accesses a warp waits for
 * what loads bring to them. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/decode/flow.h"
#include "cuda/ptx/exec/code.h"
#include "stream/rows.h"

/* ---- visits to the registers that instructions name; each is added to the table when it is first named ---- */

struct visitor {
	struct gt_ptx_registers *registers;
	int (*visit)(struct visitor *visitor, size_t index, bool written);
	void *context;
	struct gt_error *error;
	bool guarded; /* the instruction may not be executed */
};

/* The variable that declares a name: one of that name, or %r for %r17. */
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

/* The index of a register, which is added if it is new; GT_PTX_NO_REGISTER if the name is that of none. */
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

/* Visits the register of a name, if it is one; NULL is none. */
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

/* Visits each register that the instruction writes; that it reads, its guard too. Returns -1 when a visit does. */
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
	size_t first = gt_ptx_first_source(instruction);

	if (visit_all(visitor, instruction->operands + first, instruction->n_operands - first, false) !=
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

/* ---- live ranges: from where to where each register is live ---- */

struct ranges {
	const struct gt_ptx_flow *flow;
	/* Of the block that is visited. */
	uint64_t *read, *written, *live;
	size_t position;
};

/* Results in registers are read where a function ends. */
static int keep_result(struct visitor *visitor, size_t index, bool written)
{
	const struct ranges *ranges = visitor->context;

	(void)written;
	gt_ptx_put_in(ranges->live, index);
	return 0;
}

static int keep_results(struct ranges *ranges, struct visitor *visitor, size_t b)
{
	const struct gt_ptx_flow *flow = ranges->flow;
	const struct gt_ptx_function *function = flow->function;

	ranges->live = gt_ptx_liveness_of(&visitor->registers->live, b, GT_PTX_LIVE_OUT);
	visitor->visit = keep_result;
	for (size_t s = 0; s < flow->blocks[b].n_successors; s++)
		for (size_t i = 0; flow->edges[flow->blocks[b].successors + s] == flow->n_blocks && i < function->n_returns; i++)
			if (function->returns[i].space == GT_PTX_REG && visit_name(visitor, function->returns[i].name, false) != 0)
				return -1;
	return 0;
}

/* First pass, forwards: what a block reads before it writes it, and what it writes without a guard. */
static int collect(struct visitor *visitor, size_t index, bool written)
{
	const struct ranges *ranges = visitor->context;

	if (!written) {
		if (!gt_ptx_is_in(ranges->written, index))
			gt_ptx_put_in(ranges->read, index);
	} else if (!visitor->guarded) {
		gt_ptx_put_in(ranges->written, index);
	}
	return 0;
}

static void extend(struct gt_ptx_register *reg, size_t position)
{
	reg->first = position < reg->first ? position : reg->first;
	reg->last = position > reg->last ? position : reg->last;
}

/* Second pass, backwards: where each register is live. A source is live until after the result of its instruction, so
 * that the two never share a slot. */
static int trace_ranges(struct visitor *visitor, size_t index, bool written)
{
	const struct ranges *ranges = visitor->context;
	struct gt_ptx_register *reg = &visitor->registers->list[index];

	if (written) {
		extend(reg, ranges->position + 1);
		extend(reg, ranges->position + 2);
		if (!visitor->guarded)
			gt_ptx_take_out(ranges->live, index);
		return 0;
	}
	extend(reg, ranges->position);
	extend(reg, ranges->position + 2);
	gt_ptx_put_in(ranges->live, index);
	return 0;
}

static int walk_block(struct ranges *ranges, struct visitor *visitor, size_t b)
{
	const struct gt_ptx_block *block = &ranges->flow->blocks[b];
	struct gt_ptx_registers *registers = visitor->registers;
	const struct gt_ptx_liveness *live = &registers->live;

	/* What the block writes is not asked for any more: its set is that of what is live while the walk goes back. */
	ranges->live = memcpy(gt_ptx_liveness_of(live, b, GT_PTX_LIVE_WRITTEN), gt_ptx_liveness_of(live, b, GT_PTX_LIVE_OUT),
			      live->words * sizeof *ranges->live);
	visitor->visit = trace_ranges;
	for (size_t r = 0; r < registers->n; r++) {
		if (gt_ptx_is_in(ranges->live, r))
			extend(&registers->list[r], 2 * block->end);
		if (gt_ptx_is_in(gt_ptx_liveness_of(live, b, GT_PTX_LIVE_IN), r))
			extend(&registers->list[r], 2 * block->first);
	}
	for (size_t i = block->end; i-- > block->first;) {
		const struct gt_ptx_instruction *instruction = &ranges->flow->function->instructions[i];
		ranges->position = 2 * i;
		if (visit_results(visitor, instruction) != 0 || visit_sources(visitor, instruction) != 0)
			return -1;
	}
	return 0;
}

static int find_ranges(struct ranges *ranges, struct visitor *visitor)
{
	const struct gt_ptx_flow *flow = ranges->flow;
	const struct gt_ptx_liveness *live = &visitor->registers->live;

	for (size_t b = 0; b < flow->n_blocks; b++) {
		ranges->read = gt_ptx_liveness_of(live, b, GT_PTX_LIVE_IN);
		ranges->written = gt_ptx_liveness_of(live, b, GT_PTX_LIVE_WRITTEN);
		visitor->visit = collect;
		for (size_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
			if (visit_sources(visitor, &flow->function->instructions[i]) != 0 ||
			    visit_results(visitor, &flow->function->instructions[i]) != 0)
				return -1;
		if (keep_results(ranges, visitor, b) != 0)
			return -1;
	}
	gt_ptx_liveness_solve(live, flow);
	for (size_t b = 0; b < flow->n_blocks; b++)
		if (walk_block(ranges, visitor, b) != 0)
			return -1;
	return 0;
}

/* Sets `first` and `last` of every register. */
static int find_live_ranges(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, struct gt_error *error)
{
	struct ranges ranges = {.flow = flow};
	struct visitor visitor = {.registers = registers, .context = &ranges, .error = error};

	if (gt_ptx_liveness_make(&registers->live, flow, registers->n, error) != 0)
		return -1;
	if (registers->live.sets && find_ranges(&ranges, &visitor) != 0)
		return -1;
	/* Too large a function for sets: nothing is known. */
	for (size_t r = 0; r < registers->n; r++) {
		registers->list[r].last = registers->live.sets ? registers->list[r].last : SIZE_MAX;
		registers->list[r].unset = !registers->live.sets || gt_ptx_is_in(gt_ptx_liveness_of(&registers->live, 0, GT_PTX_LIVE_IN), r);
		if (registers->list[r].unset) /* or it has what it had before that mov */
			registers->list[r].number = NULL;
	}
	return 0;
}

/* ---- the table of registers, and their slots ---- */

uint32_t gt_ptx_slot_bytes(enum gt_ptx_type type)
{
	return type == GT_PTX_PRED ? 4 : gt_ptx_type_size(type) * GT_WARP_SIZE;
}

const struct gt_ptx_register *gt_ptx_register_named(const struct gt_ptx_registers *registers, const char *name)
{
	const uint64_t *place = name ? gt_map_get(&registers->names, (uint64_t)(uintptr_t)name) : NULL;

	return place && *place != SIZE_MAX ? &registers->list[*place] : NULL;
}

/* Whether the instruction always writes a number to a register of that type. */
static bool sets_number(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type)
{
	const unsigned bytes = type == GT_PTX_PRED ? 0 : gt_ptx_type_size(type);

	return instruction->row == GT_PTX_OP_MOV && !instruction->guard && instruction->n_operands == 2 && instruction->n_modifiers == 1 &&
	       instruction->operands[0].kind == GT_PTX_REGISTER && instruction->operands[1].kind == GT_PTX_IMMEDIATE && (bytes == 4 || bytes == 8) &&
	       gt_ptx_type_size(gt_ptx_type_named(instruction->modifiers[0], strlen(instruction->modifiers[0]))) == bytes;
}

/* The context is the instruction. */
static int only_count(struct visitor *visitor, size_t index, bool written)
{
	struct gt_ptx_register *reg = &visitor->registers->list[index];
	const struct gt_ptx_instruction *instruction = visitor->context;

	reg->read |= !written;
	reg->writers += written;
	if (written)
		reg->number = sets_number(instruction, reg->type) && reg->writers == 1 ? instruction : NULL;
	return 0;
}

int gt_ptx_registers_make(struct gt_ptx_registers *registers, const struct gt_ptx_function *function,
			  const struct gt_ptx_flow *flow, struct gt_error *error)
{
	struct visitor visitor = {.registers = registers, .visit = only_count, .error = error};

	memset(registers, 0, sizeof *registers);
	registers->function = function;
	if (gt_map_open(&registers->names, 64, error) != 0)
		return -1;
	for (size_t i = 0; i < function->n_instructions; i++) {
		visitor.context = (void *)(uintptr_t)&function->instructions[i];
		if (visit_results(&visitor, &function->instructions[i]) != 0 || visit_sources(&visitor, &function->instructions[i]) != 0)
			return -1;
	}
	/* Parameters and return values are registers even if no instruction names them. */
	for (size_t i = 0; i < function->n_parameters; i++)
		if (function->parameters[i].space == GT_PTX_REG &&
		    visit_name(&visitor, function->parameters[i].name, false))
			return -1;
	for (size_t i = 0; i < function->n_returns; i++)
		if (function->returns[i].space == GT_PTX_REG &&
		    visit_name(&visitor, function->returns[i].name, false))
			return -1;
	int result = find_live_ranges(registers, flow, error);
	/* Parameters in registers are written before the first instruction, results read after the last. */
	for (size_t i = 0; result == 0 && i < function->n_parameters; i++)
		if (function->parameters[i].space == GT_PTX_REG) {
			struct gt_ptx_register *reg = &registers->list[*gt_map_get(
				&registers->names, (uint64_t)(uintptr_t)function->parameters[i].name)];
			reg->first = 0;
			reg->unset = false;
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

/* ---- waits ---- */

/* Before which accesses a warp waits for the data of its loads. A warp issues in order and goes on until an instruction reads a
 * register whose load is under way. The compiler that makes machine code of PTX moves the loads of a basic block before what
 * reads their data, so in a block only accesses wait that depend on a load before them; what else the block does with
 * loaded values holds up the first access that comes after it. Loads do not move over a barrier either. A loop that is unrolled is
 * one block of several rounds: in the rounds behind the first an access waits only if it depends on a load of the loop. */

struct waits {
	const struct gt_ptx_flow *flow;
	const bool *unrolled;	/* by block */
	unsigned char *waiting;	/* by instruction: what is found */
	unsigned char *loaded;	/* by register: some load writes it */
	unsigned char *pending; /* by register, in the block: its value comes from loads that may be under way */
	unsigned char *in, *out; /* by block: loaded values were used since the last access */
	size_t *first;		/* by block: its first access, or GT_PTX_NO_REGISTER */
	bool reads;		/* the instruction reads a pending register */
	unsigned char *marks, mark; /* of the results that are visited */
	bool grew;		/* one of them was not marked before */
};

static int note_source(struct visitor *visitor, size_t index, bool written)
{
	struct waits *waits = visitor->context;

	(void)written;
	waits->reads |= waits->pending[index];
	return 0;
}

static int mark_result(struct visitor *visitor, size_t index, bool written)
{
	struct waits *waits = visitor->context;

	(void)written;
	waits->grew |= waits->mark > waits->marks[index];
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

/* Sets `reads`. */
static int look_at_sources(struct waits *waits, struct visitor *visitor, const struct gt_ptx_instruction *instruction)
{
	visitor->visit = note_source;
	waits->reads = false;
	return visit_sources(visitor, instruction);
}

static int mark(struct waits *waits, struct visitor *visitor, const struct gt_ptx_instruction *instruction,
		unsigned char *marks, bool set)
{
	visitor->visit = mark_result;
	waits->marks = marks;
	waits->mark = set;
	return visit_results(visitor, instruction);
}

static int find_loaded(struct waits *waits, struct visitor *visitor)
{
	const struct gt_ptx_function *function = waits->flow->function;

	for (size_t i = 0; i < function->n_instructions; i++)
		if (goes_to_memory(&function->instructions[i]) &&
		    mark(waits, visitor, &function->instructions[i], waits->loaded, true) != 0)
			return -1;
	return 0;
}

/* Sets which accesses of the block wait for the pending registers, or for loads before them in the block, and whether it uses loaded
 * values. */
static int walk_loads(struct waits *waits, struct visitor *visitor, size_t b, enum gt_ptx_wait when)
{
	const struct gt_ptx_block *block = &waits->flow->blocks[b];
	size_t n = visitor->registers->n;
	bool used = false, behind_barrier = false; /* loaded values, since the last access; before a barrier since then */

	waits->first[b] = GT_PTX_NO_REGISTER;
	for (size_t i = block->first; i < block->end; i++) {
		const struct gt_ptx_instruction *instruction = &waits->flow->function->instructions[i];
		bool access = goes_to_memory(instruction);
		if (look_at_sources(waits, visitor, instruction) != 0)
			return -1;
		waits->out[b] |= waits->reads;
		used |= waits->reads;
		behind_barrier |= used && is_barrier(instruction);
		if (access && (waits->reads || behind_barrier)) {
			waits->waiting[i] = (unsigned char)when;
			memset(waits->pending, 0, n);
			used = behind_barrier = false;
		}
		if (access && waits->first[b] == GT_PTX_NO_REGISTER)
			waits->first[b] = i;
		if (mark(waits, visitor, instruction, waits->pending, access || waits->reads) != 0)
			return -1;
	}
	return 0;
}

/* Makes those registers pending that a round of the loop leaves with what came of its loads, in however many rounds. */
static int find_carried(struct waits *waits, struct visitor *visitor, const struct gt_ptx_block *block)
{
	memset(waits->pending, 0, visitor->registers->n);
	do {
		waits->grew = false;
		for (size_t i = block->first; i < block->end; i++) {
			const struct gt_ptx_instruction *instruction = &waits->flow->function->instructions[i];
			if (look_at_sources(waits, visitor, instruction) != 0)
				return -1;
			if ((waits->reads || goes_to_memory(instruction)) && mark(waits, visitor, instruction, waits->pending, true) != 0)
				return -1;
		}
	} while (waits->grew);
	return 0;
}

/* A round of an unrolled loop comes after others, which have waited for what was loaded before the loop. */
static int walk_rounds(struct waits *waits, struct visitor *visitor, size_t b)
{
	memcpy(waits->pending, waits->loaded, visitor->registers->n);
	if (!waits->unrolled[b])
		return walk_loads(waits, visitor, b, GT_PTX_WAITS_ALWAYS);
	if (walk_loads(waits, visitor, b, GT_PTX_WAITS_FIRST) != 0 || find_carried(waits, visitor, &waits->flow->blocks[b]) != 0)
		return -1;
	return walk_loads(waits, visitor, b, GT_PTX_WAITS_ALWAYS);
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
	for (size_t b = 0; b < flow->n_blocks; b++) {
		unsigned char *first = waits->first[b] == GT_PTX_NO_REGISTER ? NULL : &waits->waiting[waits->first[b]];
		if (waits->in[b] && first && *first == GT_PTX_WAITS_NEVER)
			*first = waits->unrolled[b] ? GT_PTX_WAITS_FIRST : GT_PTX_WAITS_ALWAYS;
	}
}

static int find_waiting(struct waits *waits, struct gt_ptx_registers *registers, struct gt_error *error)
{
	struct visitor visitor = {.registers = registers, .context = waits, .error = error};

	if (find_loaded(waits, &visitor) != 0)
		return -1;
	for (size_t b = 0; b < waits->flow->n_blocks; b++)
		if (walk_rounds(waits, &visitor, b) != 0)
			return -1;
	spread(waits);
	return 0;
}

int gt_ptx_find_waits(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, const bool *unrolled, unsigned char **waiting,
		      struct gt_error *error)
{
	size_t n = registers->n + 1, blocks = flow->n_blocks + 1;
	struct waits waits = {.flow = flow, .unrolled = unrolled, .loaded = calloc(n, 1), .pending = calloc(n, 1),
			      .in = calloc(blocks, 1), .out = calloc(blocks, 1), .first = calloc(blocks, sizeof *waits.first)};
	int result;

	*waiting = waits.waiting = calloc(flow->function->n_instructions + 1, 1);
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
