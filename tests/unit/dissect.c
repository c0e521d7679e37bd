/* SPDX-License-Identifier: MIT */
/* gt_infer against unknown caches: a simple model of a cache makes the latencies, with noise. The test runs a coarse chase,
 * and then the runs that infer proposes, until it proposes none. The inferred values must be those of the cache, or be marked
 * as not sure. GTRACE_CACHES is the number of caches to try. */
#include <stdlib.h>

#include "check.h"
#include "dissect/chase.h"
#include "dissect/infer.h"

#define CYCLES_HIT 100
#define CYCLES_MISS 300
#define WAYS_MAX 32
#define TURNS_MAX 16
#define ACCESSES_MAX 60000000

enum policy { LRU, FIFO, RANDOM, WEIGHTED, LFU, POLICIES };
enum function { MOD, XOR, SUMS, DEAL, FUNCTIONS };

struct cache {
	uint32_t sets, line, sector;
	uint32_t ways[64];
	enum policy policy;
	const unsigned *weights; /* WEIGHTED: of each way; they add up to whole */
	unsigned whole;
	enum function function;
	uint32_t twist;	  /* XOR: how far the bits are that are mixed in */
	uint64_t sum[8]; /* SUMS: bits of the line's number that make up each bit of the set */

	uint64_t tag[64][WAYS_MAX], time[64][WAYS_MAX], uses[64][WAYS_MAX], clock;
	uint32_t valid[64][WAYS_MAX]; /* sectors */
	int present[64][WAYS_MAX];
};

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % below);
}

static uint32_t dealt(const struct cache *cache, uint64_t line)
{
	uint64_t places = 0, at;

	for (uint32_t s = 0; s < cache->sets; s++)
		places += cache->ways[s];
	at = line % places;
	for (uint32_t turn = 0;; turn++)
		for (uint32_t s = 0; s < cache->sets; s++)
			if (cache->ways[s] > turn && at-- == 0)
				return s;
}

static uint32_t set_of(const struct cache *cache, uint64_t line)
{
	uint32_t set = 0;

	switch (cache->function) {
	case MOD: return (uint32_t)(line % cache->sets);
	case XOR: return (uint32_t)((line ^ line >> cache->twist) % cache->sets);
	case DEAL: return dealt(cache, line);
	default:
		for (uint32_t bit = 0; UINT32_C(1) << bit < cache->sets; bit++)
			for (uint64_t rest = line & cache->sum[bit]; rest; rest &= rest - 1)
				set ^= UINT32_C(1) << bit;
		return set;
	}
}

static uint32_t choose_way(const struct cache *cache, uint32_t set)
{
	uint32_t way = 0, ways = cache->ways[set];

	for (uint32_t w = 0; w < ways; w++)
		if (!cache->present[set][w])
			return w;
	if (cache->policy == RANDOM)
		return draw(ways);
	if (cache->policy == WEIGHTED) {
		for (unsigned at = draw(cache->whole); at >= cache->weights[way]; way++)
			at -= cache->weights[way];
		return way;
	}
	for (uint32_t w = 1; w < ways; w++)
		if (cache->policy == LFU && cache->uses[set][w] != cache->uses[set][way])
			way = cache->uses[set][w] < cache->uses[set][way] ? w : way;
		else if (cache->time[set][w] < cache->time[set][way])
			way = w;
	return way;
}

/* 1 for a hit. */
static int serve(struct cache *cache, uint64_t offset)
{
	uint64_t line = offset / cache->line;
	uint32_t set = set_of(cache, line), sector = (uint32_t)1 << offset % cache->line / cache->sector;

	cache->clock++;
	for (uint32_t w = 0; w < cache->ways[set]; w++)
		if (cache->present[set][w] && cache->tag[set][w] == line) {
			int hit = (cache->valid[set][w] & sector) != 0;
			cache->valid[set][w] |= sector;
			cache->uses[set][w]++;
			if (cache->policy != FIFO)
				cache->time[set][w] = cache->clock;
			return hit;
		}
	uint32_t way = choose_way(cache, set);
	cache->present[set][way] = 1;
	cache->tag[set][way] = line;
	cache->valid[set][way] = sector;
	cache->time[set][way] = cache->clock;
	cache->uses[set][way] = 1;
	return 0;
}

