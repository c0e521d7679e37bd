/* SPDX-License-Identifier: MIT */
/* How much a kernel moves, without a run, after Ernst et al., "Analytical Performance Estimation during Code Generation on Modern GPUs"
 * (arXiv 2204.14242): the sectors that its warps request, those that a block touches, and those that the grid touches. They take
 * the address expressions of generated code; here the values of registers that depend on indices and parameters alone are followed
 * through the control flow of some blocks, one thread after the other, and a block's sectors are moved over the grid by what a step from
 * block to block adds to each address. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/static/parts.h"
#include "cuda/ptx/static/static.h"

#define BLOCKS_MAX 32	       /* that are followed */
#define STEPS_MAX  200000000   /* instructions of a kernel that are followed */
#define RUNS_MAX   ((size_t)1 << 22) /* of sectors of the grid */

/* ---- what each instruction does with numbers ---- */

enum step_kind { STEP_OTHER, STEP_ARITHMETIC, STEP_COMPARE, STEP_SELECT, STEP_LOGIC };

struct step {
	enum step_kind kind;
	enum gt_ptx_type type;
	enum gt_ptx_folding folding;
	bool wide; /* a product of twice the width */
	const char *comparison;
	const struct gt_static_operation *operation;
	uint32_t result, choice; /* values; GT_STATIC_NONE: none */
	uint32_t access;	 /* GT_STATIC_NONE: it makes none */
};

static struct step describe(const struct gt_ptx_instruction *instruction)
{
	struct step step = {.type = gt_static_type(instruction), .folding = gt_ptx_row(instruction)->folding, .wide = gt_ptx_has(instruction, "wide"),
			    .result = GT_STATIC_NONE, .choice = GT_STATIC_NONE, .access = GT_STATIC_NONE};
	bool integer = step.type >= GT_PTX_B8 && step.type <= GT_PTX_S64 && step.type != GT_PTX_B128;

	step.operation = gt_static_operation_of(instruction);
	if (strcmp(instruction->opcode, "setp") == 0 && integer && instruction->n_modifiers == 2) {
		step.kind = STEP_COMPARE;
		step.comparison = instruction->modifiers[0];
	} else if (strcmp(instruction->opcode, "selp") == 0) {
		step.kind = STEP_SELECT;
	} else if (step.type == GT_PTX_PRED) {
		step.kind = STEP_LOGIC;
	} else if (integer && step.folding != GT_PTX_FOLD_NONE) {
		step.kind = STEP_ARITHMETIC;
	}
	return step;
}

static bool compare(const struct step *step, int64_t a, int64_t b)
{
	uint64_t left = (uint64_t)a, right = (uint64_t)b;
	const char *name = step->comparison;

	if (step->type >= GT_PTX_S8 && step->type <= GT_PTX_S64) { /* an order of signed numbers as one of unsigned */
		left ^= UINT64_C(1) << 63;
		right ^= UINT64_C(1) << 63;
	}
	if (strcmp(name, "eq") == 0 || strcmp(name, "ne") == 0)
		return (left == right) == (name[0] == 'e');
	if (strcmp(name, "lt") == 0 || strcmp(name, "lo") == 0)
		return left < right;
	if (strcmp(name, "le") == 0 || strcmp(name, "ls") == 0)
		return left <= right;
	return strcmp(name, "gt") == 0 || strcmp(name, "hi") == 0 ? left > right : left >= right;
}

static int64_t calculate(const struct step *step, const struct gt_ptx_instruction *instruction, const int64_t o[3])
{
	uint64_t a = (uint64_t)o[0], b = (uint64_t)o[1];

	switch (step->folding) {
	case GT_PTX_FOLD_COPY: return o[0];
	case GT_PTX_FOLD_ADD: return gt_static_narrow((int64_t)(a + b), step->type);
	case GT_PTX_FOLD_SUBTRACT: return gt_static_narrow((int64_t)(a - b), step->type);
	case GT_PTX_FOLD_NEGATE: return gt_static_narrow((int64_t)(0 - a), step->type);
	case GT_PTX_FOLD_MULTIPLY_ADD: return step->wide ? (int64_t)(a * b + (uint64_t)o[2]) : gt_static_narrow((int64_t)(a * b + (uint64_t)o[2]), step->type);
	case GT_PTX_FOLD_MULTIPLY:
	case GT_PTX_FOLD_MULTIPLY_24:
		if (!step->operation)
			return step->wide ? (int64_t)(a * b) : gt_static_narrow((int64_t)(a * b), step->type);
		break;
	default: break;
	}
	/* A conversion gives a number of its own type. */
	return step->folding == GT_PTX_FOLD_CONVERT ? step->operation->result(instruction, step->type, o)
						    : gt_static_narrow(step->operation->result(instruction, step->type, o), step->type);
}

