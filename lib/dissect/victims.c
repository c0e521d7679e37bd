/* SPDX-License-Identifier: MIT */
#include "dissect/victims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define NOISE 0.02

/* The state of one set during a run. */
struct follow {
	const struct gt_function *function;
	uint64_t unit;
	uint32_t set;
	uint32_t *way; /* of each line; NONE: not in the set */
	uint32_t filled;
	uint64_t out;  /* the line that is absent from the full set; the next miss shows which way it was filled into */
	uint32_t last; /* the way replaced last */
};

/* Returns 0 if the miss is impossible. */
static int take_miss(struct gt_victims *victims, struct follow *follow, uint64_t line)
{
	if (follow->filled < victims->ways) {
		if (follow->way[line] != NONE)
			return 0;
		follow->way[line] = follow->filled++;
		return 1;
	}
	uint32_t way = follow->way[line];
	if (follow->out == UINT64_MAX) {
		follow->out = line;
		return way == NONE;
	}
	if (way == NONE)
		return 0;
	victims->count[way]++;
	victims->n++;
	victims->again += way == follow->last;
	if (follow->last != NONE)
		victims->after[follow->last][way]++;
	follow->last = way;
	follow->way[follow->out] = way;
	follow->way[line] = NONE;
	follow->out = line;
	return 1;
}

/* The outcome of a visit to a line whose elements are samples i to end: 1 hit, 0 miss, -1 unknown. Only the first
 * element of each unit counts; if units disagree, the outcome is unknown. */
static int visit(const struct gt_sample *samples, size_t i, size_t end, uint64_t unit)
{
	int found = -1;

	for (uint64_t last = UINT64_MAX; i < end; i++) {
		int first = samples[i].offset / unit != last;
		last = samples[i].offset / unit;
		if (!first || samples[i].hit < 0)
			continue;
		if (found >= 0 && found != samples[i].hit)
			return -1;
		found = samples[i].hit;
	}
	return found;
}

static void follow_run(const struct gt_chase_run *run, const struct gt_sample *samples, struct follow *follow,
		       struct gt_victims *victims)
{
	unsigned shift = follow->function->shift;

	for (size_t i = 0, end; i < run->n; i = end) {
		uint64_t line = samples[i].offset >> shift;
		for (end = i + 1; end < run->n && samples[end].offset >> shift == line && samples[end].offset > samples[i].offset; end++)
			;
		if (follow->function->set_of[line] != follow->set)
			continue;
		int hit = visit(samples, i, end, follow->unit);
		if (hit < 0)
			return;
		if (hit == 0 && !take_miss(victims, follow, line)) {
			victims->lost++;
			return;
		}
	}
}

/* Whether the ring has exactly one line too many for the set, and every line's set is known. */
static int overfull(const struct gt_chase_run *run, const struct gt_sample *samples, const struct gt_function *function,
		    uint32_t set)
{
	uint64_t held = 0, last = UINT64_MAX;

	if (!run->uniform || samples[0].offset != 0 || run->n < 2 * run->period)
		return 0;
	for (size_t i = 0; i < run->period; i++) {
		uint64_t line = samples[i].offset >> function->shift;
		if (line >= function->seen_lines || function->set_of[line] == 0)
			return 0;
		held += line != last && function->set_of[line] == set;
		last = line;
	}
	return held == function->ways[set] + 1;
}

/* A chi-squared test of the counts against these probabilities of the ways. The limit is four standard deviations, plus
 * 10 because with few ways the distribution is far from normal. Noise may move 2 % of the replacements to another way. */
static int agree(const struct gt_victims *victims, const unsigned *part, unsigned whole)
{
	double squares = 0, free = victims->ways - 1.0;

	for (uint32_t w = 0; w < victims->ways; w++) {
		double expected = (double)victims->n * part[w] / whole, off = (double)victims->count[w] - expected;
		squares += off * off / (expected + NOISE * NOISE * expected * expected);
	}
	return squares < free + 4 * sqrt(2 * free) + 10;
}

