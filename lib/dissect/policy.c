/* SPDX-License-Identifier: MIT */
#include "dissect/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/sweep.h"

/* What is claimed of a series is not due to noise with a probability of at most this. */
#define UNLIKELY 1e-4
#define ROUNDS_LEAST 3 /* of a run, that show what an element does */

void gt_noise_measure(const struct gt_chase_series *series, uint64_t unit, int cold, struct gt_noise *noise)
{
	*noise = (struct gt_noise){0};
	for (size_t r = 0; r < series->runs_n; r++) {
		const struct gt_chase_run *run = &series->runs[r];
		const struct gt_sample *samples = &series->samples[run->first];
		uint64_t end = 0; /* of what was accessed of a ring's first round */
		for (size_t i = 0; i < run->n; i++) {
			uint64_t offset = samples[i].offset;
			int hit = i > 0 && offset / unit == samples[i - 1].offset / unit;
			int miss = !hit && cold && i < run->period && run->uniform && offset >= end;
			end = offset / unit * unit + unit;
			noise->outliers |= samples[i].hit < 0;
			if (samples[i].hit < 0 || !(hit || miss))
				continue;
			noise->forced++;
			noise->wrong += samples[i].hit != hit;
		}
	}
}

/* If nothing shows that the series has noise, it has none. */
static double usual(const struct gt_noise *noise)
{
	return (double)(noise->wrong + (noise->outliers != 0)) / (double)(noise->forced + 1);
}

static double most(const struct gt_noise *noise)
{
	return (double)(noise->wrong + 1) / (double)(noise->forced + 1);
}

/* The probability of `times` or more rare events where `expected` are. */
static double chance(double expected, double times)
{
	if (times <= expected)
		return 1;
	return exp(times - expected + times * log(expected / times)); /* Chernoff's bound */
}

static int allows(double share, uint64_t n, uint64_t wrong)
{
	double expected = share * (double)n;

	return wrong == 0 || (expected > 0 && chance(expected, (double)wrong) > UNLIKELY);
}

int gt_noise_explains(const struct gt_noise *noise, const struct gt_replay *replay)
{
	return allows(usual(noise), replay->open, replay->open_wrong) && allows(usual(noise), replay->quiet, replay->quiet_wrong);
}

int gt_noise_refutes(const struct gt_noise *noise, const struct gt_replay *replay)
{
	return chance(most(noise) * (double)replay->open, (double)replay->open_wrong) < UNLIKELY;
}

/* The accesses of a ring after its first rounds that differ from most others of the same element. */
static uint64_t count_unsteady(const struct gt_chase_run *run, const struct gt_sample *samples, uint64_t skipped, uint64_t *known)
{
	uint64_t differ = 0;

	*known = 0;
	for (size_t e = 0; e < run->period; e++) {
		uint64_t hits = 0, misses = 0;
		for (size_t i = e + skipped * run->period; i < run->n; i += run->period) {
			hits += samples[i].hit == 1;
			misses += samples[i].hit == 0;
		}
		*known += hits + misses;
		differ += hits < misses ? hits : misses;
	}
	return differ;
}

/* Looks for a ring with such accesses. */
static void find_passes(const struct gt_chase_series *series, int cold, double share, struct gt_unsteady *unsteady)
{
	for (size_t r = 0; r < series->runs_n; r++) {
		const struct gt_chase_run *run = &series->runs[r];
		uint64_t known, differ;
		if (!gt_sweep_usable(run))
			continue;
		differ = count_unsteady(run, series->samples + run->first, cold ? 1 : 2, &known);
		if (chance(share * (double)known, (double)differ) * (double)series->runs_n > UNLIKELY)
			continue;
		*unsteady = (struct gt_unsteady){GT_IN_SOME_PASSES, run->bytes, differ};
		return;
	}
}

/* The visits to whole strides: those of a ring, and of retouch all but those to its first stride, which are between them. */
struct visits {
	uint64_t stride, n;
	uint32_t *hits, *misses; /* after the first round, of each element */
};

/* What a run shows of the elements that begin a unit. LRU and FIFO miss at an element if too many of the lines that the run
 * visits are in its set; retouch adds no lines. */
static int make_visits(const struct gt_chase_series *series, const struct gt_chase_run *run, int cold, struct visits *visits)
{
	const struct gt_sample *samples = series->samples + run->first;
	uint64_t last = 0, skipped = cold ? 1 : 2;

	for (size_t i = 0; i < run->period; i++)
		last = samples[i].offset > last ? samples[i].offset : last;
	*visits = (struct visits){.stride = run->bytes - last};
	visits->n = last / visits->stride + 1;
	if (run->n / run->period < skipped + ROUNDS_LEAST || visits->n < 2 || last % visits->stride != 0 || visits->n > run->period)
		visits->n = 0;
	visits->hits = calloc(visits->n + 1, sizeof *visits->hits);
	visits->misses = calloc(visits->n + 1, sizeof *visits->misses);
	if (!visits->hits || !visits->misses)
		return -1;
	for (size_t i = (size_t)(skipped * run->period); i < run->n && visits->n > 0; i++) {
		uint64_t offset = samples[i].offset;
		if (offset % visits->stride != 0 || (offset == 0 && !run->uniform))
			continue;
		visits->hits[offset / visits->stride] += samples[i].hit == 1;
		visits->misses[offset / visits->stride] += samples[i].hit == 0;
	}
	return 0;
}

static void clear_visits(struct visits *visits)
{
	free(visits->hits);
	free(visits->misses);
}

