/* SPDX-License-Identifier: MIT */
/* Batches of any length that several may hold, and that are used again when nobody does. Any thread may call. */
#ifndef GT_STREAM_CHUNK_H
#define GT_STREAM_CHUNK_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "stream/rows.h"

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
/* One more holder; and one less, of a chunk that may be NULL. */
void gt_chunk_hold(struct gt_chunk *chunk);
void gt_chunk_release(struct gt_chunks *chunks, struct gt_chunk *chunk);

#endif
