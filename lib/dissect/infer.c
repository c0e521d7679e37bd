/* SPDX-License-Identifier: MIT */
#include "dissect/infer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- sweeps ---- */

static unsigned score(const struct gt_sweep *sweep)
{
	int fine = sweep->step <= sweep->unit;

	return 64U * (unsigned)sweep->unit_known + 32U * (sweep->sets > 0) + 16U * (sweep->fits > 0) + 8U * (unsigned)fine +
	       4U * (unsigned)(sweep->complete && fine) + (sweep->strange == 0);
}

/* Makes a sweep for each stride of the runs. The one with the most information comes first, of two the finer. */
static int find_sweeps(const struct gt_chase_series *series, struct gt_inference *inference, struct gt_error *error)
{
	struct gt_sweep *sweeps = inference->sweeps;

	for (size_t r = 0; r < series->runs_n; r++) {
		uint64_t stride = series->runs[r].stride;
		int seen = !gt_sweep_usable(&series->runs[r]);
		for (size_t i = 0; i < inference->sweeps_n; i++)
			seen |= sweeps[i].stride == stride;
		if (seen || inference->sweeps_n == GT_SWEEPS_MAX)
			continue;
		struct gt_sweep *sweep = &sweeps[inference->sweeps_n++];
		if (gt_sweep_make(series, stride, sweep, error) != 0)
			return -1;
		struct gt_sweep first = sweeps[0];
		if (score(sweep) > score(&first) || (score(sweep) == score(&first) && stride < first.stride)) {
			sweeps[0] = *sweep;
			*sweep = first;
		}
	}
	if (inference->sweeps_n == 0)
		return gt_fail(error, "expected runs of one stride and two rounds or more each (gpchase trace -k 3)");
	return 0;
}

/* Whether the sweep of a longer stride begins where nothing overflows and grows by single strides. For two lines that
 * evict each other one run is enough. */
static int is_whole(const struct gt_chase_series *series, const struct gt_sweep *sweep)
{
	int pair = series->runs[sweep->runs[0]].period == 2;

	return (sweep->fits > 0 && sweep->step <= sweep->stride) ||
	       (pair && (sweep->step <= sweep->stride || (sweep->complete && sweep->units == 2)));
}

/* Chooses the first sweep, and those of longer strides that show which whole lines share sets. They are shallow
 * copies: do not clear them. */
static size_t choose_sweeps(const struct gt_chase_series *series, const struct gt_inference *inference, uint64_t line,
			    struct gt_sweep *chosen)
{
	const struct gt_sweep *first = &inference->sweeps[0];
	size_t n = 0;

	chosen[n++] = *first;
	for (size_t i = 1; i < inference->sweeps_n; i++) {
		const struct gt_sweep *sweep = &inference->sweeps[i];
		int good = sweep->stride % line == 0 && sweep->unit == sweep->stride && sweep->sets > 0 && is_whole(series, sweep) &&
			   sweep->strange == 0 && sweep->doubt < 1e-3 &&
			   sweep->regularity == first->regularity;
		for (uint32_t s = 1; good && s <= sweep->sets; s++) {
			good = 0;
			for (uint32_t other = 1; other <= first->sets; other++)
				good |= sweep->ways[s] == first->ways[other] / (line / first->unit);
		}
		if (good)
			chosen[n++] = *sweep;
	}
	return n;
}

/* ---- lines ---- */

