/* SPDX-License-Identifier: MIT */
#include "dissect/sweep_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int gt_sweep_usable(const struct gt_chase_run *run)
{
	return run->uniform && run->stride < UINT64_MAX && run->n >= 2 * run->period &&
	       run->period == (run->bytes - 1) / run->stride + 1;
}

struct choice {
	uint64_t bytes;
	size_t n, run;
};

static int compare(const void *a, const void *b)
{
	const struct choice *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? -1 : 1;
	return (left->n < right->n) - (left->n > right->n);
}

static int choose_runs(const struct gt_chase_series *series, struct gt_sweep *sweep, struct gt_error *error)
{
	struct choice *choices = calloc(series->runs_n + 1, sizeof *choices);
	size_t n = 0;

	if (!choices)
		return gt_fail_memory(error, "a sweep");
	for (size_t r = 0; r < series->runs_n; r++)
		if (gt_sweep_usable(&series->runs[r]) && series->runs[r].stride == sweep->stride)
			choices[n++] = (struct choice){series->runs[r].bytes, series->runs[r].n, r};
	qsort(choices, n, sizeof *choices, compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || choices[i].bytes != choices[i - 1].bytes)
			sweep->runs[sweep->n++] = choices[i].run;
	free(choices);
	return sweep->n > 0 ? 0 : gt_fail(error, "expected runs of one stride and two rounds or more each (gpchase trace -k 3)");
}

/* The first round of a cold run misses at each new unit, and nowhere else: the distance of these misses is the unit.
 * One in 20 accesses may be misclassified. */
static void find_unit(struct gt_sweep_work *work)
{
	enum { POWERS = 17 };
	struct gt_sweep *sweep = work->sweep;
	uint64_t known[POWERS] = {0}, agree[POWERS] = {0};

	for (size_t j = 0; j < sweep->n; j++) {
		gt_sweep_count(work, j);
		for (size_t e = 0; e < gt_sweep_run(work, j)->period; e++)
			for (unsigned power = 0; power < POWERS && work->elements[e].first >= 0; power++) {
				/* Accesses that should miss have half of the weight. */
				uint64_t apart = UINT64_C(1) << power, weight = e % apart == 0 ? apart - 1 + (apart == 1) : 1;
				known[power] += weight;
				agree[power] += work->elements[e].first == (e % apart != 0) ? weight : 0;
			}
	}
	for (unsigned power = 0; power < POWERS && !sweep->cold; power++)
		if (agree[power] * 20 > known[power] * 19) {
			sweep->cold = 1;
			sweep->unit = sweep->stride << power;
			sweep->unit_known = power > 0;
		}
	if (!sweep->cold)
		sweep->unit = sweep->stride;
}

/* How often an element must miss so that noise would make any element of any run do so with a probability of at most 1
 * in 10,000. */
static uint32_t enough(const struct gt_sweep_work *work, const struct gt_sweep_element *element, double places)
{
	double chance = places;

	if (work->sweep->regularity == GT_REGULAR)
		return element->known / 2 + 1;
	for (uint32_t times = 1; times <= element->known; times++) {
		chance *= work->noise * (element->known - times + 1) / times;
		if (chance < 1e-4)
			return times;
	}
	return element->known + 1;
}

static void find_missing(struct gt_sweep_work *work, size_t j)
{
	const struct gt_chase_run *run = gt_sweep_run(work, j);
	struct gt_sweep *sweep = work->sweep;
	double places = (double)(run->period) * (double)sweep->n;
	double members = 0, misses = 0;

	gt_sweep_count(work, j);
	memset(work->now, 0, sweep->units);
	for (size_t e = 0; e < run->period; e++) {
		struct gt_sweep_element *element = &work->elements[e];
		if (element->known == 0 || element->missed < enough(work, element, places))
			continue;
		work->now[e * run->stride / sweep->unit] = 1;
		members++;
		misses += element->missed;
	}
	if (members > 0 && sweep->regularity == GT_IRREGULAR)
		sweep->doubt += members * exp(-misses / members / 2);
}

/* The first unit of run j that the previous run did not have; for the first run, found from the next step. */
static size_t newest(const struct gt_sweep_work *work, size_t j)
{
	const struct gt_sweep *sweep = work->sweep;
	uint64_t bytes = gt_sweep_run(work, j)->bytes, added = sweep->unit;

	if (j > 0)
		return (size_t)((gt_sweep_run(work, j - 1)->bytes + sweep->unit - 1) / sweep->unit);
	if (sweep->n > 1)
		added = gt_sweep_run(work, 1)->bytes - bytes;
	added = added > bytes / 4 ? sweep->unit : added;
	return added < bytes ? (size_t)((bytes - added) / sweep->unit) : 0;
}

/* The units that begin to miss in run j are a set that overflows or, if they are only the newest units, belong to a set
 * that overflowed before. */
