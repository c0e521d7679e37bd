/* SPDX-License-Identifier: MIT */
/* A slow, simple timed level: loads and stores of 128-byte lines in sectors of 32, LRU, write through without allocation or
 * write evict, one instance. Everything is a list that is searched from its beginning. */
#ifndef TESTS_TIMED_REFERENCE_H
#define TESTS_TIMED_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REF_MAX 4096
#define REF_NEVER UINT64_MAX

struct ref_config {
	unsigned sets, ways, banks, ports, entries, mshr_sets, partitions, merges, per_warp, hit_latency;
	unsigned latency; /* fixed */
	double k2;	  /* adaptive: latency + k2 * busy / below */
	unsigned below;
	bool evict, clip, requeue, next; /* next: what arrives in a step comes after its accesses */
	bool emit; /* all */
	enum { REF_SCHEDULE, REF_RR, REF_GTO, REF_FIFO_POOL } issue;
	enum { REF_LINE, REF_ACCESS, REF_FIRST_LANE } unit;
	unsigned schedulers;
	double delay;
};

struct ref_access {
	uint64_t line, step;
	unsigned sectors, warp, an, wave;
	unsigned full; /* of a store: sectors that it writes whole */
	bool store;
};

enum ref_status { REF_HIT, REF_MISS, REF_MERGED, REF_FAIL, REF_PASSED, REF_EFFECT };

struct ref_event {
	enum ref_status status;
	uint64_t step, line, latency, effect;
	unsigned warp, bank, port;
	bool found; /* of a store: every sector was there */
};

/* Something that takes effect at the end of step `effect`. */
struct ref_flight {
	uint64_t line, effect, sent;
	unsigned sectors, uses, merges, warp;
	bool holds, done, hit;
};

struct ref_block {
	uint64_t line, used; /* used: when, as a count */
	unsigned valid, written;
	bool present;
};

struct ref_counters {
	uint64_t reads, read_hits, line_misses, sector_misses, merges, latency_misses, reservation_fails, port_conflicts,
		steps, stalls, sent_reads;
};

struct ref_cache {
	struct ref_config config;
	struct ref_block blocks[64][8];
	struct ref_flight flights[REF_MAX];
	unsigned flights_n;
	struct ref_event events[16 * REF_MAX], effects[REF_MAX];
	unsigned events_n, effects_n;
	uint64_t uses, clock;
	bool admitted; /* an access as a whole: its loads need not look for entries */
	struct ref_counters counters;
};

static inline unsigned ref_bits(unsigned mask)
{
	unsigned n = 0;

	for (; mask; mask >>= 1)
		n += mask & 1;
	return n;
}

static inline struct ref_block *ref_find(struct ref_cache *cache, uint64_t line)
{
	struct ref_block *set = cache->blocks[line % cache->config.sets];

	for (unsigned way = 0; way < cache->config.ways; way++)
		if (set[way].present && set[way].line == line)
			return &set[way];
	return NULL;
}

static inline void ref_bring(struct ref_cache *cache, uint64_t line, unsigned sectors)
{
	struct ref_block *block = ref_find(cache, line), *set = cache->blocks[line % cache->config.sets];

	for (unsigned way = 0; !block && way < cache->config.ways; way++)
		if (!set[way].present)
			block = &set[way];
	if (!block) {
		block = &set[0];
		for (unsigned way = 1; way < cache->config.ways; way++)
			if (set[way].used < block->used)
				block = &set[way];
		block->present = false;
	}
	if (!block->present)
		*block = (struct ref_block){.line = line, .present = true};
	block->valid |= sectors;
	block->used = ++cache->uses;
}

/* Whether it comes before the other: the earlier one; with `next`, of one step a hit; else the one that was sent first. */
static inline bool ref_before(const struct ref_cache *cache, const struct ref_flight *flight, const struct ref_flight *other)
{
	if (flight->effect != other->effect)
		return flight->effect < other->effect;
	return cache->config.next && flight->hit && !other->hit;
}

/* Applies all effects before this step in that order. */
static inline void ref_arrive(struct ref_cache *cache, uint64_t step)
{
	for (;;) {
		struct ref_flight *first = NULL;
		for (unsigned i = 0; i < cache->flights_n; i++) {
			struct ref_flight *flight = &cache->flights[i];
			if (!flight->done && flight->effect < step && (!first || ref_before(cache, flight, first)))
				first = flight;
		}
		if (!first)
			return;
		first->done = true;
		cache->effects[cache->effects_n++] = (struct ref_event){REF_EFFECT, first->effect, first->line, 0, 0, 0, 0, 0, false};
		ref_bring(cache, first->line, first->sectors | first->uses);
	}
}

