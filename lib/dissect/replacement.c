/* SPDX-License-Identifier: MIT */
/* Which way is replaced. With a deterministic policy, a replay of the series through the inferred cache finds each access that
 * disagrees with it. Without one ([001] 3.2, step (4)), a set with
 * one line too many tells: one line is always absent, and when it misses, it replaces the line that misses next. */
#include "dissect/replacement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replace/replace.h"
#include "replace/tags.h"

#define NONE UINT32_MAX
#define ROUNDS_MANY 5 /* in most of which noise changes nothing */
#define NOISE 0.02 /* share of the replacements that noise may move to another way */

/* ---- replays ---- */

const struct gt_victim gt_victims[GT_REPLAYED_MAX] = {
	{.name = "lru", .steady = true},
	{.name = "fifo", .steady = true},
	{.name = "lfu"},
	{.name = "lfu:way"},
	{.name = "srrip"},
	{.name = "plru", .least_ways = 3},
};

/* The inferred cache with one policy. */
struct cache {
	struct gt_replacement replacement;
	struct gt_tags tags;
	uint64_t last; /* the line that was served last; chases often stay in it */
	uint32_t last_slot;
};

static void empty(struct cache *cache)
{
	gt_tags_clear(&cache->tags);
	cache->last = UINT64_MAX; /* no line */
}

/* Whether the sector of a line hits; it is valid then. */
static bool serve(struct cache *cache, uint32_t set, uint64_t line, unsigned sector)
{
	const struct gt_policy *policy = cache->replacement.policy;
	struct gt_tags *tags = &cache->tags;
	uint32_t slot = line == cache->last ? cache->last_slot : gt_tags_find(tags, set, line);

	cache->last = line;
	if (slot != GT_NO_SLOT) {
		bool hit = *gt_slot_valid(tags, slot) >> sector & 1;
		cache->last_slot = slot;
		*gt_slot_valid(tags, slot) |= UINT64_C(1) << sector;
		if (policy->hit)
			policy->hit(tags, set, slot);
		else if (policy->slot_bytes == 0) /* it goes by recency */
			gt_tags_touch(tags, set, &slot);
		return hit;
	}
	slot = gt_tags_vacant(tags, set);
	if (slot == GT_NO_SLOT)
		slot = policy->victim(tags, set, &cache->replacement);
	slot = gt_tags_fill(tags, set, slot, line);
	*gt_slot_valid(tags, slot) = UINT64_C(1) << sector;
	if (policy->fill)
		policy->fill(tags, set, slot);
	cache->last_slot = slot;
	return false;
}

static bool known(const struct gt_chase_run *run, const struct gt_sample *samples, const struct gt_function *function)
{
	for (size_t i = 0; i < run->period; i++)
		if (gt_function_set(function, samples[i].offset) == 0)
			return false;
	return true;
}

/* The policies that hit, a bit of each. */
static uint8_t serve_all(struct cache *caches, const struct gt_replay *replays, uint32_t set, uint64_t line, unsigned sector)
{
	uint8_t hits = 0;

	for (unsigned v = 0; v < GT_REPLAYED_MAX; v++)
		if (replays[v].applies && serve(&caches[v], set, line, sector))
			hits |= (uint8_t)(1U << v);
	return hits;
}

/* Notes of each access of a run which policies hit. */
static void play(struct cache *caches, const struct gt_replay *replays, const struct gt_chase_series *series,
		 const struct gt_function *function, size_t r, uint64_t unit, bool cold, uint8_t *hits)
{
	const struct gt_chase_run *run = &series->runs[r];
	const struct gt_sample *samples = &series->samples[run->first];
	const size_t warm = cold ? 0 : 2 * run->period;

	for (unsigned v = 0; v < GT_REPLAYED_MAX; v++)
		if (replays[v].applies)
			empty(&caches[v]);
	for (size_t i = 0; i < warm + run->n; i++) {
		uint64_t offset = samples[i < warm ? i % run->period : i - warm].offset, line = offset >> function->shift;
		unsigned sector = (unsigned)((offset - (line << function->shift)) / unit);
		uint8_t hit = serve_all(caches, replays, gt_function_set(function, offset) - 1, line, sector);
		if (i >= warm)
			hits[run->first + i - warm] = hit;
	}
}

