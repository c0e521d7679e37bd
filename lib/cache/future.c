/* SPDX-License-Identifier: MIT */
#include "cache/future.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/store.h"
#include "cache/serve.h"
#include "stream/hint.h"

/* A batch of requests, in one piece of the store. */
struct chunk {
	struct chunk *before, *after;
	struct gt_segment *segment;
	size_t n;
	struct gt_request requests[GT_ROWS_BATCH];
	uint32_t latency[GT_ROWS_BATCH];
	uint64_t next_use[]; /* of each line of each request */
};

struct gt_future {
	const struct gt_level *level;
	unsigned lines;
	bool scheduled, has_latency, has_hints;
	struct gt_store store;
	struct chunk *first, *last;
	size_t sms;	      /* above every SM of the requests that wait */
	struct gt_rows *rows; /* the batch returned last; NULL before the first */
	bool begun;	      /* batches are returned; else requests are added */
};

unsigned gt_future_lines(const struct gt_level *level)
{
	return level->config.translate || level->config.line >= GT_LINE ? 1 : (unsigned)(GT_LINE / level->config.line);
}

struct gt_future *gt_future_open(const struct gt_level *level, struct gt_error *error)
{
	struct gt_future *future = calloc(1, sizeof *future);

	if (!future) {
		gt_fail_memory(error, "requests that wait for the end of a kernel");
		return NULL;
	}
	future->level = level;
	future->lines = gt_future_lines(level);
	gt_store_open(&future->store, level->config.memory, level->config.directory);
	return future;
}

void gt_future_close(struct gt_future *future)
{
	if (!future)
		return;
	gt_store_close(&future->store);
	gt_rows_free(future->rows);
	free(future);
}

/* Appends an empty chunk. */
static int add_chunk(struct gt_future *future, struct gt_error *error)
{
	struct gt_segment *segment;
	struct chunk *chunk = gt_store_take(&future->store,
					    sizeof *chunk + GT_ROWS_BATCH * future->lines * sizeof *chunk->next_use,
					    &segment, error);

	if (!chunk)
		return -1;
	chunk->before = future->last;
	chunk->after = NULL;
	chunk->segment = segment;
	chunk->n = 0;
	*(future->last ? &future->last->after : &future->first) = chunk;
	future->last = chunk;
	return 0;
}

int gt_future_add(struct gt_future *future, const struct gt_rows *rows, struct gt_error *error)
{
	future->scheduled = rows->scheduled;
	future->has_latency = rows->has_latency;
	future->has_hints |= rows->has_hints;
	for (size_t i = 0; i < rows->n; i++) {
		if ((!future->last || future->last->n == GT_ROWS_BATCH) && add_chunk(future, error) != 0)
			return -1;
		struct chunk *chunk = future->last;
		chunk->latency[chunk->n] = rows->has_latency ? rows->latency[i] : 0;
		chunk->requests[chunk->n] = gt_request_of(rows, i);
		size_t sm = chunk->requests[chunk->n++].sm;
		future->sms = sm < future->sms ? future->sms : sm + 1;
	}
	return 0;
}

/* The effect of a request on the next use of its lines. */
enum use { USE, NONE, END };

/* Of a row that is not an access, as gt_serve_hinted serves it. */
static enum use use_of_action(const struct gt_level_config *config, enum gt_line_action action)
{
	bool prefetches = action <= GT_PREFETCH_L2;

	if (config->translate)
		return prefetches ? USE : NONE;
	if (config->hints != GT_HINTS_HONOUR || config->bypass == GT_BYPASS_ALL ||
	    (prefetches && config->bypass == GT_BYPASS_READS) || (!config->shared && action != GT_PREFETCH_L1))
		return NONE;
	return prefetches ? USE : action == GT_DISCARD_L2 ? END : NONE;
}

static enum use use_of(const struct gt_level *level, const struct gt_request *request)
{
	const struct gt_level_config *config = &level->config;
	bool back = config->write == GT_WRITE_BACK, evict = config->write == GT_WRITE_EVICT;
	enum gt_op_class class = (enum gt_op_class)level->class_of[request->op];

	if (gt_hint_action(request->hint) != GT_ACCESS_DATA)
		return use_of_action(config, gt_hint_action(request->hint));

