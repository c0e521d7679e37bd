/* SPDX-License-Identifier: MIT */
/* The pool of the resident warps of an instance, if the level decides which of them issue. */
#include <stdlib.h>

#include "cache/timed/warps.h"

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

static int by_warp(const void *left, const void *right)
{
	const struct gt_warp *a = left, *b = right;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (int)a->warp - (int)b->warp;
}

static void order_wave(struct gt_wave *wave)
{
	qsort(wave->warps, wave->warps_n, sizeof *wave->warps, by_warp);
}

int gt_pool_open(struct gt_pool *pool, struct gt_wave *wave, enum gt_own_issue issue, uint32_t schedulers,
		 struct gt_error *error)
{
	uint32_t warps = wave->warps_n, n = schedulers < warps ? schedulers : warps, words = warps / n / 64 + 1;

	order_wave(wave);
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