struct inclusion {
	const struct gt_chase_series *series;
	uint64_t unit;
	int cold;
	struct {
		uint64_t stride;
		uint64_t *below; /* of each element: the shortest array in which it misses, without what follows the last element */
	} missed[GT_SWEEPS_MAX];
	size_t strides;
	uint8_t *seen;	     /* of each unit: it hits among more lines */
	double expected;     /* of them by noise: it hides what an element does in most rounds */
	struct gt_unsteady *unsteady;
};

static int note_misses(struct inclusion *inclusion, const struct gt_chase_run *run, const struct visits *visits, uint64_t most)
{
	size_t s = 0;

	while (s < inclusion->strides && inclusion->missed[s].stride != visits->stride)
		s++;
	if (visits->n == 0 || s == GT_SWEEPS_MAX)
		return 0;
	if (s == inclusion->strides) {
		inclusion->missed[s].stride = visits->stride;
		inclusion->missed[s].below = malloc((size_t)(most / visits->stride + 1) * sizeof *inclusion->missed[s].below);
		if (!inclusion->missed[s].below)
			return -1;
		memset(inclusion->missed[s].below, 0xff, (size_t)(most / visits->stride + 1) * sizeof *inclusion->missed[s].below);
		inclusion->strides++;
	}
	for (uint64_t e = 0; e < visits->n; e++)
		if (visits->misses[e] > visits->hits[e] && run->bytes - visits->stride < inclusion->missed[s].below[e])
			inclusion->missed[s].below[e] = run->bytes - visits->stride;
	return 0;
}

static void note_hits(struct inclusion *inclusion, const struct gt_chase_run *run, const struct visits *visits)
{
	for (uint64_t e = 0; e < visits->n; e++) {
		uint64_t offset = e * visits->stride;
		int fewer = 0;
		for (size_t s = 0; s < inclusion->strides && visits->hits[e] > visits->misses[e] && offset % inclusion->unit == 0; s++)
			fewer |= inclusion->missed[s].stride % visits->stride == 0 && offset % inclusion->missed[s].stride == 0 &&
				 inclusion->missed[s].below[offset / inclusion->missed[s].stride] < run->bytes;
		if (!fewer || inclusion->seen[offset / inclusion->unit])
			continue;
		inclusion->seen[offset / inclusion->unit] = 1;
		if (inclusion->unsteady->times++ == 0)
			inclusion->unsteady->bytes = run->bytes;
	}
}

/* First notes all misses and then, in a second pass, the hits that they exclude. */
static int find_inclusion(struct inclusion *inclusion, double share, uint64_t most)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t r = 0; r < inclusion->series->runs_n; r++) {
			const struct gt_chase_run *run = &inclusion->series->runs[r];
			struct visits visits;
			int result = make_visits(inclusion->series, run, inclusion->cold, &visits);
			if (result == 0 && pass == 0)
				result = note_misses(inclusion, run, &visits, most);
			else if (result == 0)
				note_hits(inclusion, run, &visits);
			/* Of k rounds noise must have changed more than half, m: at most 4^m share^m. */
			uint64_t rounds = run->n / run->period, skipped = inclusion->cold ? 1 : 2;
			if (visits.n > 0)
				inclusion->expected += (double)visits.n * pow(4 * share, (double)((rounds - skipped) / 2 + 1));
			clear_visits(&visits);
			if (result != 0)
				return -1;
		}
	return 0;
}

int gt_find_unsteady(const struct gt_chase_series *series, uint64_t unit, int cold, const struct gt_noise *noise,
		     struct gt_unsteady *unsteady, struct gt_error *error)
{
	struct inclusion inclusion = {.series = series, .unit = unit, .cold = cold, .unsteady = unsteady};
	double share = most(noise);
	uint64_t longest = 0;

	*unsteady = (struct gt_unsteady){.kind = GT_STEADY};
	find_passes(series, cold, share, unsteady);
	if (unsteady->kind != GT_STEADY)
		return 0;
	for (size_t r = 0; r < series->runs_n; r++)
		longest = series->runs[r].bytes > longest ? series->runs[r].bytes : longest;
	inclusion.seen = calloc((size_t)(longest / unit) + 1, 1);
	int result = inclusion.seen ? find_inclusion(&inclusion, share, longest) : -1;
	if (chance(inclusion.expected, (double)unsteady->times) < UNLIKELY)
		unsteady->kind = GT_AMONG_MORE;
	for (size_t s = 0; s < inclusion.strides; s++)
		free(inclusion.missed[s].below);
	free(inclusion.seen);
	return result == 0 ? 0 : gt_fail_memory(error, "the lines of the runs");
}

void gt_find_kept(const struct gt_chase_series *series, uint64_t size, int cold, struct gt_unsteady *unsteady)
{
	for (size_t r = 0; r < series->runs_n && unsteady->kind == GT_STEADY; r++) {
		const struct gt_chase_run *run = &series->runs[r];
		uint64_t hits = 0, misses = 0;
		if (run->uniform || run->bytes / 2 < GT_PASSED * size || series->samples[run->first].offset != 0)
			continue;
		for (size_t i = (size_t)(cold ? 1 : 2) * run->period; i < run->n; i += run->period) {
			hits += series->samples[run->first + i].hit == 1;
			misses += series->samples[run->first + i].hit == 0;
		}
		if (hits > ROUNDS_LEAST && hits > 3 * misses)
			*unsteady = (struct gt_unsteady){GT_KEPT, run->bytes, hits};
	}
}
