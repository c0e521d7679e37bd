/* SPDX-License-Identifier: MIT */
/* The requests of the warps that are resident together on one instance, in the order of each warp, if the level decides
 * which warps issue. */
#ifndef GT_CACHE_TIMED_WARPS_H
#define GT_CACHE_TIMED_WARPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/pages.h"
#include "cache/config.h"
#include "stream/request.h"

/* A request without its step, which the level decides, and what its warp knows. */
struct gt_wave_request {
	uint64_t address;
	uint32_t an, pc;
	uint16_t sm, hint;
	uint8_t op, sectors, full, threads;
};

/* What all SMs keep of requests is in chunks of a pool, which are used again. */
struct gt_warp_chunk {
	struct gt_warp_chunk *next; /* of its owner, or of those that none uses */
	_Alignas(uint64_t) unsigned char data[];
};

struct gt_warp_chunks {
	struct gt_arena arena;
	size_t bytes; /* of a chunk */
	struct gt_warp_chunk *vacant;
};

/* NULL when memory is short. */
static inline struct gt_warp_chunk *gt_warp_chunks_take(struct gt_warp_chunks *chunks)
{
	struct gt_warp_chunk *chunk = chunks->vacant;

	if (chunk)
		chunks->vacant = chunk->next;
	else if (!(chunk = gt_arena_take(&chunks->arena, chunks->bytes)))
		return NULL;
	chunk->next = NULL;
	return chunk;
}

/* Those from `first` to `last` are not used any more. */
static inline void gt_warp_chunks_return(struct gt_warp_chunks *chunks, struct gt_warp_chunk *first, struct gt_warp_chunk *last)
{
	last->next = chunks->vacant;
	chunks->vacant = first;
}

#define GT_WAVE_CHUNK_BYTES 512 /* a warp of few requests has one, too */
#define GT_WAVE_CHUNK ((GT_WAVE_CHUNK_BYTES - sizeof(struct gt_warp_chunk)) / sizeof(struct gt_wave_request)) /* requests */

/* How far the requests of a warp have been served. */
struct gt_wave_place {
	const struct gt_warp_chunk *chunk;
	uint32_t at;   /* the next, in the chunk */
	uint32_t left; /* requests from there on; 0: the warp is done */
};

static inline const struct gt_wave_request *gt_wave_next(const struct gt_wave_place *place)
{
	return (const struct gt_wave_request *)(const void *)place->chunk->data + place->at;
}

/* Goes to the next request. The requests of a wave exceed the machine's cache: what follows it is prefetched. */
static inline void gt_wave_go_on(struct gt_wave_place *place)
{
	place->left--;
	if (++place->at + 2 < GT_WAVE_CHUNK)
		__builtin_prefetch(gt_wave_next(place) + 2);
	if (place->at < GT_WAVE_CHUNK)
		return;
	place->chunk = place->chunk->next;
	place->at = 0;
	if (place->left >= GT_WAVE_CHUNK)
		__builtin_prefetch(place->chunk->next);
}

struct gt_warp {
	uint32_t block;
	uint16_t warp;
	uint8_t piece;	    /* of its next request: the first piece that is not served */
	uint8_t room;	    /* for requests, in its last chunk */
	uint32_t follower;  /* the warp that last followed it; tried first */
	struct gt_wave_place next;
	struct gt_warp_chunk *first, *last;
	uint64_t effect;    /* the latest of the requests of its access so far */
	uint64_t ready;	    /* while delayed: the step at which it can continue */
	uint64_t order;	    /* in which warps were delayed */
};

/* Sets the next request of a warp. Members that are neighbours in both are copied as one. */
static inline void gt_wave_unpack(const struct gt_warp *warp, const struct gt_wave_place *place, struct gt_request *request)
{
	const struct gt_wave_request *next = gt_wave_next(place);

	request->address = next->address;
	request->step = 0;
	request->block = warp->block;
	request->an = next->an;
	request->pc = next->pc;
	request->warp = warp->warp;
	request->sm = next->sm;
	request->hint = next->hint;
	request->op = next->op;
	request->sectors = next->sectors;
	request->full = next->full;
	request->threads = next->threads;
}

struct gt_wave {
	size_t n;     /* requests */
	uint32_t an;  /* of the last */
	struct gt_warp *warps;
	uint32_t warps_n, warps_capacity;
	uint32_t current;   /* the warp of the last row */
	struct gt_map known; /* blocks, and warps with their place */
};

/* Which warp of a wave issues next. Warps are assigned to schedulers by their place in the wave modulo schedulers. A warp is
 * ready, delayed, taken by its scheduler, or done. */

#define GT_NO_WARP UINT32_MAX

/* The ready warps of a scheduler, by their number among its own: a queue, or a set. */
struct gt_ready {
	uint32_t *queue; /* a ring of `warps` */
	uint64_t *set;	 /* a bit each */
	uint32_t warps;	 /* that the scheduler has */
	uint32_t first;
	uint32_t n;	 /* ready */
	uint32_t last;	 /* that was taken; or GT_NO_WARP */
	uint32_t failed; /* the warp that found no MSHR when it was taken last; or GT_NO_WARP */
};

struct gt_issue_policy;

struct gt_pool {
	const struct gt_issue_policy *policy;
	struct gt_wave *wave;
	struct gt_ready *ready; /* of each scheduler */
	uint32_t schedulers;
	uint32_t ready_n;   /* of all */
	uint32_t delayed_n;
	uint32_t *delayed; /* a heap by (ready, order) */
	uint64_t delays;
	void *memory; /* of queues, sets and heap */
};

/* Puts the warps of the wave in order of block and index, and opens a pool in which all are ready. Nothing can be added to the wave
 * after. Returns 0, or -1 when memory is short. */
int gt_pool_open(struct gt_pool *pool, struct gt_wave *wave, enum gt_own_issue issue, uint32_t schedulers,
		 struct gt_error *error);
void gt_pool_close(struct gt_pool *pool);

/* Takes the next warp of a scheduler; GT_NO_WARP if none is ready. */
uint32_t gt_pool_take(struct gt_pool *pool, uint32_t scheduler);
/* Returns a warp that found no MSHR. */
void gt_pool_fail(struct gt_pool *pool, uint32_t warp);
/* Returns a warp that can continue at step `ready`. */
void gt_pool_delay(struct gt_pool *pool, uint32_t warp, uint64_t ready);
/* Makes the warps ready whose delay has passed at `step`. */
void gt_pool_wake(struct gt_pool *pool, uint64_t step);

/* The step at which the first delayed warp can continue. There must be one. */
static inline uint64_t gt_pool_next(const struct gt_pool *pool)
{
	return pool->wave->warps[pool->delayed[0]].ready;
}

#endif
