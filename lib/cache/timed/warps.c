/* SPDX-License-Identifier: MIT */
/* The warps that are resident together, if the level decides which of them issue: their requests, the pool of those that are ready, and
 * turns by algorithm 2 of [000]. */
#include <stdlib.h>

#include "base/grown.h"
#include "cache/timed/warps.h"

#define NO_WARP UINT32_MAX

/* A block and its warps are in one table. */
static uint64_t key_of_block(uint32_t block)
{
	return (uint64_t)block << 17 | 1;
}

static uint64_t key_of_warp(uint32_t block, uint16_t warp)
{
	return (uint64_t)block << 17 | (uint64_t)warp << 1;
}

int gt_wave_open(struct gt_wave *wave, struct gt_error *error)
{
	*wave = (struct gt_wave){0};
	return gt_map_open(&wave->known, 64, error);
}

void gt_wave_close(struct gt_wave *wave)
{
	free(wave->requests);
	free(wave->warps);
	gt_map_close(&wave->known);
}

void gt_wave_clear(struct gt_wave *wave)
{
	wave->n = wave->warps_n = 0;
	gt_map_clear(&wave->known);
}

bool gt_wave_ends(const struct gt_wave *wave, const struct gt_rows *rows, size_t i)
{
	return wave->n > 0 && rows->an[i] < wave->requests[wave->n - 1].request.an &&
	       !gt_map_get(&wave->known, key_of_block(rows->block[i]));
}

static bool is_warp(const struct gt_warp *warp, const struct gt_rows *rows, size_t i)
{
	return warp->block == rows->block[i] && warp->warp == rows->warp[i];
}

static int add_warp(struct gt_wave *wave, const struct gt_rows *rows, size_t i)
{
	size_t capacity = wave->warps_capacity;
	struct gt_warp *warps = gt_grown(wave->warps, wave->warps_n, &capacity, sizeof *warps);

	if (!warps)
		return -1;
	wave->warps = warps;
	wave->warps_capacity = (uint32_t)capacity;
	warps[wave->warps_n++] = (struct gt_warp){.block = rows->block[i], .warp = rows->warp[i], .next = GT_NO_REQUEST,
						  .follower = NO_WARP};
	return 0;
}

/* Makes the warp of row i the current one. */
static int find_warp(struct gt_wave *wave, const struct gt_rows *rows, size_t i)
{
	uint32_t before = wave->current, follower = wave->n > 0 ? wave->warps[before].follower : NO_WARP;
	int fresh;

	if (wave->n > 0 && is_warp(&wave->warps[before], rows, i))
		return 0;
	if (follower != NO_WARP && is_warp(&wave->warps[follower], rows, i)) {
		wave->current = follower;
		return 0;
	}
	uint64_t *place = gt_map_put(&wave->known, key_of_warp(rows->block[i], rows->warp[i]), wave->warps_n, &fresh);
	if (!place)
		return -1;
	wave->current = (uint32_t)*place;
	if (fresh && (add_warp(wave, rows, i) != 0 || !gt_map_put(&wave->known, key_of_block(rows->block[i]), 0, &fresh)))
		return -1;
	if (wave->n > 0)
		wave->warps[before].follower = wave->current;
	return 0;
}

int gt_wave_add(struct gt_wave *wave, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_wave_request *requests = gt_grown(wave->requests, wave->n, &wave->capacity, sizeof *requests);
	uint32_t at = (uint32_t)wave->n;

	if (requests)
		wave->requests = requests;
	if (!requests || find_warp(wave, rows, i) != 0)
		return gt_fail_memory(error, "the requests of a wave");
	if (wave->n >= GT_NO_REQUEST)
		return gt_fail(error, "a wave of more than %u requests on one SM", GT_NO_REQUEST);
	struct gt_warp *warp = &wave->warps[wave->current];
	*(warp->next == GT_NO_REQUEST ? &warp->next : &requests[warp->last].next) = at;
	warp->last = at;
	requests[wave->n++] = (struct gt_wave_request){gt_request_of(rows, i), GT_NO_REQUEST};
	return 0;
}

static int by_warp(const void *left, const void *right)
{
	const struct gt_warp *a = left, *b = right;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (int)a->warp - (int)b->warp;
}

void gt_wave_order(struct gt_wave *wave)
{
	qsort(wave->warps, wave->warps_n, sizeof *wave->warps, by_warp);
}

