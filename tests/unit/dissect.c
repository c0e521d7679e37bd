/* SPDX-License-Identifier: MIT */
/* gt_infer against caches it has not seen: a plain model of a cache makes the latencies, with noise, and what is inferred
 * must be the cache, or be called not sure. */
#include <stdlib.h>

#include "check.h"
#include "dissect/chase.h"
#include "dissect/infer.h"

#define CYCLES_HIT 100
#define CYCLES_MISS 300
#define WAYS_MAX 32

enum policy { LRU, FIFO, RANDOM, POLICIES };
enum function { MOD, XOR, DEAL, FUNCTIONS };

struct cache {
	uint32_t sets, line, sector;
	uint32_t ways[64];
	enum policy policy;
	enum function function;
	uint32_t twist; /* XOR: how far the bits are that are mixed in */

	uint64_t tag[64][WAYS_MAX], time[64][WAYS_MAX], clock;
	uint32_t valid[64][WAYS_MAX]; /* sectors */
	int present[64][WAYS_MAX];
};

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % below);
}

static uint32_t set_of(const struct cache *cache, uint64_t line)
{
	uint64_t places = 0, at;

	if (cache->function == MOD)
		return (uint32_t)(line % cache->sets);
	if (cache->function == XOR)
		return (uint32_t)((line ^ line >> cache->twist) % cache->sets);
	for (uint32_t s = 0; s < cache->sets; s++)
		places += cache->ways[s];
	at = line % places;
	for (uint32_t turn = 0;; turn++)
		for (uint32_t s = 0; s < cache->sets; s++)
			if (cache->ways[s] > turn && at-- == 0)
				return s;
}

/* 1 for a hit. */
static int serve(struct cache *cache, uint64_t offset)
{
	uint64_t line = offset / cache->line;
	uint32_t set = set_of(cache, line), sector = (uint32_t)1 << offset % cache->line / cache->sector, way = 0;

	cache->clock++;
	for (uint32_t w = 0; w < cache->ways[set]; w++)
		if (cache->present[set][w] && cache->tag[set][w] == line) {
			int hit = (cache->valid[set][w] & sector) != 0;
			cache->valid[set][w] |= sector;
			if (cache->policy == LRU)
				cache->time[set][w] = cache->clock;
			return hit;
		}
	for (uint32_t w = 1; w < cache->ways[set]; w++)
		if (cache->time[set][w] < cache->time[set][way])
			way = w;
	if (cache->policy == RANDOM)
		way = draw(cache->ways[set]);
	for (uint32_t w = cache->ways[set]; w-- > 0;)
		if (!cache->present[set][w])
			way = w;
	cache->present[set][way] = 1;
	cache->tag[set][way] = line;
	cache->valid[set][way] = sector;
	cache->time[set][way] = cache->clock;
	return 0;
}

static void run(struct cache *cache, struct gt_series *series, const char *order, uint64_t bytes, uint64_t stride,
		uint64_t rounds, uint32_t noise)
{
	struct gt_error error;
	struct gt_chase chase = {.order = gt_chase_order_find(order, &error), .bytes = bytes, .stride = stride,
				 .rounds = rounds, .page = 4096};
	uint64_t n, *offsets;

	CHECK(gt_chase_check(&chase, &error) == 0);
	offsets = gt_chase_round(&chase, &n, &error);
	memset(cache->present, 0, sizeof cache->present);
	memset(cache->time, 0, sizeof cache->time);
	series->separate = 1;
	for (uint64_t i = 0; i < n * rounds; i++) {
		uint32_t latency = serve(cache, offsets[i % n]) ? CYCLES_HIT : CYCLES_MISS;
		if (noise)
			latency += draw(5) - 2;
		if (noise && draw(noise) == 0)
			latency = 80 + draw(4000);
		CHECK(gt_series_add(series, bytes, offsets[i % n], latency, &error) == 0);
	}
	free(offsets);
}

static uint64_t capacity(const struct cache *cache)
{
	uint64_t lines = 0;

	for (uint32_t s = 0; s < cache->sets; s++)
		lines += cache->ways[s];
	return lines * cache->line;
}

static void invent(struct cache *cache)
{
	static const uint32_t sets_of[] = {1, 2, 4, 8}, ways_of[] = {1, 2, 3, 4, 6, 8, 12};

	memset(cache, 0, sizeof *cache);
	cache->sets = sets_of[draw(4)];
	cache->line = 32U << draw(4);
	cache->sector = draw(2) ? cache->line : 32;
	cache->policy = (enum policy)draw(POLICIES);
	cache->function = (enum function)draw(FUNCTIONS);
	cache->twist = 0;
	for (uint32_t s = cache->sets; s > 1; s /= 2)
		cache->twist++;
	cache->twist += draw(2);
	if (cache->twist == 0)
		cache->function = MOD;
	uint32_t ways = ways_of[draw(cache->policy == RANDOM ? 4 : 7)];
	for (uint32_t s = 0; s < cache->sets; s++)
		cache->ways[s] = ways;
	if (cache->function == DEAL) {
		cache->sets = 2 + draw(4);
		for (uint32_t s = 0; s < cache->sets; s++)
			cache->ways[s] = s == 0 ? ways + 1 + draw(4) : ways;
	}
	if (cache->policy == RANDOM && ways == 1 && cache->function != DEAL)
		cache->policy = LRU;
}