/* An entry is taken from the step it was sent to before the step its block arrives, or with `next` to that step. */
static inline bool ref_holds(const struct ref_cache *cache, const struct ref_flight *flight, uint64_t step)
{
	return flight->holds && (flight->sent == step || flight->effect > step || (cache->config.next && flight->effect == step));
}

static inline unsigned ref_mshr_set(const struct ref_config *config, uint64_t line)
{
	unsigned partition = (unsigned)(line % config->sets % config->banks) % config->partitions;
	unsigned share = (config->partitions + config->mshr_sets - 1) / config->mshr_sets;

	return partition / share;
}

static inline unsigned ref_busy(const struct ref_cache *cache, uint64_t step, unsigned set, unsigned warp)
{
	unsigned n = 0;

	for (unsigned i = 0; i < cache->flights_n; i++) {
		const struct ref_flight *flight = &cache->flights[i];
		n += ref_holds(cache, flight, step) && (set == UINT32_MAX || ref_mshr_set(&cache->config, flight->line) == set) &&
		     (warp == UINT32_MAX || flight->warp == warp);
	}
	return n;
}

static inline uint64_t ref_latency(const struct ref_cache *cache, uint64_t step)
{
	double busy = ref_busy(cache, step, UINT32_MAX, UINT32_MAX);

	return (uint64_t)(cache->config.latency + cache->config.k2 * busy / cache->config.below + 0.5);
}

/* A load that misses. `after` is the step before which the data arrives: in the stall model a block arrives at the end of
 * step + latency - 1, in the requeue model it takes effect at step + latency. */
static inline struct ref_event ref_miss(struct ref_cache *cache, const struct ref_access *access, unsigned missing,
					uint64_t step, bool requeue)
{
	struct ref_config *config = &cache->config;
	struct ref_event event = {REF_FAIL, step, access->line, 0, step, access->warp, 0, 0, false};
	struct ref_flight *joined = NULL;
	unsigned coming = 0, valid = ref_find(cache, access->line) ? ref_find(cache, access->line)->valid : 0;
	uint64_t latest = 0;

	for (unsigned i = 0; i < cache->flights_n; i++) {
		struct ref_flight *flight = &cache->flights[i];
		if (flight->done || flight->line != access->line || !flight->sectors)
			continue;
		coming |= flight->sectors;
		if (!(flight->sectors & missing))
			continue;
		joined = flight;
		latest = flight->effect > latest ? flight->effect : latest;
	}
	if ((missing & ~coming) == 0) {
		if (joined->merges >= config->merges)
			return event;
		joined->merges++;
		cache->counters.merges++;
		event.status = REF_MERGED;
		event.effect = latest;
		event.latency = latest - step;
	} else {
		if (!cache->admitted && (ref_busy(cache, step, ref_mshr_set(config, access->line), UINT32_MAX) >= config->entries ||
					 ref_busy(cache, step, UINT32_MAX, access->warp) >= config->per_warp))
			return event;
		event.status = REF_MISS;
		event.latency = ref_latency(cache, step);
		event.effect = step + event.latency - !requeue;
		unsigned brought = missing & ~coming & ~valid;
		cache->counters.sent_reads += ref_bits(brought);
		cache->flights[cache->flights_n++] = (struct ref_flight){
			.line = access->line, .effect = event.effect, .sent = step, .sectors = brought, .warp = access->warp, .holds = true};
	}
	cache->counters.reads += ref_bits(access->sectors);
	cache->counters.read_hits += ref_bits(access->sectors & ~missing);
	cache->counters.latency_misses += ref_bits(missing & coming);
	*(ref_find(cache, access->line) ? &cache->counters.sector_misses : &cache->counters.line_misses) += ref_bits(missing);
	return event;
}

static inline struct ref_event ref_store(struct ref_cache *cache, const struct ref_access *access, uint64_t step)
{
	struct ref_block *block = ref_find(cache, access->line);
	unsigned hits = block ? (block->valid | block->written) & access->sectors : 0;

	*(block ? &cache->counters.sector_misses : &cache->counters.line_misses) += ref_bits(access->sectors & ~hits);
	if (block && cache->config.evict)
		block->present = false;
	else if (block) {
		ref_bring(cache, access->line, access->full & access->sectors);
		block->written |= access->sectors;
	}
	return (struct ref_event){REF_PASSED, step, access->line, 0, step, access->warp, 0, 0, hits == access->sectors};
}

