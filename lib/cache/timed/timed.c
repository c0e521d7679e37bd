/* SPDX-License-Identifier: MIT */
/* A timed level: its instances, the requests that it takes, which are gathered by instance, and the end of a kernel. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/random.h"
#include "cache/level.h"
#include "cache/timed/engine.h"
#include "stream/counted.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- the requests of resident warps, in the order of each ---- */

/* A block and its warps are in one table. */
static uint64_t key_of_block(uint32_t block)
{
	return (uint64_t)block << 17 | 1;
}

static uint64_t key_of_warp(uint32_t block, uint16_t warp)
{
	return (uint64_t)block << 17 | (uint64_t)warp << 1;
}

static int wave_open(struct gt_wave *wave, struct gt_error *error)
{
	*wave = (struct gt_wave){0};
	return gt_map_open(&wave->known, 64, error);
}

static void wave_close(struct gt_wave *wave)
{
	free(wave->warps);
	gt_map_close(&wave->known);
}

static void wave_clear(struct gt_wave *wave, struct gt_warp_chunks *chunks)
{
	for (uint32_t i = 0; i < wave->warps_n; i++)
		gt_warp_chunks_return(chunks, wave->warps[i].first, wave->warps[i].last);
	wave->n = wave->warps_n = 0;
	gt_map_clear(&wave->known);
}

/* Whether row i begins the next wave: a new block begins with a smaller access number than the previous row, which does not
 * happen within a wave of gschedule --issue rr. */
static bool wave_ends(const struct gt_wave *wave, const struct gt_rows *rows, size_t i)
{
	return wave->n > 0 && rows->an[i] < wave->an && !gt_map_get(&wave->known, key_of_block(rows->block[i]));
}

static bool is_warp(const struct gt_warp *warp, const struct gt_rows *rows, size_t i)
{
	return warp->block == rows->block[i] && warp->warp == rows->warp[i];
}

static int add_warp(struct gt_wave *wave, struct gt_warp_chunks *chunks, const struct gt_rows *rows, size_t i)
{
	size_t capacity = wave->warps_capacity;
	struct gt_warp *warps = gt_grown(wave->warps, wave->warps_n, &capacity, sizeof *warps);

	if (warps) {
		wave->warps = warps;
		wave->warps_capacity = (uint32_t)capacity;
	}
	struct gt_warp_chunk *first = warps ? gt_warp_chunks_take(chunks) : NULL;
	if (!first)
		return -1;
	warps[wave->warps_n++] = (struct gt_warp){.block = rows->block[i], .warp = rows->warp[i], .room = GT_WAVE_CHUNK, .follower = GT_NO_WARP,
						  .next = {.chunk = first}, .first = first, .last = first};
	return 0;
}

/* Makes the warp of row i the current one. */
static int find_warp(struct gt_wave *wave, struct gt_warp_chunks *chunks, const struct gt_rows *rows, size_t i)
{
	uint32_t before = wave->current, follower = wave->n > 0 ? wave->warps[before].follower : GT_NO_WARP;
	int fresh;

	if (wave->n > 0 && is_warp(&wave->warps[before], rows, i))
		return 0;
	if (follower != GT_NO_WARP && is_warp(&wave->warps[follower], rows, i)) {
		wave->current = follower;
		return 0;
	}
	uint64_t *place = gt_map_put(&wave->known, key_of_warp(rows->block[i], rows->warp[i]), wave->warps_n, &fresh);
	if (!place)
		return -1;
	wave->current = (uint32_t)*place;
	if (fresh && (add_warp(wave, chunks, rows, i) != 0 || !gt_map_put(&wave->known, key_of_block(rows->block[i]), 0, &fresh)))
		return -1;
	if (wave->n > 0)
		wave->warps[before].follower = wave->current;
	return 0;
}