static bool can_calculate(const struct step *step, const struct gt_ptx_instruction *instruction)
{
	switch (step->folding) {
	case GT_PTX_FOLD_COPY:
	case GT_PTX_FOLD_ADD:
	case GT_PTX_FOLD_SUBTRACT:
	case GT_PTX_FOLD_NEGATE: return true;
	case GT_PTX_FOLD_MULTIPLY:
	case GT_PTX_FOLD_MULTIPLY_24:
	case GT_PTX_FOLD_MULTIPLY_ADD: return step->operation || !gt_ptx_has(instruction, "hi");
	default: return step->operation != NULL;
	}
}

/* ---- a thread ---- */

struct addresses {
	int64_t *at; /* owned */
	size_t n, capacity;
};

struct follower {
	struct gt_static_place place;
	struct step *steps;	    /* by instruction */
	uint32_t *joins, *first_join; /* of each block, and one more */
	int64_t *numbers, *entering; /* by value; of the joins of a block */
	bool *known, *entering_known;
	struct addresses *lanes; /* by access and lane */
	uint64_t steps_left;
	/* What was met: by the kernel as a whole, and by each access. */
	enum gt_static_basis basis, *access_basis;
	struct gt_map loads, stores; /* sectors of the block that is followed */
	struct gt_map *by_access;    /* the same of each access */
	uint64_t *requests, *sectors; /* of the same, by access */
	uint64_t *all_requests, *all_sectors, *block_sectors; /* of the blocks that were counted */
	struct gt_map all_loads, all_stores, *all_by_access; /* sectors of all of them */
	uint64_t load_sectors, store_sectors; /* of loads together, and of all other accesses together: the sum over blocks */
	struct gt_error *error;
};

static bool number_of(struct follower *f, uint32_t v, int64_t *number)
{
	v = gt_static_same(f->place.analysis, v);
	const struct gt_static_value *value = &f->place.analysis->values[v];
	struct gt_static_atom atom = {.number = value->number, .offset = value->offset, .name = value->name};

	switch (value->kind) {
	case GT_STATIC_CONSTANT: *number = value->number; return true;
	case GT_STATIC_SYMBOL: *number = 0; return true;
	case GT_STATIC_SUM:
		if (!number_of(f, value->operands[0], number))
			return false;
		*number += value->number;
		return true;
	case GT_STATIC_SPECIAL:
		atom.kind = GT_STATIC_ATOM_SPECIAL;
		break;
	case GT_STATIC_PARAMETER:
		atom.kind = GT_STATIC_ATOM_PARAMETER;
		atom.value = (uint32_t)gt_static_type(value->instruction);
		break;
	default: *number = f->numbers[v]; return f->known[v];
	}
	f->place.basis = GT_STATIC_EXACT;
	*number = gt_static_atom_value(&f->place, &atom);
	return f->place.basis == GT_STATIC_EXACT;
}

/* The result of an instruction from those of its operands. False: it depends on data. */
static bool result_of(struct follower *f, const struct step *step, const struct gt_static_value *value, int64_t *result)
{
	int64_t o[3] = {0, 0, 0};
	bool narrow = step->kind == STEP_ARITHMETIC && !(step->folding == GT_PTX_FOLD_COPY), logic = step->kind == STEP_LOGIC;

	if (step->kind == STEP_OTHER || value->n > 3)
		return false;
	for (uint32_t i = 0; i < value->n; i++) {
		/* What is not selected need not be known. */
		bool needed = number_of(f, value->operands[i], &o[i]);
		if (!needed && step->kind != STEP_SELECT)
			return false;
		if ((narrow || step->kind == STEP_COMPARE) && !(step->wide && i == 2))
			o[i] = gt_static_narrow(o[i], step->type);
	}
	if (step->kind == STEP_SELECT)
		return value->n == 3 && number_of(f, value->operands[2], &o[2]) && number_of(f, value->operands[o[2] ? 0 : 1], result);
	if (step->kind == STEP_COMPARE)
		*result = compare(step, o[0], o[1]);
	else if (logic)
		*result = step->folding == GT_PTX_FOLD_AND ? o[0] & o[1] : step->folding == GT_PTX_FOLD_OR ? o[0] | o[1] :
			  step->folding == GT_PTX_FOLD_XOR ? (o[0] ^ o[1]) & 1 : step->folding == GT_PTX_FOLD_NOT ? !o[0] : o[0];
	else if (can_calculate(step, value->instruction))
		*result = calculate(step, value->instruction, o);
	else
		return false;
	return true;
}

