/* SPDX-License-Identifier: MIT */
#include "cache/future.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/store.h"
#include "cache/serve.h"

/* A batch of requests, in one piece of the store. */
struct chunk {
	struct chunk *before, *after;
	struct gt_segment *segment;
	size_t n;
	struct gt_waiting requests[GT_ROWS_BATCH];
	uint64_t step[GT_ROWS_BATCH];
	uint32_t latency[GT_ROWS_BATCH];
	uint16_t sm[GT_ROWS_BATCH];
	uint64_t next_use[]; /* of each line of each request */
};

struct gt_ahead {
	const struct gt_level *level;
	unsigned lines;
	bool scheduled, has_latency;
	struct gt_store store;
	struct chunk *first, *last;
};

unsigned gt_ahead_lines(const struct gt_level *level)
{
	return level->config.translate || level->config.line >= GT_LINE ? 1 : (unsigned)(GT_LINE / level->config.line);
}

struct gt_ahead *gt_ahead_open(const struct gt_level *level, struct gt_error *error)
{
	struct gt_ahead *ahead = calloc(1, sizeof *ahead);

	if (!ahead) {
		gt_fail_memory(error, "requests that wait for the end of a kernel");
		return NULL;
	}
	ahead->level = level;
	ahead->lines = gt_ahead_lines(level);
	gt_store_open(&ahead->store, level->config.memory, level->config.directory);
	return ahead;
}

void gt_ahead_close(struct gt_ahead *ahead)
{
	if (!ahead)
		return;
	gt_store_close(&ahead->store);
	free(ahead);
}

/* An empty chunk at the end. */
static int add_chunk(struct gt_ahead *ahead, struct gt_error *error)
{
	struct gt_segment *segment;
	struct chunk *chunk = gt_store_take(&ahead->store,
					    sizeof *chunk + GT_ROWS_BATCH * ahead->lines * sizeof *chunk->next_use,
					    &segment, error);

	if (!chunk)
		return -1;
	chunk->before = ahead->last;
	chunk->after = NULL;
	chunk->segment = segment;
	chunk->n = 0;
	*(ahead->last ? &ahead->last->after : &ahead->first) = chunk;
	ahead->last = chunk;
	return 0;
}

int gt_ahead_add(struct gt_ahead *ahead, const struct gt_rows *rows, struct gt_error *error)
{
	ahead->scheduled = rows->scheduled;
	ahead->has_latency = rows->has_latency;
	for (size_t i = 0; i < rows->n; i++) {
		if ((!ahead->last || ahead->last->n == GT_ROWS_BATCH) && add_chunk(ahead, error) != 0)
			return -1;
		struct chunk *chunk = ahead->last;
		chunk->requests[chunk->n] = gt_waiting_of(rows, i);
		chunk->step[chunk->n] = rows->scheduled ? rows->step[i] : 0;
		chunk->latency[chunk->n] = rows->has_latency ? rows->latency[i] : 0;
		chunk->sm[chunk->n++] = rows->scheduled ? rows->sm[i] : 0;
	}
	return 0;
}

/* What a request does to its lines, for those that were used before. */
enum future { FUTURE_USE, FUTURE_NONE, FUTURE_END };

static enum future future_of(const struct gt_level *level, uint8_t op)
{
	const struct gt_level_config *config = &level->config;
	bool back = config->write == GT_WRITE_BACK, evict = config->write == GT_WRITE_EVICT;
	enum gt_class class = (enum gt_class)level->class_of[op];

	if (config->translate || class == GT_CLASS_READ)
		return FUTURE_USE;
	if (class == GT_CLASS_ATOMIC)
		return back ? FUTURE_USE : FUTURE_END;
	if (class == GT_CLASS_WRITE)
		return evict ? FUTURE_END : config->allocate ? FUTURE_USE : FUTURE_NONE;
	return FUTURE_NONE;
}

