/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/estimate/order.h"

#include <stdlib.h>

#include "base/grown.h"

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
	const uint32_t *refs = plan->block->refs + step->refs;

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

/* What only serves reads that wait for a write, their addresses, is not issued before that write: it would but
 * occupy registers. */
static void hold_back(struct plan *plan, uint32_t from, uint32_t to)
{
	for (uint32_t i = to; i-- > from;) {
		const struct gt_ptx_step *step = &plan->block->list[i];
		uint32_t earliest = plan->first_link[i] ? to : NONE;
		if (step->effect != GT_PTX_EFFECT_NONE || step->latency > GT_PTX_ARITHMETIC_CYCLES)
			continue;
		for (uint32_t l = plan->first_link[i]; l && earliest != NONE; l = plan->links[l].next) {
			uint32_t reader = plan->links[l].to, held = plan->not_before[reader];
			if (plan->block->list[reader].effect > GT_PTX_EFFECT_READS)
				held = NONE;
			earliest = held == NONE || held < earliest ? held : earliest;
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
		hold_back(plan, from, i);
		if (plan->failed)
			return;
		find_heights(plan, from, i);
		issue(plan, from, i, order);
		if (i < n)
			order[i] = i;
		from = i + 1;
	}
}

int gt_ptx_order(const struct gt_ptx_renamed *block, uint32_t *order, struct gt_error *error)
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
