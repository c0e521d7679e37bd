/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/estimate/loop.h"

enum { COPIES = 4, LARGEST = 40 };

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

static bool unrolls(const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow, size_t b)
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

unsigned gt_ptx_loop_copies(const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow, size_t b)
{
	return unrolls(steps, flow, b) ? COPIES : 1;
}