struct gt_issue_policy {
	void (*add)(struct gt_ready *ready, uint32_t warp);
	uint32_t (*take)(struct gt_ready *ready);
};

/* ---- first in, first out: the pool of [002] 4.2 ---- */

static void add_to_queue(struct gt_ready *ready, uint32_t warp)
{
	uint32_t at = ready->first + ready->n;

	ready->queue[at < ready->warps ? at : at - ready->warps] = warp;
}

static uint32_t take_first(struct gt_ready *ready)
{
	uint32_t warp = ready->queue[ready->first];

	ready->first = ready->first + 1 < ready->warps ? ready->first + 1 : 0;
	return warp;
}

/* ---- sets ---- */

static void add_to_set(struct gt_ready *ready, uint32_t warp)
{
	ready->set[warp / 64] |= UINT64_C(1) << warp % 64;
}

static bool has(const struct gt_ready *ready, uint32_t warp)
{
	return warp != GT_NO_WARP && (ready->set[warp / 64] >> warp % 64 & 1);
}

/* The first in the set from `warp` on, or GT_NO_WARP. */
static uint32_t next_in_set(const struct gt_ready *ready, uint32_t warp)
{
	if (warp >= ready->warps)
		return GT_NO_WARP;
	uint64_t bits = ready->set[warp / 64] >> warp % 64 << warp % 64;
	for (uint32_t word = warp / 64;; bits = ready->set[word]) {
		if (bits)
			return word * 64 + (uint32_t)__builtin_ctzll(bits);
		if (++word == (ready->warps + 63) / 64)
			return GT_NO_WARP;
	}
}

static uint32_t take_from_set(struct gt_ready *ready, uint32_t warp)
{
	ready->set[warp / 64] &= ~(UINT64_C(1) << warp % 64);
	ready->last = warp;
	return warp;
}

/* Round robin. */
static uint32_t take_next(struct gt_ready *ready)
{
	uint32_t warp = ready->last == GT_NO_WARP ? GT_NO_WARP : next_in_set(ready, ready->last + 1);

	return take_from_set(ready, warp != GT_NO_WARP ? warp : next_in_set(ready, 0));
}

/* Greedy, then oldest: the same warp as long as it is ready. One that has just failed is not. */
static uint32_t take_greedy(struct gt_ready *ready)
{
	uint32_t warp = ready->last, failed = ready->failed;

	ready->failed = GT_NO_WARP;
	if (warp == failed || !has(ready, warp))
		warp = next_in_set(ready, 0);
	if (warp == failed)
		warp = next_in_set(ready, warp + 1);
	return take_from_set(ready, warp != GT_NO_WARP ? warp : failed);
}

static const struct gt_issue_policy policies[] = {
	[GT_OWN_RR] = {add_to_set, take_next},
	[GT_OWN_GTO] = {add_to_set, take_greedy},
	[GT_OWN_FIFO_POOL] = {add_to_queue, take_first},
};

/* ---- the pool ---- */

static void add(struct gt_pool *pool, uint32_t warp)
{
	struct gt_ready *ready = &pool->ready[warp % pool->schedulers];

	pool->policy->add(ready, warp / pool->schedulers);
	ready->n++;
	pool->ready_n++;
}

int gt_pool_open(struct gt_pool *pool, struct gt_wave *wave, enum gt_own_issue issue, uint32_t schedulers,
		 struct gt_error *error)
{
	uint32_t warps = wave->warps_n, n = schedulers < warps ? schedulers : warps, words = warps / n / 64 + 1;

	*pool = (struct gt_pool){.policy = &policies[issue], .wave = wave, .schedulers = n};
	pool->ready = calloc(n, sizeof *pool->ready);
	pool->memory = calloc(1, (size_t)n * words * sizeof(uint64_t) + 2 * (size_t)warps * sizeof(uint32_t));
	if (!pool->ready || !pool->memory) {
		gt_pool_close(pool);
		return gt_fail_memory(error, "the warps of a wave");
	}
	uint64_t *set = pool->memory;
	uint32_t *queue = (uint32_t *)(set + (size_t)n * words);
	for (uint32_t s = 0; s < n; s++) {
		uint32_t own = (warps - s + n - 1) / n;
		pool->ready[s] = (struct gt_ready){.queue = queue, .set = set, .warps = own, .last = GT_NO_WARP,
						   .failed = GT_NO_WARP};
		queue += own;
		set += words;
	}
	pool->delayed = queue;
	for (uint32_t warp = 0; warp < warps; warp++)
		add(pool, warp);
	return 0;
}