static void count(struct gt_replay *replay, bool expected, bool hit, bool all_hit, bool must)
{
	bool wrong = expected != hit;

	replay->known++;
	replay->wrong += (uint64_t)wrong;
	if (!must && all_hit) {
		replay->quiet++;
		replay->quiet_wrong += (uint64_t)wrong;
	} else if (!must) {
		replay->open++;
		replay->open_wrong += (uint64_t)wrong;
	}
}

/* The unit that was accessed last hits in every cache, and a line that was never accessed misses. */
static void compare(const struct gt_chase_series *series, size_t r, uint64_t unit, const uint8_t *hits, struct gt_replay *replays)
{
	const struct gt_chase_run *run = &series->runs[r];
	const struct gt_sample *samples = &series->samples[run->first];
	uint8_t all = 0;

	for (unsigned v = 0; v < GT_REPLAYED_MAX; v++)
		all |= (uint8_t)(replays[v].applies << v);
	for (size_t i = 0; i < run->n; i++) {
		uint8_t hit = hits[run->first + i];
		bool must = (i > 0 && samples[i].offset / unit == samples[i - 1].offset / unit) || (i < run->period && hit == 0);
		for (unsigned v = 0; v < GT_REPLAYED_MAX && samples[i].hit >= 0; v++) {
			struct gt_replay *replay = &replays[v];
			bool expected = hit >> v & 1;
			if (!replay->applies)
				continue;
			if (expected != samples[i].hit && replay->wrong < sizeof replay->first / sizeof replay->first[0])
				replay->first[replay->wrong] = (struct gt_contradiction){r, i, expected};
			count(replay, expected, samples[i].hit, hit == all, must);
		}
	}
}

/* How many elements of a ring do in nearly all of many rounds what the policy does not. Noise does not repeat. */
static uint64_t count_steadily_wrong(const struct gt_chase_series *series, size_t r, const uint8_t *hits, unsigned v)
{
	const struct gt_chase_run *run = &series->runs[r];
	const struct gt_sample *samples = &series->samples[run->first];
	uint64_t elements = 0;

	for (size_t e = 0; e < run->period && run->n >= ROUNDS_MANY * run->period; e++) {
		uint64_t known = 0, wrong = 0;
		for (size_t i = e; i < run->n; i += run->period) {
			known += samples[i].hit >= 0;
			wrong += samples[i].hit >= 0 && (hits[run->first + i] >> v & 1) != samples[i].hit;
		}
		elements += known >= ROUNDS_MANY && 4 * wrong >= 3 * known;
	}
	return elements;
}

/* Whether all sets may have the policy, and it is none of the others with these ways. */
static bool applies(const struct gt_victim *victim, const struct gt_replacement *replacement, const struct gt_function *function)
{
	struct gt_error unused;
	uint32_t most = 0;

	for (uint32_t s = 1; s <= function->sets; s++) {
		if (replacement->policy->check && replacement->policy->check(replacement, function->ways[s], &unused) != 0)
			return false;
		most = function->ways[s] > most ? function->ways[s] : most;
	}
	return most >= victim->least_ways;
}

/* Opens a cache for each policy that applies. */
static int open_caches(struct cache *caches, const struct gt_geometry *geometry, const struct gt_function *function,
		       struct gt_replay *replays, struct gt_error *error)
{
	for (unsigned v = 0; v < GT_REPLAYED_MAX; v++) {
		struct gt_replacement *replacement = &caches[v].replacement;
		if (gt_replacement_parse(gt_victims[v].name, replacement, error) != 0)
			return -1;
		replays[v].applies = applies(&gt_victims[v], replacement, function);
		if (replays[v].applies &&
		    gt_tags_open(&caches[v].tags, geometry, replacement->policy, 0, error) != 0)
			return -1;
	}
	return 0;
}