/* A place for one more request of a warp; NULL when memory is short. What follows it is prefetched. */
static struct gt_wave_request *add_request(struct gt_warp *warp, struct gt_warp_chunks *chunks)
{
	struct gt_warp_chunk *more = warp->room == 0 ? gt_warp_chunks_take(chunks) : NULL;

	if (warp->room == 0 && !more)
		return NULL;
	if (more) {
		warp->last->next = more;
		warp->last = more;
		warp->room = GT_WAVE_CHUNK;
	}
	struct gt_wave_request *added = (struct gt_wave_request *)(void *)warp->last->data + GT_WAVE_CHUNK - warp->room--;
	if (warp->room > 1)
		__builtin_prefetch(added + 2, 1);
	warp->next.left++;
	return added;
}

static int wave_add(struct gt_wave *wave, struct gt_warp_chunks *chunks, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	if (wave->n == UINT32_MAX)
		return gt_fail(error, "a wave of more than %u requests on one SM", UINT32_MAX);
	struct gt_wave_request *added = find_warp(wave, chunks, rows, i) == 0 ? add_request(&wave->warps[wave->current], chunks) : NULL;
	if (!added)
		return gt_fail_memory(error, "the requests of a wave");
	*added = (struct gt_wave_request){.address = rows->address[i], .an = rows->an[i], .pc = rows->pc[i], .sm = rows->sm[i],
					  .hint = gt_rows_hint(rows, i), .op = rows->op[i], .sectors = rows->sectors[i],
					  .full = rows->full[i], .threads = rows->threads[i]};
	wave->an = rows->an[i];
	wave->n++;
	return 0;
}

/* ---- instances ---- */

static void engine_close(struct gt_engine *engine)
{
	if (!engine)
		return;
	free(engine->items.items);
	free(engine->busy);
	free(engine->ports);
	free(engine->queued.requests);
	gt_flights_close(&engine->flights);
	wave_close(&engine->wave);
	free(engine);
}

/* Makes the engine of instance `number`, which stays in timed->engines even on error; NULL on error. */
static struct gt_engine *engine_open(struct gt_timed *timed, size_t number, struct gt_error *error)
{
	struct gt_engine *engine = calloc(1, sizeof *engine);

	if (!engine) {
		gt_fail_memory(error, "a cache");
		return NULL;
	}
	timed->engines[number] = engine;
	engine->number = number;
	engine->random = gt_random_state(timed->config.timed.latency.seed, number);
	gt_flights_open(&engine->flights);
	engine->busy = calloc(timed->config.timed.mshr_sets, sizeof *engine->busy);
	engine->ports = calloc(timed->banks, sizeof *engine->ports);
	if (!engine->busy || !engine->ports) {
		gt_fail_memory(error, "a cache");
		return NULL;
	}
	return wave_open(&engine->wave, error) == 0 ? engine : NULL;
}

#define STEP_MAX (UINT64_MAX / 4) /* of a request; clocks advance beyond it */
#define GATHERED_ROWS 4096	  /* of an instance, that are served together */
#define PREFETCHED_BYTES 192	  /* of an instance's queue, which the rows of others drive out of the nearest cache */
#define RELEASE_ROWS 65536	  /* that wait before the first attempt to pass them on */

static struct gt_rows *new_rows(size_t capacity, struct gt_error *error)
{
	struct gt_rows *rows = gt_rows_new(capacity, error);

	if (rows) {
		rows->kind = GT_REQUESTS;
		rows->scheduled = true;
	}
	return rows;
}

static void set_banks(struct gt_timed *timed)
{
	for (uint32_t bank = 0; bank < timed->banks; bank++)
		timed->mshr_of[bank] = gt_mshr_set(&timed->config.timed, bank % timed->config.timed.partitions);
}

static void timed_close(void *level)
{
	struct gt_timed *timed = level;

	if (!timed)
		return;
	for (size_t i = 0; timed->engines && i < timed->level->instances_end; i++)
		engine_close(timed->engines[i]);
	free(timed->engines);
	free(timed->active_list);
	free(timed->mshr_of);
	gt_queues_close(timed->queues);
	gt_level_close(timed->level);
	gt_rows_free(timed->collected.rows);
	gt_arena_close(&timed->chunks.arena);
	gt_arena_close(&timed->outboxes.arena);
	free(timed);
}