/* Whether an instruction is executed: 1, 0, or -1 if that depends on data. */
static int is_executed(struct follower *f, size_t at)
{
	const struct gt_ptx_instruction *instruction = &f->place.analysis->kernel->instructions[at];
	int64_t guard;

	if (!instruction->guard)
		return 1;
	if (!number_of(f, f->place.analysis->guards[at], &guard))
		return -1;
	return (guard != 0) != instruction->guard_negated;
}

static void doubt(enum gt_static_basis *basis, enum gt_static_basis least)
{
	*basis = *basis > least ? *basis : least;
}

static int note_access(struct follower *f, uint32_t access, unsigned lane)
{
	const struct gt_static_access *what = &f->place.analysis->accesses[access];
	struct addresses *list = &f->lanes[(size_t)access * GT_STATIC_WARP + lane];
	int64_t address;

	if (what->spread != GT_STATIC_BY_THREAD || !number_of(f, what->address, &address)) {
		doubt(&f->access_basis[access], what->spread != GT_STATIC_BY_THREAD ? GT_STATIC_UNKNOWN : GT_STATIC_LOADED);
		return 0;
	}
	int64_t *grown = gt_grown(list->at, list->n, &list->capacity, sizeof *grown);
	if (!grown)
		return gt_fail_memory(f->error, "the addresses of a warp");
	list->at = grown;
	grown[list->n++] = address;
	return 0;
}

/* One instruction of a thread. */
static int follow_instruction(struct follower *f, size_t at, unsigned lane)
{
	const struct gt_static *analysis = f->place.analysis;
	const struct step *step = &f->steps[at];
	int executed = is_executed(f, at);

	if (step->access != GT_STATIC_NONE && executed < 0)
		doubt(&f->access_basis[step->access], GT_STATIC_LOADED);
	if (step->access != GT_STATIC_NONE && executed > 0 && note_access(f, step->access, lane) != 0)
		return -1;
	if (step->result != GT_STATIC_NONE && executed != 0)
		f->known[step->result] = result_of(f, step, &analysis->values[step->result], &f->numbers[step->result]);
	if (step->choice != GT_STATIC_NONE) {
		const struct gt_static_value *choice = &analysis->values[step->choice];
		f->known[step->choice] = executed >= 0 && number_of(f, choice->operands[executed ? 0 : 1], &f->numbers[step->choice]);
	}
	return 0;
}

