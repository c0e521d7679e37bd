/* SPDX-License-Identifier: MIT */
/* Which way is replaced. With a deterministic policy, a replay of the series through the inferred cache finds each access that
 * disagrees with it; the replay is slow and simple, and searches lists from the front. Without one ([001] 3.2, step (4)), a set with
 * one line too many tells: one line is always absent, and when it misses, it replaces the line that misses next. */
#include "dissect/replacement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define NOISE 0.02 /* share of the replacements that noise may move to another way */

/* ---- replays ---- */

const struct gt_victim gt_victims[GT_REPLAYED_MAX] = {
	{"lru", GT_OLDEST_USE, true},
	{"fifo", GT_OLDEST_FILL, true},
	{"lfu", GT_FEWEST_USES, false},
	{"lfu:way", GT_FEWEST_USES_WAY, false},
	{"srrip", GT_INTERVALS, false},
	{"plru", GT_TREE, false},
};

struct entry {
	uint64_t tag, filled, used, uses;
	bool *valid; /* each unit of the line */
	bool present;
	int interval;
	bool right;
};

struct cache {
	enum gt_victim_rule rule;
	struct entry *entries; /* of all sets, one set after the other */
	bool *valid;
	size_t *begin; /* of each set; begin[sets + 1] is the end */
	uint64_t clock, units; /* of a line */
};

/* The tree over the ways is in `right` of the entries 1 and up: whether a node points to its right half. */
static void touch_tree(struct entry *set, size_t ways, size_t way)
{
	for (size_t node = ways + way; node > 1; node /= 2)
		set[node / 2].right = (node & 1) == 0;
}

static void touch(struct cache *cache, struct entry *set, size_t ways, size_t way)
{
	set[way].used = cache->clock;
	set[way].uses++;
	set[way].interval = 0;
	if (cache->rule == GT_TREE)
		touch_tree(set, ways, way);
}

/* The order of eviction: the smallest is evicted first. */
static bool before(const struct cache *cache, const struct entry *a, const struct entry *b)
{
	if (cache->rule == GT_FEWEST_USES_WAY || (cache->rule == GT_FEWEST_USES && a->uses != b->uses))
		return a->uses < b->uses;
	return cache->rule == GT_OLDEST_FILL ? a->filled < b->filled : a->used < b->used;
}

static size_t predicted(struct entry *set, size_t ways)
{
	for (;;) {
		for (size_t i = 0; i < ways; i++)
			if (set[i].interval == 3)
				return i;
		for (size_t i = 0; i < ways; i++)
			set[i].interval++;
	}
}

/* Where the tree points. */
static size_t pointed(const struct entry *set, size_t ways)
{
	size_t node = 1;

	while (node < ways)
		node = 2 * node + set[node].right;
	return node - ways;
}

static size_t choose(const struct cache *cache, struct entry *set, size_t ways)
{
	size_t chosen = 0;

	for (size_t i = 0; i < ways; i++)
		if (!set[i].present)
			return i;
	if (cache->rule == GT_INTERVALS)
		return predicted(set, ways);
	if (cache->rule == GT_TREE)
		return pointed(set, ways);
	for (size_t i = 1; i < ways; i++)
		if (before(cache, &set[i], &set[chosen]))
			chosen = i;
	return chosen;
}

static bool serve(struct cache *cache, uint32_t set_id, uint64_t unit)
{
	struct entry *set = cache->entries + cache->begin[set_id];
	size_t ways = cache->begin[set_id + 1] - cache->begin[set_id];
	uint64_t tag = unit / cache->units, part = unit % cache->units;

	cache->clock++;
	for (size_t i = 0; i < ways; i++) {
		if (!set[i].present || set[i].tag != tag)
			continue;
		bool hit = set[i].valid[part];
		set[i].valid[part] = true;
		touch(cache, set, ways, i);
		return hit;
	}
	size_t way = choose(cache, set, ways);
	struct entry *entry = &set[way];
	memset(entry->valid, 0, cache->units * sizeof *entry->valid);
	entry->valid[part] = true;
	entry->present = true;
	entry->tag = tag;
	entry->filled = cache->clock;
	entry->uses = 0;
	touch(cache, set, ways, way);
	entry->interval = 2;
	return false;
}

