/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/decode/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

#define NONE UINT32_MAX

/* What is known of a register before the steps are made. */
struct fact {
	uint32_t writes, reads;	       /* instructions; a guarded write counts as two */
	uint32_t in_sums;	       /* of the reads: 64-bit sums */
	uint32_t stands_for; /* itself, the register that its readers use instead, or NONE: they need none */
};

struct lowering {
	struct gt_ptx_steps *steps;
	const struct gt_ptx_function *function;
	const struct gt_ptx_registers *registers;
	struct fact *facts;
	bool rolled; /* .pragma "nounroll" stood before an instruction since the last step */
	bool failed;
};

typedef void each_register(struct lowering *lowering, size_t instruction, uint32_t value);

static uint32_t value_of(const struct lowering *lowering, const char *name)
{
	const struct gt_ptx_register *found = gt_ptx_register_named(lowering->registers, name);

	return found ? (uint32_t)(found - lowering->registers->list) : NONE;
}

static void visit(struct lowering *lowering, size_t i, const struct gt_ptx_operand *operand, each_register *each)
{
	uint32_t value = value_of(lowering, operand->name);

	if (value != NONE)
		each(lowering, i, value);
	for (size_t e = 0; e < operand->n_elements; e++)
		visit(lowering, i, &operand->elements[e], each);
}

static void visit_results(struct lowering *lowering, size_t i, each_register *each)
{
	const struct gt_ptx_instruction *instruction = &lowering->function->instructions[i];

	for (size_t o = 0; o < gt_ptx_results(instruction); o++)
		visit(lowering, i, &instruction->operands[o], each);
	for (size_t o = 0; o < instruction->n_returns; o++)
		visit(lowering, i, &instruction->returns[o], each);
}

static void visit_sources(struct lowering *lowering, size_t i, each_register *each)
{
	const struct gt_ptx_instruction *instruction = &lowering->function->instructions[i];
	uint32_t guard = value_of(lowering, instruction->guard);

	if (guard != NONE)
		each(lowering, i, guard);
	for (size_t o = gt_ptx_first_source(instruction); o < instruction->n_operands; o++)
		visit(lowering, i, &instruction->operands[o], each);
	for (size_t o = 0; o < instruction->n_arguments; o++)
		visit(lowering, i, &instruction->arguments[o], each);
}

static bool has_64_bit_integers(const struct gt_ptx_instruction *instruction)
{
	return gt_ptx_has(instruction, "s64") || gt_ptx_has(instruction, "u64");
}

static void count_write(struct lowering *lowering, size_t i, uint32_t value)
{
	lowering->facts[value].writes += lowering->function->instructions[i].guard ? 2 : 1;
}

static void count_read(struct lowering *lowering, size_t i, uint32_t value)
{
	const struct gt_ptx_instruction *instruction = &lowering->function->instructions[i];
	struct fact *fact = &lowering->facts[value];

	fact->reads++;
	fact->in_sums += instruction->row == GT_PTX_OP_ADD && has_64_bit_integers(instruction);
}

/* What the readers of a copy of this register use; `otherwise` if it is written more than once. */
static uint32_t origin_of(const struct lowering *lowering, const struct gt_ptx_operand *source, uint32_t otherwise)
{
	uint32_t value = source->kind == GT_PTX_REGISTER ? value_of(lowering, source->name) : NONE;

	return value != NONE && lowering->facts[value].writes == 1 ? lowering->facts[value].stands_for : otherwise;
}

/* %ntid and %nctaid are in the constant bank; other special registers are read by an instruction. */
static uint32_t origin_of_copy(const struct lowering *lowering, const struct gt_ptx_operand *source, uint32_t result)
{
	if (source->kind == GT_PTX_IMMEDIATE || source->kind == GT_PTX_SYMBOL)
		return NONE;
	if (source->kind == GT_PTX_REGISTER && value_of(lowering, source->name) == NONE &&
	    (strncmp(source->name, "%ntid", 5) == 0 || strncmp(source->name, "%nctaid", 7) == 0))
		return NONE;
	return origin_of(lowering, source, result);
}

