/* SPDX-License-Identifier: MIT */
/* The inference of a cache from a series: sweeps show which lines share a set, lines of several sizes are tried with them, and what
 * the accesses do beyond noise excludes or confirms replacement policies. At the end it is judged how sure each value is. */
#include "dissect/infer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is claimed of a series is not due to noise with a probability of at most this. */
#define UNLIKELY 1e-4
#define ROUNDS_LEAST 3 /* of a run, that show what an element does */

/* ---- noise ---- */

/* Counts the accesses that repeat a unit, and those that begin a unit in an empty cache. */
static void measure_noise(const struct gt_chase_series *series, uint64_t unit, bool cold, struct gt_noise *noise)
{
	*noise = (struct gt_noise){0};
	for (size_t r = 0; r < series->runs_n; r++) {
		const struct gt_chase_run *run = &series->runs[r];
		const struct gt_sample *samples = &series->samples[run->first];
		uint64_t end = 0; /* of what was accessed of a ring's first round */
		for (size_t i = 0; i < run->n; i++) {
			uint64_t offset = samples[i].offset;
			bool hit = i > 0 && offset / unit == samples[i - 1].offset / unit;
			bool miss = !hit && cold && i < run->period && run->uniform && offset >= end;
			end = offset / unit * unit + unit;
			noise->outliers |= samples[i].hit < 0;
			if (samples[i].hit < 0 || !(hit || miss))
				continue;
			noise->forced++;
			noise->wrong += samples[i].hit != hit;
		}
	}
}