/* What a user would run: a sweep over the cache's size in fine steps, larger strides, and the chase that tells LRU. */
static void measure(struct cache *cache, struct gt_series *series, uint32_t noise)
{
	uint64_t size = capacity(cache), rounds = cache->policy == RANDOM ? 120 : 6, step = cache->sector / 2;
	uint64_t first = size > cache->line ? size - cache->line : step, last = size + (cache->sets + 1) * cache->line;

	for (uint64_t bytes = first; bytes <= last; bytes += step)
		run(cache, series, "ring", bytes, step, rounds, noise);
	for (uint64_t stride = cache->sector; stride <= 2048 && 2 * size % stride == 0; stride *= 2)
		run(cache, series, "ring", 2 * size, stride, 5, noise);
	if (cache->policy != RANDOM)
		run(cache, series, "retouch", 3 * size, cache->line, 30, noise);
}

static int right_shape(const struct cache *cache, const struct gt_inference *found)
{
	uint64_t factor = found->line / found->sweep.unit, sum = 0;

	if (found->size != capacity(cache) || found->line != cache->line || found->sweep.unit != cache->sector ||
	    found->sweep.sets != cache->sets)
		return 0;
	for (uint32_t s = 1; s <= found->sweep.sets; s++)
		sum += found->sweep.ways[s] / factor;
	return sum * cache->line == capacity(cache) && found->sweep.ways[1] / factor == cache->ways[0];
}

/* The function found gives lines the same set where the cache does, as far as the sweep saw. */
static int right_function(const struct cache *cache, const struct gt_inference *found)
{
	const struct gt_sweep *sweep = &found->sweep;
	uint64_t units = sweep->units, factor = cache->line / sweep->unit;
	uint32_t other[64] = {0};

	if (!found->function.name)
		return 0;
	for (uint64_t u = 0; u < units; u++) {
		uint32_t set = set_of(cache, u / factor), named = gt_function_set(&found->function, u);
		if (sweep->set[u] == 0)
			continue;
		if (other[set] == 0)
			other[set] = named;
		if (other[set] != named)
			return 0;
	}
	return 1;
}

static int right_policy(const struct cache *cache, const struct gt_inference *found)
{
	if (cache->policy == RANDOM)
		return found->sweep.regularity == GT_IRREGULAR && !found->sweep.periodic &&
		       (found->victims.alike || cache->function == DEAL);
	return found->sweep.regularity == GT_REGULAR &&
	       strcmp(found->policy->name, cache->policy == LRU ? "lru" : "fifo") == 0;
}

struct tally {
	unsigned shape, function, policy, wrong, random;
};

static void try_caches(unsigned caches, uint32_t noise, struct tally *tally)
{
	for (unsigned i = 0; i < caches; i++) {
		static struct cache cache;
		struct gt_series series = {0};
		struct gt_inference found;
		struct gt_error error = {""};

		seed = i * 7919 + noise;
		invent(&cache);
		measure(&cache, &series, noise);
		CHECK_EQUAL(gt_infer(&series, 0, 0, &found, &error), 0);
		CHECK_TEXT(error.text, "");
		if (error.text[0])
			continue;
		int shape = right_shape(&cache, &found), function = right_function(&cache, &found);
		int single = cache.function != DEAL && cache.ways[0] == 1, policy = single || right_policy(&cache, &found);
		int wrong = (found.sure && (!shape || !function)) || (found.policy_sure && !policy);
		tally->shape += (unsigned)(shape && found.sure);
		tally->function += (unsigned)function;
		tally->policy += (unsigned)policy && (single || found.policy_sure || cache.policy == RANDOM) ? 1U : 0U;
		tally->random += cache.policy == RANDOM;
		tally->wrong += (unsigned)wrong;
		if (wrong || !(shape && found.sure) || !function || !policy)
			printf("# cache %u: sets %u ways %u,%u line %u sector %u policy %d function %d twist %u: sure %d/%d shape %d "
			       "function %d policy %d; found size %llu line %llu unit %llu sets %u strange %llu doubt %g %s\n", i,
			       cache.sets, cache.ways[0], cache.ways[1], cache.line, cache.sector, cache.policy, cache.function,
			       cache.twist, found.sure, found.policy_sure, shape, function, policy,
			       (unsigned long long)found.size, (unsigned long long)found.line,
			       (unsigned long long)found.sweep.unit, found.sweep.sets,
			       (unsigned long long)found.sweep.strange, found.sweep.doubt, error.text);
		gt_inference_clear(&found);
		gt_series_clear(&series);
	}
	printf("# of %u: shape %u, function %u, policy %u, wrong but sure %u; %u random\n", caches, tally->shape,
	       tally->function, tally->policy, tally->wrong, tally->random);
}

static void test_random_caches(void)
{
	struct tally tally = {0};

	try_caches(230, 200, &tally);
	CHECK_EQUAL(tally.wrong, 0);
	CHECK(tally.shape >= 200);
	CHECK(tally.function >= 200);
	CHECK(tally.policy >= 200);
}

static void test_without_noise(void)
{
	struct tally tally = {0};

	try_caches(20, 0, &tally);
	CHECK_EQUAL(tally.wrong, 0);
	CHECK(tally.shape >= 15);
}

int main(void)
{
	RUN(test_random_caches);
	RUN(test_without_noise);
	return check_report();
}
