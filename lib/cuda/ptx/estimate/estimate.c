/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/decode/flow.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/estimate/estimate.h"

/* The names that a step reads and writes, among all; NULL where no step has any. */
static const uint32_t *refs_of(const uint32_t *refs, const struct gt_ptx_step *step)
{
	return refs ? refs + step->refs : NULL;
}

/* Which values are live at the end of each basic block. Only values that a block reads before it writes them are
 * kept, so that the sets stay small: most values begin and end within a block. */

struct block_values {
	uint32_t *values; /* that live from block to block: bit i of a set is values[i] */
	size_t n;
	uint32_t *bit; /* by value: which bit; UINT32_MAX: none */
	struct gt_ptx_liveness live;
};

/* Finds the values that some block reads before it writes them. `wrote`: by value, 1 + the last block that did. */
static void find_values(struct block_values *kept, const struct gt_ptx_steps *steps, size_t n_blocks, size_t *wrote)
{
	for (size_t v = 0; v < steps->n_values; v++)
		kept->bit[v] = UINT32_MAX;
	for (size_t b = 0; b < n_blocks; b++)
		for (size_t i = steps->first[b]; i < steps->first[b + 1]; i++) {
			const struct gt_ptx_step *step = &steps->list[i];
			const uint32_t *refs = refs_of(steps->refs, step);
			for (uint32_t s = step->n_results; s < step->n_results + step->n_sources; s++)
				if (wrote[refs[s]] != b + 1 && kept->bit[refs[s]] == UINT32_MAX) {
					kept->bit[refs[s]] = (uint32_t)kept->n;
					kept->values[kept->n++] = refs[s];
				}
			for (uint32_t r = 0; r < step->n_results; r++)
				wrote[refs[r]] = b + 1;
		}
}

/* What a block reads before it writes it, and what it writes. */
static void begin(const struct block_values *kept, const struct gt_ptx_steps *steps, size_t b)
{
	uint64_t *read = gt_ptx_liveness_of(&kept->live, b, GT_PTX_LIVE_IN);
	uint64_t *written = gt_ptx_liveness_of(&kept->live, b, GT_PTX_LIVE_WRITTEN);

	for (size_t i = steps->first[b]; i < steps->first[b + 1]; i++) {
		const struct gt_ptx_step *step = &steps->list[i];
		const uint32_t *refs = refs_of(steps->refs, step);
		for (uint32_t k = 0; k < step->n_sources; k++) {
			uint32_t bit = kept->bit[refs[step->n_results + k]];
			if (bit != UINT32_MAX && !gt_ptx_is_in(written, bit))
				gt_ptx_put_in(read, bit);
		}
		for (uint32_t r = 0; r < step->n_results; r++)
			if (kept->bit[refs[r]] != UINT32_MAX)
				gt_ptx_put_in(written, kept->bit[refs[r]]);
	}
}

/* Freed by block_values_free in either case. */
static int block_values_make(struct block_values *kept, const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow,
			     struct gt_error *error)
{
	size_t *wrote = calloc(steps->n_values + 1, sizeof *wrote);

	memset(kept, 0, sizeof *kept);
	kept->values = calloc(steps->n_values + 1, sizeof *kept->values);
	kept->bit = calloc(steps->n_values + 1, sizeof *kept->bit);
	bool short_of_memory = !wrote || !kept->values || !kept->bit;
	if (!short_of_memory)
		find_values(kept, steps, flow->n_blocks, wrote);
	free(wrote);
	if (short_of_memory)
		return gt_fail_memory(error, "an estimate of registers");
	if (gt_ptx_liveness_make(&kept->live, flow, kept->n, error) != 0)
		return -1;
	for (size_t b = 0; kept->live.sets && b < flow->n_blocks; b++)
		begin(kept, steps, b);
	if (kept->live.sets)
		gt_ptx_liveness_solve(&kept->live, flow);
	return 0;
}