/* What the readers of an instruction's only result, which nothing else writes, use instead. */
static uint32_t origin(const struct lowering *lowering, const struct gt_ptx_instruction *instruction, uint32_t result)
{
	const struct gt_ptx_operand *sources = instruction->operands + 1;
	const struct fact *fact = &lowering->facts[result];

	switch (instruction->row) {
	case GT_PTX_OP_LD: /* narrower parameters are extended by an instruction */
		return lowering->function->entry && gt_ptx_has(instruction, "param") && value_of(lowering, sources[0].name) == NONE &&
				       lowering->steps->words[result] > 0 &&
				       gt_ptx_type_size(lowering->registers->list[result].type) >= 4
			       ? NONE
			       : result;
	case GT_PTX_OP_MOV:
	case GT_PTX_OP_CVTA:
		return origin_of_copy(lowering, &sources[0], result);
	case GT_PTX_OP_MUL:
		return gt_ptx_has(instruction, "wide") && fact->reads == fact->in_sums && instruction->n_operands == 3 &&
				       sources[1].kind == GT_PTX_IMMEDIATE
			       ? origin_of(lowering, &sources[0], result)
			       : result;
	default: return result;
	}
}

static void find_origins(struct lowering *lowering)
{
	const struct gt_ptx_function *function = lowering->function;

	for (size_t r = 0; r < lowering->registers->n; r++)
		lowering->facts[r].stands_for = (uint32_t)r;
	for (size_t i = 0; i < function->n_instructions; i++) {
		visit_results(lowering, i, count_write);
		visit_sources(lowering, i, count_read);
	}
	for (size_t i = 0; i < function->n_instructions; i++) {
		const struct gt_ptx_instruction *instruction = &function->instructions[i];
		if (gt_ptx_results(instruction) != 1 || instruction->n_operands < 2 ||
		    instruction->operands[0].kind != GT_PTX_REGISTER)
			continue;
		uint32_t result = value_of(lowering, instruction->operands[0].name);
		if (result != NONE && lowering->facts[result].writes == 1)
			lowering->facts[result].stands_for = origin(lowering, instruction, result);
	}
}

static void put(struct lowering *lowering, uint32_t value, uint32_t *count)
{
	struct gt_ptx_steps *steps = lowering->steps;
	uint32_t *grown = gt_grown(steps->refs, steps->n_refs, &steps->refs_capacity, sizeof *grown);

	if (!grown) {
		lowering->failed = true;
		return;
	}
	steps->refs = grown;
	steps->refs[steps->n_refs++] = value;
	++*count;
}

static void put_result(struct lowering *lowering, size_t i, uint32_t value)
{
	(void)i;
	if (lowering->facts[value].stands_for == value)
		put(lowering, value, &lowering->steps->list[lowering->steps->n].n_results);
}

static void put_source(struct lowering *lowering, size_t i, uint32_t value)
{
	(void)i;
	if (lowering->facts[value].stands_for != NONE)
		put(lowering, lowering->facts[value].stands_for, &lowering->steps->list[lowering->steps->n].n_sources);
}

/* Cycles, to order steps by. Jia et al. (2018), "Dissecting the NVIDIA Volta GPU architecture via
 * microbenchmarking": 4 (GT_PTX_ARITHMETIC_CYCLES) for arithmetic, 19 to 27 for shared and constant memory, 193 for a hit in L2. */
enum { ON_CHIP = 24, FAR = 200 };

/* Instructions that take several in machine code, and the registers these need for what they compute on the
 * way: what ptxas 13.0 takes more for a kernel with the instruction than with an add in its place (sm_75). */
static uint32_t scratch_of(const struct gt_ptx_instruction *instruction)
{
	static const struct {
		const char *opcode, *type, *variant; /* variant: "" any */
		uint32_t words;
	} expanded[] = {
		{"div", "f32", "rn", 6},  {"div", "f64", "", 12}, {"div", "s32", "", 6},  {"div", "u32", "", 4},
		{"div", "s64", "", 14},	  {"div", "u64", "", 10}, {"rem", "s32", "", 2},  {"rem", "u32", "", 4},
		{"rem", "s64", "", 12},	  {"rem", "u64", "", 10}, {"rcp", "f32", "rn", 4}, {"rcp", "f64", "rn", 6},
		{"sqrt", "f32", "rn", 2}, {"sqrt", "f64", "", 12}, {"mul", "u64", "hi", 6}, {"mul", "s64", "hi", 6},
		{"mul", "s64", "lo", 2},  {"mul", "u64", "lo", 2},
	};

	for (size_t k = 0; k < sizeof expanded / sizeof expanded[0]; k++)
		if (strcmp(instruction->opcode, expanded[k].opcode) == 0 && gt_ptx_has(instruction, expanded[k].type) &&
		    (!*expanded[k].variant || gt_ptx_has(instruction, expanded[k].variant)))
			return expanded[k].words;
	return 0;
}

