/* SPDX-License-Identifier: MIT */
/* Requests that are served in another order than they come in, or later: see deferred.h. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "base/store.h"
#include "cache/deferred.h"
#include "cache/serve.h"
#include "stream/hint.h"

#define SMS 65536 /* values of the column sm */

void gt_arrival_close(struct gt_arrivals *arrival)
{
	for (size_t i = 0; i < arrival->n; i++)
		free(arrival->queues[i].requests);
	free(arrival->queues);
	free(arrival->queue_of);
	gt_rows_free(arrival->rows);
	*arrival = (struct gt_arrivals){0};
}

static struct gt_queue *queue_for(struct gt_arrivals *arrival, uint16_t sm)
{
	if (!arrival->queue_of && !(arrival->queue_of = calloc(SMS, sizeof *arrival->queue_of)))
		return NULL;
	if (arrival->queue_of[sm] == 0) {
		struct gt_queue *queues =
			gt_grown(arrival->queues, arrival->n, &arrival->capacity, sizeof *arrival->queues);
		if (!queues)
			return NULL;
		arrival->queues = queues;
		arrival->queues[arrival->n++] = (struct gt_queue){.sm = sm};
		arrival->queue_of[sm] = (uint32_t)arrival->n;
	}
	return &arrival->queues[arrival->queue_of[sm] - 1];
}

int gt_arrival_add(struct gt_arrivals *arrival, const struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct gt_queue *queue = queue_for(arrival, rows->sm[i]);
		struct gt_request *requests =
			queue ? gt_grown(queue->requests, queue->n, &queue->capacity, sizeof *requests) : NULL;
		if (!requests)
			return gt_fail_memory(error, "requests that wait their SM's turn (--arrival rr)");
		queue->requests = requests;
		requests[queue->n++] = gt_request_of(rows, i);
	}
	arrival->waiting += rows->n;
	arrival->has_hints |= rows->has_hints;
	return 0;
}

static int by_sm(const void *left, const void *right)
{
	return (int)((const struct gt_queue *)left)->sm - (int)((const struct gt_queue *)right)->sm;
}

static int begin_turns(struct gt_arrivals *arrival, struct gt_error *error)
{
	arrival->rows = gt_rows_new(GT_ROWS_BATCH, error);
	if (!arrival->rows)
		return -1;
	arrival->rows->kind = GT_REQUESTS;
	arrival->rows->scheduled = true;
	arrival->rows->has_hints = arrival->has_hints;
	qsort(arrival->queues, arrival->n, sizeof *arrival->queues, by_sm);
	return 0;
}

/* Takes a request from the current queue, if it has one. */
static void take_turn(struct gt_arrivals *arrival)
{
	struct gt_queue *queue = &arrival->queues[arrival->at];

	if (queue->taken < queue->n) {
		struct gt_request *request = &queue->requests[queue->taken++];
		request->step = arrival->turn;
		gt_request_append(arrival->rows, request);
		arrival->waiting--;
	}
	if (++arrival->at == arrival->n) {
		arrival->at = 0;
		arrival->turn++;
	}
}

int gt_arrival_next(struct gt_arrivals *arrival, const struct gt_rows **rows, struct gt_error *error)
{
	if (arrival->waiting == 0) {
		gt_arrival_close(arrival);
		return 0;
	}
	if (!arrival->rows && begin_turns(arrival, error) != 0)
		return -1;
	arrival->rows->n = 0;
	while (arrival->waiting > 0 && arrival->rows->n < arrival->rows->capacity)
		take_turn(arrival);
	*rows = arrival->rows;
	return 1;
}

/* A batch of requests, in one piece of the store. */
struct chunk {
	struct chunk *before, *after;
	struct gt_segment *segment;
	size_t n;
	struct gt_request requests[GT_ROWS_BATCH];
	uint32_t latency[GT_ROWS_BATCH];
	uint64_t next_use[]; /* of each line of each request */
};

struct gt_lookahead {
	const struct gt_level *level;
	unsigned lines;
	bool scheduled, has_latency, has_hints;
	struct gt_store store;
	struct chunk *first, *last;
	size_t sms;	      /* above every SM of the requests that wait */
	struct gt_rows *rows; /* the batch returned last; NULL before the first */
	bool begun;	      /* batches are returned; else requests are added */
};

unsigned gt_lookahead_lines(const struct gt_level *level)
{
	return level->config.translate || level->config.line >= GT_LINE ? 1 : (unsigned)(GT_LINE / level->config.line);
}

struct gt_lookahead *gt_lookahead_open(const struct gt_level *level, struct gt_error *error)
{
	struct gt_lookahead *lookahead = calloc(1, sizeof *lookahead);

	if (!lookahead) {
		gt_fail_memory(error, "requests that wait for the end of a kernel");
		return NULL;
	}
	lookahead->level = level;
	lookahead->lines = gt_lookahead_lines(level);
	gt_store_open(&lookahead->store, level->config.memory, level->config.directory);
	return lookahead;
}

void gt_lookahead_close(struct gt_lookahead *lookahead)
{
	if (!lookahead)
		return;
	gt_store_close(&lookahead->store);
	gt_rows_free(lookahead->rows);
	free(lookahead);
}