static void block_values_free(struct block_values *kept)
{
	free(kept->values);
	free(kept->bit);
	gt_ptx_liveness_free(&kept->live);
	memset(kept, 0, sizeof *kept);
}

/* One basic block with a name for each result, and the 32-bit registers it needs. */

struct gt_ptx_renamed_value {
	uint8_t words;
	bool outlives; /* the block */
	bool live;     /* while registers are counted */
};

struct gt_ptx_renamed {
	const struct gt_ptx_steps *steps;
	uint32_t turn;	      /* blocks renamed so far */
	uint32_t *seen, *name; /* by value: the turn in which it got its name; its newest name */
	struct gt_ptx_step *list;
	size_t n, capacity;
	uint32_t *refs; /* names */
	size_t n_refs, refs_capacity;
	struct gt_ptx_renamed_value *names;
	size_t n_names, names_capacity;
	uint32_t through; /* words of values that live through the block and do nothing in it */
	bool failed;	  /* memory is short */
};

/* Freed by renamed_close in either case. */
static int renamed_open(struct gt_ptx_renamed *block, const struct gt_ptx_steps *steps, struct gt_error *error)
{
	memset(block, 0, sizeof *block);
	block->steps = steps;
	block->seen = calloc(steps->n_values + 1, sizeof *block->seen);
	block->name = calloc(steps->n_values + 1, sizeof *block->name);
	return block->seen && block->name ? 0 : gt_fail_memory(error, "an estimate of registers");
}

static void renamed_close(struct gt_ptx_renamed *block)
{
	free(block->seen);
	free(block->name);
	free(block->list);
	free(block->refs);
	free(block->names);
	memset(block, 0, sizeof *block);
}

static void new_name(struct gt_ptx_renamed *block, uint32_t value)
{
	struct gt_ptx_renamed_value *grown = gt_grown(block->names, block->n_names, &block->names_capacity, sizeof *grown);

	if (!grown) {
		block->failed = true;
		return;
	}
	block->names = grown;
	block->names[block->n_names] = (struct gt_ptx_renamed_value){.words = block->steps->words[value]};
	block->seen[value] = block->turn;
	block->name[value] = (uint32_t)block->n_names++;
}

static void put(struct gt_ptx_renamed *block, uint32_t name)
{
	uint32_t *grown = gt_grown(block->refs, block->n_refs, &block->refs_capacity, sizeof *grown);

	if (!grown) {
		block->failed = true;
		return;
	}
	block->refs = grown;
	block->refs[block->n_refs++] = name;
}

/* The name that a value has now; a first one if the block has not seen it yet: it lives from before. */
static void put_source(struct gt_ptx_renamed *block, uint32_t value)
{
	if (block->seen[value] != block->turn)
		new_name(block, value);
	put(block, block->name[value]);
}

static void copy_step(struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	const uint32_t *values = refs_of(block->steps->refs, step);
	struct gt_ptx_step *grown = gt_grown(block->list, block->n, &block->capacity, sizeof *grown);

	if (!grown) {
		block->failed = true;
		return;
	}
	block->list = grown;
	size_t refs = block->n_refs;
	block->list[block->n] = *step;
	block->list[block->n++].refs = refs;
	for (uint32_t r = 0; r < step->n_results; r++)
		put(block, 0);
	for (uint32_t s = 0; s < step->n_sources; s++)
		put_source(block, values[step->n_results + s]);
	for (uint32_t r = 0; r < step->n_results && !block->failed; r++) {
		new_name(block, values[r]);
		block->refs[refs + r] = block->name[values[r]];
	}
}

static void find_outliving(struct gt_ptx_renamed *block, const struct block_values *kept, size_t b)
{
	const uint64_t *set = gt_ptx_liveness_of(&kept->live, b, GT_PTX_LIVE_OUT);

	block->through = 0;
	for (size_t w = 0; w < kept->live.words; w++)
		for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
			uint32_t value = kept->values[64 * w + (size_t)__builtin_ctzll(rest)];
			if (block->seen[value] == block->turn)
				block->names[block->name[value]].outlives = true;
			else
				block->through += block->steps->words[value];
		}
}