static void take_run(struct gt_sweep_work *work, size_t j)
{
	struct gt_sweep *sweep = work->sweep;
	size_t added = newest(work, j), old = 0, young = 0;

	find_missing(work, j);
	for (size_t u = 0; u < sweep->units; u++) {
		int begins = work->now[u] && !sweep->missing[u];
		sweep->strange += sweep->missing[u] && !work->now[u];
		old += begins && u < added;
		young += begins && u >= added;
	}
	if (old + young == 0 && sweep->sets == 0)
		sweep->fits = gt_sweep_run(work, j)->bytes;
	int overflows = old > 0 && young > 0 && sweep->sets < GT_SETS_MAX;
	if (old > 0 && !overflows)
		sweep->strange += old;
	else if (old == 0 && young > 0 && sweep->sets == 0)
		sweep->strange += young;
	if (overflows) {
		sweep->ways[++sweep->sets] = (uint32_t)old;
		sweep->overflow[sweep->sets] = j;
	}
	for (size_t u = 0; u < sweep->units; u++) {
		if (overflows && work->now[u] && !sweep->missing[u])
			sweep->set[u] = sweep->sets;
		sweep->missing[u] |= work->now[u] && (overflows || u >= added);
	}
}

/* Whether all units of run j have missed; also records the step. */
static int all_miss(struct gt_sweep_work *work, size_t j)
{
	struct gt_sweep *sweep = work->sweep;
	uint64_t bytes = gt_sweep_run(work, j)->bytes, step = j > 0 ? bytes - gt_sweep_run(work, j - 1)->bytes : 0;

	if (j > 0 && sweep->fits < bytes && (sweep->step == UINT64_MAX || step > sweep->step))
		sweep->step = step;
	sweep->last = bytes;
	for (size_t u = 0; u < (bytes + sweep->unit - 1) / sweep->unit; u++)
		if (!sweep->missing[u])
			return 0;
	return sweep->sets > 0;
}

/* With random replacement, a run must have enough rounds to replace each line. */
static void drop_short_runs(struct gt_sweep_work *work)
{
	struct gt_sweep *sweep = work->sweep;
	size_t kept = 0;

	for (size_t j = 0; j < sweep->n; j++)
		if (gt_sweep_run(work, j)->n / gt_sweep_run(work, j)->period >= sweep->rounds / 2)
			sweep->runs[kept++] = sweep->runs[j];
	sweep->n = kept;
}

static void find_sets(struct gt_sweep_work *work)
{
	struct gt_sweep *sweep = work->sweep;

	for (size_t j = 0; j < sweep->n; j++)
		if (gt_sweep_run(work, j)->n / gt_sweep_run(work, j)->period > sweep->rounds)
			sweep->rounds = gt_sweep_run(work, j)->n / gt_sweep_run(work, j)->period;
	gt_sweep_calm(work);
	gt_sweep_regularity(work);
	if (sweep->regularity == GT_IRREGULAR)
		drop_short_runs(work);
	sweep->step = UINT64_MAX;
	for (size_t j = 0; j < sweep->n && !sweep->complete; j++) {
		take_run(work, j);
		sweep->complete = all_miss(work, j);
	}
	sweep->units = (size_t)((sweep->last + sweep->unit - 1) / sweep->unit);
	for (size_t u = 0; u < sweep->units && sweep->sets == 1; u++)
		if (sweep->missing[u])
			sweep->set[u] = 1; /* with one set, later lines are in it too */
}

int gt_sweep_make(const struct gt_chase_series *series, uint64_t stride, struct gt_sweep *sweep, struct gt_error *error)
{
	struct gt_sweep_work work = {.series = series, .sweep = sweep};
	int result = -1;

	*sweep = (struct gt_sweep){.stride = stride, .runs = calloc(series->runs_n + 1, sizeof *sweep->runs)};
	if (!sweep->runs)
		return gt_fail_memory(error, "a sweep");
	if (choose_runs(series, sweep, error) != 0)
		return -1;
	uint64_t most = series->runs[sweep->runs[sweep->n - 1]].period;
	work.elements = calloc((size_t)most + 1, sizeof *work.elements);
	work.now = calloc((size_t)most + 1, 1);
	sweep->missing = calloc((size_t)most + 1, 1);
	sweep->set = calloc((size_t)most + 1, sizeof *sweep->set);
	sweep->overflow = calloc(GT_SETS_MAX + 1, sizeof *sweep->overflow);
	if (work.elements && work.now && sweep->missing && sweep->set && sweep->overflow) {
		find_unit(&work);
		sweep->units = (size_t)((series->runs[sweep->runs[sweep->n - 1]].bytes + sweep->unit - 1) / sweep->unit);
		find_sets(&work);
		result = 0;
	} else {
		gt_fail_memory(error, "a sweep");
	}
	free(work.elements);
	free(work.now);
	return result;
}

void gt_sweep_clear(struct gt_sweep *sweep)
{
	free(sweep->runs);
	free(sweep->set);
	free(sweep->missing);
	free(sweep->overflow);
	*sweep = (struct gt_sweep){0};
}