static void *timed_open(const struct gt_level_config *config, unsigned lanes, struct gt_error *error)
{
	struct gt_timed *timed = calloc(1, sizeof *timed);

	(void)lanes;
	if (!timed) {
		gt_fail_memory(error, "a cache level");
		return NULL;
	}
	timed->config = *config;
	timed->chunks.bytes = GT_WAVE_CHUNK_BYTES;
	timed->outboxes.bytes = GT_OUTBOX_CHUNK_BYTES;
	timed->banks = config->timed.partitions * config->timed.banks;
	timed->limited = config->timed.ports != GT_UNLIMITED;
	timed->instant = config->timed.on_full == GT_FULL_STALL && config->timed.instant;
	timed->level = gt_level_open_plain(config, true, error);
	timed->collected = (struct gt_sink){new_rows(256, error), gt_timed_collect, timed};
	if (!timed->level || !timed->collected.rows)
		goto failed;
	timed->level->scheduled = true;
	timed->plain_reads = timed->level->usual && !config->l2_partitions;
	timed->direct = timed->plain_reads && timed->banks == 1 && !timed->limited && !timed->instant && config->emit != GT_EMIT_ALL;
	timed->engines = calloc(timed->level->instances_n, sizeof *timed->engines);
	timed->active_list = malloc(timed->level->instances_n * sizeof *timed->active_list);
	timed->mshr_of = malloc(timed->banks * sizeof *timed->mshr_of);
	if (timed->engines && timed->active_list && timed->mshr_of) {
		set_banks(timed);
		return timed;
	}
	gt_fail_memory(error, "a cache level");
failed:
	timed_close(timed);
	return NULL;
}

void gt_timed_watch(struct gt_timed *timed, void (*watch)(void *context, const struct gt_timed_event *event),
		    void *context)
{
	timed->watch = watch;
	timed->watch_context = context;
}

/* The timed model supports no access policy windows. */
static int check_window(const struct gt_timed *timed, const struct gt_window *window, struct gt_error *error)
{
	if (window->bytes > 0 && timed->config.shared && !timed->config.translate &&
	    timed->config.hints != GT_HINTS_IGNORE)
		return gt_fail(error, "a kernel with an access policy window (l2_window): the timed model honours none, "
				      "expected --hints ignore");
	return 0;
}

/* What the launch reads is there at once. */
static int timed_begin(void *level, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_timed *timed = level;

	if (check_window(timed, &kernel->prefers.window, error) != 0)
		return -1;
	gt_level_begin(timed->level);
	memset(&timed->counters, 0, sizeof timed->counters);
	timed->active = 0;
	timed->last_step = 0;
	timed->retry = RELEASE_ROWS;
	gt_level_launch(timed->level, kernel);
	return 0;
}

/* The instance that serves a row; it becomes active in this kernel, at `step`. */
static struct gt_engine *engine_of(struct gt_timed *timed, size_t number, uint64_t step, struct gt_error *error)
{
	struct gt_engine *engine = timed->engines[number];

	if (engine && engine->active)
		return engine;
	struct gt_tags *tags = gt_level_instance(timed->level, number, error);
	if (!tags || (!engine && !(engine = engine_open(timed, number, error))))
		return NULL;
	engine->tags = tags;
	engine->active = true;
	engine->clock = engine->group_step = step > timed->released ? step : timed->released;
	engine->floor = engine->begun = engine->clock;
	timed->active_list[timed->active++] = (uint32_t)number;
	return engine;
}