/* Tries the fractions with this denominator that are near the counts, from way w on, and keeps the first that agree. */
static void try_parts(struct gt_victims *victims, unsigned *part, uint32_t w, unsigned left, unsigned whole)
{
	unsigned common = whole;

	if (w < victims->ways) {
		unsigned near = (unsigned)((double)victims->count[w] / (double)victims->n * whole);
		for (unsigned p = near > 0 ? near : 1; p <= near + 1 && p <= left; p++) {
			part[w] = p;
			try_parts(victims, part, w + 1, left - p, whole);
		}
		return;
	}
	for (uint32_t i = 0; i < victims->ways; i++)
		for (unsigned rest = part[i]; rest > 0;) {
			unsigned next = common % rest;
			common = rest;
			rest = next;
		}
	if (left > 0 || common > 1 || !agree(victims, part, whole))
		return;
	victims->unique = victims->whole == 0;
	if (victims->whole == 0) {
		memcpy(victims->part, part, victims->ways * sizeof *part);
		victims->whole = whole;
	}
}

/* Whether the pairs of successive ways are more unlike the products of their shares than chance makes them, by the limit of agree(). */
static int depend(const struct gt_victims *victims)
{
	double squares = 0, free = (victims->ways - 1.0) * (victims->ways - 1.0), pairs = 0, n = (double)victims->n;

	for (uint32_t w = 0; w < victims->ways; w++)
		for (uint32_t v = 0; v < victims->ways; v++)
			pairs += victims->after[w][v];
	for (uint32_t w = 0; w < victims->ways; w++)
		for (uint32_t v = 0; v < victims->ways; v++) {
			double expected = pairs * ((double)victims->count[w] / n) * ((double)victims->count[v] / n);
			double off = victims->after[w][v] - expected;
			squares += expected > 0 ? off * off / (expected + NOISE * NOISE * expected * expected) : 0;
		}
	return squares > free + 4 * sqrt(2 * free) + 10;
}

static void judge(struct gt_victims *victims)
{
	double n = (double)victims->n, repeat = 1.0 / victims->ways, deviation = sqrt(n * repeat * (1 - repeat));
	unsigned equal[GT_VICTIM_WAYS_MAX], part[GT_VICTIM_WAYS_MAX];

	for (uint32_t w = 0; w < victims->ways; w++)
		equal[w] = 1;
	victims->dependent = depend(victims);
	if (victims->dependent)
		return;
	victims->alike = agree(victims, equal, victims->ways) &&
			 fabs((double)victims->again - n * repeat) < 4 * deviation + 1;
	for (unsigned whole = victims->ways; whole <= GT_WHOLE_MAX; whole++)
		try_parts(victims, part, 0, whole, whole);
	if (victims->ways > GT_WHOLE_MAX)
		victims->unique = victims->alike;
	victims->unique &= victims->n >= 20 * (uint64_t)victims->ways && victims->lost * 20 <= victims->n;
}

int gt_find_victims(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, uint32_t ways,
		    struct gt_victims *victims, struct gt_error *error)
{
	uint32_t *way = malloc((function->lines + 1) * sizeof *way);

	*victims = (struct gt_victims){.ways = ways};
	if (!way)
		return gt_fail_memory(error, "the ways of a set");
	for (uint32_t set = 1; ways > 1 && ways <= GT_VICTIM_WAYS_MAX && set <= function->sets; set++)
		for (size_t r = 0; function->ways[set] == ways && r < series->runs_n; r++) {
			const struct gt_chase_run *run = &series->runs[r];
			const struct gt_sample *samples = &series->samples[run->first];
			struct follow follow = {function, unit, set, way, 0, UINT64_MAX, NONE};
			if (!overfull(run, samples, function, set))
				continue;
			memset(way, 0xff, function->lines * sizeof *way);
			follow_run(run, samples, &follow, victims);
		}
	if (victims->n > 0)
		judge(victims);
	free(way);
	return 0;
}