static void empty(struct cache *cache, uint32_t sets)
{
	for (size_t i = 0; i < cache->begin[sets + 1]; i++)
		cache->entries[i].present = cache->entries[i].right = false;
}

static bool known(const struct gt_chase_run *run, const struct gt_sample *samples, const struct gt_function *function)
{
	for (size_t i = 0; i < run->period; i++)
		if (gt_function_set(function, samples[i].offset) == 0)
			return false;
	return true;
}

/* Notes in a bit of each access of a run whether the policy hits. */
static void play(struct cache *cache, const struct gt_chase_series *series, const struct gt_function *function, size_t r,
		 uint64_t unit, bool cold, uint8_t bit, uint8_t *hits)
{
	const struct gt_chase_run *run = &series->runs[r];
	const struct gt_sample *samples = &series->samples[run->first];

	empty(cache, function->sets);
	for (size_t i = 0; !cold && i < 2 * run->period; i++) {
		uint64_t offset = samples[i % run->period].offset;
		serve(cache, gt_function_set(function, offset), offset / unit);
	}
	for (size_t i = 0; i < run->n; i++)
		if (serve(cache, gt_function_set(function, samples[i].offset), samples[i].offset / unit))
			hits[run->first + i] |= bit;
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

/* A tree needs a power of two of ways, and with two of them it is LRU. */
static bool applies(const struct gt_victim *victim, const struct gt_function *function)
{
	uint32_t most = 0;

	for (uint32_t s = 1; s <= function->sets && victim->rule == GT_TREE; s++) {
		if ((function->ways[s] & (function->ways[s] - 1)) != 0)
			return false;
		most = function->ways[s] > most ? function->ways[s] : most;
	}
	return victim->rule != GT_TREE || most > 2;
}

static int make_cache(struct cache *cache, const struct gt_function *function)
{
	size_t n = 0;

	cache->begin = calloc(function->sets + 2, sizeof *cache->begin);
	if (!cache->begin)
		return -1;
	for (uint32_t s = 1; s <= function->sets; s++) {
		cache->begin[s] = n;
		n += function->ways[s];
	}
	cache->begin[function->sets + 1] = n;
	cache->entries = calloc(n + 1, sizeof *cache->entries);
	cache->valid = calloc((n + 1) * cache->units, sizeof *cache->valid);
	if (!cache->entries || !cache->valid)
		return -1;
	for (size_t i = 0; i < n; i++)
		cache->entries[i].valid = cache->valid + i * cache->units;
	return 0;
}

int gt_replay_run(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, bool cold, uint64_t limit,
		  struct gt_replay replays[GT_REPLAYED_MAX], struct gt_error *error)
{
	struct cache cache = {.units = (UINT64_C(1) << function->shift) / unit};
	uint8_t *hits = calloc(series->n + 1, 1);
	int result = hits ? make_cache(&cache, function) : -1;

	memset(replays, 0, GT_REPLAYED_MAX * sizeof *replays);
	for (unsigned v = 0; v < GT_REPLAYED_MAX; v++)
		replays[v].applies = applies(&gt_victims[v], function);
	for (size_t r = 0; result == 0 && r < series->runs_n; r++) {
		if (series->runs[r].bytes > limit || !known(&series->runs[r], series->samples + series->runs[r].first, function))
			continue;
		for (unsigned v = 0; v < GT_REPLAYED_MAX; v++) {
			if (!replays[v].applies)
				continue;
			cache.rule = gt_victims[v].rule;
			play(&cache, series, function, r, unit, cold, (uint8_t)(1U << v), hits);
		}
		compare(series, r, unit, hits, replays);
	}
	free(hits);
	free(cache.entries);
	free(cache.valid);
	free(cache.begin);
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