static inline struct ref_event ref_load(struct ref_cache *cache, const struct ref_access *access, uint64_t step)
{
	struct ref_block *block = ref_find(cache, access->line);
	unsigned missing = access->sectors & ~(block ? block->valid : 0);

	if (missing) {
		struct ref_event event = ref_miss(cache, access, missing, step, false);
		if (event.status != REF_FAIL && block)
			block->used = ++cache->uses;
		return event;
	}
	block->used = ++cache->uses;
	cache->counters.reads += ref_bits(access->sectors);
	cache->counters.read_hits += ref_bits(access->sectors);
	uint64_t latency = cache->config.hit_latency;
	return (struct ref_event){REF_HIT, step, access->line, latency, step + (latency ? latency - 1 : 0), access->warp, 0, 0, false};
}

/* One step of the requests that issue together: by warp in the order of arrival, then by bank. */
static inline unsigned ref_stall_step(struct ref_cache *cache, const struct ref_access *group, unsigned n, bool *served,
				      uint64_t step)
{
	unsigned ports[64] = {0}, left = 0, warps = 0, ordinal[256] = {0};

	for (unsigned i = 1; i < n; i++)
		ordinal[i] = warps += group[i].warp != group[i - 1].warp;
	ref_arrive(cache, step);
	for (unsigned warp = 0; warp <= warps; warp++)
		for (unsigned bank = 0; bank < cache->config.banks; bank++)
			for (unsigned i = 0; i < n; i++) {
				if (served[i] || ordinal[i] != warp || group[i].line % cache->config.sets % cache->config.banks != bank)
					continue;
				if (ports[bank] == cache->config.ports) {
					cache->counters.port_conflicts++;
					left++;
					continue;
				}
				struct ref_event event = group[i].store ? ref_store(cache, &group[i], step)
									: ref_load(cache, &group[i], step);
				event.bank = bank;
				event.port = ports[bank]++;
				cache->events[cache->events_n++] = event;
				served[i] = event.status != REF_FAIL;
				cache->counters.reservation_fails += event.status == REF_FAIL;
				left += event.status == REF_FAIL;
			}
	return left;
}

/* A group issues together, from the clock or the given step on. `last` takes for each warp, by its
 * place in the group, when its last request was served and when the latest takes effect. */
struct ref_last {
	uint64_t served, effect;
};

static inline void ref_group(struct ref_cache *cache, const struct ref_access *group, unsigned n, struct ref_last *last)
{
	bool served[256] = {false};
	uint64_t step = group[0].step > cache->clock && cache->config.issue == REF_SCHEDULE ? group[0].step : cache->clock;
	uint64_t start = step;
	unsigned seen = cache->events_n;

	while (ref_stall_step(cache, group, n, served, step) > 0)
		step++;
	cache->clock = step + 1;
	cache->counters.stalls += step - start;
	for (; last && seen < cache->events_n; seen++) {
		const struct ref_event *event = &cache->events[seen];
		if (event->status == REF_FAIL)
			continue;
		last[event->warp % 16].served = event->step;
		if (event->effect > last[event->warp % 16].effect)
			last[event->warp % 16].effect = event->effect;
	}
}

static inline void ref_stall(struct ref_cache *cache, const struct ref_access *accesses, unsigned n)
{
	for (unsigned first = 0, end; first < n; first = end) {
		for (end = first; end < n && accesses[end].step == accesses[first].step;)
			end++;
		ref_group(cache, &accesses[first], end - first, NULL);
	}
	cache->counters.steps = cache->clock;
	ref_arrive(cache, REF_NEVER);
}

struct ref_warp {
	struct ref_access accesses[256];
	unsigned n, next, place;
	uint64_t effect, ready, order; /* ready: REF_NEVER unless delayed */
	unsigned queued;	       /* place in the queue, 1 the first; 0: not in it */
	bool taken, failed;	       /* last by its scheduler; and it found no entry */
};

/* The sectors of a line that arrive in this step, or all that have not changed the cache. */
static inline unsigned ref_in_flight(const struct ref_cache *cache, uint64_t line, uint64_t step, bool now)
{
	unsigned sectors = 0;

	for (unsigned i = 0; i < cache->flights_n; i++)
		if (!cache->flights[i].done && cache->flights[i].line == line &&
		    (!now || (cache->flights[i].effect == step && !cache->config.next)))
			sectors |= cache->flights[i].sectors;
	return sectors;
}

