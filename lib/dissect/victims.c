/* SPDX-License-Identifier: MIT */
#include "dissect/victims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* One set on its way through a run. */
struct follow {
	uint32_t *way;	/* of each line; NONE: not in the set, or not known */
	uint32_t filled;
	uint64_t came;	/* the line that missed last */
	uint64_t out;	/* the same in a full set: the next miss shows its way */
	uint32_t last;	/* the way that went last */
};

static void take_miss(struct gt_victims *victims, struct follow *follow, uint64_t unit)
{
	if (unit == follow->came)
		return; /* another part of the line that just came */
	follow->came = unit;
	if (follow->filled < victims->ways) {
		if (follow->way[unit] == NONE)
			follow->way[unit] = follow->filled++;
		return;
	}
	if (follow->out == UINT64_MAX) {
		follow->out = unit;
		return;
	}
	uint32_t way = follow->way[unit];
	if (way == NONE) {
		victims->lost++;
		return;
	}
	victims->count[way]++;
	victims->n++;
	victims->again += way == follow->last;
	follow->last = way;
	follow->way[follow->out] = way;
	follow->way[unit] = NONE;
	follow->out = unit;
}

static void follow_set(const struct gt_series *series, const struct gt_sweep *sweep, uint32_t set,
		       uint64_t line, struct gt_victims *victims, uint32_t *way)
{
	const struct gt_run *run = &series->runs[sweep->runs[sweep->overflow[set]]];
	struct follow follow = {.way = way, 
				.came = UINT64_MAX, .out = UINT64_MAX, .last = NONE};

	for (size_t u = 0; u < sweep->units; u++)
		way[u] = NONE;
	for (size_t i = 0; i < run->n; i++) {
		const struct gt_sample *sample = &series->samples[run->first + i];
		uint64_t unit = sample->offset / sweep->unit;
		if (sample->hit == 0 && sweep->set[unit] == set)
			take_miss(victims, &follow, sample->offset / line);
	}
}

/* Chi-squared against equal chances, and the number of repeats against 1 in ways, each within four deviations. */
static void judge(struct gt_victims *victims)
{
	double n = (double)victims->n, ways = victims->ways, expected = n / ways, squares = 0;
	double repeat = 1 / ways, deviation = sqrt(n * repeat * (1 - repeat));

	for (uint32_t w = 0; w < victims->ways; w++)
		squares += ((double)victims->count[w] - expected) * ((double)victims->count[w] - expected) / expected;
	victims->alike = squares < ways - 1 + 4 * sqrt(2 * (ways - 1)) &&
			 fabs((double)victims->again - n * repeat) < 4 * deviation + 1;
	for (unsigned whole = 2; whole <= 12 && victims->whole == 0; whole++) {
		unsigned sum = 0, fits = 1;
		for (uint32_t w = 0; w < victims->ways; w++) {
			double part = (double)victims->count[w] / n;
			unsigned near = (unsigned)(part * whole + 0.5);
			double off = fabs(part - (double)near / whole);
			victims->part[w] = near;
			sum += near;
			fits &= off < 0.02 && off < 4 * sqrt(part * (1 - part) / n) + 0.001;
		}
		if (fits && sum == whole)
			victims->whole = whole;
	}
}

int gt_find_victims(const struct gt_series *series, const struct gt_sweep *sweep, uint64_t line, struct gt_victims *victims,
		    struct gt_error *error)
{
	uint32_t *way = malloc((sweep->units + 1) * sizeof *way);

	*victims = (struct gt_victims){0};
	if (!way)
		return gt_fail_memory(error, "the ways of a set");
	uint32_t ways = sweep->ways[1] / (uint32_t)(line / sweep->unit);
	if (sweep->cold && sweep->sets > 0 && ways > 1 && ways <= GT_VICTIM_WAYS_MAX)
		victims->ways = ways;
	for (uint32_t set = 1; set <= sweep->sets; set++)
		if (sweep->ways[set] != sweep->ways[1])
			victims->ways = 0;
	for (uint32_t set = 1; victims->ways > 0 && set <= sweep->sets; set++)
		follow_set(series, sweep, set, line, victims, way);
	if (victims->n > 0)
		judge(victims);
	free(way);
	return 0;
}
