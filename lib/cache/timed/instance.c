/* SPDX-License-Identifier: MIT */
/* Makes and frees the engine of an instance. */
#include <stdlib.h>

#include "base/random.h"
#include "cache/timed/engine.h"

void gt_engine_close(struct gt_engine *engine)
{
	if (!engine)
		return;
	free(engine->items.items);
	free(engine->busy);
	free(engine->ports);
	free(engine->outbox.rows);
	free(engine->queued.requests);
	gt_flights_close(&engine->flights);
	gt_wave_close(&engine->wave);
	free(engine);
}

struct gt_engine *gt_engine_open(struct gt_timed *timed, size_t number, struct gt_error *error)
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
	if (gt_wave_open(&engine->wave, error) != 0)
		return NULL;
	engine->tags = gt_level_instance(timed->level, number, error);
	return engine->tags ? engine : NULL;
}
