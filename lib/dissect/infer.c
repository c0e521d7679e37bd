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

/* Line sizes under which a regular series makes sense. */
static int find_line(const struct gt_series *series, struct gt_inference *inference, struct gt_error *error)
{
	const struct gt_victim *policy[GT_LINES_MAX];
	struct gt_replay replay[GT_LINES_MAX];
	uint64_t next[GT_LINES_MAX], least = UINT64_MAX;
	size_t n = 0, chosen = 0;

	for (unsigned i = 0; i < GT_LINES_MAX; i++) {
		uint64_t line = inference->sweep.unit << i;
		if (!possible(&inference->sweep, (uint64_t)1 << i))
			break;
		inference->lines[n] = line;
		if (inference->sweep.regularity == GT_REGULAR &&
		    best_policy(series, inference, line, &policy[n], &replay[n], &next[n], error) != 0)
			return -1;
		n++;
	}
	if (inference->sweep.regularity == GT_REGULAR) {
		for (size_t i = 0; i < n; i++)
			least = replay[i].wrong < least ? replay[i].wrong : least;
		for (size_t i = 0; i < n; i++) {
			if (replay[i].wrong >= least + 8)
				continue;
			if (inference->lines_n == 0)
				chosen = i;
			inference->lines[inference->lines_n++] = inference->lines[i];
		}
		inference->policy = policy[chosen];
		inference->replay = replay[chosen];
		inference->policy_sure = negligible(&replay[chosen]) && next[chosen] >= replay[chosen].wrong + 8;
	} else {
		inference->lines_n = n;
	}
	inference->line = inference->lines[0];
	return 0;
}

static int judge(const struct gt_series *series, struct gt_inference *inference, struct gt_error *error)
{
	const struct gt_sweep *sweep = &inference->sweep;

	if (find_line(series, inference, error) != 0)
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
	return gt_find_victims(series, sweep, &inference->victims, error);
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
	if (gt_find_function(&inference->sweep, base, &inference->function, error) != 0)
		return -1;
	return judge(series, inference, error);
}

void gt_inference_clear(struct gt_inference *inference)
{
	gt_sweep_clear(&inference->sweep);
	gt_function_clear(&inference->function);
}