	if (config->translate || class == GT_CLASS_READ)
		return USE;
	if (class == GT_CLASS_ATOMIC)
		return back ? USE : END;
	if (class == GT_CLASS_WRITE)
		return evict ? END : config->allocate ? USE : NONE;
	return NONE;
}

/* The lines that a request looks up, by ascending address. */
static unsigned lines_of(const struct gt_level *level, const struct gt_request *request, uint64_t lines[GT_PIECES_MAX])
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n;

	if (level->config.translate) {
		lines[0] = request->address >> level->line_shift;
		return 1;
	}
	n = gt_level_split(level, request, pieces);
	for (unsigned p = 0; p < n; p++)
		lines[p] = pieces[p].line;
	return n;
}

/* Sets the next uses of a request, whose index in the kernel is `place`; `known` holds those of the later requests. */
static int look_back(const struct gt_future *future, struct gt_map *known, const struct gt_request *request,
		     uint64_t place, uint64_t *next_use, struct gt_error *error)
{
	enum use use = use_of(future->level, request);
	uint64_t lines[GT_PIECES_MAX];
	unsigned n = lines_of(future->level, request, lines);

	if (!known->slots && gt_map_open(known, 64, error) != 0)
		return -1;
	for (unsigned p = n; p-- > 0;) {
		int fresh;
		uint64_t *at = gt_map_put(known, lines[p], GT_NO_USE, &fresh);
		if (!at)
			return gt_fail_memory(error, "the next uses of lines");
		next_use[lines[p] & (future->lines - 1)] = *at;
		if (use != NONE)
			*at = use == USE ? place * GT_PIECES_MAX + p : GT_NO_USE;
	}
	return 0;
}

/* Finds all next uses, from the last request to the first; `known` has a map for each instance. */
static int look_back_on_all(struct gt_future *future, struct gt_map *known, struct gt_error *error)
{
	bool shared = future->level->config.shared;
	uint64_t place = UINT64_MAX / GT_PIECES_MAX;

	for (struct chunk *chunk = future->last; chunk; chunk = chunk->before)
		for (size_t i = chunk->n; i-- > 0;) {
			const struct gt_request *request = &chunk->requests[i];
			if (look_back(future, &known[shared ? 0 : request->sm], request, --place,
				      chunk->next_use + i * future->lines, error) != 0)
				return -1;
		}
	return 0;
}

static int find_uses(struct gt_future *future, struct gt_error *error)
{
	size_t instances = future->level->config.shared ? 1 : future->sms;
	struct gt_map *known = calloc(instances, sizeof *known);
	int result = known ? look_back_on_all(future, known, error) : gt_fail_memory(error, "the next uses of lines");

	for (size_t i = 0; known && i < instances; i++)
		gt_map_close(&known[i]);
	free(known);
	return result;
}

/* After the last request: finds the next uses. */
static int begin(struct gt_future *future, struct gt_error *error)
{
	if (!future->rows && !(future->rows = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	future->begun = true;
	future->rows->kind = GT_REQUESTS;
	future->rows->scheduled = future->scheduled;
	future->rows->has_latency = future->has_latency;
	return find_uses(future, error);
}

static void drop_first(struct gt_future *future)
{
	struct chunk *first = future->first;

	future->first = first->after;
	gt_store_release(&future->store, first->segment);
}

int gt_future_next(struct gt_future *future, const struct gt_rows **rows, const uint64_t **next_use,
		   struct gt_error *error)
{
	if (future->begun)
		drop_first(future);
	else if (future->first && begin(future, error) != 0)
		return -1;
	if (!future->first) {
		future->last = NULL;
		future->has_hints = future->begun = false;
		future->sms = 0;
		return 0;
	}
	future->rows->n = 0;
	future->rows->has_hints = future->has_hints;
	for (size_t i = 0; i < future->first->n; i++)
		gt_request_append(future->rows, &future->first->requests[i]);
	if (future->has_latency)
		memcpy(future->rows->latency, future->first->latency, future->first->n * sizeof *future->rows->latency);
	*rows = future->rows;
	*next_use = future->first->next_use;
	return 1;
}