int gt_replay_run(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, bool cold, uint64_t limit,
		  struct gt_replay replays[GT_REPLAYED_MAX], struct gt_error *error)
{
	struct cache caches[GT_REPLAYED_MAX] = {0};
	struct gt_geometry geometry = {0};
	unsigned sectors = (unsigned)((UINT64_C(1) << function->shift) / unit);
	uint8_t *hits = calloc(series->n + 1, 1);
	int result = hits ? gt_geometry_open(&geometry, function->ways + 1, function->sets, sectors, false, false, error) : -1;

	memset(replays, 0, GT_REPLAYED_MAX * sizeof *replays);
	if (result == 0)
		result = open_caches(caches, &geometry, function, replays, error);
	for (size_t r = 0; result == 0 && r < series->runs_n; r++) {
		if (series->runs[r].bytes > limit || !known(&series->runs[r], series->samples + series->runs[r].first, function))
			continue;
		play(caches, replays, series, function, r, unit, cold, hits);
		compare(series, r, unit, hits, replays);
		for (unsigned v = 0; v < GT_REPLAYED_MAX; v++)
			replays[v].steadily_wrong += replays[v].applies ? count_steadily_wrong(series, r, hits, v) : 0;
	}
	free(hits);
	for (unsigned v = 0; v < GT_REPLAYED_MAX; v++)
		gt_tags_close(&caches[v].tags);
	gt_geometry_close(&geometry);
	return result == 0 ? 0 : gt_fail_memory(error, "a replay");
}

/* ---- victims ---- */

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

/* Returns false if the miss is impossible. */
static bool take_miss(struct gt_victims *victims, struct follow *follow, uint64_t line)
{
	if (follow->filled < victims->ways) {
		if (follow->way[line] != NONE)
			return false;
		follow->way[line] = follow->filled++;
		return true;
	}
	uint32_t way = follow->way[line];
	if (follow->out == UINT64_MAX) {
		follow->out = line;
		return way == NONE;
	}
	if (way == NONE)
		return false;
	victims->count[way]++;
	victims->n++;
	victims->again += way == follow->last;
	if (follow->last != NONE)
		victims->after[follow->last][way]++;
	follow->last = way;
	follow->way[follow->out] = way;
	follow->way[line] = NONE;
	follow->out = line;
	return true;
}

/* The outcome of a visit to a line whose elements are samples i to end: 1 hit, 0 miss, -1 unknown. Only the first
 * element of each unit counts; if units disagree, the outcome is unknown. */
static int visit(const struct gt_sample *samples, size_t i, size_t end, uint64_t unit)
{
	int found = -1;

	for (uint64_t last = UINT64_MAX; i < end; i++) {
		bool first = samples[i].offset / unit != last;
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
static bool overfull(const struct gt_chase_run *run, const struct gt_sample *samples, const struct gt_function *function,
		    uint32_t set)
{
	uint64_t held = 0, last = UINT64_MAX;

	if (!run->uniform || samples[0].offset != 0 || run->n < 2 * run->period)
		return false;
	for (size_t i = 0; i < run->period; i++) {
		uint64_t line = samples[i].offset >> function->shift;
		if (line >= function->seen_lines || function->set_of[line] == 0)
			return false;
		held += line != last && function->set_of[line] == set;
		last = line;
	}
	return held == function->ways[set] + 1;
}

/* A chi-squared test of the counts against these probabilities of the ways. The limit is four standard deviations, plus
 * 10 because with few ways the distribution is far from normal. Noise may move 2 % of the replacements to another way. */
static bool agree(const struct gt_victims *victims, const unsigned *part, unsigned whole)
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
static bool depend(const struct gt_victims *victims)
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
