/* SPDX-License-Identifier: MIT */
/* A sweep of N: runs of one stride over longer and longer arrays. While all lines fit, none misses after the first round. One line
 * more makes a set overflow, and all its lines begin to miss: their number is the ways plus one.
 *
 * Before its sets are looked for, the noise of a sweep is measured, and whether its misses are regular. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/sets.h"

#define NOISE_MOST 0.01	 /* share of hits that may look like misses */
#define RUNS_LOOKED_AT 8 /* of those that miss, for the regularity */

/* The hits and misses of an element in one run. */
struct element {
	uint32_t known, missed; /* after the first round */
	int8_t first;		/* hit in the first round */
};

struct work {
	const struct gt_chase_series *series;
	struct gt_sweep *sweep;
	struct element *elements; /* of the current run */
	bool *now;		  /* misses in the current run, by unit */
	double noise;		  /* probability that a hit looks like a miss */
};

static inline const struct gt_chase_run *run_of(const struct work *work, size_t j)
{
	return &work->series->runs[work->sweep->runs[j]];
}

/* ---- the runs ---- */

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
		if (series->runs[r].repeated && series->runs[r].stride == sweep->stride)
			choices[n++] = (struct choice){series->runs[r].bytes, series->runs[r].n, r};
	qsort(choices, n, sizeof *choices, compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || choices[i].bytes != choices[i - 1].bytes)
			sweep->runs[sweep->n++] = choices[i].run;
	free(choices);
	return sweep->n > 0 ? 0 : gt_fail(error, "expected runs of one stride and two rounds or more each (gpchase trace -k 3)");
}

/* ---- noise and regularity ---- */

/* Counts a run's hits and misses by element. */
static void count_elements(struct work *work, size_t j)
{
	const struct gt_chase_run *run = run_of(work, j);
	const struct gt_sample *samples = work->series->samples + run->first;

	memset(work->elements, 0, (size_t)(run->period) * sizeof *work->elements);
	for (size_t i = 0; i < run->n; i++) {
		struct element *element = &work->elements[samples[i].offset / run->stride];
		if (i < run->period)
			element->first = samples[i].hit;
		else if (samples[i].hit >= 0) {
			element->known++;
			element->missed += !samples[i].hit;
		}
	}
}

/* 0 if each element misses always or never, as in a ring under LRU and FIFO; random replacement misses in some rounds. A
 * few elements in between suffice, since many lines may have no choice of ways. */
static double spread(const struct work *work, size_t j)
{
	const struct gt_chase_run *run = run_of(work, j);
	double missed = 0, both = 0, members = 0, between = 0;

	for (size_t e = 0; e < run->period; e++) {
		const struct element *element = &work->elements[e];
		if (element->known == 0)
			continue;
		double part = (double)element->missed / element->known;
		missed += part;
		members += part > 0.15;
		between += part > 0.15 && part < 0.85;
		both += part * (1 - part) * (element->known > 1 ? (double)element->known / (element->known - 1) : 1);
	}
	if (between > 2 && between > members / 20)
		return 1;
	return missed > 0 ? both / missed : 0;
}

/* Whether the misses of a run are periodic, which those of random replacement are not. */
static bool repeats(const struct work *work, size_t j)
{
	const struct gt_chase_run *run = run_of(work, j);
	const struct gt_sample *samples = work->series->samples + run->first;

	for (uint64_t rounds = 1; rounds <= 16 && (rounds + 2) * run->period < run->n; rounds++) {
		uint64_t lag = rounds * run->period, differ = 0, misses = 0;
		for (size_t i = (size_t)(lag + run->period); i < run->n; i++) {
			differ += samples[i].hit != samples[i - lag].hit && samples[i].hit >= 0 && samples[i - lag].hit >= 0;
			misses += samples[i].hit == 0;
		}
		if (differ * 10 < misses)
			return true;
	}
	return false;
}

