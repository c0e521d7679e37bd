/* SPDX-License-Identifier: MIT */
/* Rows that come in pieces of any length, put together to batches of GT_ROWS_BATCH as a writer's sink does, without copying
 * most of them. Addresses that accesses list stand in the order of the rows. */
#ifndef GT_STREAM_REBATCH_H
#define GT_STREAM_REBATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "stream/records.h"
#include "stream/rows.h"

/* ---- the pieces: batches of any length that several may hold, and that are used again when nobody does. Any thread may call. ---- */

struct gt_chunk {
	struct gt_rows *rows;
	atomic_uint holders;
	struct gt_chunk *next; /* among those that nobody holds */
};

struct gt_chunks {
	pthread_mutex_t lock;
	struct gt_chunk *spare;
};

void gt_chunks_open(struct gt_chunks *chunks);
/* Frees those that nobody holds. */
void gt_chunks_close(struct gt_chunks *chunks);

/* An empty one of accesses, which the caller holds. NULL when memory is short. */
struct gt_chunk *gt_chunk_take(struct gt_chunks *chunks, struct gt_error *error);
/* One holder less, of a chunk that may be NULL. */
void gt_chunk_release(struct gt_chunks *chunks, struct gt_chunk *chunk);

/* ---- whole batches ---- */

/* Rows that have been added and make no whole batch. */
struct gt_rebatch {
	struct gt_chunk *chunk; /* NULL: none */
	size_t first, n;
	bool own; /* nobody else holds the chunk, and the rows are all it has */
};

/* The batches that a piece completes. */
struct gt_batches {
	struct gt_chunk *before; /* rows of earlier pieces, which are the first; NULL: none */
	size_t before_first, before_n;
	struct gt_rows *rows; /* the piece */
	size_t first_n; /* rows of it that are in a batch with those; 0: those are a batch by themselves */
	size_t end;	/* rows up to here are in batches */
};

/* Adds a piece; nothing if it has no rows, of accesses, as one in which none were begun. Returns 0, or -1 when memory is short. */
int gt_rebatch_add(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_chunk *piece, struct gt_batches *batches,
		   struct gt_error *error);

/* The batches of a piece, and the records that they are packed to. Initially zero. */
struct gt_batch_records {
	struct gt_batches batches;
	struct gt_bytes bytes;
	size_t rows; /* in them */
};

/* Packs the batches, and releases the piece, which is then NULL, and the rows before it. Where their addresses were is lost.
 * Returns 0, or -1 when memory is short. */
int gt_batch_records_pack(struct gt_batch_records *records, struct gt_chunks *chunks, struct gt_chunk **piece, struct gt_error *error);
void gt_batch_records_close(struct gt_batch_records *records, struct gt_chunks *chunks);

/* Moves the rows into a sink: then there are none. Returns 0, or -1. */
int gt_rebatch_give(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_sink *sink, struct gt_error *error);

#endif