static enum gt_ptx_step_space space_of(const struct gt_ptx_instruction *instruction)
{
	if (gt_ptx_has(instruction, "shared") || gt_ptx_has(instruction, "shared::cta"))
		return GT_PTX_STEP_SHARED;
	return gt_ptx_has(instruction, "local") ? GT_PTX_STEP_LOCAL : GT_PTX_STEP_GLOBAL;
}

static void classify_load(struct gt_ptx_step *step, const struct gt_ptx_instruction *instruction)
{
	bool constant = gt_ptx_has(instruction, "const") || gt_ptx_has(instruction, "param");

	step->latency = constant || step->space == GT_PTX_STEP_SHARED ? ON_CHIP : FAR;
	step->effect = gt_ptx_has(instruction, "volatile")	    ? GT_PTX_EFFECT_FENCE
		       : constant || gt_ptx_has(instruction, "nc") ? GT_PTX_EFFECT_NONE
								    : GT_PTX_EFFECT_READS;
}

/* The calling convention leaves 16 registers to a function that is not in the module (seen: vprintf). */
static void classify_call(struct gt_ptx_step *step, const struct gt_ptx_instruction *instruction)
{
	step->scratch = 16;
	if (instruction->n_operands > 0 && instruction->operands[0].kind == GT_PTX_SYMBOL)
		step->callee = instruction->operands[0].name;
}

static void classify(struct gt_ptx_step *step, const struct gt_ptx_instruction *instruction)
{
	const struct gt_ptx_opcode_row *row = gt_ptx_row(instruction);

	step->latency = GT_PTX_ARITHMETIC_CYCLES;
	step->space = space_of(instruction);
	step->compares = instruction->row == GT_PTX_OP_SETP;
	switch (row->access) {
	case GT_PTX_ACCESS_LOAD: classify_load(step, instruction); return;
	case GT_PTX_ACCESS_FETCH: step->latency = FAR; return;
	case GT_PTX_ACCESS_STORE:
		step->effect = gt_ptx_has(instruction, "volatile") ? GT_PTX_EFFECT_FENCE : GT_PTX_EFFECT_WRITES;
		return;
	case GT_PTX_ACCESS_NONE: break;
	default:
		step->latency = FAR;
		step->effect = GT_PTX_EFFECT_FENCE;
		return;
	}
	if (row->ending != GT_PTX_FALLS_THROUGH) {
		step->effect = GT_PTX_EFFECT_ENDS;
		if (row->ending == GT_PTX_CALLS)
			classify_call(step, instruction);
		return;
	}
	switch (instruction->row) {
	case GT_PTX_OP_BAR:
	case GT_PTX_OP_BARRIER:
	case GT_PTX_OP_MEMBAR:
	case GT_PTX_OP_FENCE:
	case GT_PTX_OP_VOTE:
	case GT_PTX_OP_MATCH:
	case GT_PTX_OP_ACTIVEMASK: step->effect = GT_PTX_EFFECT_FENCE; break;
	case GT_PTX_OP_SHFL:
		step->effect = GT_PTX_EFFECT_FENCE;
		step->latency = ON_CHIP;
		break;
	default: step->scratch = scratch_of(instruction); break;
	}
}

static void add_step(struct lowering *lowering, size_t i)
{
	struct gt_ptx_steps *steps = lowering->steps;
	const struct gt_ptx_instruction *instruction = &lowering->function->instructions[i];
	struct gt_ptx_step *grown = gt_grown(steps->list, steps->n, &steps->capacity, sizeof *grown);

	if (!grown) {
		lowering->failed = true;
		return;
	}
	steps->list = grown;
	lowering->rolled |= instruction->rolled;
	struct gt_ptx_step *step = &steps->list[steps->n];
	*step = (struct gt_ptx_step){.refs = steps->n_refs, .guarded = instruction->guard != NULL};
	visit_results(lowering, i, put_result);
	visit_sources(lowering, i, put_source);
	classify(step, instruction);
	for (uint32_t r = 0; step->guarded && r < step->n_results && !lowering->failed; r++)
		put(lowering, steps->refs[step->refs + r], &step->n_sources);
	if (step->n_results == 0 && step->effect == GT_PTX_EFFECT_NONE) { /* nobody needs it */
		steps->n_refs = step->refs;
		return;
	}
	step->advances = instruction->row == GT_PTX_OP_ADD && !step->guarded && step->n_sources == 1 &&
			 step->n_results == 1 && instruction->n_operands == 3 &&
			 instruction->operands[2].kind == GT_PTX_IMMEDIATE;
	step->rolled = lowering->rolled;
	lowering->rolled = false;
	steps->n++;
}