/* Random replacement shows where the first sets overflow by little; where all sets overflow by much, all miss. */
static void find_regularity(struct work *work)
{
	struct gt_sweep *sweep = work->sweep;
	size_t misses = 0, irregular = 0, first = 0;

	for (size_t j = 0; j < sweep->n && misses < RUNS_LOOKED_AT; j++) {
		size_t members = 0;
		count_elements(work, j);
		for (size_t e = 0; e < run_of(work, j)->period; e++)
			members += work->elements[e].missed * 6 > work->elements[e].known;
		if (members < 2 || run_of(work, j)->bytes <= sweep->calm ||
		    run_of(work, j)->n / run_of(work, j)->period < sweep->rounds / 2)
			continue;
		misses++;
		if (spread(work, j) > 0.15 && irregular++ == 0)
			first = j;
	}
	sweep->regularity = irregular * 4 > misses ? GT_IRREGULAR : GT_REGULAR;
	sweep->periodic = sweep->regularity == GT_IRREGULAR && repeats(work, first);
}

/* Estimates the noise from the runs up to the first with clearly more misses. Only first accesses of a unit are counted:
 * the others can only miss by noise. */
static void find_calm(struct work *work)
{
	struct gt_sweep *sweep = work->sweep;
	uint64_t known = 0, missed = 0;

	work->noise = NOISE_MOST;
	for (size_t j = 0; j < sweep->n; j++) {
		uint64_t run_known = 0, run_missed = 0;
		count_elements(work, j);
		for (size_t e = 0; e < run_of(work, j)->period; e += (size_t)(sweep->unit / sweep->stride)) {
			run_known += work->elements[e].known;
			run_missed += work->elements[e].missed;
		}
		if ((double)run_missed > 3 + 3 * work->noise * (double)run_known)
			return;
		known += run_known;
		missed += run_missed;
		work->noise = (double)(missed + 1) / (double)(known + 1); /* + 1: the noise is not 0 only because none was seen */
		work->noise = work->noise < NOISE_MOST ? work->noise : NOISE_MOST;
		sweep->calm = run_of(work, j)->bytes;
	}
}

/* ---- what a miss fetches ---- */

/* The first round of a cold run misses at each new unit, and nowhere else: the distance of these misses is the unit.
 * One in 20 accesses may be misclassified. */
static void find_unit(struct work *work)
{
	enum { POWERS = 17 };
	struct gt_sweep *sweep = work->sweep;
	uint64_t known[POWERS] = {0}, agree[POWERS] = {0};

	for (size_t j = 0; j < sweep->n; j++) {
		count_elements(work, j);
		for (size_t e = 0; e < run_of(work, j)->period; e++)
			for (unsigned power = 0; power < POWERS && work->elements[e].first >= 0; power++) {
				/* Accesses that should miss have half of the weight. */
				uint64_t apart = UINT64_C(1) << power, weight = e % apart == 0 ? apart - 1 + (apart == 1) : 1;
				known[power] += weight;
				agree[power] += work->elements[e].first == (e % apart != 0) ? weight : 0;
			}
	}
	for (unsigned power = 0; power < POWERS && !sweep->cold; power++)
		if (agree[power] * 20 > known[power] * 19) {
			sweep->cold = true;
			sweep->unit = sweep->stride << power;
			sweep->unit_known = power > 0;
		}
	if (!sweep->cold)
		sweep->unit = sweep->stride;
}

/* ---- sets ---- */

/* How often an element must miss so that noise would make any element of any run do so with a probability of at most 1
 * in 10,000. */
static uint32_t enough(const struct work *work, const struct element *element, double places)
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

