/* SPDX-License-Identifier: MIT */
#include "dissect/infer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Fewer contradictions than this share of the accesses are noise. */
static int negligible(const struct gt_replay *replay)
{
	return replay->wrong <= replay->known / 200 + 2;
}

/* Whether lines of `factor` units are possible: all units of each line in one set, whole lines in a set. */
static int possible(const struct gt_sweep *sweep, uint64_t factor)
{
	uint32_t set = 0;

	for (uint32_t s = 1; s <= sweep->sets; s++)
		if (sweep->ways[s] % factor != 0)
			return 0;
	for (size_t u = 0; u < sweep->units; u++) {
		if (u % factor == 0)
			set = 0;
		if (set && sweep->set[u] && sweep->set[u] != set)
			return 0;
		set = sweep->set[u] ? sweep->set[u] : set;
	}
	return 1;
}

/* The replay with the fewest contradictions of all policies, and how many the next best has. */
static int best_policy(const struct gt_series *series, struct gt_inference *inference, uint64_t line,
		       const struct gt_victim **policy, struct gt_replay *best, uint64_t *next, struct gt_error *error)
{
	struct gt_replay replay;

	*next = UINT64_MAX;
	*policy = NULL;
	for (size_t v = 0; v < gt_victims_n; v++) {
		if (gt_replay(series, &inference->sweep, &inference->function, line, &gt_victims[v], &replay, error) != 0)
			return -1;
		if (!*policy || replay.wrong < best->wrong) {
			*next = *policy ? best->wrong : *next;
			*best = replay;
			*policy = &gt_victims[v];
		} else if (replay.wrong < *next) {
			*next = replay.wrong;
		}
	}
	return 0;
}

/* Whether a run of a longer stride misses where lines of this size do not fit, and nowhere else. This needs no policy. */
static int agrees(const struct gt_series *series, const struct gt_inference *inference, uint64_t line,
		  const struct gt_run *run)
{
	const struct gt_sweep *sweep = &inference->sweep;
	uint32_t held[GT_SETS_MAX + 1] = {0};
	uint64_t known = 0, missed = 0, over = 0, last = UINT64_MAX;

	if (!run->uniform || run->n < 2 * run->period || run->stride <= sweep->unit)
		return 1;
	for (uint64_t offset = 0; offset < run->bytes; offset += run->stride) {
		uint32_t set = gt_function_set(&inference->function, offset / sweep->unit);
		if (set == 0)
			return 1;
		over += offset / line != last && ++held[set] > sweep->ways[set] / (line / sweep->unit);
		last = offset / line;
	}
	for (size_t i = run->period; i < run->n; i++) {
		int hit = series->samples[run->first + i].hit;
		known += hit >= 0;
		missed += hit == 0;
	}
	return (missed * 50 > known) == (over > 0);
}

static int fits(const struct gt_series *series, const struct gt_inference *inference, uint64_t line)
{
	for (size_t r = 0; r < series->runs_n; r++)
		if (!agrees(series, inference, line, &series->runs[r]))
			return 0;
	return 1;
}

/* Line sizes under which the series makes sense, and for a regular one the policy. */
static int find_line(const struct gt_series *series, uint64_t base, struct gt_inference *inference,
		     struct gt_error *error)
{
	const struct gt_victim *policy;
	struct gt_replay replay;
	uint64_t next, least = UINT64_MAX, wrong[GT_LINES_MAX];
	uint64_t unit = inference->sweep.unit;
	size_t n = 0, kept = 0;

	for (unsigned i = 0; i < GT_LINES_MAX && possible(&inference->sweep, (uint64_t)1 << i); i++) {
		gt_function_clear(&inference->function);
		if (gt_find_function(&inference->sweep, base, unit << i, &inference->function, error) != 0)
			return -1;
		replay.wrong = 0;
		if (inference->sweep.regularity == GT_REGULAR &&
		    best_policy(series, inference, unit << i, &policy, &replay, &next, error) != 0)
			return -1;
		if (!fits(series, inference, unit << i))
			continue;
		least = replay.wrong < least ? replay.wrong : least;
		wrong[n] = replay.wrong;
		inference->lines[n++] = unit << i;
	}
	for (size_t i = 0; i < n; i++)
		if (wrong[i] < least + 8)
			inference->lines[kept++] = inference->lines[i];
	inference->lines_n = kept;
	inference->line = kept > 0 ? inference->lines[0] : unit;
	gt_function_clear(&inference->function);
	if (gt_find_function(&inference->sweep, base, inference->line, &inference->function, error) != 0)
		return -1;
	if (inference->sweep.regularity == GT_IRREGULAR)
		return 0;
	if (best_policy(series, inference, inference->line, &inference->policy, &inference->replay, &next, error) != 0)
		return -1;
	inference->policy_sure = negligible(&inference->replay) && next >= inference->replay.wrong + 8;
	return 0;
}

static int judge(const struct gt_series *series, uint64_t base, struct gt_inference *inference,
		 struct gt_error *error)
{
	const struct gt_sweep *sweep = &inference->sweep;

	if (find_line(series, base, inference, error) != 0)
		return -1;
	uint32_t factor = (uint32_t)(inference->line / sweep->unit);
	inference->equal = 1;
	for (uint32_t s = 1; s <= sweep->sets; s++) {
		inference->size += sweep->ways[s] * sweep->unit;
		inference->equal &= sweep->ways[s] == sweep->ways[1];
	}
	inference->ways = sweep->ways[1] / factor;
	inference->sure = sweep->complete && sweep->strange == 0 && sweep->fits > 0 && sweep->unit_known &&
			  sweep->step <= sweep->unit && sweep->doubt < 1e-3 && !sweep->periodic &&
			  inference->lines_n == 1 &&
			  (sweep->regularity == GT_IRREGULAR || negligible(&inference->replay));
	inference->policy_sure &= inference->sure;
	return gt_find_victims(series, sweep, inference->line, &inference->victims, error);
}

int gt_infer(struct gt_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
	     struct gt_error *error)
{
	memset(inference, 0, sizeof *inference);
	if (gt_classify(series, &inference->classes, error) != 0 || gt_series_rounds(series, error) != 0 ||
	    gt_sweep(series, line, &inference->sweep, error) != 0)
		return -1;
	if (inference->sweep.sets == 0)
		return 0;
	return judge(series, base, inference, error);
}

void gt_inference_clear(struct gt_inference *inference)
{
	gt_sweep_clear(&inference->sweep);
	gt_function_clear(&inference->function);
}
