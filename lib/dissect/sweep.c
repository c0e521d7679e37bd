/* SPDX-License-Identifier: MIT */
#include "dissect/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the elements of one run did. */
struct element {
	uint32_t known, missed; /* after the first round */
	int8_t first;		/* hit in the first round */
};

struct work {
	const struct gt_series *series;
	struct gt_sweep *sweep;
	struct element *elements; /* of the run in hand */
	uint8_t *missing;	  /* of a unit: 1 if it missed in a run so far */
	uint8_t *now;		  /* in the run in hand */
	double noise;		  /* chance that a hit looks like a miss */
};

/* A whole ring, gone through twice or more. */
static int usable(const struct gt_run *run)
{
	return run->uniform && run->stride < UINT64_MAX && run->n >= 2 * run->period &&
	       run->period == (run->bytes - 1) / run->stride + 1;
}

/* The stride of most runs; of the finest, where two have as many. */
static uint64_t choose_stride(const struct gt_series *series)
{
	uint64_t best = 0;
	size_t most = 0;

	for (size_t r = 0; r < series->runs_n; r++) {
		uint64_t stride = series->runs[r].stride;
		size_t n = 0;
		for (size_t i = 0; i < series->runs_n; i++)
			n += usable(&series->runs[i]) && series->runs[i].stride == stride;
		if (n > most || (n == most && stride < best)) {
			best = stride;
			most = n;
		}
	}
	return most > 0 ? best : 0;
}

static int choose_runs(const struct gt_series *series, struct gt_sweep *sweep, struct gt_error *error)
{
	uint64_t last = 0;

	sweep->stride = choose_stride(series);
	if (sweep->stride == 0)
		return gt_fail(error, "expected runs of one stride and two rounds or more each (gpchase trace -k 3)");
	for (size_t r = 0; r < series->runs_n; r++) {
		const struct gt_run *run = &series->runs[r];
		if (!usable(run) || run->stride != sweep->stride)
			continue;
		if (sweep->n > 0 && run->bytes <= last)
			return gt_fail(error, "N = %" PRIu64 " after N = %" PRIu64 ": expected a sweep with rising N",
				       run->bytes, last);
		if (sweep->n > 0 && run->bytes - last > sweep->step)
			sweep->step = run->bytes - last;
		last = run->bytes;
		sweep->runs[sweep->n++] = r;
	}
	return 0;
}

static const struct gt_run *run_of(const struct work *work, size_t j)
{
	return &work->series->runs[work->sweep->runs[j]];
}

