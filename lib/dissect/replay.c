/* SPDX-License-Identifier: MIT */
#include "dissect/replay.h"

#include <stdlib.h>
#include <string.h>

const struct gt_victim gt_victims[GT_REPLAYED_MAX] = {
	{"lru", GT_OLDEST_USE, 1},
	{"fifo", GT_OLDEST_FILL, 1},
	{"lfu", GT_FEWEST_USES, 0},
	{"lfu:way", GT_FEWEST_USES_WAY, 0},
	{"srrip", GT_INTERVALS, 0},
	{"plru", GT_TREE, 0},
};

struct entry {
	uint64_t tag, filled, used, uses;
	uint8_t *valid; /* a byte a unit of the line */
	int present, interval;
	uint8_t right;
};

struct cache {
	enum gt_victim_rule rule;
	struct entry *entries; /* of all sets, one set after the other */
	uint8_t *valid;
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
static int before(const struct cache *cache, const struct entry *a, const struct entry *b)
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

static int serve(struct cache *cache, uint32_t set_id, uint64_t unit)
{
	struct entry *set = cache->entries + cache->begin[set_id];
	size_t ways = cache->begin[set_id + 1] - cache->begin[set_id];
	uint64_t tag = unit / cache->units, part = unit % cache->units;

	cache->clock++;
	for (size_t i = 0; i < ways; i++) {
		if (!set[i].present || set[i].tag != tag)
			continue;
		int hit = set[i].valid[part];
		set[i].valid[part] = 1;
		touch(cache, set, ways, i);
		return hit;
	}
	size_t way = choose(cache, set, ways);
	struct entry *entry = &set[way];
	memset(entry->valid, 0, cache->units);
	entry->valid[part] = 1;
	entry->present = 1;
	entry->tag = tag;
	entry->filled = cache->clock;
	entry->uses = 0;
	touch(cache, set, ways, way);
	entry->interval = 2;
	return 0;
}

static void empty(struct cache *cache, uint32_t sets)
{
	for (size_t i = 0; i < cache->begin[sets + 1]; i++)
		cache->entries[i].present = cache->entries[i].right = 0;
}

static int known(const struct gt_chase_run *run, const struct gt_sample *samples, const struct gt_function *function)
{
	for (size_t i = 0; i < run->period; i++)
		if (gt_function_set(function, samples[i].offset) == 0)
			return 0;
	return 1;
}

/* Notes in a bit of each access of a run whether the policy hits. */
static void play(struct cache *cache, const struct gt_chase_series *series, const struct gt_function *function, size_t r,
		 uint64_t unit, int cold, uint8_t bit, uint8_t *hits)
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

static void count(struct gt_replay *replay, int expected, int hit, int all_hit, int must)
{
	int wrong = expected != hit;

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
		int must = (i > 0 && samples[i].offset / unit == samples[i - 1].offset / unit) || (i < run->period && hit == 0);
		for (unsigned v = 0; v < GT_REPLAYED_MAX && samples[i].hit >= 0; v++) {
			struct gt_replay *replay = &replays[v];
			int expected = hit >> v & 1;
			if (!replay->applies)
				continue;
			if (expected != samples[i].hit && replay->wrong < sizeof replay->first / sizeof replay->first[0])
				replay->first[replay->wrong] = (struct gt_contradiction){r, i, expected};
			count(replay, expected, samples[i].hit, hit == all, must);
		}
	}
}

/* A tree needs a power of two of ways, and with two of them it is LRU. */
static int applies(const struct gt_victim *victim, const struct gt_function *function)
{
	uint32_t most = 0;

	for (uint32_t s = 1; s <= function->sets && victim->rule == GT_TREE; s++) {
		if ((function->ways[s] & (function->ways[s] - 1)) != 0)
			return 0;
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
	cache->valid = calloc((n + 1) * cache->units, 1);
	if (!cache->entries || !cache->valid)
		return -1;
	for (size_t i = 0; i < n; i++)
		cache->entries[i].valid = cache->valid + i * cache->units;
	return 0;
}

int gt_replay_run(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, int cold, uint64_t limit,
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