/* One request of the warp. */
static inline struct ref_event ref_request(struct ref_cache *cache, const struct ref_access *access, uint64_t step)
{
	struct ref_block *block = ref_find(cache, access->line);
	unsigned here = block ? block->valid : 0;
	struct ref_event event;

	if (access->store)
		return ref_store(cache, access, step);
	here |= ref_in_flight(cache, access->line, step, true);
	unsigned missing = access->sectors & ~here;
	if (missing) {
		event = ref_miss(cache, access, missing, step, true);
		cache->counters.reservation_fails += event.status == REF_FAIL;
		if (event.status == REF_MERGED && !cache->config.clip) {
			event.latency = ref_latency(cache, step);
			event.effect = step + event.latency;
		}
	} else {
		cache->counters.reads += ref_bits(access->sectors);
		cache->counters.read_hits += ref_bits(access->sectors);
		event = (struct ref_event){REF_HIT, step, access->line, cache->config.hit_latency,
					   step + cache->config.hit_latency, access->warp, 0, 0, false};
	}
	if (event.status == REF_HIT || event.status == REF_MERGED)
		cache->flights[cache->flights_n++] = (struct ref_flight){
			.line = access->line, .effect = event.effect, .sent = step, .uses = access->sectors,
			.hit = event.status == REF_HIT};
	return event;
}

/* Appends the warps whose delay has passed to the queue, the one ready first before others. */
static inline void ref_wake(struct ref_warp *warps, unsigned n, uint64_t step, unsigned *last)
{
	for (;;) {
		struct ref_warp *first = NULL;
		for (unsigned i = 0; i < n; i++) {
			struct ref_warp *warp = &warps[i];
			if (warp->ready <= step && (!first || warp->ready < first->ready ||
						    (warp->ready == first->ready && warp->order < first->order)))
				first = warp;
		}
		if (!first)
			return;
		first->ready = REF_NEVER;
		first->queued = ++*last;
	}
}

/* The warp that a scheduler takes next, or NULL. Warps belong to schedulers by their place modulo schedulers. */
static inline struct ref_warp *ref_take(const struct ref_config *config, struct ref_warp *warps, unsigned n,
					unsigned scheduler)
{
	struct ref_warp *best = NULL, *last = NULL, *greedy = NULL, *only = NULL;

	for (unsigned i = 0; i < n; i++)
		if (warps[i].n && warps[i].place % config->schedulers == scheduler && warps[i].taken)
			last = &warps[i];
	for (unsigned i = 0; i < n; i++) {
		struct ref_warp *warp = &warps[i];
		if (!warp->queued || warp->place % config->schedulers != scheduler)
			continue;
		if (warp->failed) {
			only = warp;
			if (config->issue == REF_GTO)
				continue;
		}
		if (warp == last)
			greedy = warp;
		bool after = last && warp->place > last->place, best_after = last && best && best->place > last->place;
		if (!best || (config->issue == REF_FIFO_POOL && warp->queued < best->queued) ||
		    (config->issue == REF_RR && after && !best_after))
			best = warp;
	}
	if (config->issue == REF_GTO && greedy)
		best = greedy;
	if (!best)
		best = only;
	if (!best)
		return NULL;
	for (unsigned i = 0; i < n; i++)
		if (warps[i].n && warps[i].place % config->schedulers == scheduler)
			warps[i].taken = warps[i].failed = false;
	best->taken = true;
	best->queued = 0;
	return best;
}

/* All warps stand in the queue; how many places there are. */
static inline unsigned ref_begin_wave(struct ref_warp *warps, unsigned n)
{
	unsigned last = 0;

	for (unsigned i = 0; i < n; i++) {
		warps[i].place = last;
		warps[i].queued = warps[i].n ? ++last : 0;
		warps[i].ready = REF_NEVER;
	}
	return last;
}

static inline void ref_delay(const struct ref_cache *cache, struct ref_warp *warp, uint64_t served, uint64_t least,
			     uint64_t *order)
{
	if (warp->next < warp->n) {
		warp->ready = served + 1 + (uint64_t)(cache->config.delay * (double)(warp->effect - served) + 0.5);
		warp->ready = warp->ready < least ? least : warp->ready;
		if (cache->config.next && warp->effect == served)
			warp->ready--; /* at the end of this step, before those whose data arrive */
		warp->order = (*order)++;
	}
	warp->effect = 0;
}