/* Counts a run's hits and misses by element. */
static void look(struct work *work, size_t j)
{
	const struct gt_run *run = run_of(work, j);
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

static uint64_t common(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* The first round of cold runs misses wherever something new comes in: the distance of these places is the unit. By
 * majority over runs, since one access may look like what it is not. */
static int find_unit(struct work *work)
{
	struct gt_sweep *sweep = work->sweep;
	size_t n = (size_t)run_of(work, sweep->n - 1)->period, seen = 0;
	int32_t *votes = calloc(n, sizeof *votes);
	uint64_t apart = 0;

	if (!votes)
		return -1;
	for (size_t j = 0; j < sweep->n; j++) {
		look(work, j);
		for (size_t e = 0; e < run_of(work, j)->period; e++)
			votes[e] += work->elements[e].first < 0 ? 0 : work->elements[e].first ? -1 : 1;
	}
	for (size_t e = 0; e < n; e++)
		if (votes[e] > 0) {
			apart = common(apart, e);
			seen++;
		}
	sweep->cold = apart > 0 && votes[0] > 0 && seen == (n + apart - 1) / apart;
	sweep->unit = sweep->cold ? apart * sweep->stride : sweep->stride;
	sweep->unit_known = sweep->cold && apart > 1;
	free(votes);
	return 0;
}

/* LRU and FIFO in a ring miss always or never; chance misses now and then. Spread 0 is never or always; where many lines
 * have no choice of ways, the few that do still show. */
static double spread(const struct work *work, size_t j)
{
	const struct gt_run *run = run_of(work, j);
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

/* Whether rounds of a run repeat those some rounds before: chance does not. */
static int repeats(const struct work *work, size_t j)
{
	const struct gt_run *run = run_of(work, j);
	const struct gt_sample *samples = work->series->samples + run->first;

	for (uint64_t rounds = 1; rounds <= 16 && (rounds + 2) * run->period < run->n; rounds++) {
		uint64_t lag = rounds * run->period, differ = 0, misses = 0;
		for (size_t i = (size_t)(lag + run->period); i < run->n; i++) {
			differ += samples[i].hit != samples[i - lag].hit && samples[i].hit >= 0 && samples[i - lag].hit >= 0;
			misses += samples[i].hit == 0;
		}
		if (differ * 10 < misses)
			return 1;
	}
	return 0;
}

/* How often an element must miss so that, of all elements of all runs, none does by noise (1 in 10,000). */
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
	const struct gt_run *run = run_of(work, j);
	struct gt_sweep *sweep = work->sweep;
	double places = (double)(run->period) * (double)sweep->n;
	double members = 0, misses = 0;

	look(work, j);
	memset(work->now, 0, sweep->units);
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

/* The units that begin to miss in run j are a set that overflows, or the newest unit alone, which fell into a set
 * that overflowed before. */
static void take_run(struct work *work, size_t j)
{
	struct gt_sweep *sweep = work->sweep;
	size_t last = (size_t)((run_of(work, j)->bytes - 1) / sweep->unit), n = 0;

	find_missing(work, j);
	for (size_t u = 0; u < sweep->units; u++) {
		n += work->now[u] && !work->missing[u];
		sweep->strange += work->missing[u] && !work->now[u];
	}
	if (n == 0 && sweep->sets == 0)
		sweep->fits = run_of(work, j)->bytes;
	if (n == 0 || (n == 1 && work->now[last] && !work->missing[last])) {
		work->missing[last] |= work->now[last];
		return;
	}
	if (n == 1 || sweep->sets == GT_SETS_MAX || work->missing[last] || !work->now[last]) {
		sweep->strange++;
		return;
	}
	sweep->sets++;
	sweep->ways[sweep->sets] = (uint32_t)n - 1;
	sweep->overflow[sweep->sets] = j;
	for (size_t u = 0; u < sweep->units; u++)
		if (work->now[u] && !work->missing[u]) {
			sweep->set[u] = sweep->sets;
			work->missing[u] = 1;
		}
}

static void find_sets(struct work *work)
{
	struct gt_sweep *sweep = work->sweep;
	uint64_t known = 0, missed = 0;

	look(work, 0);
	for (size_t e = 0; e < run_of(work, 0)->period; e++) {
		known += work->elements[e].known;
		missed += work->elements[e].missed;
	}
	work->noise = (double)(missed + 1) / (double)(known + 1); /* one more: none seen is not none at all */
	look(work, sweep->n - 1);
	sweep->regularity = spread(work, sweep->n - 1) > 0.15 ? GT_IRREGULAR : GT_REGULAR;
	sweep->periodic = sweep->regularity == GT_IRREGULAR && repeats(work, sweep->n - 1);
	for (size_t j = 0; j < sweep->n; j++)
		take_run(work, j);
	sweep->complete = sweep->sets > 0;
	for (size_t u = 0; u < sweep->units; u++)
		sweep->complete &= work->missing[u];
}

int gt_sweep(const struct gt_series *series, uint64_t unit, struct gt_sweep *sweep, struct gt_error *error)
{
	struct work work = {.series = series, .sweep = sweep};
	int result = -1;

	*sweep = (struct gt_sweep){.runs = calloc(series->runs_n + 1, sizeof *sweep->runs)};
	if (!sweep->runs)
		return gt_fail_memory(error, "a sweep");
	if (choose_runs(series, sweep, error) != 0)
		return -1;
	uint64_t most = series->runs[sweep->runs[sweep->n - 1]].period;
	work.elements = calloc((size_t)most + 1, sizeof *work.elements);
	work.missing = calloc((size_t)most + 1, 1);
	work.now = calloc((size_t)most + 1, 1);
	sweep->set = calloc((size_t)most + 1, sizeof *sweep->set);
	sweep->overflow = calloc(GT_SETS_MAX + 1, sizeof *sweep->overflow);
	if (work.elements && work.missing && work.now && sweep->set && sweep->overflow && find_unit(&work) == 0) {
		if (unit > 0) {
			sweep->unit = unit;
			sweep->unit_known = 1;
		}
		sweep->units = (size_t)((series->runs[sweep->runs[sweep->n - 1]].bytes + sweep->unit - 1) / sweep->unit);
		find_sets(&work);
		result = 0;
	} else {
		gt_fail_memory(error, "a sweep");
	}
	free(work.elements);
	free(work.missing);
	free(work.now);
	return result;
}

void gt_sweep_clear(struct gt_sweep *sweep)
{
	free(sweep->runs);
	free(sweep->set);
	free(sweep->overflow);
	*sweep = (struct gt_sweep){0};
}