void gt_pool_close(struct gt_pool *pool)
{
	free(pool->ready);
	free(pool->memory);
}

uint32_t gt_pool_take(struct gt_pool *pool, uint32_t scheduler)
{
	struct gt_ready *ready = &pool->ready[scheduler];

	if (ready->n == 0)
		return GT_NO_WARP;
	uint32_t warp = pool->policy->take(ready) * pool->schedulers + scheduler;
	ready->n--;
	pool->ready_n--;
	return warp;
}

void gt_pool_fail(struct gt_pool *pool, uint32_t warp)
{
	add(pool, warp);
	pool->ready[warp % pool->schedulers].failed = warp / pool->schedulers;
}

static bool sooner(const struct gt_pool *pool, uint32_t left, uint32_t right)
{
	const struct gt_warp *a = &pool->wave->warps[left], *b = &pool->wave->warps[right];

	return a->ready != b->ready ? a->ready < b->ready : a->order < b->order;
}

void gt_pool_delay(struct gt_pool *pool, uint32_t warp, uint64_t ready)
{
	uint32_t at = pool->delayed_n++, *heap = pool->delayed;

	pool->wave->warps[warp].ready = ready;
	pool->wave->warps[warp].order = pool->delays++;
	for (; at > 0 && sooner(pool, warp, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = warp;
}

static uint32_t first_delayed(struct gt_pool *pool)
{
	uint32_t *heap = pool->delayed, first = heap[0], moved = heap[--pool->delayed_n], n = pool->delayed_n, at = 0;

	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && sooner(pool, heap[child + 1], heap[child]);
		if (!sooner(pool, heap[child], moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
	return first;
}

void gt_pool_wake(struct gt_pool *pool, uint64_t step)
{
	while (pool->delayed_n > 0 && gt_pool_next(pool) <= step)
		add(pool, first_delayed(pool));
}

struct gt_turns gt_turns_begin(const struct gt_wave *wave, uint32_t schedulers)
{
	return (struct gt_turns){.wave = wave, .schedulers = schedulers, .at = wave->warps_n};
}

static bool is_ready(const struct gt_warp *warp, uint64_t step)
{
	return warp->next != GT_NO_REQUEST && warp->ready <= step;
}

static uint32_t access_of(const struct gt_turns *turns, const struct gt_warp *warp)
{
	return turns->wave->requests[warp->next].request.an;
}

/* Begins the next round. False if no warp is ready. */
static bool next_round(struct gt_turns *turns, uint64_t step)
{
	const struct gt_wave *wave = turns->wave;
	bool any = false;

	for (uint32_t i = 0; i < wave->warps_n; i++) {
		const struct gt_warp *warp = &wave->warps[i];
		if (is_ready(warp, step) && (!any || access_of(turns, warp) < turns->round)) {
			turns->round = access_of(turns, warp);
			any = true;
		}
	}
	turns->at = any ? 0 : wave->warps_n;
	return any;
}

static bool has_turn(const struct gt_turns *turns, const struct gt_warp *warp, uint64_t step)
{
	return is_ready(warp, step) && access_of(turns, warp) <= turns->round;
}

uint32_t gt_turns_take(struct gt_turns *turns, uint64_t step, uint32_t *warps)
{
	const struct gt_warp *all = turns->wave->warps;
	uint32_t n = turns->wave->warps_n, taken = 0;

	while (turns->at < n && !has_turn(turns, &all[turns->at], step))
		turns->at++;
	if (turns->at == n) {
		if (!next_round(turns, step))
			return 0;
		while (!has_turn(turns, &all[turns->at], step))
			turns->at++;
	}
	const struct gt_warp *first = &all[turns->at];
	for (; turns->at < n && all[turns->at].block == first->block &&
	       all[turns->at].warp / turns->schedulers == first->warp / turns->schedulers; turns->at++)
		if (has_turn(turns, &all[turns->at], step))
			warps[taken++] = turns->at;
	return taken;
}

uint64_t gt_turns_next(const struct gt_turns *turns)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < turns->wave->warps_n; i++) {
		const struct gt_warp *warp = &turns->wave->warps[i];
		if (warp->next != GT_NO_REQUEST && warp->ready < next)
			next = warp->ready;
	}
	return next;
}