/* Whether warps can continue in this step, and whether any can later. */
static inline bool ref_any(const struct ref_warp *warps, unsigned n, bool *delayed)
{
	bool queued = false;

	*delayed = false;
	for (unsigned i = 0; i < n; i++) {
		queued |= warps[i].queued > 0;
		*delayed |= warps[i].ready != REF_NEVER;
	}
	return queued;
}

/* The next accesses of the members, together; those of smaller place first. */
static inline void ref_together(struct ref_cache *cache, struct ref_warp *warps, unsigned n, const bool *member, uint64_t *order)
{
	struct ref_access group[256];
	struct ref_last lasts[16] = {{0, 0}};
	unsigned requests = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned an = warps[i].accesses[warps[i].next].an;
		while (member[i] && warps[i].next < warps[i].n && warps[i].accesses[warps[i].next].an == an)
			group[requests++] = warps[i].accesses[warps[i].next++];
	}
	ref_group(cache, group, requests, lasts);
	for (unsigned i = 0; i < n; i++) {
		if (!member[i])
			continue;
		warps[i].effect = lasts[i].effect;
		warps[i].queued = 0;
		ref_delay(cache, &warps[i], lasts[i].served, cache->clock, order);
	}
}

/* A round of algorithm 2 of [000]: each block, and of its warps as many as there are schedulers, with an access of at most
 * the least number. */
static inline void ref_round(struct ref_cache *cache, struct ref_warp *warps, unsigned n, unsigned *last, uint64_t *order)
{
	unsigned round = UINT32_MAX, schedulers = cache->config.schedulers;

	for (unsigned i = 0; i < n; i++)
		if (warps[i].queued && warps[i].accesses[warps[i].next].an < round)
			round = warps[i].accesses[warps[i].next].an;
	for (unsigned block = 0; block < n / 4; block++)
		for (unsigned first = 0; first < 4; first += schedulers) {
			bool member[16] = {false}, any = false;
			ref_wake(warps, n, cache->clock, last);
			for (unsigned i = 4 * block + first; i < 4 * block + 4 && i < 4 * block + first + schedulers; i++)
				any |= member[i] = warps[i].queued && warps[i].accesses[warps[i].next].an <= round;
			if (any)
				ref_together(cache, warps, n, member, order);
		}
}

/* Stall: warps issue an access together, in rounds, or those that the schedulers take. */
static inline void ref_stall_wave(struct ref_cache *cache, struct ref_warp *warps, unsigned n)
{
	unsigned last = ref_begin_wave(warps, n);
	uint64_t order = 0;

	for (;;) {
		bool member[16] = {false}, delayed;
		ref_wake(warps, n, cache->clock, &last);
		if (!ref_any(warps, n, &delayed)) {
			if (!delayed)
				return;
			cache->counters.stalls++;
			cache->clock++;
			continue;
		}
		if (cache->config.issue == REF_RR) {
			ref_round(cache, warps, n, &last, &order);
			continue;
		}
		for (unsigned s = 0; s < cache->config.schedulers; s++) {
			struct ref_warp *warp = ref_take(&cache->config, warps, n, s);
			if (warp)
				member[warp - warps] = true;
		}
		ref_together(cache, warps, n, member, &order);
	}
}

/* The request of an access of n for which there is no MSHR; or n. Sectors that an earlier request of the access will bring
 * need none. */
static inline unsigned ref_held(const struct ref_cache *cache, const struct ref_access *access, unsigned n, uint64_t step)
{
	unsigned sets[64] = {0}, own = ref_busy(cache, step, UINT32_MAX, access->warp), brought[64] = {0};

	for (unsigned set = 0; set < 64; set++)
		sets[set] = ref_busy(cache, step, set, UINT32_MAX);
	for (unsigned i = 0; i < (cache->config.unit == REF_FIRST_LANE ? 1 : n); i++) {
		const struct ref_block *block = ref_find((struct ref_cache *)cache, access[i].line);
		unsigned wanted = access[i].store ? 0 : access[i].sectors & ~(block ? block->valid : 0);
		wanted &= ~ref_in_flight(cache, access[i].line, step, false);
		for (unsigned before = 0; before < i; before++)
			if (access[before].line == access[i].line)
				wanted &= ~brought[before];
		brought[i] = wanted;
		if (wanted && (++sets[ref_mshr_set(&cache->config, access[i].line)] > cache->config.entries ||
			       ++own > cache->config.per_warp))
			return i;
	}
	return n;
}