static void run(struct cache *cache, struct gt_chase_series *series, const char *order, uint64_t bytes, uint64_t stride,
		uint64_t rounds, uint32_t noise)
{
	struct gt_error error;
	struct gt_chase chase = {.order = gt_chase_order_find(order, &error), .bytes = bytes, .stride = stride,
				 .rounds = rounds, .page = 4096};
	uint64_t n, *offsets;

	CHECK_EQUAL(gt_chase_check(&chase, &error), 0);
	offsets = gt_chase_round(&chase, &n, &error);
	memset(cache->present, 0, sizeof cache->present);
	memset(cache->time, 0, sizeof cache->time);
	series->separate = true;
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

/* Whether the sums are independent. */
static int full_rank(const struct cache *cache)
{
	for (uint32_t mix = 1; mix < cache->sets; mix++) {
		uint64_t sum = 0;
		for (uint32_t bit = 0; bit < 8; bit++)
			sum ^= mix >> bit & 1 ? cache->sum[bit] : 0;
		if (sum == 0)
			return 0;
	}
	return 1;
}

static void invent_function(struct cache *cache, uint32_t ways)
{
	uint32_t bits = 0;

	cache->function = cache->policy == WEIGHTED ? (enum function)draw(DEAL) : (enum function)draw(FUNCTIONS);
	for (uint32_t s = cache->sets; s > 1; s /= 2)
		bits++;
	cache->twist = bits + draw(2);
	if (bits == 0 && cache->function != DEAL)
		cache->function = MOD;
	do
		for (uint32_t bit = 0; bit < bits; bit++)
			cache->sum[bit] = draw(UINT32_C(1) << (bits + 2));
	while (!full_rank(cache));
	for (uint32_t s = 0; s < cache->sets; s++)
		cache->ways[s] = ways;
	if (cache->function == DEAL) {
		cache->sets = 2 + draw(4);
		for (uint32_t s = 0; s < cache->sets; s++)
			cache->ways[s] = s == 0 ? ways + 1 + draw(4) : ways;
	}
}

static void invent(struct cache *cache, int lfu)
{
	static const uint32_t sets_of[] = {1, 2, 4, 8}, ways_of[] = {1, 2, 3, 4, 6, 8, 12};
	static const unsigned weights[][5] = {{2, 1, 3}, {3, 2, 1, 1}, {4, 1, 3, 1, 1}, {4, 3, 1, 1, 1}}; /* ways, then weights */

	memset(cache, 0, sizeof *cache);
	cache->sets = sets_of[draw(4)];
	cache->line = 32U << draw(4);
	cache->sector = draw(2) ? cache->line : 32;
	cache->policy = lfu ? LFU : (enum policy)draw(LFU);
	uint32_t ways = ways_of[draw(cache->policy == RANDOM ? 4 : 7)];
	if (cache->sets == 1)
		ways += ways == 1; /* one line is no cache */
	if (cache->policy == WEIGHTED) {
		const unsigned *chosen = weights[draw(4)];
		ways = chosen[0];
		cache->weights = chosen + 1;
		for (uint32_t w = 0; w < ways; w++)
			cache->whole += cache->weights[w];
	}
	invent_function(cache, ways);
}

/* The procedure of a user: a coarse chase, and then the runs that infer proposes. Returns the number of rounds. */
static unsigned talk(struct cache *cache, struct gt_chase_series *series, struct gt_inference *found, uint32_t noise)
{
	struct gt_error error = {""};
	struct gt_proposal proposals[GT_PROPOSALS_MAX];

	for (uint64_t bytes = 1024; bytes <= 16384; bytes += 1024)
		run(cache, series, "ring", bytes, 16, 3, noise);
	for (unsigned turn = 1;; turn++) {
		int result = gt_infer(series, 0, 0, found, &error);
		CHECK_EQUAL(result, 0);
		CHECK_TEXT(error.text, "");
		if (result != 0)
			return turn;
		size_t n = gt_propose(found, series, proposals);
		if (n == 0 || turn == TURNS_MAX || series->n > ACCESSES_MAX)
			return turn;
		for (size_t i = 0; i < n; i++) {
			const struct gt_proposal *want = &proposals[i];
			if (!want->order)
				return turn;
			if (getenv("GTRACE_TALK"))
				printf("#  %s: %s -N %llu..%llu:%llu -s %llu -k %llu x%u\n", want->why, want->order, (unsigned long long)want->first,
				       (unsigned long long)want->last, (unsigned long long)want->step, (unsigned long long)want->stride,
				       (unsigned long long)want->rounds, want->times);
			for (unsigned t = 0; t < want->times; t++)
				for (uint64_t bytes = want->first; bytes <= want->last; bytes += want->step)
					run(cache, series, want->order, bytes, want->stride, want->rounds, noise);
		}
		gt_inference_clear(found);
	}
}

static int right_shape(const struct cache *cache, const struct gt_inference *found)
{
	uint32_t largest = 0, wanted = 0;

	for (uint32_t s = 1; s <= found->function.sets; s++)
		largest = found->function.ways[s] > largest ? found->function.ways[s] : largest;
	for (uint32_t s = 0; s < cache->sets; s++)
		wanted = cache->ways[s] > wanted ? cache->ways[s] : wanted;
	return found->size == capacity(cache) && found->line == cache->line && found->sweeps[0].unit == cache->sector &&
	       found->function.sets == cache->sets && largest == wanted;
}

/* The function found gives lines the same set where the cache does, as far as it says it knows. */
static int right_function(const struct cache *cache, const struct gt_inference *found)
{
	const struct gt_function *function = &found->function;
	uint32_t other[64] = {0}, back[64] = {0};

	for (uint64_t line = 0; line < function->seen_lines; line++) {
		uint32_t set = set_of(cache, line), named = function->set_of[line];
		if (named == 0 || named >= 64)
			return 0;
		if (other[set] == 0 && back[named] == 0) {
			other[set] = named;
			back[named] = set + 1;
		}
		if (other[set] != named)
			return 0;
	}
	return function->seen_lines > 0;
}

static int right_policy(const struct cache *cache, const struct gt_inference *found)
{
	static const char *const names[] = {[LRU] = "lru", [FIFO] = "fifo", [LFU] = "lfu"};
	const struct gt_victims *victims = &found->victims;
	int same = 1;

	if (cache->function != DEAL && cache->ways[0] == 1)
		return 1;
	if (names[cache->policy])
		return found->sweeps[0].regularity == GT_REGULAR && strcmp(found->policy->name, names[cache->policy]) == 0;
	if (found->sweeps[0].regularity == GT_REGULAR || found->sweeps[0].periodic)
		return 0;
	if (cache->policy == RANDOM)
		return found->alike;
	for (uint32_t w = 0; w < victims->ways; w++)
		same &= victims->part[w] * cache->whole == cache->weights[w] * victims->whole;
	return same && victims->ways == cache->ways[0];
}

struct tally {
	unsigned recovered, wrong, turns, of_policy[POLICIES], of_function[FUNCTIONS];
};

static void try_cache(unsigned i, uint32_t noise, int lfu, struct tally *tally)
{
	static struct cache cache;
	struct gt_chase_series series = {0};
	struct gt_inference found;

	seed = i * 7919 + noise;
	invent(&cache, lfu);
	unsigned turns = talk(&cache, &series, &found, noise);
	int shape = right_shape(&cache, &found), function = right_function(&cache, &found);
	int policy = right_policy(&cache, &found), single = cache.function != DEAL && cache.ways[0] == 1;
	int wrong = (found.size_sure && !shape) || (found.function_sure && !function) || (found.policy_sure && !policy);
	int sure = found.size_sure && found.function_sure && (found.policy_sure || single), all = shape && function && policy && sure;
	tally->turns += turns;
	tally->wrong += (unsigned)wrong;
	tally->recovered += (unsigned)all;
	tally->of_policy[cache.policy] += (unsigned)all;
	tally->of_function[cache.function] += (unsigned)all;
	if (wrong || !all)
		printf("# cache %u: sets %u ways %u,%u line %u sector %u policy %d function %d twist %u: sure %d/%d/%d/%d right %d/%d/%d; "
		       "found size %llu line %llu of %zu, unit %llu sets %u %s strange %llu doubt %g regular %d periodic %d; %llu replacements; %u turns, %zu\n",
		       i, cache.sets, cache.ways[0], cache.ways[1], cache.line, cache.sector, cache.policy, cache.function,
		       cache.twist, found.sure, found.size_sure, found.function_sure, found.policy_sure, shape, function, policy,
		       (unsigned long long)found.size, (unsigned long long)found.line, found.lines_n,
		       (unsigned long long)found.sweeps[0].unit, found.sweeps[0].sets,
		       found.function.name ? found.function.name : "-", (unsigned long long)found.sweeps[0].strange,
		       found.sweeps[0].doubt, found.sweeps[0].regularity == GT_REGULAR, found.sweeps[0].periodic,
		       (unsigned long long)found.victims.n, turns, series.n);
	gt_inference_clear(&found);
	gt_series_clear(&series);
}

static void try_caches(unsigned first, unsigned caches, uint32_t noise, int lfu, struct tally *tally)
{
	for (unsigned i = first; i < first + caches; i++)
		try_cache(i, noise, lfu, tally);
	printf("# of %u caches: %u recovered, %u wrong but sure, %.1f turns; LRU %u FIFO %u random %u weighted %u; "
	       "mod %u xor %u sums %u unequal %u\n", caches, tally->recovered, tally->wrong, tally->turns / (double)caches,
	       tally->of_policy[LRU], tally->of_policy[FIFO], tally->of_policy[RANDOM],
	       tally->of_policy[WEIGHTED], tally->of_function[MOD], tally->of_function[XOR], tally->of_function[SUMS],
	       tally->of_function[DEAL]);
}

static void test_random_caches(void)
{
	const char *wanted = getenv("GTRACE_CACHES"), *first = getenv("GTRACE_FIRST");
	unsigned caches = wanted ? (unsigned)strtoul(wanted, NULL, 10) : 40;
	struct tally tally = {0};

	try_caches(first ? (unsigned)strtoul(first, NULL, 10) : 0, caches, 200, 0, &tally);
	CHECK_EQUAL(tally.wrong, 0);
	CHECK(tally.recovered * 23 >= caches * 19); /* 190 of 230: what noise does not explain is not sure */
}

static void test_without_noise(void)
{
	struct tally tally = {0};

	try_caches(1000, 8, 0, 0, &tally);
	CHECK_EQUAL(tally.wrong, 0);
	CHECK(tally.recovered >= 7);
}

/* LFU does not evict the lines of a set in turn, so not all is found, but no sure value is wrong. */
static void test_lfu(void)
{
	struct tally tally = {0};

	try_caches(2000, 8, 200, 1, &tally);
	CHECK_EQUAL(tally.wrong, 0);
}

int main(void)
{
	RUN(test_random_caches);
	RUN(test_without_noise);
	RUN(test_lfu);
	return check_report();
}