/* Whether lines of `factor` units are possible: all units of each line are in one set, and sets hold whole lines. */
static int possible(const struct gt_sweep *sweep, uint64_t factor)
{
	uint32_t set = 0;

	for (uint32_t s = 1; s <= sweep->sets; s++)
		if (sweep->ways[s] % factor != 0 && sweep->overflow[s] > 0)
			return 0;
	if (sweep->ways[sweep->sets] < factor)
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

/* Finds the policy whose replay has the fewest contradictions of those that are not excluded, and how many the next best
 * of all has. */
static int best_policy(const struct gt_chase_series *series, struct gt_inference *inference, uint64_t limit,
		       struct gt_replay replays[GT_REPLAYED_MAX], uint64_t *next, struct gt_error *error)
{
	const struct gt_sweep *sweep = &inference->sweeps[0];
	size_t best = GT_REPLAYED_MAX;

	*next = UINT64_MAX;
	if (gt_replay_run(series, &inference->function, sweep->unit, sweep->cold, limit, replays, error) != 0)
		return -1;
	for (size_t v = 0; v < GT_REPLAYED_MAX; v++)
		if (replays[v].applies && !(inference->excluded >> v & 1) &&
		    (best == GT_REPLAYED_MAX || replays[v].wrong < replays[best].wrong))
			best = v;
	for (size_t v = 0; v < GT_REPLAYED_MAX; v++)
		if (replays[v].applies && v != best && replays[v].wrong < *next)
			*next = replays[v].wrong;
	inference->policy = &gt_victims[best];
	inference->replay = replays[best];
	inference->policy_fits = gt_noise_explains(&inference->noise, &replays[best]);
	return 0;
}

/* Whether the lines of a ring exceed their sets: 1, 0, or -1 if that depends on lines whose set is not known. */
static int overfull(const struct gt_function *function, const struct gt_chase_run *run)
{
	uint32_t held[GT_SETS_MAX + 1] = {0};
	uint64_t open = 0, last = UINT64_MAX;
	int over = 0;

	for (uint64_t offset = 0; offset < run->bytes; offset += run->stride) {
		uint64_t line = offset >> function->shift;
		uint32_t set = line < function->seen_lines ? gt_function_set(function, offset) : 0;
		if (line == last)
			continue;
		last = line;
		open += set == 0;
		over |= set > 0 && ++held[set] > function->ways[set];
	}
	for (uint32_t set = 1; set <= function->sets && !over; set++)
		if (held[set] + open > function->ways[set])
			return -1;
	return over;
}

/* Whether a run of a longer stride misses if its lines exceed their sets, and only then. This needs no policy. */
static int agrees(const struct gt_chase_series *series, struct gt_inference *inference, const struct gt_chase_run *run)
{
	uint64_t known = 0, missed = 0;

	if (!gt_sweep_usable(run) || run->stride <= inference->sweeps[0].unit)
		return 1;
	int over = overfull(&inference->function, run);
	for (size_t i = run->period; over >= 0 && i < run->n; i++) {
		int hit = series->samples[run->first + i].hit;
		known += hit >= 0;
		missed += hit == 0;
	}
	/* A set with too many lines misses at least once a round; a few misses are noise. */
	inference->checked |= over > 0 && run->stride > inference->sweeps[0].unit;
	if (over > 0)
		return missed * 2 * run->period > run->n - run->period;
	return over < 0 || missed <= known / 50 + 2;
}

static int fits(const struct gt_chase_series *series, struct gt_inference *inference)
{
	inference->checked = 0;
	for (size_t r = 0; r < series->runs_n; r++)
		if (!agrees(series, inference, &series->runs[r]))
			return 0;
	return 1;
}

static int find_function(const struct gt_chase_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
			 struct gt_error *error)
{
	struct gt_sweep chosen[GT_SWEEPS_MAX];
	size_t n = choose_sweeps(series, inference, line, chosen);
	uint64_t bytes = 0;

	for (size_t r = 0; r < series->runs_n; r++)
		bytes = series->runs[r].bytes > bytes ? series->runs[r].bytes : bytes;
	gt_function_clear(&inference->function);
	return gt_find_function(chosen, n, base, line, bytes, &inference->function, error);
}

static uint64_t seen_bytes(const struct gt_inference *inference)
{
	return inference->function.seen_lines << inference->function.shift;
}

/* The largest possible line size, which gives the simplest function; with a single set, the smallest. */
static uint64_t choose_line(const struct gt_inference *inference)
{
	if (inference->lines_n == 0)
		return inference->sweeps[0].unit;
	return inference->lines[inference->sweeps[0].sets > 1 ? inference->lines_n - 1 : 0];
}

/* Finds the line sizes that agree with the series. */
static int find_line(const struct gt_chase_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
		     struct gt_error *error)
{
	const struct gt_sweep *sweep = &inference->sweeps[0];
	struct gt_replay replays[GT_REPLAYED_MAX];
	uint64_t next, least = UINT64_MAX, wrong[GT_LINES_MAX];
	size_t n = 0;

	for (unsigned i = 0; i < GT_LINES_MAX && possible(sweep, (uint64_t)1 << i); i++) {
		if (line > 0 && sweep->unit << i != line)
			continue;
		if (find_function(series, base, sweep->unit << i, inference, error) != 0)
			return -1;
		inference->replay.wrong = 0;
		if (sweep->regularity == GT_REGULAR && best_policy(series, inference, seen_bytes(inference), replays, &next, error) != 0)
			return -1;
		if (!fits(series, inference))
			continue;
		least = inference->replay.wrong < least ? inference->replay.wrong : least;
		wrong[n] = inference->replay.wrong;
		inference->lines[n++] = sweep->unit << i;
	}
	for (size_t i = 0; i < n; i++)
		if (wrong[i] < least + 8)
			inference->lines[inference->lines_n++] = inference->lines[i];
	inference->line = choose_line(inference);
	return find_function(series, base, inference->line, inference, error);
}

/* ---- replacement ---- */

/* Whether the sets are those that LRU and FIFO would show, whatever policy the cache has. Sums of bits may be a coincidence: a few
 * lines of two sets agree with some sum. */
static int shape_known(const struct gt_inference *inference)
{
	const struct gt_sweep *sweep = &inference->sweeps[0];

	return sweep->complete && sweep->strange == 0 && sweep->fits > 0 && sweep->step <= sweep->unit && sweep->unit_known &&
	       sweep->regularity == GT_REGULAR && inference->lines_n == 1 && inference->function.name && inference->function.unique &&
	       strcmp(inference->function.name, "bits") != 0;
}

static void exclude_steady(struct gt_inference *inference)
{
	for (size_t v = 0; v < GT_REPLAYED_MAX; v++)
		inference->excluded |= (unsigned)(inference->unsteady.kind != GT_STEADY && gt_victims[v].steady) << v;
}

/* Excludes the policies for which the shape is as found and whose replay within the address bits that were seen is wrong
 * by more than noise. */
static void exclude(struct gt_inference *inference, const struct gt_replay replays[GT_REPLAYED_MAX])
{
	for (size_t v = 0; v < GT_REPLAYED_MAX && shape_known(inference); v++)
		if (gt_victims[v].steady && gt_noise_refutes(&inference->noise, &replays[v]))
			inference->excluded |= 1U << v;
}

/* Replays all runs or, if that has contradictions, only those within the address bits that were seen. */
static int find_policy(const struct gt_chase_series *series, struct gt_inference *inference, struct gt_error *error)
{
	struct gt_replay replays[GT_REPLAYED_MAX];
	uint64_t next;

	if (best_policy(series, inference, UINT64_MAX, replays, &next, error) != 0)
		return -1;
	if (!inference->policy_fits) {
		if (best_policy(series, inference, seen_bytes(inference), replays, &next, error) != 0)
			return -1;
		exclude(inference, replays);
		if (best_policy(series, inference, seen_bytes(inference), replays, &next, error) != 0)
			return -1;
	}
	inference->policy_sure = inference->policy_fits && next >= inference->replay.wrong + 8;
	return 0;
}

/* Follows the sets with the same number of ways together. */
static int find_chance(const struct gt_chase_series *series, struct gt_inference *inference, struct gt_error *error)
{
	const struct gt_function *function = &inference->function;
	struct gt_victims victims;

	inference->alike = inference->policy_sure = 1;
	for (uint32_t set = 1; set <= function->sets; set++) {
		int first = function->ways[set] > 1;
		for (uint32_t other = 1; other < set; other++)
			first &= function->ways[other] != function->ways[set];
		if (!first)
			continue;
		if (gt_find_victims(series, function, inference->sweeps[0].unit, function->ways[set], &victims, error) != 0)
			return -1;
		inference->alike &= victims.alike;
		inference->policy_sure &= victims.unique;
		if (inference->victims.n == 0 || victims.n > inference->victims.n)
			inference->victims = victims;
	}
	inference->policy_sure &= inference->victims.n > 0 && (inference->alike || inference->equal);
	return 0;
}

/* ---- the inference ---- */

static int judge(const struct gt_chase_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
		 struct gt_error *error)
{
	const struct gt_sweep *sweep = &inference->sweeps[0];
	const struct gt_function *function = &inference->function;
	int regular = sweep->regularity == GT_REGULAR, by_chance = !regular && !sweep->periodic;

	gt_noise_measure(series, sweep->unit, sweep->cold, &inference->noise);
	if (gt_find_unsteady(series, sweep->unit, sweep->cold, &inference->noise, &inference->unsteady, error) != 0)
		return -1;
	exclude_steady(inference);
	if (find_line(series, base, line, inference, error) != 0)
		return -1;
	inference->equal = 1;
	for (uint32_t s = 1; s <= function->sets && s <= GT_SETS_MAX; s++) {
		inference->size += function->ways[s] * inference->line;
		inference->equal &= function->ways[s] == function->ways[1];
	}
	inference->ways = function->ways[1];
	if (sweep->complete && sweep->fits > 0)
		gt_find_kept(series, inference->size, sweep->cold, &inference->unsteady);
	exclude_steady(inference);
	if ((by_chance ? find_chance(series, inference, error) : find_policy(series, inference, error)) != 0)
		return -1;
	inference->sure = sweep->complete && sweep->strange == 0 && sweep->fits > 0 && sweep->unit_known &&
			  sweep->step <= (line > 0 ? line : sweep->unit) && sweep->doubt < 1e-3 && !sweep->periodic &&
			  inference->lines_n == 1 && (inference->equal || inference->checked) && (!regular || inference->policy_fits);
	inference->size_sure = inference->sure && (!function->name || function->unique) &&
			       UINT64_C(1) << function->high >= inference->size << GT_BITS_BEYOND;
	inference->function_sure = inference->sure && function->name && function->unique;
	inference->policy_sure &= inference->sure;
	return 0;
}

int gt_infer(struct gt_chase_series *series, uint64_t base, uint64_t line, struct gt_inference *inference,
	     struct gt_error *error)
{
	memset(inference, 0, sizeof *inference);
	if (gt_classify(series, &inference->classes, error) != 0 || gt_series_rounds(series, error) != 0 ||
	    find_sweeps(series, inference, error) != 0)
		return -1;
	uint64_t unit = inference->sweeps[0].unit;
	if (inference->sweeps[0].sets == 0)
		return 0;
	if ((unit & (unit - 1)) != 0)
		return gt_fail(error, "what a miss fills looks like %" PRIu64 " bytes: expected a power of two; a stride that is one tells more",
			       unit);
	return judge(series, base, line, inference, error);
}

void gt_inference_clear(struct gt_inference *inference)
{
	for (size_t i = 0; i < inference->sweeps_n; i++)
		gt_sweep_clear(&inference->sweeps[i]);
	gt_function_clear(&inference->function);
}