/* The next access of a warp, all of it in this step or nothing. False if it is held. */
static inline bool ref_whole_access(struct ref_cache *cache, struct ref_warp *warp, uint64_t step)
{
	const struct ref_access *access = &warp->accesses[warp->next];
	unsigned n = 1;

	while (warp->next + n < warp->n && access[n].an == access->an)
		n++;
	unsigned held = ref_held(cache, access, n, step);
	if (held < n && ref_busy(cache, step, UINT32_MAX, UINT32_MAX) > 0) {
		cache->events[cache->events_n++] = (struct ref_event){
			REF_FAIL, step, access[held].line, 0, step, access->warp,
			(unsigned)(access[held].line % cache->config.sets % cache->config.banks), 0, false};
		cache->counters.reservation_fails++;
		return false;
	}
	cache->admitted = true;
	for (unsigned i = 0; i < n; i++) {
		struct ref_event event = ref_request(cache, &access[i], step);
		event.bank = (unsigned)(access[i].line % cache->config.sets % cache->config.banks);
		cache->events[cache->events_n++] = event;
		warp->effect = event.effect > warp->effect ? event.effect : warp->effect;
	}
	cache->admitted = false;
	warp->next += n;
	return true;
}

/* Requeue: each scheduler serves its warp, by requests or by accesses. */
static inline void ref_requeue_wave(struct ref_cache *cache, struct ref_warp *warps, unsigned n)
{
	struct ref_warp *running[16] = {NULL};
	unsigned last = ref_begin_wave(warps, n);
	uint64_t order = 0, step = cache->clock;

	for (;; step++) {
		unsigned ports[64] = {0};
		bool delayed, waiting;
		ref_wake(warps, n, step, &last);
		waiting = ref_any(warps, n, &delayed);
		for (unsigned s = 0; s < cache->config.schedulers; s++)
			waiting |= running[s] != NULL;
		if (!waiting && !delayed)
			break;
		if (!waiting) {
			cache->counters.stalls++;
			continue;
		}
		for (unsigned s = 0; s < cache->config.schedulers; s++)
			if (!running[s])
				running[s] = ref_take(&cache->config, warps, n, s);
		ref_arrive(cache, step);
		for (unsigned s = 0; s < cache->config.schedulers; s++) {
			struct ref_warp *warp = running[s];
			if (!warp)
				continue;
			if (cache->config.unit != REF_LINE) {
				running[s] = NULL;
				if (ref_whole_access(cache, warp, step)) {
					ref_delay(cache, warp, step, 0, &order);
				} else {
					warp->queued = ++last;
					warp->failed = true;
				}
				continue;
			}
			const struct ref_access *access = &warp->accesses[warp->next];
			unsigned bank = (unsigned)(access->line % cache->config.sets % cache->config.banks);
			if (ports[bank] == cache->config.ports) {
				cache->counters.port_conflicts++;
				continue;
			}
			struct ref_event event = ref_request(cache, access, step);
			event.bank = bank;
			event.port = ports[bank]++;
			cache->events[cache->events_n++] = event;
			if (event.status == REF_FAIL) {
				warp->queued = ++last;
				warp->failed = true;
				running[s] = NULL;
				continue;
			}
			warp->effect = event.effect > warp->effect ? event.effect : warp->effect;
			if (++warp->next < warp->n && warp->accesses[warp->next].an == access->an)
				continue;
			ref_delay(cache, warp, step, 0, &order);
			running[s] = NULL;
		}
	}
	cache->clock = step;
}

static inline void ref_waves(struct ref_cache *cache, const struct ref_access *accesses, unsigned n)
{
	for (unsigned first = 0, end; first < n; first = end) {
		static struct ref_warp warps[16];
		memset(warps, 0, sizeof warps);
		for (end = first; end < n && accesses[end].wave == accesses[first].wave; end++) {
			struct ref_warp *warp = &warps[accesses[end].warp % 16];
			warp->accesses[warp->n++] = accesses[end];
		}
		cache->clock = accesses[first].step > cache->clock ? accesses[first].step : cache->clock;
		(cache->config.requeue ? ref_requeue_wave : ref_stall_wave)(cache, warps, 16);
	}
	cache->counters.steps = cache->clock;
	ref_arrive(cache, REF_NEVER);
}

#endif