static void find_missing(struct work *work, size_t j)
{
	const struct gt_chase_run *run = run_of(work, j);
	struct gt_sweep *sweep = work->sweep;
	double places = (double)(run->period) * (double)sweep->n;
	double members = 0, misses = 0;

	count_elements(work, j);
	memset(work->now, 0, sweep->units * sizeof *work->now);
	for (size_t e = 0; e < run->period; e++) {
		struct element *element = &work->elements[e];
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
static size_t newest(const struct work *work, size_t j)
{
	const struct gt_sweep *sweep = work->sweep;
	uint64_t bytes = run_of(work, j)->bytes, added = sweep->unit;

	if (j > 0)
		return (size_t)((run_of(work, j - 1)->bytes + sweep->unit - 1) / sweep->unit);
	if (sweep->n > 1)
		added = run_of(work, 1)->bytes - bytes;
	added = added > bytes / 4 ? sweep->unit : added;
	return added < bytes ? (size_t)((bytes - added) / sweep->unit) : 0;
}

/* The units that begin to miss in run j are a set that overflows or, if they are only the newest units, belong to a set
 * that overflowed before. */
static void take_run(struct work *work, size_t j)
{
	struct gt_sweep *sweep = work->sweep;
	size_t added = newest(work, j), old = 0, young = 0;

	find_missing(work, j);
	for (size_t u = 0; u < sweep->units; u++) {
		bool begins = work->now[u] && !sweep->missing[u];
		sweep->strange += sweep->missing[u] && !work->now[u];
		old += begins && u < added;
		young += begins && u >= added;
	}
	if (old + young == 0 && sweep->sets == 0)
		sweep->fits = run_of(work, j)->bytes;
	bool overflows = old > 0 && young > 0 && sweep->sets < GT_SETS_MAX;
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
static bool all_miss(struct work *work, size_t j)
{
	struct gt_sweep *sweep = work->sweep;
	uint64_t bytes = run_of(work, j)->bytes, step = j > 0 ? bytes - run_of(work, j - 1)->bytes : 0;

	if (j > 0 && sweep->fits < bytes && (sweep->step == UINT64_MAX || step > sweep->step))
		sweep->step = step;
	sweep->last = bytes;
	for (size_t u = 0; u < (bytes + sweep->unit - 1) / sweep->unit; u++)
		if (!sweep->missing[u])
			return false;
	return sweep->sets > 0;
}

/* With random replacement, a run must have enough rounds to replace each line. */
static void drop_short_runs(struct work *work)
{
	struct gt_sweep *sweep = work->sweep;
	size_t kept = 0;

	for (size_t j = 0; j < sweep->n; j++)
		if (run_of(work, j)->n / run_of(work, j)->period >= sweep->rounds / 2)
			sweep->runs[kept++] = sweep->runs[j];
	sweep->n = kept;
}

static void find_sets(struct work *work)
{
	struct gt_sweep *sweep = work->sweep;

	for (size_t j = 0; j < sweep->n; j++)
		if (run_of(work, j)->n / run_of(work, j)->period > sweep->rounds)
			sweep->rounds = run_of(work, j)->n / run_of(work, j)->period;
	find_calm(work);
	find_regularity(work);
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

/* ---- the sweeps of all strides ---- */

/* Analyses the runs of this stride. Fails if there are none. */
static int make_sweep(const struct gt_chase_series *series, uint64_t stride, struct gt_sweep *sweep, struct gt_error *error)
{
	struct work work = {.series = series, .sweep = sweep};
	int result = -1;

	*sweep = (struct gt_sweep){.stride = stride, .runs = calloc(series->runs_n + 1, sizeof *sweep->runs)};
	if (!sweep->runs)
		return gt_fail_memory(error, "a sweep");
	if (choose_runs(series, sweep, error) != 0)
		return -1;
	uint64_t most = series->runs[sweep->runs[sweep->n - 1]].period;
	work.elements = calloc((size_t)most + 1, sizeof *work.elements);
	work.now = calloc((size_t)most + 1, sizeof *work.now);
	sweep->missing = calloc((size_t)most + 1, sizeof *sweep->missing);
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

static unsigned score(const struct gt_sweep *sweep)
{
	bool fine = sweep->step <= sweep->unit;

	return 64U * (unsigned)sweep->unit_known + 32U * (sweep->sets > 0) + 16U * (sweep->fits > 0) + 8U * (unsigned)fine +
	       4U * (unsigned)(sweep->complete && fine) + (sweep->strange == 0);
}

int gt_find_sweeps(const struct gt_chase_series *series, struct gt_sweep sweeps[GT_SWEEPS_MAX], size_t *n, struct gt_error *error)
{
	*n = 0;
	for (size_t r = 0; r < series->runs_n; r++) {
		uint64_t stride = series->runs[r].stride;
		bool seen = !series->runs[r].repeated;
		for (size_t i = 0; i < *n; i++)
			seen |= sweeps[i].stride == stride;
		if (seen || *n == GT_SWEEPS_MAX)
			continue;
		struct gt_sweep *sweep = &sweeps[(*n)++];
		if (make_sweep(series, stride, sweep, error) != 0)
			return -1;
		struct gt_sweep first = sweeps[0];
		if (score(sweep) > score(&first) || (score(sweep) == score(&first) && stride < first.stride)) {
			sweeps[0] = *sweep;
			*sweep = first;
		}
	}
	if (*n == 0)
		return gt_fail(error, "expected runs of one stride and two rounds or more each (gpchase trace -k 3)");
	return 0;
}