/* Serves what an instance has gathered. */
static int serve(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	bool requeue = timed->config.timed.on_full == GT_FULL_REQUEUE;
	int result = 0;

	timed->sender = engine;
	if (engine->queued.n + engine->wave.n > 0)
		result = (requeue ? gt_engine_requeue : gt_engine_stall)(timed, engine, error);
	if (engine->wave.n > 0)
		wave_clear(&engine->wave, &timed->chunks);
	return result == 0 ? gt_timed_collect(timed, timed->collected.rows, error) : -1;
}

/* The end of the rows from `first` on that one instance gets in one step. */
static size_t end_of_group(const struct gt_timed *timed, const struct gt_rows *rows, size_t first)
{
	size_t end = first + 1;

	while (end < rows->n && rows->step[end] == rows->step[first] && (timed->config.shared || rows->sm[end] == rows->sm[first]))
		end++;
	return end;
}

/* Several groups are served together, so that the modelled cache stays in the machine's own. */
static int take_group(struct gt_timed *timed, struct gt_engine *engine, const struct gt_rows *rows, size_t first, size_t end,
		      struct gt_error *error)
{
	struct gt_queued *queued = &engine->queued;

	if (queued->n >= GATHERED_ROWS && rows->step[first] != queued->requests[queued->n - 1].step &&
	    serve(timed, engine, error) != 0)
		return -1;
	struct gt_request *requests = gt_grown_to(queued->requests, queued->n + (end - first), &queued->capacity, sizeof *requests);
	if (!requests)
		return gt_fail_memory(error, "requests of SMs that wait");
	queued->requests = requests;
	for (size_t i = first; i < end; i++)
		requests[queued->n++] = gt_request_of(rows, i);
	for (size_t next = 0; next < PREFETCHED_BYTES / sizeof *requests; next++)
		__builtin_prefetch(&requests[queued->n + next], 1);
	return 0;
}

static int take_wave(struct gt_timed *timed, struct gt_engine *engine, const struct gt_rows *rows, size_t i,
		     struct gt_error *error)
{
	if (wave_ends(&engine->wave, rows, i) && serve(timed, engine, error) != 0)
		return -1;
	if (engine->wave.n == 0)
		engine->group_step = rows->step[i];
	return wave_add(&engine->wave, &timed->chunks, rows, i, error);
}

static int check_step(struct gt_timed *timed, uint64_t step, struct gt_error *error)
{
	if (step < timed->last_step)
		return gt_fail(error, "a request of step %" PRIu64 " after step %" PRIu64 ": expected rising steps", step,
			       timed->last_step);
	if (step > STEP_MAX)
		return gt_fail(error, "step %" PRIu64 ": the timed model takes steps up to %" PRIu64, step, STEP_MAX);
	timed->last_step = step;
	return 0;
}

/* Later requests have at least the last step, so groups of earlier steps are complete, and instances without further
 * requests need not delay the output of the others. */
static int catch_up(struct gt_timed *timed, struct gt_error *error)
{
	for (size_t i = 0; i < timed->active && timed->config.timed.issue == GT_OWN_SCHEDULE; i++) {
		struct gt_engine *engine = timed->engines[timed->active_list[i]];
		if (engine->queued.n > 0 && engine->queued.requests[engine->queued.n - 1].step >= timed->last_step)
			continue;
		if (serve(timed, engine, error) != 0)
			return -1;
		engine->floor = engine->clock > timed->last_step ? engine->clock : timed->last_step;
		timed->sender = engine;
		if (gt_engine_advance(timed, engine, engine->floor, error) != 0 ||
		    gt_timed_collect(timed, timed->collected.rows, error) != 0)
			return -1;
	}
	return 0;
}

static int begin_sink(const struct gt_timed *timed, struct gt_sink *sent, struct gt_error *error)
{
	return gt_sink_begin_as(sent,
				&(struct gt_rows){.kind = GT_REQUESTS, .scheduled = true,
						  .has_status = timed->config.emit == GT_EMIT_ALL},
				error);
}

/* Takes scheduled requests in the order of steps. `sent` gets the requests sent on, by (step, SM) with the step of the model;
 * or with emit all each lookup and each failed attempt, with its status. */