int gt_ptx_steps_make(struct gt_ptx_steps *steps, const struct gt_ptx_function *function,
		      const struct gt_ptx_flow *flow, const struct gt_ptx_registers *registers,
		      struct gt_error *error)
{
	struct lowering lowering = {.steps = steps, .function = function, .registers = registers};

	memset(steps, 0, sizeof *steps);
	steps->n_values = registers->n;
	steps->words = calloc(registers->n + 1, sizeof *steps->words);
	steps->first = calloc(flow->n_blocks + 1, sizeof *steps->first);
	lowering.facts = calloc(registers->n + 1, sizeof *lowering.facts);
	lowering.failed = !steps->words || !steps->first || !lowering.facts;
	for (size_t r = 0; r < registers->n && !lowering.failed; r++)
		if (registers->list[r].type != GT_PTX_PRED)
			steps->words[r] = (uint8_t)((gt_ptx_type_size(registers->list[r].type) + 3) / 4);
	if (!lowering.failed)
		find_origins(&lowering);
	for (size_t b = 0; b < flow->n_blocks && !lowering.failed; b++) {
		steps->first[b] = steps->n;
		for (size_t i = flow->blocks[b].first; i < flow->blocks[b].end && !lowering.failed; i++)
			add_step(&lowering, i);
	}
	if (!lowering.failed)
		steps->first[flow->n_blocks] = steps->n;
	free(lowering.facts);
	return lowering.failed ? gt_fail_memory(error, "an estimate of registers") : 0;
}

void gt_ptx_steps_free(struct gt_ptx_steps *steps)
{
	free(steps->list);
	free(steps->refs);
	free(steps->words);
	free(steps->first);
	memset(steps, 0, sizeof *steps);
}

/* ---- loops that the assembler unrolls ---- */

enum { LARGEST = 40 };

/* The only step of the block that writes a value; NULL if none does, *several if more than one. */
static const struct gt_ptx_step *writer(const struct gt_ptx_steps *steps, size_t b, uint32_t value, bool *several)
{
	const struct gt_ptx_step *found = NULL;

	*several = false;
	for (size_t i = steps->first[b]; i < steps->first[b + 1]; i++) {
		const struct gt_ptx_step *step = &steps->list[i];
		for (uint32_t r = 0; r < step->n_results; r++) {
			if (steps->refs[step->refs + r] != value)
				continue;
			*several |= found != NULL;
			found = step;
		}
	}
	return found;
}

static bool counts(const struct gt_ptx_steps *steps, size_t b, const struct gt_ptx_step *test)
{
	unsigned advancing = 0;

	for (uint32_t s = 0; s < test->n_sources; s++) {
		uint32_t value = steps->refs[test->refs + test->n_results + s];
		bool several;
		const struct gt_ptx_step *step = writer(steps, b, value, &several);
		if (!step)
			continue;
		if (several || !step->advances || steps->refs[step->refs + 1] != value)
			return false;
		advancing++;
	}
	return advancing > 0;
}

bool gt_ptx_unrolls(const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow, size_t b)
{
	size_t first = steps->first[b], end = steps->first[b + 1];
	bool to_itself = false, several;

	for (size_t s = 0; s < flow->blocks[b].n_successors; s++)
		to_itself |= flow->edges[flow->blocks[b].successors + s] == b;
	if (!to_itself || end == first || end - first > LARGEST)
		return false;
	const struct gt_ptx_step *branch = &steps->list[end - 1];
	if (branch->effect != GT_PTX_EFFECT_ENDS || branch->n_sources != 1)
		return false;
	for (size_t i = first; i + 1 < end; i++)
		if (steps->list[i].effect >= GT_PTX_EFFECT_FENCE || steps->list[i].rolled)
			return false;
	const struct gt_ptx_step *test = writer(steps, b, steps->refs[branch->refs], &several);
	return test && !several && test->compares && !test->guarded && counts(steps, b, test);
}

int gt_ptx_find_unrolled(const struct gt_ptx_function *function, const struct gt_ptx_flow *flow, const struct gt_ptx_registers *registers,
			 bool **unrolled, struct gt_error *error)
{
	struct gt_ptx_steps steps;
	int result = gt_ptx_steps_make(&steps, function, flow, registers, error);

	*unrolled = calloc(flow->n_blocks + 1, sizeof **unrolled);
	if (result == 0 && !*unrolled)
		result = gt_fail_memory(error, "the blocks of a function");
	for (size_t b = 0; result == 0 && b < flow->n_blocks; b++)
		(*unrolled)[b] = gt_ptx_unrolls(&steps, flow, b);
	gt_ptx_steps_free(&steps);
	return result;
}
