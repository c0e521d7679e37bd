/* SPDX-License-Identifier: MIT */
#include "schedule/runner.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/work.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool is_left(const struct runner *runner)
{
	return runner->source->row < runner->source->end;
}

const struct shape *gt_kept_shape(const struct shapes *shapes, const struct kept *row)
{
	const struct odd *odd = odd_of(row);

	return odd ? &odd->shape : &shapes->all[row->shape];
}

uint64_t gt_kept_address(const struct kept *row)
{
	const struct odd *odd = odd_of(row);

	return odd ? odd->base : row->base;
}

/* The first of the barriers that hold warps of a block; those behind it wait for warps that it holds. UINT32_MAX: none does. */
static uint32_t first_barrier(const struct block *block)
{
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < block->n_runners; i++) {
		const struct runner *runner = &block->runners[i];
		if (is_left(runner) && runner->held && runner->barriers < first)
			first = runner->barriers;
	}
	return first;
}

/* Lets the warps go on that the first barrier holds, if all others have come to it. Warps without further accesses count as
 * come. */
static void pass_barrier(struct block *block)
{
	uint32_t barriers = first_barrier(block);
	uint64_t last = 0;

	for (size_t i = 0; i < block->n_runners; i++) {
		const struct runner *runner = &block->runners[i];
		if (!is_left(runner) || runner->barriers > barriers || (runner->barriers == barriers && !runner->held))
			continue;
		if (runner->barriers < barriers || runner->arrived == GT_NEVER)
			return;
		last = later(last, runner->arrived);
	}
	for (size_t i = 0; i < block->n_runners; i++) {
		struct runner *runner = &block->runners[i];
		if (!is_left(runner) || !runner->held || runner->barriers != barriers)
			continue;
		runner->held = false;
		runner->crew->ready[runner->place] = last;
	}
}

static void arrive(struct runner *runner, uint64_t now)
{
	runner->arrived = now;
	if (runner->held)
		pass_barrier(runner->block);
	else
		runner->crew->ready[runner->place] = now;
}

/* Looks at what comes before the next access. */
static void look_ahead(struct runner *runner, const struct shapes *shapes, uint64_t now)
{
	runner->crew->ready[runner->place] = runner->arrived = GT_NEVER;
	if (!is_left(runner)) {
		pass_barrier(runner->block); /* which does not wait for it any more */
		return;
	}
	uint32_t work = gt_kept_shape(shapes, runner->source->row)->work;
	runner->instructions = gt_work_instructions(work);
	runner->held = gt_work_barriers(work) > 0;
	runner->barriers += gt_work_barriers(work);
	if (!gt_work_waits(work))
		arrive(runner, now);
	else if (runner->queued == 0)
		arrive(runner, later(runner->data, now));
	else if (runner->held)
		pass_barrier(runner->block); /* one before its own may have waited for it */
}

static int join(struct crew *crew, struct runner *runner, struct gt_error *error)
{
	size_t capacity = crew->capacity;
	struct runner **runners = gt_grown(crew->runners, crew->n, &capacity, sizeof *runners);

	if (!runners)
		return gt_fail_memory(error, "the warps of an SM");
	crew->runners = runners;
	uint64_t *ready = gt_grown(crew->ready, crew->n, &crew->capacity, sizeof *ready);
	if (!ready)
		return gt_fail_memory(error, "the warps of an SM");
	crew->ready = ready;
	runner->crew = crew;
	runner->place = crew->n;
	crew->runners[crew->n] = runner;
	crew->ready[crew->n++] = GT_NEVER;
	return 0;
}

int gt_runners_admit(struct block *block, struct crew *const *crews, uint32_t n, uint64_t first, struct keep *keep,
		     uint64_t now, struct gt_error *error)
{
	block->runners = calloc(block->n_sources, sizeof *block->runners);
	if (!block->runners)
		return gt_fail_memory(error, "the warps of a block");
	for (size_t i = 0; i < block->n_sources; i++) {
		struct source *source = &block->sources[i];
		block->runners[i] = (struct runner){.source = source, .block = block};
		if ((source->row == source->end && gt_source_fill(source, &keep->strands, error) != 0) ||
		    join(crews[(first + source->warp) % n], &block->runners[i], error) != 0)
			return -1;
	}
	block->n_runners = block->warps_left = block->n_sources;
	for (size_t i = 0; i < block->n_runners; i++)
		look_ahead(&block->runners[i], &keep->shapes, now);
	return 0;
}

int gt_runner_issued(struct runner *runner, struct kept *last, struct keep *keep, uint64_t now, struct gt_error *error)
{
	struct source *source = runner->source;

	source->row = last;
	runner->queued++;
	if (source->row == source->end && gt_source_fill(source, &keep->strands, error) != 0)
		return -1;
	look_ahead(runner, &keep->shapes, now);
	return 0;
}

bool gt_runner_served(struct runner *runner, uint64_t data)
{
	runner->data = later(runner->data, data);
	if (--runner->queued > 0)
		return false;
	if (is_left(runner) && runner->arrived == GT_NEVER)
		arrive(runner, runner->data);
	return !is_left(runner);
}

void gt_runner_leave(struct runner *runner)
{
	struct crew *crew = runner->crew;
	size_t at = runner->place, rest = crew->n - at - 1;

	memmove(crew->runners + at, crew->runners + at + 1, rest * sizeof *crew->runners);
	memmove(crew->ready + at, crew->ready + at + 1, rest * sizeof *crew->ready);
	crew->n--;
	for (; at < crew->n; at++)
		crew->runners[at]->place = at;
}

void gt_crew_close(struct crew *crew)
{
	free(crew->runners);
	free(crew->ready);
}