static int timed_take(void *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_timed *timed = level;
	bool by_schedule = timed->config.timed.issue == GT_OWN_SCHEDULE;

	if (rows->n > 0 && !rows->scheduled)
		return gt_fail(error, "the timed model takes scheduled requests: put gschedule before it");
	for (size_t i = 0; rows->has_hints && i < rows->n; i++)
		if (gt_hint_action(rows->hint[i]) != GT_ACCESS_DATA ||
		    (rows->hint[i] != 0 && timed->config.hints != GT_HINTS_IGNORE))
			return gt_fail(error, "the timed model honours no hints: expected --hints ignore, and no prefetches or discards");
	if (rows->n > 0 && gt_level_serve_launch_reads(timed->level, rows->step[0], sent, error) != 0)
		return -1;
	if (begin_sink(timed, sent, error) != 0)
		return -1;
	timed->level->counters.requests += rows->n;
	for (size_t i = 0, end; i < rows->n; i = end) {
		size_t number = timed->config.shared ? 0 : rows->sm[i];
		struct gt_engine *engine = engine_of(timed, number, rows->step[i], error);
		if (!engine || check_step(timed, rows->step[i], error) != 0)
			return -1;
		end = by_schedule ? end_of_group(timed, rows, i) : i + 1;
		if ((by_schedule ? take_group(timed, engine, rows, i, end, error) : take_wave(timed, engine, rows, i, error)) != 0)
			return -1;
		if (timed->waiting < timed->retry)
			continue;
		if (catch_up(timed, error) != 0 || gt_timed_release(timed, false, sent, error) != 0)
			return -1;
		timed->retry = RELEASE_ROWS + 2 * timed->waiting;
	}
	return 0;
}

/* Serves waiting requests and completes all flights. */
static int drain(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	if (serve(timed, engine, error) != 0)
		return -1;
	timed->sender = engine;
	timed->counters.instance_steps += engine->clock - engine->begun;
	uint64_t last = engine->clock;
	struct gt_flights *flights = &engine->flights;
	if (flights->tail > flights->head && gt_flight_at(flights, flights->tail - 1)->arrival >= last)
		last = gt_flight_at(flights, flights->tail - 1)->arrival + 1;
	if (gt_engine_advance(timed, engine, last, error) != 0)
		return -1;
	if (engine->clock > timed->counters.steps)
		timed->counters.steps = engine->clock;
	if (last > timed->level->last_step)
		timed->level->last_step = last;
	engine->active = false;
	return gt_timed_collect(timed, timed->collected.rows, error);
}

static int timed_finish(void *level, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_timed *timed = level;

	if (begin_sink(timed, sent, error) != 0)
		return -1;
	for (size_t i = 0; i < timed->active; i++)
		if (drain(timed, timed->engines[timed->active_list[i]], error) != 0)
			return -1;
	if (gt_timed_release(timed, true, sent, error) != 0)
		return -1;
	timed->active = 0;
	timed->released = 0;
	return gt_level_finish(timed->level, sent, error);
}

/* With the counters of time. */
static int timed_count(const void *level, const char *stage, uint64_t kernel, struct gt_count *count, struct gt_error *error)
{
	const struct gt_timed *timed = level;
	const struct gt_timed_counters *counters = &timed->counters;

	if (gt_level_count(timed->level, stage, kernel, count, error) != 0 ||
	    gt_count_numbers(count, &gt_counters_timed, counters, sizeof *counters, error) != 0)
		return -1;
	return gt_count_arrays(count, &gt_counters_timed, counters, GT_TIMED_BINS, GT_TIMED_BINS, error);
}

static struct gt_level *no_whole(void *level)
{
	(void)level;
	return NULL;
}

const struct gt_level_kind gt_level_kind_timed = {timed_open, timed_close, timed_begin, timed_take, timed_finish, timed_count, no_whole};