/* The values of a block's joins when it is entered from another one, all at once. */
static void enter_block(struct follower *f, size_t block, size_t from)
{
	const struct gt_static *analysis = f->place.analysis;
	const struct gt_ptx_block *b = &analysis->flow.blocks[block];
	uint32_t first = f->first_join[block], n = f->first_join[block + 1] - first, edge = 0;

	while (edge < b->n_predecessors && analysis->flow.sources[b->predecessors + edge] != from)
		edge++;
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_static_value *join = &analysis->values[f->joins[first + i]];
		f->entering_known[i] = edge < join->n && number_of(f, join->operands[edge], &f->entering[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		f->numbers[f->joins[first + i]] = f->entering[i];
		f->known[f->joins[first + i]] = f->entering_known[i];
	}
}

/* Where a thread goes behind a block; n_blocks: it ends, as it does where that cannot be told. */
static size_t next_block(struct follower *f, size_t block)
{
	const struct gt_static *analysis = f->place.analysis;
	size_t last = analysis->flow.blocks[block].end - 1, end = analysis->flow.n_blocks;
	const struct gt_ptx_instruction *instruction = &analysis->kernel->instructions[last];
	enum gt_ptx_ending ending = gt_ptx_row(instruction)->ending;

	if (ending == GT_PTX_FALLS_THROUGH)
		return block + 1;
	int executed = is_executed(f, last);
	if (executed < 0 || ending == GT_PTX_BRANCHES_BY_INDEX || ending == GT_PTX_CALLS)
		doubt(&f->basis, executed < 0 ? GT_STATIC_LOADED : GT_STATIC_UNKNOWN);
	if (executed < 0 || ending == GT_PTX_BRANCHES_BY_INDEX)
		return end;
	if (executed == 0 || ending == GT_PTX_CALLS)
		return block + 1;
	return ending == GT_PTX_BRANCHES ? gt_ptx_flow_target(&analysis->flow, instruction->operands[0].name) : end;
}

static int follow_thread(struct follower *f, unsigned lane)
{
	const struct gt_static *analysis = f->place.analysis;

	memset(f->known, 0, analysis->n_values * sizeof *f->known);
	for (size_t block = 0, next; block < analysis->flow.n_blocks; block = next) {
		const struct gt_ptx_block *b = &analysis->flow.blocks[block];
		for (size_t at = b->first; at < b->end; at++)
			if (follow_instruction(f, at, lane) != 0)
				return -1;
		if (f->steps_left < b->end - b->first)
			return gt_fail(f->error, "kernel %s: expected at most %d instructions of %d blocks", analysis->kernel->name, STEPS_MAX, BLOCKS_MAX);
		f->steps_left -= b->end - b->first;
		next = next_block(f, block);
		if (next < analysis->flow.n_blocks)
			enter_block(f, next, block);
	}
	return 0;
}

/* ---- warps and blocks ---- */

static int put_sector(struct follower *f, struct gt_map *map, uint64_t sector)
{
	int fresh;

	return gt_map_put(map, sector, 0, &fresh) ? 0 : gt_fail_memory(f->error, "the sectors of a block");
}

/* Execution number k of an access by the lanes of a warp. */
static int note_request(struct follower *f, uint32_t access, size_t k)
{
	const struct gt_static_access *what = &f->place.analysis->accesses[access];
	uint64_t seen[GT_STATIC_WARP * 3];
	size_t n = 0;

	for (unsigned lane = 0; lane < GT_STATIC_WARP; lane++) {
		const struct addresses *list = &f->lanes[(size_t)access * GT_STATIC_WARP + lane];
		if (k >= list->n)
			continue;
		uint64_t first = (uint64_t)list->at[k] / GT_STATIC_SECTOR, last = ((uint64_t)list->at[k] + what->bytes - 1) / GT_STATIC_SECTOR;
		for (uint64_t sector = first; sector <= last; sector++) {
			size_t i = 0;
			while (i < n && seen[i] != sector)
				i++;
			if (i < n || n == sizeof seen / sizeof *seen)
				continue;
			seen[n++] = sector;
			if (put_sector(f, what->action == GT_PTX_ACCESS_LOAD ? &f->loads : &f->stores, sector) != 0 ||
			    put_sector(f, &f->by_access[access], sector) != 0)
				return -1;
		}
	}
	f->requests[access]++;
	f->sectors[access] += n;
	return 0;
}

static int follow_warp(struct follower *f, uint64_t first, uint64_t threads)
{
	const uint32_t *shape = f->place.launch->block;

	for (size_t i = 0; i < f->place.analysis->n_accesses * GT_STATIC_WARP; i++)
		f->lanes[i].n = 0;
	for (unsigned lane = 0; lane < GT_STATIC_WARP && first + lane < threads; lane++) {
		uint64_t t = first + lane;
		f->place.thread[0] = (uint32_t)(t % shape[0]);
		f->place.thread[1] = (uint32_t)(t / shape[0] % shape[1]);
		f->place.thread[2] = (uint32_t)(t / shape[0] / shape[1]);
		if (follow_thread(f, lane) != 0)
			return -1;
	}
	return 0;
}

static int note_warp(struct follower *f)
{
	for (uint32_t access = 0; access < f->place.analysis->n_accesses; access++) {
		size_t most = 0;
		for (unsigned lane = 0; lane < GT_STATIC_WARP; lane++) {
			size_t n = f->lanes[(size_t)access * GT_STATIC_WARP + lane].n;
			most = n > most ? n : most;
		}
		for (size_t k = 0; k < most; k++)
			if (note_request(f, access, k) != 0)
				return -1;
	}
	return 0;
}

static void set_block(struct follower *f, uint64_t block)
{
	const uint32_t *grid = f->place.launch->grid;

	f->place.block[0] = (uint32_t)(block % grid[0]);
	f->place.block[1] = (uint32_t)(block / grid[0] % grid[1]);
	f->place.block[2] = (uint32_t)(block / grid[0] / grid[1]);
}

static int put_all(struct follower *f, struct gt_map *to, const struct gt_map *from)
{
	for (size_t i = 0; i <= from->mask; i++)
		if (from->slots[i].key != GT_MAP_EMPTY && put_sector(f, to, from->slots[i].key) != 0)
			return -1;
	return 0;
}

/* Follows a block: what it requests and touches is then that of this block alone. */
static int follow_block(struct follower *f, uint64_t block, uint64_t threads)
{
	const size_t n = f->place.analysis->n_accesses;

	set_block(f, block);
	gt_map_clear(&f->loads);
	gt_map_clear(&f->stores);
	memset(f->requests, 0, 2 * n * sizeof *f->requests);
	for (size_t i = 0; i < n; i++)
		gt_map_clear(&f->by_access[i]);
	for (uint64_t first = 0; first < threads; first += GT_STATIC_WARP)
		if (follow_warp(f, first, threads) != 0 || note_warp(f) != 0)
			return -1;
	return 0;
}

/* Adds what the block has. */
static int count_block(struct follower *f)
{
	for (size_t i = 0; i < f->place.analysis->n_accesses; i++) {
		f->all_requests[i] += f->requests[i];
		f->all_sectors[i] += f->sectors[i];
		f->block_sectors[i] += f->by_access[i].used;
		if (put_all(f, &f->all_by_access[i], &f->by_access[i]) != 0)
			return -1;
	}
	f->load_sectors += f->loads.used;
	f->store_sectors += f->stores.used;
	return put_all(f, &f->all_loads, &f->loads) != 0 || put_all(f, &f->all_stores, &f->stores) != 0 ? -1 : 0;
}

/* ---- the grid: the sectors of a block, moved from block to block ---- */

struct run {
	uint64_t first, end; /* bytes */
};

struct runs {
	struct run *list; /* owned; ascending, with gaps between them */
	size_t n, capacity;
};

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static void join_runs(struct runs *runs)
{
	size_t kept = 0;

	if (runs->n > 1)
		qsort(runs->list, runs->n, sizeof *runs->list, compare_runs);
	for (size_t i = 0; i < runs->n; i++) {
		if (kept > 0 && runs->list[i].first <= runs->list[kept - 1].end)
			runs->list[kept - 1].end = runs->list[i].end > runs->list[kept - 1].end ? runs->list[i].end : runs->list[kept - 1].end;
		else
			runs->list[kept++] = runs->list[i];
	}
	runs->n = kept;
}

static int add_run(struct runs *runs, uint64_t first, uint64_t end, struct gt_error *error)
{
	struct run *grown = gt_grown(runs->list, runs->n, &runs->capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "the sectors of a grid");
	runs->list = grown;
	grown[runs->n++] = (struct run){first, end};
	return 0;
}

/* The union of n copies, each a step behind the one before. Returns 0; 1 if there are too many runs; -1 when memory is short. */
static int repeat(struct runs *runs, int64_t step, uint64_t n, struct gt_error *error)
{
	uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step, shortest = UINT64_MAX, back = step < 0 ? size * (n - 1) : 0;
	const size_t once = runs->n;

	for (size_t i = 0; i < once; i++) {
		uint64_t length = runs->list[i].end - runs->list[i].first;
		shortest = length < shortest ? length : shortest;
		runs->list[i].first -= back;
		runs->list[i].end -= back;
	}
	if (size == 0 || n < 2)
		return 0;
	if (shortest < size && once > RUNS_MAX / n)
		return 1;
	for (size_t i = 0; i < once; i++) {
		if (shortest >= size)
			runs->list[i].end += size * (n - 1);
		for (uint64_t copy = 1; shortest < size && copy < n; copy++)
			if (add_run(runs, runs->list[i].first + copy * size, runs->list[i].end + copy * size, error) != 0)
				return -1;
	}
	join_runs(runs);
	return 0;
}

/* Repeats along the axes of the grid, the shortest steps first, which leaves the fewest runs. */
static int cover_grid(struct runs *runs, int64_t steps[3], const uint32_t grid[3], struct gt_error *error)
{
	bool done[3] = {false, false, false};
	int result = 0;

	for (int turn = 0; turn < 3 && result == 0; turn++) {
		int next = -1;
		for (int axis = 0; axis < 3; axis++)
			if (!done[axis] && (next < 0 || llabs(steps[axis]) < llabs(steps[next])))
				next = axis;
		done[next] = true;
		result = repeat(runs, steps[next], grid[next], error);
	}
	return result;
}

/* The first address of an access in a warp. */
static bool first_address(const struct follower *f, uint32_t access, int64_t *address)
{
	for (unsigned lane = 0; lane < GT_STATIC_WARP; lane++) {
		const struct addresses *list = &f->lanes[(size_t)access * GT_STATIC_WARP + lane];
		if (list->n > 0) {
			*address = list->at[0];
			return true;
		}
	}
	return false;
}

/* What a step along each axis of the grid adds to the addresses of each access, from the middle block: by access and axis. An access that one of
 * the blocks does not make has no step, which is in doubt. */
static int find_steps(struct follower *f, int64_t (*steps)[3], uint64_t threads)
{
	const uint32_t *grid = f->place.launch->grid;
	const size_t n = f->place.analysis->n_accesses;
	int64_t *middle = calloc(n + 1, sizeof *middle), address;
	bool *made = calloc(n + 1, sizeof *made);
	int result = middle && made ? 0 : gt_fail_memory(f->error, "the addresses of a block");

	for (int axis = -1; axis < 3 && result == 0; axis++) {
		uint32_t at[3] = {grid[0] / 2, grid[1] / 2, grid[2] / 2};
		if (axis >= 0 && grid[axis] < 2)
			continue;
		if (axis >= 0)
			at[axis]--;
		memcpy(f->place.block, at, sizeof at);
		result = follow_warp(f, 0, threads);
		for (uint32_t i = 0; i < n && result == 0; i++) {
			bool makes = first_address(f, i, &address);
			if (axis < 0) {
				made[i] = makes;
				middle[i] = makes ? address : 0;
			} else if (makes && made[i]) {
				steps[i][axis] = (int64_t)((uint64_t)middle[i] - (uint64_t)address);
			} else if (f->block_sectors[i] > 0) {
				doubt(&f->access_basis[i], GT_STATIC_ASSUMED);
			}
		}
	}
	free(middle);
	free(made);
	return result;
}

/* The runs of one access over the grid, from the middle block to all. */
static int cover(const struct follower *f, uint32_t access, int64_t steps[3], struct runs *runs)
{
	const uint32_t *grid = f->place.launch->grid;
	const struct gt_map *map = &f->by_access[access];

	for (size_t i = 0; i <= map->mask; i++)
		if (map->slots[i].key != GT_MAP_EMPTY &&
		    add_run(runs, map->slots[i].key * GT_STATIC_SECTOR, (map->slots[i].key + 1) * GT_STATIC_SECTOR, f->error) != 0)
			return -1;
	join_runs(runs);
	for (size_t i = 0; i < runs->n; i++) /* to the first block */
		for (int axis = 0; axis < 3; axis++) {
			runs->list[i].first -= (uint64_t)steps[axis] * (grid[axis] / 2);
			runs->list[i].end -= (uint64_t)steps[axis] * (grid[axis] / 2);
		}
	return cover_grid(runs, steps, grid, f->error);
}

/* ---- the kernel ---- */

static void close_follower(struct follower *f)
{
	const size_t n = f->place.analysis->n_accesses;

	for (size_t i = 0; f->lanes && i < n * GT_STATIC_WARP; i++)
		free(f->lanes[i].at);
	for (size_t i = 0; f->by_access && i < 2 * n; i++)
		gt_map_close(&f->by_access[i]);
	gt_map_close(&f->loads);
	gt_map_close(&f->stores);
	gt_map_close(&f->all_loads);
	gt_map_close(&f->all_stores);
	free(f->lanes);
	free(f->by_access);
	free(f->steps);
	free(f->joins);
	free(f->first_join);
	free(f->numbers);
	free(f->entering);
	free(f->known);
	free(f->entering_known);
	free(f->access_basis);
	free(f->requests);
}

/* The joins of each block. */
static void sort_joins(struct follower *f)
{
	const struct gt_static *analysis = f->place.analysis;
	uint32_t n = 0;

	for (size_t block = 0; block < analysis->flow.n_blocks; block++) {
		f->first_join[block] = n;
		for (uint32_t v = 0; v < analysis->n_values; v++)
			if (analysis->values[v].kind == GT_STATIC_JOIN && analysis->values[v].same == v && analysis->values[v].block == block)
				f->joins[n++] = v;
	}
	f->first_join[analysis->flow.n_blocks] = n;
}

/* Which values an instruction makes. */
static void describe_all(struct follower *f)
{
	const struct gt_static *analysis = f->place.analysis;

	for (size_t i = 0; i < analysis->kernel->n_instructions; i++)
		f->steps[i] = describe(&analysis->kernel->instructions[i]);
	for (uint32_t v = 0; v < analysis->n_values; v++) {
		const struct gt_static_value *value = &analysis->values[v];
		if (!value->instruction)
			continue;
		struct step *step = &f->steps[value->instruction - analysis->kernel->instructions];
		if (value->kind == GT_STATIC_OPERATION)
			step->result = v;
		else if (value->kind == GT_STATIC_CHOICE)
			step->choice = v;
	}
	for (uint32_t i = 0; i < analysis->n_accesses; i++)
		f->steps[analysis->accesses[i].instruction].access = i;
}

static int open_follower(struct follower *f, const struct gt_static *analysis, const struct gt_static_launch *launch, struct gt_error *error)
{
	const size_t values = (size_t)analysis->n_values + 1, n = analysis->n_accesses, blocks = analysis->flow.n_blocks + 1;

	*f = (struct follower){.place = {.analysis = analysis, .launch = launch}, .steps_left = STEPS_MAX, .error = error};
	f->steps = calloc(analysis->kernel->n_instructions + 1, sizeof *f->steps);
	f->joins = calloc(values, sizeof *f->joins);
	f->first_join = calloc(blocks, sizeof *f->first_join);
	f->numbers = calloc(values, sizeof *f->numbers);
	f->entering = calloc(values, sizeof *f->entering);
	f->known = calloc(values, sizeof *f->known);
	f->entering_known = calloc(values, sizeof *f->entering_known);
	f->lanes = calloc(n * GT_STATIC_WARP + 1, sizeof *f->lanes);
	f->access_basis = calloc(n + 1, sizeof *f->access_basis);
	f->by_access = calloc(2 * n + 1, sizeof *f->by_access);
	f->requests = calloc(5 * n + 1, sizeof *f->requests);
	if (!f->steps || !f->joins || !f->first_join || !f->numbers || !f->entering || !f->known || !f->entering_known || !f->lanes ||
	    !f->access_basis || !f->by_access || !f->requests)
		return gt_fail_memory(error, "the volumes of a kernel");
	f->all_by_access = f->by_access + n;
	f->sectors = f->requests + n;
	f->all_requests = f->sectors + n;
	f->all_sectors = f->all_requests + n;
	f->block_sectors = f->all_sectors + n;
	for (size_t i = 0; i < 2 * n; i++)
		if (gt_map_open(&f->by_access[i], 0, error) != 0)
			return -1;
	if (gt_map_open(&f->loads, 0, error) != 0 || gt_map_open(&f->stores, 0, error) != 0 || gt_map_open(&f->all_loads, 0, error) != 0 ||
	    gt_map_open(&f->all_stores, 0, error) != 0)
		return -1;
	describe_all(f);
	sort_joins(f);
	return 0;
}

/* Block i of those that are followed: one of each equal part of the grid, not at the same place of each, since grids have periods. */
static uint64_t block_to_follow(uint64_t i, uint64_t followed, uint64_t blocks)
{
	if (followed == blocks)
		return i;
	return (uint64_t)(((double)i + (double)(gt_fibonacci(i + 1) >> 32) / 4294967296.0) * (double)blocks / (double)followed);
}

/* A number of the blocks that were followed, for all. */
static uint64_t of_all(uint64_t number, uint64_t followed, uint64_t blocks)
{
	return followed == blocks ? number : (uint64_t)((double)number * (double)blocks / (double)followed + 0.5);
}

/* A line: what warps request, what blocks touch, what the grid touches. */
struct volume {
	uint64_t requests, sectors, block_sectors, grid_sectors;
	bool covers; /* grid_sectors is known */
	enum gt_static_basis basis;
};

static void write_volume(const char *name, const char *line, const char *what, const struct volume *volume, FILE *to)
{
	fprintf(to, "%s\t%s\t%s", name, line, what);
	if (volume->basis >= GT_STATIC_LOADED)
		fputs("\t-\t-\t-\t-", to);
	else
		fprintf(to, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, volume->requests, volume->sectors, volume->block_sectors);
	if (volume->basis < GT_STATIC_LOADED && volume->covers)
		fprintf(to, "\t%" PRIu64, volume->grid_sectors);
	else if (volume->basis < GT_STATIC_LOADED)
		fputs("\t-", to);
	fprintf(to, "\t%s\n", gt_static_bases[volume->basis]);
}

static uint64_t sectors_of(struct runs *runs)
{
	uint64_t sectors = 0, last = UINT64_MAX;

	join_runs(runs);
	for (size_t i = 0; i < runs->n; i++) {
		uint64_t first = runs->list[i].first / GT_STATIC_SECTOR, end = (runs->list[i].end - 1) / GT_STATIC_SECTOR;
		sectors += end - first + (first != last);
		last = end;
	}
	return sectors;
}

/* Takes the runs of another set. */
static int take_runs(struct runs *to, const struct runs *from, struct gt_error *error)
{
	for (size_t i = 0; i < from->n; i++)
		if (add_run(to, from->list[i].first, from->list[i].end, error) != 0)
			return -1;
	return 0;
}

/* What was found of an access, and its sectors for the sum of its kind. */
static int volume_of(const struct follower *f, uint32_t i, int64_t steps[3], uint64_t followed, uint64_t blocks, struct volume *volume, struct runs *all)
{
	struct runs runs = {0};
	int result = followed == blocks ? 0 : cover(f, i, steps, &runs);

	*volume = (struct volume){of_all(f->all_requests[i], followed, blocks), of_all(f->all_sectors[i], followed, blocks),
				  of_all(f->block_sectors[i], followed, blocks), f->all_by_access[i].used, result == 0, f->access_basis[i]};
	doubt(&volume->basis, f->basis);
	doubt(&volume->basis, followed < blocks ? GT_STATIC_ASSUMED : GT_STATIC_EXACT);
	if (result == 0 && followed < blocks) {
		volume->grid_sectors = sectors_of(&runs);
		result = take_runs(all, &runs, f->error);
	}
	free(runs.list);
	return result;
}

static void add_volume(struct volume *sum, const struct volume *volume)
{
	sum->requests += volume->requests;
	sum->sectors += volume->sectors;
	doubt(&sum->basis, volume->basis);
	sum->covers &= volume->covers;
}

/* The lines of the accesses, then those of loads and of stores together, whose sectors are counted once. */
static int write_volumes(const struct follower *f, int64_t (*steps)[3], uint64_t followed, uint64_t blocks, const char *name, FILE *to)
{
	const struct gt_static *analysis = f->place.analysis;
	struct volume sums[2] = {{.covers = true}, {.covers = true}}, volume;
	const bool all = followed == blocks;
	struct runs runs[2] = {{0}, {0}};
	char line[16];
	int result = 0;

	for (uint32_t i = 0; i < analysis->n_accesses && result >= 0; i++) {
		int kind = analysis->accesses[i].action != GT_PTX_ACCESS_LOAD;
		result = volume_of(f, i, steps[i], followed, blocks, &volume, &runs[kind]);
		if (result < 0)
			break;
		add_volume(&sums[kind], &volume);
		snprintf(line, sizeof line, "%u", gt_static_instruction(analysis, i)->line);
		write_volume(name, line, gt_static_action_name(analysis->accesses[i].action), &volume, to);
	}
	for (int kind = 0; kind < 2 && result >= 0; kind++) {
		sums[kind].block_sectors = of_all(kind ? f->store_sectors : f->load_sectors, followed, blocks);
		sums[kind].grid_sectors = all ? (kind ? f->all_stores.used : f->all_loads.used) : sectors_of(&runs[kind]);
		write_volume(name, "all", kind ? "store" : "load", &sums[kind], to);
	}
	free(runs[0].list);
	free(runs[1].list);
	return result < 0 ? -1 : 0;
}

int gt_static_write_volumes(const struct gt_static *analysis, const struct gt_static_launch *launch, const char *name, FILE *to,
			    struct gt_error *error)
{
	const uint32_t *grid = launch->grid, *block = launch->block;
	uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2], threads = (uint64_t)block[0] * block[1] * block[2];
	uint64_t followed = blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX, middle = grid[0] / 2 + (uint64_t)grid[0] * (grid[1] / 2 + (uint64_t)grid[1] * (grid[2] / 2));
	int64_t(*steps)[3] = calloc(analysis->n_accesses + 1, sizeof *steps);
	struct follower f;
	int result = open_follower(&f, analysis, launch, error);

	if (!steps && result == 0)
		result = gt_fail_memory(error, "the volumes of a kernel");
	for (uint64_t i = 0; i < followed && result == 0; i++)
		if ((result = follow_block(&f, block_to_follow(i, followed, blocks), threads)) == 0)
			result = count_block(&f);
	if (result == 0 && followed < blocks && (result = find_steps(&f, steps, threads)) == 0)
		result = follow_block(&f, middle, threads);
	if (result == 0)
		result = write_volumes(&f, steps, followed, blocks, name, to);
	close_follower(&f);
	free(steps);
	return result;
}