/* Block b, `copies` times behind each other, as an unrolled loop is: of a value that each turn advances by
 * a constant, the copies but the last use what it was at the first. */
static void rename(struct gt_ptx_renamed *block, const struct block_values *kept, size_t b, unsigned copies)
{
	const struct gt_ptx_steps *steps = block->steps;

	block->turn++;
	block->n = block->n_refs = block->n_names = 0;
	for (unsigned c = 1; c <= copies; c++)
		for (size_t i = steps->first[b]; i < steps->first[b + 1] && !block->failed; i++) {
			const struct gt_ptx_step *step = &steps->list[i];
			const uint32_t *refs = refs_of(steps->refs, step);
			if (c < copies && (step->effect == GT_PTX_EFFECT_ENDS || (step->advances && refs[0] == refs[1])))
				continue;
			copy_step(block, step);
		}
	if (!block->failed)
		find_outliving(block, kept, b);
}

static uint32_t end_results(struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	const uint32_t *refs = refs_of(block->refs, step);
	uint32_t words = 0;

	for (uint32_t r = 0; r < step->n_results; r++) {
		struct gt_ptx_renamed_value *name = &block->names[refs[r]];
		words += name->live ? name->words : 0;
		name->live = false;
	}
	return words;
}

static uint32_t begin_sources(struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	const uint32_t *refs = block->refs ? block->refs + step->refs + step->n_results : NULL;
	uint32_t words = 0;

	for (uint32_t s = 0; s < step->n_sources; s++) {
		struct gt_ptx_renamed_value *name = &block->names[refs[s]];
		words += name->live ? 0 : name->words;
		name->live = true;
	}
	return words;
}