/* In the rings of a sweep that fit, what else takes lines out of the cache shows: they are gone when their turn comes again. */
static void measure_losses(const struct gt_chase_series *series, const struct gt_sweep *sweep, struct gt_noise *noise)
{
	noise->together = 1;
	for (uint32_t set = 1; set <= sweep->sets; set++)
		noise->together = sweep->ways[set] > noise->together ? sweep->ways[set] : noise->together;
	for (size_t r = 0; r < series->runs_n; r++) {
		const struct gt_chase_run *run = &series->runs[r];
		const struct gt_sample *samples = &series->samples[run->first];
		if (!run->uniform || run->bytes > sweep->calm || run->stride > sweep->unit)
			continue;
		for (size_t i = (sweep->cold ? 1 : 2) * run->period; i < run->n; i++) {
			bool begins = samples[i].offset / sweep->unit != samples[i - 1].offset / sweep->unit;
			noise->between += begins && samples[i].hit >= 0 ? run->period : 0;
			noise->lost += begins && samples[i].hit == 0;
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

/* The most that noise changes of accesses to a unit after so many others: of what was lost, three deviations more than was seen. */
static double most_after(const struct gt_noise *noise, uint64_t accesses)
{
	double lost = (double)noise->lost;

	return most(noise) + (lost > 0 ? (lost + 3 * sqrt(lost)) / (double)noise->between * (double)accesses : 0);
}

/* The probability of `times` or more rare events where `expected` are. */
static double chance(double expected, double times)
{
	if (times <= expected)
		return 1;
	return exp(times - expected + times * log(expected / times)); /* Chernoff's bound */
}

static bool allows(double share, uint64_t n, uint64_t wrong)
{
	double expected = share * (double)n;

	return wrong == 0 || (expected > 0 && chance(expected, (double)wrong) > UNLIKELY);
}

/* The probability that noise changes so many accesses that come so long after the one before. A line that something else takes out lets
 * LRU and FIFO hit, or miss, at up to all units of its set. */
static double by_noise(const struct gt_noise *noise, uint64_t after, uint64_t known, uint64_t wrong)
{
	return chance(most_after(noise, after) * (double)known, (double)wrong / noise->together);
}

/* Whether noise alone explains so many contradictions. */
static bool noise_explains(const struct gt_noise *noise, const struct gt_replay *replay)
{
	return replay->steadily_wrong == 0 && allows(usual(noise), replay->open, replay->open_wrong) &&
	       allows(usual(noise), replay->quiet, replay->quiet_wrong);
}

/* Whether it is out of the question that it does. */
static bool noise_refutes(const struct gt_noise *noise, const struct gt_replay *replay, uint64_t longest)
{
	return by_noise(noise, longest, replay->open, replay->open_wrong) < UNLIKELY;
}

/* ---- what no LRU and no FIFO does ---- */

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
static void find_passes(const struct gt_chase_series *series, bool cold, const struct gt_noise *noise, struct gt_unsteady *unsteady)
{
	for (size_t r = 0; r < series->runs_n; r++) {
		const struct gt_chase_run *run = &series->runs[r];
		uint64_t known, differ;
		if (!run->repeated)
			continue;
		differ = count_unsteady(run, series->samples + run->first, cold ? 1 : 2, &known);
		if (by_noise(noise, run->period, known, differ) * (double)series->runs_n > UNLIKELY)
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
static int make_visits(const struct gt_chase_series *series, const struct gt_chase_run *run, bool cold, struct visits *visits)
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
	bool cold;
	struct {
		uint64_t stride;
		uint64_t *below; /* of each element: the shortest array in which it misses, without what follows the last element */
	} missed[GT_SWEEPS_MAX];
	size_t strides;
	bool *seen;	     /* of each unit: it hits among more lines */
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
		bool fewer = false;
		for (size_t s = 0; s < inclusion->strides && visits->hits[e] > visits->misses[e] && offset % inclusion->unit == 0; s++)
			fewer |= inclusion->missed[s].stride % visits->stride == 0 && offset % inclusion->missed[s].stride == 0 &&
				 inclusion->missed[s].below[offset / inclusion->missed[s].stride] < run->bytes;
		if (!fewer || inclusion->seen[offset / inclusion->unit])
			continue;
		inclusion->seen[offset / inclusion->unit] = true;
		if (inclusion->unsteady->times++ == 0)
			inclusion->unsteady->bytes = run->bytes;
	}
}

/* First notes all misses and then, in a second pass, the hits that they exclude. */
static int find_inclusion(struct inclusion *inclusion, const struct gt_noise *noise, uint64_t longest)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t r = 0; r < inclusion->series->runs_n; r++) {
			const struct gt_chase_run *run = &inclusion->series->runs[r];
			struct visits visits;
			int result = make_visits(inclusion->series, run, inclusion->cold, &visits);
			if (result == 0 && pass == 0)
				result = note_misses(inclusion, run, &visits, longest);
			else if (result == 0)
				note_hits(inclusion, run, &visits);
			/* Of k rounds noise must have changed more than half, m: at most 4^m share^m. */
			uint64_t rounds = run->n / run->period, skipped = inclusion->cold ? 1 : 2;
			if (visits.n > 0)
				inclusion->expected += (double)visits.n * pow(4 * most_after(noise, run->period), (double)((rounds - skipped) / 2 + 1));
			clear_visits(&visits);
			if (result != 0)
				return -1;
		}
	return 0;
}

/* Looks for accesses of a ring that hit in some passes and miss in others, and for lines that hit among more lines than
 * those among which they miss. -1: out of memory. */
static int find_unsteady(const struct gt_chase_series *series, uint64_t unit, bool cold, const struct gt_noise *noise,
		     struct gt_unsteady *unsteady, struct gt_error *error)
{
	struct inclusion inclusion = {.series = series, .unit = unit, .cold = cold, .unsteady = unsteady};
	uint64_t longest = 0;

	*unsteady = (struct gt_unsteady){.kind = GT_STEADY};
	find_passes(series, cold, noise, unsteady);
	if (unsteady->kind != GT_STEADY)
		return 0;
	for (size_t r = 0; r < series->runs_n; r++)
		longest = series->runs[r].bytes > longest ? series->runs[r].bytes : longest;
	inclusion.seen = calloc((size_t)(longest / unit) + 1, sizeof *inclusion.seen);
	int result = inclusion.seen ? find_inclusion(&inclusion, noise, longest) : -1;
	if (chance(inclusion.expected, (double)unsteady->times) < UNLIKELY)
		unsteady->kind = GT_AMONG_MORE;
	for (size_t s = 0; s < inclusion.strides; s++)
		free(inclusion.missed[s].below);
	free(inclusion.seen);
	return result == 0 ? 0 : gt_fail_memory(error, "the lines of the runs");
}

/* Looks for a first line that hits at the begin of retouch's rounds, although since its last use lines of GT_PASSED times the
 * cache's size have passed: its set, if it is like the others, has then had that many times as many lines as ways. */
static void find_kept(const struct gt_chase_series *series, uint64_t size, bool cold, struct gt_unsteady *unsteady)
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

/* ---- sweeps ---- */

/* Whether the sweep of a longer stride begins where nothing overflows and grows by single strides. For two lines that
 * evict each other one run is enough. */
static bool is_whole(const struct gt_chase_series *series, const struct gt_sweep *sweep)
{
	bool pair = series->runs[sweep->runs[0]].period == 2;

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
		bool good = sweep->stride % line == 0 && sweep->unit == sweep->stride && sweep->sets > 0 && is_whole(series, sweep) &&
			   sweep->strange == 0 && sweep->doubt < 1e-3 &&
			   sweep->regularity == first->regularity;
		for (uint32_t s = 1; good && s <= sweep->sets; s++) {
			good = false;
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
static bool possible(const struct gt_sweep *sweep, uint64_t factor)
{
	uint32_t set = 0;

	for (uint32_t s = 1; s <= sweep->sets; s++)
		if (sweep->ways[s] % factor != 0 && sweep->overflow[s] > 0)
			return false;
	if (sweep->ways[sweep->sets] < factor)
		return false;
	for (size_t u = 0; u < sweep->units; u++) {
		if (u % factor == 0)
			set = 0;
		if (set && sweep->set[u] && sweep->set[u] != set)
			return false;
		set = sweep->set[u] ? sweep->set[u] : set;
	}
	return true;
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
	inference->policy_fits = noise_explains(&inference->noise, &replays[best]);
	return 0;
}

/* Whether the lines of a ring exceed their sets: 1, 0, or -1 if that depends on lines whose set is not known. */
static int overfull(const struct gt_function *function, const struct gt_chase_run *run)
{
	uint32_t held[GT_SETS_MAX + 1] = {0};
	uint64_t open = 0, last = UINT64_MAX;
	bool over = false;

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
static bool agrees(const struct gt_chase_series *series, struct gt_inference *inference, const struct gt_chase_run *run)
{
	uint64_t known = 0, missed = 0;

	if (!run->repeated || run->stride <= inference->sweeps[0].unit)
		return true;
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

static bool fits(const struct gt_chase_series *series, struct gt_inference *inference)
{
	inference->checked = false;
	for (size_t r = 0; r < series->runs_n; r++)
		if (!agrees(series, inference, &series->runs[r]))
			return false;
	return true;
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
static bool shape_known(const struct gt_inference *inference)
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
static void exclude(const struct gt_chase_series *series, struct gt_inference *inference, const struct gt_replay replays[GT_REPLAYED_MAX])
{
	uint64_t longest = 0;

	for (size_t r = 0; r < series->runs_n; r++)
		longest = series->runs[r].period > longest ? series->runs[r].period : longest;
	for (size_t v = 0; v < GT_REPLAYED_MAX && shape_known(inference); v++)
		if (gt_victims[v].steady && noise_refutes(&inference->noise, &replays[v], longest))
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
		exclude(series, inference, replays);
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

	inference->alike = inference->policy_sure = true;
	for (uint32_t set = 1; set <= function->sets; set++) {
		bool first = function->ways[set] > 1;
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
	bool regular = sweep->regularity == GT_REGULAR, by_chance = !regular && !sweep->periodic;

	measure_noise(series, sweep->unit, sweep->cold, &inference->noise);
	measure_losses(series, sweep, &inference->noise);
	if (find_unsteady(series, sweep->unit, sweep->cold, &inference->noise, &inference->unsteady, error) != 0)
		return -1;
	exclude_steady(inference);
	if (find_line(series, base, line, inference, error) != 0)
		return -1;
	inference->equal = true;
	for (uint32_t s = 1; s <= function->sets && s <= GT_SETS_MAX; s++) {
		inference->size += function->ways[s] * inference->line;
		inference->equal &= function->ways[s] == function->ways[1];
	}
	inference->ways = function->ways[1];
	if (sweep->complete && sweep->fits > 0)
		find_kept(series, inference->size, sweep->cold, &inference->unsteady);
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
	if (gt_series_prepare(series, &inference->classes, error) != 0 ||
	    gt_find_sweeps(series, inference->sweeps, &inference->sweeps_n, error) != 0)
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
