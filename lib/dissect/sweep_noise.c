/* SPDX-License-Identifier: MIT */
/* The noise of a sweep and the regularity of its misses, which are found before its sets. */
#include <string.h>

#include "dissect/sweep_work.h"

#define NOISE_MOST 0.01	 /* share of hits that may look like misses */
#define RUNS_LOOKED_AT 8 /* of those that miss, for the regularity */

/* Counts a run's hits and misses by element. */
void gt_sweep_count(struct gt_sweep_work *work, size_t j)
{
	const struct gt_chase_run *run = gt_sweep_run(work, j);
	const struct gt_sample *samples = work->series->samples + run->first;

	memset(work->elements, 0, (size_t)(run->period) * sizeof *work->elements);
	for (size_t i = 0; i < run->n; i++) {
		struct gt_sweep_element *element = &work->elements[samples[i].offset / run->stride];
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
static double spread(const struct gt_sweep_work *work, size_t j)
{
	const struct gt_chase_run *run = gt_sweep_run(work, j);
	double missed = 0, both = 0, members = 0, between = 0;

	for (size_t e = 0; e < run->period; e++) {
		const struct gt_sweep_element *element = &work->elements[e];
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
static int repeats(const struct gt_sweep_work *work, size_t j)
{
	const struct gt_chase_run *run = gt_sweep_run(work, j);
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

/* Random replacement shows where the first sets overflow by little; where all sets overflow by much, all miss. */
void gt_sweep_regularity(struct gt_sweep_work *work)
{
	struct gt_sweep *sweep = work->sweep;
	size_t misses = 0, irregular = 0, first = 0;

	for (size_t j = 0; j < sweep->n && misses < RUNS_LOOKED_AT; j++) {
		size_t members = 0;
		gt_sweep_count(work, j);
		for (size_t e = 0; e < gt_sweep_run(work, j)->period; e++)
			members += work->elements[e].missed * 6 > work->elements[e].known;
		if (members < 2 || gt_sweep_run(work, j)->bytes <= sweep->calm ||
		    gt_sweep_run(work, j)->n / gt_sweep_run(work, j)->period < sweep->rounds / 2)
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
void gt_sweep_calm(struct gt_sweep_work *work)
{
	struct gt_sweep *sweep = work->sweep;
	uint64_t known = 0, missed = 0;

	work->noise = NOISE_MOST;
	for (size_t j = 0; j < sweep->n; j++) {
		uint64_t run_known = 0, run_missed = 0;
		gt_sweep_count(work, j);
		for (size_t e = 0; e < gt_sweep_run(work, j)->period; e += (size_t)(sweep->unit / sweep->stride)) {
			run_known += work->elements[e].known;
			run_missed += work->elements[e].missed;
		}
		if ((double)run_missed > 3 + 3 * work->noise * (double)run_known)
			return;
		known += run_known;
		missed += run_missed;
		work->noise = (double)(missed + 1) / (double)(known + 1); /* + 1: the noise is not 0 only because none was seen */
		work->noise = work->noise < NOISE_MOST ? work->noise : NOISE_MOST;
		sweep->calm = gt_sweep_run(work, j)->bytes;
	}
}
