/* SPDX-License-Identifier: MIT */
#include "dissect/replay.h"

#include <stdlib.h>
#include <string.h>

const struct gt_victim gt_victims[] = {
	{"lru", 1, 0, 0},
	{"fifo", 0, 0, 0},
	{"lfu", 1, 1, 0},
	{"srrip", 0, 0, 1},
};
const size_t gt_victims_n = sizeof gt_victims / sizeof gt_victims[0];

struct entry {
	uint64_t tag, filled, used, uses;
	uint8_t *valid; /* a byte a unit of the line */
	int present, interval;
};

struct cache {
	const struct gt_victim *victim;
	struct entry *entries; /* of all sets, one set after the other */
	uint8_t *valid;
	size_t *begin; /* of each set; begin[sets + 1] is the end */
	uint64_t clock, units; /* of a line */
};

static void touch(struct cache *cache, struct entry *entry)
{
	entry->used = cache->clock;
	entry->uses++;
	entry->interval = 0;
}

/* The order of eviction: the smallest is evicted first. */
static int before(const struct cache *cache, const struct entry *a, const struct entry *b)
{
	if (cache->victim->counts && a->uses != b->uses)
		return a->uses < b->uses;
	return cache->victim->moves_on_hit ? a->used < b->used : a->filled < b->filled;
}

static struct entry *predicted(struct entry *set, size_t ways)
{
	for (;;) {
		for (size_t i = 0; i < ways; i++)
			if (set[i].interval == 3)
				return &set[i];
		for (size_t i = 0; i < ways; i++)
			set[i].interval++;
	}
}

static struct entry *choose(const struct cache *cache, struct entry *set, size_t ways)
{
	struct entry *chosen = set;

	for (size_t i = 0; i < ways; i++)
		if (!set[i].present)
			return &set[i];
	if (cache->victim->predicts)
		return predicted(set, ways);
	for (size_t i = 1; i < ways; i++)
		if (before(cache, &set[i], chosen))
			chosen = &set[i];
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
		touch(cache, &set[i]);
		return hit;
	}
	struct entry *entry = choose(cache, set, ways);
	memset(entry->valid, 0, cache->units);
	entry->valid[part] = 1;
	entry->present = 1;
	entry->tag = tag;
	entry->filled = entry->used = cache->clock;
	entry->uses = 1;
	entry->interval = 2;
	return 0;
}

static void empty(struct cache *cache, uint32_t sets)
{
	for (size_t i = 0; i < cache->begin[sets + 1]; i++)
		cache->entries[i].present = 0;
}

static int known(const struct gt_chase_run *run, const struct gt_sample *samples, const struct gt_function *function)
{
	for (size_t i = 0; i < run->period; i++)
		if (gt_function_set(function, samples[i].offset) == 0)
			return 0;
	return 1;
}

static void play(struct cache *cache, const struct gt_chase_series *series, const struct gt_function *function, size_t r,
		 uint64_t unit, int cold, struct gt_replay *replay)
{
	const struct gt_chase_run *run = &series->runs[r];
	const struct gt_sample *samples = &series->samples[run->first];

	uint64_t known = replay->known, wrong = replay->wrong;

	empty(cache, function->sets);
	for (size_t i = 0; !cold && i < 2 * run->period; i++) {
		uint64_t offset = samples[i % run->period].offset;
		serve(cache, gt_function_set(function, offset), offset / unit);
	}
	for (size_t i = 0; i < run->n; i++) {
		int hit = serve(cache, gt_function_set(function, samples[i].offset), samples[i].offset / unit);
		replay->known += samples[i].hit >= 0;
		if (samples[i].hit < 0 || hit == samples[i].hit)
			continue;
		if (replay->wrong < sizeof replay->first / sizeof replay->first[0])
			replay->first[replay->wrong] = (struct gt_contradiction){r, i, hit};
		replay->wrong++;
	}
	replay->runs_wrong += (replay->wrong - wrong) * 20 > replay->known - known + 40;
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
	      const struct gt_victim *victim, struct gt_replay *replay, struct gt_error *error)
{
	struct cache cache = {.victim = victim, .units = (UINT64_C(1) << function->shift) / unit};
	int result = make_cache(&cache, function);

	memset(replay, 0, sizeof *replay);
	for (size_t r = 0; result == 0 && r < series->runs_n; r++)
		if (series->runs[r].bytes <= limit && known(&series->runs[r], series->samples + series->runs[r].first, function))
			play(&cache, series, function, r, unit, cold, replay);
	free(cache.entries);
	free(cache.valid);
	free(cache.begin);
	return result == 0 ? 0 : gt_fail_memory(error, "a replay");
}
