/* SPDX-License-Identifier: MIT */
#include "stream/chunk.h"

#include <stdlib.h>

void gt_chunks_open(struct gt_chunks *chunks)
{
	pthread_mutex_init(&chunks->lock, NULL);
	chunks->spare = NULL;
}

static void free_chunk(struct gt_chunk *chunk)
{
	if (chunk)
		gt_rows_free(chunk->rows);
	free(chunk);
}

void gt_chunks_close(struct gt_chunks *chunks)
{
	while (chunks->spare) {
		struct gt_chunk *chunk = chunks->spare;
		chunks->spare = chunk->next;
		free_chunk(chunk);
	}
	pthread_mutex_destroy(&chunks->lock);
}

static struct gt_chunk *new_chunk(struct gt_error *error)
{
	struct gt_chunk *chunk = calloc(1, sizeof *chunk);

	if (chunk && (chunk->rows = gt_rows_new(GT_ROWS_BATCH, error)))
		return chunk;
	gt_fail_memory(error, "a batch of rows");
	free_chunk(chunk);
	return NULL;
}

struct gt_chunk *gt_chunk_take(struct gt_chunks *chunks, struct gt_error *error)
{
	pthread_mutex_lock(&chunks->lock);
	struct gt_chunk *chunk = chunks->spare;
	if (chunk)
		chunks->spare = chunk->next;
	pthread_mutex_unlock(&chunks->lock);
	if (!chunk && !(chunk = new_chunk(error)))
		return NULL;
	chunk->rows->n = chunk->rows->n_lanes = 0;
	chunk->rows->kind = GT_ACCESSES;
	atomic_store(&chunk->holders, 1);
	return chunk;
}

void gt_chunk_hold(struct gt_chunk *chunk)
{
	atomic_fetch_add(&chunk->holders, 1);
}

void gt_chunk_release(struct gt_chunks *chunks, struct gt_chunk *chunk)
{
	if (!chunk || atomic_fetch_sub(&chunk->holders, 1) > 1)
		return;
	pthread_mutex_lock(&chunks->lock);
	chunk->next = chunks->spare;
	chunks->spare = chunk;
	pthread_mutex_unlock(&chunks->lock);
}