static uint32_t unread_results(const struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	uint32_t words = 0;

	for (uint32_t r = 0; r < step->n_results; r++) {
		const struct gt_ptx_renamed_value *name = &block->names[block->refs[step->refs + r]];
		words += name->live ? 0 : name->words;
	}
	return words;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* From the end backwards: a value lives from its last reader up to the step that makes it. */
static uint32_t words_live(struct gt_ptx_renamed *block, const uint32_t *order, bool reuse)
{
	uint32_t live = block->through;

	for (size_t k = 0; k < block->n_names; k++) {
		block->names[k].live = block->names[k].outlives;
		live += block->names[k].live ? block->names[k].words : 0;
	}
	uint32_t most = live;
	for (size_t place = block->n; place-- > 0;) {
		const struct gt_ptx_step *step = &block->list[order ? order[place] : place];
		most = larger(most, live + unread_results(block, step));
		uint32_t ended = end_results(block, step);
		uint32_t begun = begin_sources(block, step);
		most = larger(most, live + begun + step->scratch - (reuse ? ended : 0));
		live += begun - ended;
	}
	return most;
}

/* The order in which the steps of a block are issued: of those whose sources are there, the one that the
 * longest chain of work hangs on (list scheduling: Gibbons and Muchnick 1986, "Efficient instruction scheduling
 * for a pipelined architecture"). Loads, which take long, so come early, and those that do not need each
 * other are in flight at once. Linear in the steps but for the heap. */

#define NONE UINT32_MAX

/* A heap of steps: the first has the greatest key, of equal ones the earliest. */
struct heap {
	struct waiting {
		uint64_t key;
		uint32_t step;
	} *list;
	size_t n;
};

static bool comes_first(struct waiting a, struct waiting b)
{
	return a.key != b.key ? a.key > b.key : a.step < b.step;
}

static void swap(struct heap *heap, size_t a, size_t b)
{
	struct waiting kept = heap->list[a];

	heap->list[a] = heap->list[b];
	heap->list[b] = kept;
}

static void push(struct heap *heap, uint64_t key, uint32_t step)
{
	size_t i = heap->n++;

	heap->list[i] = (struct waiting){key, step};
	for (; i > 0 && comes_first(heap->list[i], heap->list[(i - 1) / 2]); i = (i - 1) / 2)
		swap(heap, i, (i - 1) / 2);
}

static uint32_t pop(struct heap *heap)
{
	uint32_t first = heap->list[0].step;

	heap->list[0] = heap->list[--heap->n];
	for (size_t i = 0;;) {
		size_t best = i;
		for (size_t child = 2 * i + 1; child < 2 * i + 3 && child < heap->n; child++)
			if (comes_first(heap->list[child], heap->list[best]))
				best = child;
		if (best == i)
			return first;
		swap(heap, i, best);
		i = best;
	}
}

struct link {
	uint32_t to, next; /* the next of the same step; 0: none */
};

struct plan {
	const struct gt_ptx_renamed *block;
	struct link *links; /* from 1 on: what must follow a step */
	size_t n_links, capacity;
	uint32_t *first_link, *waits; /* by step; waits: for how many others */
	uint32_t *made_by;	      /* by name */
	uint32_t *not_before;	      /* by step */
	uint64_t *height, *ready;     /* by step: cycles to the block's end; when its sources are there */
	struct heap now, later;
	bool failed;
};

static void must_follow(struct plan *plan, uint32_t from, uint32_t to)
{
	struct link *grown = gt_grown_to(plan->links, plan->n_links + 2, &plan->capacity, sizeof *grown);

	if (!grown) {
		plan->failed = true;
		return;
	}
	plan->links = grown;
	plan->links[++plan->n_links] = (struct link){to, plan->first_link[from]};
	plan->first_link[from] = (uint32_t)plan->n_links;
	plan->waits[to]++;
}

static void link_sources(struct plan *plan, uint32_t from, uint32_t i)
{
	const struct gt_ptx_step *step = &plan->block->list[i];
	const uint32_t *refs = refs_of(plan->block->refs, step);

	for (uint32_t s = 0; s < step->n_sources; s++) {
		uint32_t by = plan->made_by[refs[step->n_results + s]];
		if (by != NONE && by >= from)
			must_follow(plan, by, i);
	}
	for (uint32_t r = 0; r < step->n_results; r++)
		plan->made_by[refs[r]] = i;
}

/* A read follows the write before it, a write also the reads since then. */
static void link_memory(struct plan *plan, uint32_t from, uint32_t to)
{
	uint32_t wrote[GT_PTX_STEP_SPACES], read_since[GT_PTX_STEP_SPACES];

	for (unsigned k = 0; k < GT_PTX_STEP_SPACES; k++)
		wrote[k] = NONE, read_since[k] = from;
	for (uint32_t i = from; i < to; i++) {
		const struct gt_ptx_step *step = &plan->block->list[i];
		plan->not_before[i] = NONE;
		for (unsigned k = 0; k < GT_PTX_STEP_SPACES; k++) {
			if (step->effect == GT_PTX_EFFECT_NONE ||
			    (step->effect != GT_PTX_EFFECT_FENCE && step->space != (enum gt_ptx_step_space)k))
				continue;
			if (wrote[k] != NONE)
				must_follow(plan, wrote[k], i);
			plan->not_before[i] = wrote[k];
			if (step->effect == GT_PTX_EFFECT_READS)
				continue;
			for (uint32_t r = read_since[k]; r < i; r++)
				if (plan->block->list[r].effect == GT_PTX_EFFECT_READS &&
				    plan->block->list[r].space == (enum gt_ptx_step_space)k)
					must_follow(plan, r, i);
			wrote[k] = i;
			read_since[k] = i + 1;
		}
	}
}

/* Delays address computations of reads that depend on a write until that write: issued earlier they would only occupy registers. */
static void delay_addresses(struct plan *plan, uint32_t from, uint32_t to)
{
	for (uint32_t i = to; i-- > from;) {
		const struct gt_ptx_step *step = &plan->block->list[i];
		uint32_t earliest = plan->first_link[i] ? to : NONE;
		if (step->effect != GT_PTX_EFFECT_NONE || step->latency > GT_PTX_ARITHMETIC_CYCLES)
			continue;
		for (uint32_t l = plan->first_link[i]; l && earliest != NONE; l = plan->links[l].next) {
			uint32_t reader = plan->links[l].to, reader_begins = plan->not_before[reader];
			if (plan->block->list[reader].effect > GT_PTX_EFFECT_READS)
				reader_begins = NONE;
			earliest = reader_begins == NONE || reader_begins < earliest ? reader_begins : earliest;
		}
		plan->not_before[i] = earliest;
		if (earliest != NONE && earliest < i)
			must_follow(plan, earliest, i);
	}
}

static void find_heights(struct plan *plan, uint32_t from, uint32_t to)
{
	for (uint32_t i = to; i-- > from;) {
		uint64_t most = 0;
		for (uint32_t l = plan->first_link[i]; l; l = plan->links[l].next)
			most = plan->height[plan->links[l].to] > most ? plan->height[plan->links[l].to] : most;
		plan->height[i] = most + plan->block->list[i].latency;
	}
}

/* Issues the steps [from, to), one a cycle if one is ready. */
static void issue(struct plan *plan, uint32_t from, uint32_t to, uint32_t *order)
{
	uint64_t cycle = 0;

	for (uint32_t i = from; i < to; i++)
		if (plan->waits[i] == 0)
			push(&plan->now, plan->height[i], i);
	for (uint32_t place = from; place < to; place++, cycle++) {
		if (plan->now.n == 0 && UINT64_MAX - plan->later.list[0].key > cycle)
			cycle = UINT64_MAX - plan->later.list[0].key;
		while (plan->later.n > 0 && UINT64_MAX - plan->later.list[0].key <= cycle) {
			uint32_t i = pop(&plan->later);
			push(&plan->now, plan->height[i], i);
		}
		uint32_t i = order[place] = pop(&plan->now);
		for (uint32_t l = plan->first_link[i]; l; l = plan->links[l].next) {
			uint32_t after = plan->links[l].to;
			uint64_t at = cycle + plan->block->list[i].latency;
			plan->ready[after] = at > plan->ready[after] ? at : plan->ready[after];
			if (--plan->waits[after] == 0)
				push(&plan->later, UINT64_MAX - plan->ready[after], after);
		}
	}
}

/* Calls and branches stay where they are, and nothing passes them. */
static void order_parts(struct plan *plan, uint32_t *order)
{
	uint32_t n = (uint32_t)plan->block->n, from = 0;

	for (uint32_t i = 0; i <= n && !plan->failed; i++) {
		if (i < n && plan->block->list[i].effect != GT_PTX_EFFECT_ENDS)
			continue;
		for (uint32_t k = from; k < i; k++)
			link_sources(plan, from, k);
		link_memory(plan, from, i);
		delay_addresses(plan, from, i);
		if (plan->failed)
			return;
		find_heights(plan, from, i);
		issue(plan, from, i, order);
		if (i < n)
			order[i] = i;
		from = i + 1;
	}
}

/* order: room for block->n steps. */
static int gt_ptx_order(const struct gt_ptx_renamed *block, uint32_t *order, struct gt_error *error)
{
	size_t n = block->n + 1;
	struct plan plan = {.block = block};

	plan.first_link = calloc(n, sizeof *plan.first_link);
	plan.waits = calloc(n, sizeof *plan.waits);
	plan.not_before = calloc(n, sizeof *plan.not_before);
	plan.height = calloc(n, sizeof *plan.height);
	plan.ready = calloc(n, sizeof *plan.ready);
	plan.made_by = malloc((block->n_names + 1) * sizeof *plan.made_by);
	plan.now.list = calloc(n, sizeof *plan.now.list);
	plan.later.list = calloc(n, sizeof *plan.later.list);
	plan.failed = !plan.first_link || !plan.waits || !plan.not_before || !plan.height || !plan.ready ||
		      !plan.made_by || !plan.now.list || !plan.later.list;
	for (size_t k = 0; k < block->n_names && !plan.failed; k++)
		plan.made_by[k] = NONE;
	if (!plan.failed)
		order_parts(&plan, order);
	free(plan.links);
	free(plan.first_link);
	free(plan.waits);
	free(plan.not_before);
	free(plan.height);
	free(plan.ready);
	free(plan.made_by);
	free(plan.now.list);
	free(plan.later.list);
	return plan.failed ? gt_fail_memory(error, "an estimate of registers") : 0;
}

enum {
	THREAD_MOST = 255,   /* registers a thread can name */
	SM_REGISTERS = 65536, /* of an SM, and of a block, from compute capability 5.0 on */
	UNIT = 8,	     /* a warp's are given out in so many a thread */
	WARP = 32,
	RESERVED = 3,	  /* R1, the stack pointer, and two that the assembler adds from compute capability 7.0 on */
	CALLS_DEPTH = 64, /* deeper calls count as those of a function that is not in the module */
};

/* 32-bit registers that hold something at a time. */
struct needs {
	uint32_t as_written; /* in the PTX's order */
	uint32_t early;	     /* with loads as early as they can be, and loops unrolled */
};

enum progress { UNKNOWN, BEGUN, KNOWN };

struct estimate {
	const struct gt_ptx_module *module;
	uint32_t target; /* registers that the assembler keeps below if it can */
	struct callee {
		enum progress progress;
		uint32_t words;
	} *callees; /* by function of the module */
	unsigned depth;
	struct gt_error *error;
};

/* One function's parts. */
struct parts {
	struct gt_ptx_flow flow;
	struct gt_ptx_registers registers;
	struct gt_ptx_steps steps;
	struct block_values kept;
	struct gt_ptx_renamed block;
	uint32_t *order;
	size_t capacity;
};

static uint32_t larger_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t settle(struct needs needs, uint32_t target)
{
	return smaller(needs.early, larger_of(needs.as_written, target));
}

static int count_block(struct parts *parts, size_t b, unsigned copies, struct needs *needs, struct gt_error *error)
{
	struct gt_ptx_renamed *block = &parts->block;

	rename(block, &parts->kept, b, copies);
	uint32_t *grown = block->failed ? NULL
					: gt_grown_to(parts->order, block->n + 1, &parts->capacity, sizeof *grown);
	if (!grown)
		return gt_fail_memory(error, "an estimate of registers");
	parts->order = grown;
	if (gt_ptx_order(block, parts->order, error) != 0)
		return -1;
	needs->as_written = larger_of(needs->as_written, words_live(block, NULL, true));
	needs->early = larger_of(needs->early, words_live(block, parts->order, false));
	return 0;
}

static int count_function(struct estimate *estimate, const struct gt_ptx_function *function, struct needs *needs);

/* The registers of the functions that it calls. */
static int count_callees(struct estimate *estimate, struct gt_ptx_steps *steps)
{
	for (size_t i = 0; i < steps->n; i++) {
		const struct gt_ptx_function *function =
			steps->list[i].callee ? gt_ptx_function_body(estimate->module, steps->list[i].callee) : NULL;
		if (!function || estimate->depth == CALLS_DEPTH)
			continue;
		struct callee *callee = &estimate->callees[function - estimate->module->functions];
		struct needs needs = {0};
		if (callee->progress == BEGUN) /* it calls itself */
			continue;
		if (callee->progress == UNKNOWN) {
			callee->progress = BEGUN;
			estimate->depth++;
			if (count_function(estimate, function, &needs) != 0)
				return -1;
			estimate->depth--;
			callee->words = settle(needs, estimate->target);
			callee->progress = KNOWN;
		}
		steps->list[i].scratch = callee->words;
	}
	return 0;
}

static int count_parts(struct estimate *estimate, const struct gt_ptx_function *function, struct parts *parts,
		       struct needs *needs)
{
	struct gt_error *error = estimate->error;

	if (gt_ptx_registers_make(&parts->registers, function, &parts->flow, error) != 0 ||
	    gt_ptx_steps_make(&parts->steps, function, &parts->flow, &parts->registers, error) != 0 ||
	    count_callees(estimate, &parts->steps) != 0 ||
	    block_values_make(&parts->kept, &parts->steps, &parts->flow, error) != 0 ||
	    renamed_open(&parts->block, &parts->steps, error) != 0)
		return -1;
	if (!parts->kept.live.sets)
		*needs = (struct needs){THREAD_MOST, THREAD_MOST};
	for (size_t b = 0; parts->kept.live.sets && b < parts->flow.n_blocks; b++) {
		unsigned copies = gt_ptx_unrolls(&parts->steps, &parts->flow, b) ? GT_PTX_UNROLLED : 1;
		if (count_block(parts, b, copies, needs, error) != 0)
			return -1;
	}
	return 0;
}

static int count_function(struct estimate *estimate, const struct gt_ptx_function *function, struct needs *needs)
{
	struct parts parts = {0};
	int result = gt_ptx_flow_make(&parts.flow, function, estimate->error);

	if (result == 0)
		result = count_parts(estimate, function, &parts, needs);
	free(parts.order);
	renamed_close(&parts.block);
	block_values_free(&parts.kept);
	gt_ptx_steps_free(&parts.steps);
	gt_ptx_registers_free(&parts.registers);
	gt_ptx_flow_free(&parts.flow);
	return result;
}

/* 65536 registers by the threads of an SM (NVIDIA, CUDA C programming guide, technical specifications per compute
 * capability): 1024 in 7.5; 1536 in 8.6 to 8.9 and from 11.0 on; else 2048. */
static uint32_t full_of(unsigned target)
{
	uint32_t threads = target == 75 ? 1024 : (target >= 86 && target < 90) || target >= 110 ? 1536 : 2048;

	return SM_REGISTERS / threads / UNIT * UNIT;
}

/* The most registers that let the blocks of .minnctapersm, of .maxntid threads each, be resident. */
static uint32_t most_registers(const struct gt_ptx_function *kernel)
{
	const uint32_t *bound = kernel->required_threads[0] ? kernel->required_threads : kernel->max_threads;
	uint64_t threads = 1;

	for (int k = 0; k < 3; k++)
		threads *= bound[k] ? bound[k] : 1;
	uint64_t warps = (threads + WARP - 1) / WARP * (kernel->min_blocks ? kernel->min_blocks : 1);
	uint64_t most = bound[0] ? SM_REGISTERS / WARP / warps / UNIT * UNIT : THREAD_MOST;
	return most < UNIT ? UNIT : most < THREAD_MOST ? (uint32_t)most : THREAD_MOST;
}

int gt_ptx_estimate_registers(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, uint32_t full,
			      uint32_t *registers, struct gt_error *error)
{
	uint32_t most = most_registers(kernel);
	uint32_t target = kernel->min_blocks ? most : smaller(most, full ? full : full_of(module->target.capability));
	struct estimate estimate = {
		.module = module, .target = target > RESERVED ? target - RESERVED : 0, .error = error};
	struct needs needs = {0};

	estimate.callees = calloc(module->n_functions + 1, sizeof *estimate.callees);
	int result = estimate.callees ? count_function(&estimate, kernel, &needs)
				      : gt_fail_memory(error, "an estimate of registers");
	free(estimate.callees);
	/* Pairs for 64-bit values begin at even registers, and the count ends with one. */
	uint32_t words = (settle(needs, estimate.target) + RESERVED + 1) / 2 * 2;
	*registers = smaller(words, most);
	return result;
}
