/* SPDX-License-Identifier: MIT */
/* Pieces of any length, put together to batches (stream/rebatch.h). */
#include "stream/rebatch.h"

#include <stdlib.h>

#include "stream/records.h"

/* ---- pieces ---- */

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

static void hold_chunk(struct gt_chunk *chunk)
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

/* ---- whole batches ---- */

static void keep(struct gt_rebatch *rebatch, struct gt_chunk *piece, size_t first, size_t n)
{
	if (n > 0)
		hold_chunk(piece);
	*rebatch = (struct gt_rebatch){.chunk = n > 0 ? piece : NULL, .first = first, .n = n};
}

/* Copies a piece behind the rows that are there, which make no whole batch with it. */
static int join(struct gt_rebatch *rebatch, struct gt_chunks *chunks, const struct gt_rows *piece, struct gt_error *error)
{
	if (!rebatch->own) {
		struct gt_chunk *chunk = gt_chunk_take(chunks, error);
		if (!chunk)
			return -1;
		gt_rows_shape(chunk->rows, piece);
		int result = gt_rows_join(chunk->rows, rebatch->chunk->rows, rebatch->first, rebatch->n, error);
		gt_chunk_release(chunks, rebatch->chunk);
		*rebatch = (struct gt_rebatch){.chunk = chunk, .n = rebatch->n, .own = true};
		if (result != 0)
			return -1;
	}
	rebatch->n += piece->n;
	return gt_rows_join(rebatch->chunk->rows, piece, 0, piece->n, error);
}

int gt_rebatch_add(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_chunk *piece, struct gt_batches *batches,
		   struct gt_error *error)
{
	struct gt_rows *rows = piece->rows;
	bool alike = rebatch->n > 0 && gt_rows_alike(rebatch->chunk->rows, rows);

	*batches = (struct gt_batches){.rows = rows};
	if (rows->kind == GT_ACCESSES && rows->n == 0)
		return 0;
	if (alike && rebatch->n + rows->n < GT_ROWS_BATCH)
		return join(rebatch, chunks, rows, error);
	if (rebatch->n > 0) {
		batches->before = rebatch->chunk;
		batches->before_first = rebatch->first;
		batches->before_n = rebatch->n;
		batches->first_n = batches->end = alike ? GT_ROWS_BATCH - rebatch->n : 0;
	}
	batches->end += (rows->n - batches->end) / GT_ROWS_BATCH * GT_ROWS_BATCH;
	keep(rebatch, piece, batches->end, rows->n - batches->end);
	return 0;
}

/* A slice of which the addresses come behind so many others. */
static struct gt_slice slice_of(struct gt_rows *rows, size_t first, size_t n, size_t lanes_before)
{
	struct gt_slice slice = {.rows = rows, .first = first, .n = n};

	if (rows->kind == GT_REQUESTS || rows->n_lanes == 0)
		return slice;
	for (size_t i = first; i < first + n; i++) {
		if (rows->stride[i] != GT_STRIDE_LANES)
			continue;
		if (slice.lanes_n == 0)
			slice.first_lane = rows->base[i];
		rows->base[i] = lanes_before + slice.lanes_n;
		slice.lanes_n += (size_t)__builtin_popcount(rows->mask[i]);
	}
	return slice;
}

static size_t pack(const struct gt_batches *batches, struct gt_bytes *bytes)
{
	if (batches->before) {
		struct gt_slice slices[2];
		slices[0] = slice_of(batches->before->rows, batches->before_first, batches->before_n, 0);
		slices[1] = slice_of(batches->rows, 0, batches->first_n, slices[0].lanes_n);
		gt_rows_pack(bytes, slices, batches->first_n > 0 ? 2 : 1);
	}
	for (size_t at = batches->first_n; at < batches->end; at += GT_ROWS_BATCH) {
		const struct gt_slice slice = slice_of(batches->rows, at, GT_ROWS_BATCH, 0);
		gt_rows_pack(bytes, &slice, 1);
	}
	return batches->before_n + batches->end;
}

int gt_batch_records_pack(struct gt_batch_records *records, struct gt_chunks *chunks, struct gt_chunk **piece, struct gt_error *error)
{
	records->bytes.n = 0;
	records->rows = pack(&records->batches, &records->bytes);
	gt_chunk_release(chunks, records->batches.before);
	gt_chunk_release(chunks, *piece);
	records->batches.before = *piece = NULL;
	return records->bytes.failed ? gt_fail_memory(error, "a record") : 0;
}

void gt_batch_records_close(struct gt_batch_records *records, struct gt_chunks *chunks)
{
	gt_chunk_release(chunks, records->batches.before);
	free(records->bytes.data);
}

int gt_rebatch_give(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_sink *sink, struct gt_error *error)
{
	if (rebatch->n > 0) {
		if (gt_sink_begin_as(sink, rebatch->chunk->rows, error) != 0)
			return -1;
		if (gt_rows_join(sink->rows, rebatch->chunk->rows, rebatch->first, rebatch->n, error) != 0)
			return -1;
	}
	gt_chunk_release(chunks, rebatch->chunk);
	*rebatch = (struct gt_rebatch){.chunk = NULL};
	return 0;
}