/* The lines that row i looks up, by rising address. */
static unsigned lines_of(const struct gt_level *level, const struct gt_rows *rows, size_t i,
			 uint64_t lines[GT_PIECES_MAX])
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n;

	if (level->config.translate) {
		lines[0] = rows->address[i] >> level->line_shift;
		return 1;
	}
	n = gt_level_split(level, rows->address[i], rows->sectors[i], rows->full[i], pieces);
	for (unsigned p = 0; p < n; p++)
		lines[p] = pieces[p].line;
	return n;
}

/* Puts down the next uses of row i, whose place in the kernel is `place`, where `known` holds those
 * of the rows behind it. */
static int look_back(const struct gt_ahead *ahead, struct gt_map *known, const struct gt_rows *rows, size_t i,
		     uint64_t place, uint64_t *next_use, struct gt_error *error)
{
	enum future future = future_of(ahead->level, rows->op[i]);
	uint64_t lines[GT_PIECES_MAX];
	unsigned n = lines_of(ahead->level, rows, i, lines);

	if (!known->slots && gt_map_open(known, 64, error) != 0)
		return -1;
	for (unsigned p = n; p-- > 0;) {
		int fresh;
		uint64_t *at = gt_map_put(known, lines[p], GT_NO_USE, &fresh);
		if (!at)
			return gt_fail_memory(error, "the next uses of lines");
		next_use[lines[p] & (ahead->lines - 1)] = *at;
		if (future != FUTURE_NONE)
			*at = future == FUTURE_USE ? place * GT_PIECES_MAX + p : GT_NO_USE;
	}
	return 0;
}

static void unpack(const struct gt_ahead *ahead, const struct chunk *chunk, struct gt_rows *rows)
{
	rows->kind = GT_REQUESTS;
	rows->scheduled = ahead->scheduled;
	rows->has_latency = ahead->has_latency;
	rows->n = 0;
	if (ahead->has_latency)
		memcpy(rows->latency, chunk->latency, chunk->n * sizeof *rows->latency);
	for (size_t i = 0; i < chunk->n; i++)
		gt_waiting_append(rows, &chunk->requests[i], chunk->step[i], chunk->sm[i]);
}

/* From the last request to the first: what each instance uses next. */
static int find_uses(struct gt_ahead *ahead, struct gt_rows *rows, struct gt_map *known, struct gt_error *error)
{
	bool shared = ahead->level->config.shared;
	uint64_t place = UINT64_MAX / GT_PIECES_MAX;

	for (struct chunk *chunk = ahead->last; chunk; chunk = chunk->before) {
		unpack(ahead, chunk, rows);
		for (size_t i = chunk->n; i-- > 0;)
			if (look_back(ahead, &known[shared ? 0 : chunk->sm[i]], rows, i, --place,
				      chunk->next_use + i * ahead->lines, error) != 0)
				return -1;
	}
	return 0;
}

static int give(struct gt_ahead *ahead, struct gt_rows *rows, gt_ahead_take *take, void *context,
		struct gt_error *error)
{
	while (ahead->first) {
		struct chunk *chunk = ahead->first;
		unpack(ahead, chunk, rows);
		if (take(context, rows, chunk->next_use, error) != 0)
			return -1;
		ahead->first = chunk->after;
		gt_store_release(&ahead->store, chunk->segment);
	}
	ahead->last = NULL;
	return 0;
}

int gt_ahead_drain(struct gt_ahead *ahead, gt_ahead_take *take, void *context, struct gt_error *error)
{
	size_t instances = ahead->level->instances_n;
	struct gt_rows *rows = gt_rows_new(GT_ROWS_BATCH, error);
	struct gt_map *known = calloc(instances, sizeof *known);
	int result = rows ? 0 : -1;

	if (rows && !known)
		result = gt_fail_memory(error, "the next uses of lines");
	if (result == 0)
		result = find_uses(ahead, rows, known, error);
	for (size_t i = 0; known && i < instances; i++)
		gt_map_close(&known[i]);
	free(known);
	if (result == 0)
		result = give(ahead, rows, take, context, error);
	gt_rows_free(rows);
	return result;
}