/* Appends an empty chunk. */
static int add_chunk(struct gt_lookahead *lookahead, struct gt_error *error)
{
	struct gt_segment *segment;
	struct chunk *chunk = gt_store_take(&lookahead->store,
					    sizeof *chunk + GT_ROWS_BATCH * lookahead->lines * sizeof *chunk->next_use,
					    &segment, error);

	if (!chunk)
		return -1;
	chunk->before = lookahead->last;
	chunk->after = NULL;
	chunk->segment = segment;
	chunk->n = 0;
	*(lookahead->last ? &lookahead->last->after : &lookahead->first) = chunk;
	lookahead->last = chunk;
	return 0;
}

int gt_lookahead_add(struct gt_lookahead *lookahead, const struct gt_rows *rows, struct gt_error *error)
{
	lookahead->scheduled = rows->scheduled;
	lookahead->has_latency = rows->has_latency;
	lookahead->has_hints |= rows->has_hints;
	for (size_t i = 0; i < rows->n; i++) {
		if ((!lookahead->last || lookahead->last->n == GT_ROWS_BATCH) && add_chunk(lookahead, error) != 0)
			return -1;
		struct chunk *chunk = lookahead->last;
		chunk->latency[chunk->n] = rows->has_latency ? rows->latency[i] : 0;
		chunk->requests[chunk->n] = gt_request_of(rows, i);
		size_t sm = chunk->requests[chunk->n++].sm;
		lookahead->sms = sm < lookahead->sms ? lookahead->sms : sm + 1;
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
static int look_back(const struct gt_lookahead *lookahead, struct gt_map *known, const struct gt_request *request,
		     uint64_t place, uint64_t *next_use, struct gt_error *error)
{
	enum use use = use_of(lookahead->level, request);
	uint64_t lines[GT_PIECES_MAX];
	unsigned n = lines_of(lookahead->level, request, lines);

	if (!known->slots && gt_map_open(known, 64, error) != 0)
		return -1;
	for (unsigned p = n; p-- > 0;) {
		int fresh;
		uint64_t *at = gt_map_put(known, lines[p], GT_NO_USE, &fresh);
		if (!at)
			return gt_fail_memory(error, "the next uses of lines");
		next_use[lines[p] & (lookahead->lines - 1)] = *at;
		if (use != NONE)
			*at = use == USE ? place * GT_PIECES_MAX + p : GT_NO_USE;
	}
	return 0;
}

/* Finds all next uses, from the last request to the first; `known` has a map for each instance. */
static int look_back_on_all(struct gt_lookahead *lookahead, struct gt_map *known, struct gt_error *error)
{
	bool shared = lookahead->level->config.shared;
	uint64_t place = UINT64_MAX / GT_PIECES_MAX;

	for (struct chunk *chunk = lookahead->last; chunk; chunk = chunk->before)
		for (size_t i = chunk->n; i-- > 0;) {
			const struct gt_request *request = &chunk->requests[i];
			if (look_back(lookahead, &known[shared ? 0 : request->sm], request, --place,
				      chunk->next_use + i * lookahead->lines, error) != 0)
				return -1;
		}
	return 0;
}

static int find_uses(struct gt_lookahead *lookahead, struct gt_error *error)
{
	size_t instances = lookahead->level->config.shared ? 1 : lookahead->sms;
	struct gt_map *known = calloc(instances, sizeof *known);
	int result = known ? look_back_on_all(lookahead, known, error) : gt_fail_memory(error, "the next uses of lines");

	for (size_t i = 0; known && i < instances; i++)
		gt_map_close(&known[i]);
	free(known);
	return result;
}

/* After the last request: finds the next uses. */
static int begin(struct gt_lookahead *lookahead, struct gt_error *error)
{
	if (!lookahead->rows && !(lookahead->rows = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	lookahead->begun = true;
	lookahead->rows->kind = GT_REQUESTS;
	lookahead->rows->scheduled = lookahead->scheduled;
	lookahead->rows->has_latency = lookahead->has_latency;
	return find_uses(lookahead, error);
}

static void drop_first(struct gt_lookahead *lookahead)
{
	struct chunk *first = lookahead->first;

	lookahead->first = first->after;
	gt_store_release(&lookahead->store, first->segment);
}

int gt_lookahead_next(struct gt_lookahead *lookahead, const struct gt_rows **rows, const uint64_t **next_use,
		      struct gt_error *error)
{
	if (lookahead->begun)
		drop_first(lookahead);
	else if (lookahead->first && begin(lookahead, error) != 0)
		return -1;
	if (!lookahead->first) {
		lookahead->last = NULL;
		lookahead->has_hints = lookahead->begun = false;
		lookahead->sms = 0;
		return 0;
	}
	lookahead->rows->n = 0;
	lookahead->rows->has_hints = lookahead->has_hints;
	for (size_t i = 0; i < lookahead->first->n; i++)
		gt_request_append(lookahead->rows, &lookahead->first->requests[i]);
	if (lookahead->has_latency)
		memcpy(lookahead->rows->latency, lookahead->first->latency, lookahead->first->n * sizeof *lookahead->rows->latency);
	*rows = lookahead->rows;
	*next_use = lookahead->first->next_use;
	return 1;
}
