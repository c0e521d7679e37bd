/* SPDX-License-Identifier: MIT */
/* Rows that are held back: in memory up to a limit, and beyond it in an unlinked temporary file. A store cuts pieces, which are read at
 * any time until they are released; spill queues are written once and then read once, from front to back. */
#ifndef GT_BASE_SPILL_H
#define GT_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A store. Pieces are cut from segments, of memory or of the file, which is mapped; a segment is reused once all its pieces are
 * released. */

struct gt_segment {
	unsigned char *data;
	size_t bytes, used;
	size_t holders; /* pieces that were cut from it and not yet released */
	int in_file;
	struct gt_segment *next; /* among the free ones, or among all */
	struct gt_segment *next_free;
};

struct gt_store {
	size_t limit;	       /* bytes of memory; beyond it the file is used */
	const char *directory; /* where the file is made */
	size_t in_memory;      /* bytes held in memory now */
	uint64_t in_file;      /* bytes of the file */
	int file;	       /* -1: none yet */
	struct gt_segment *all, *free, *current;
};

void gt_store_open(struct gt_store *store, size_t limit, const char *directory);
void gt_store_close(struct gt_store *store);

/* A piece of `bytes`, aligned to 16, and its segment. NULL on error. */
void *gt_store_take(struct gt_store *store, size_t bytes, struct gt_segment **segment,
		    struct gt_error *error);

/* A piece is written, and will not be read soon: what of it is in the file takes no memory of this process until then. */
void gt_store_put_aside(const struct gt_segment *segment, void *piece, size_t bytes);

/* Releases one piece of a segment. */
void gt_store_release(struct gt_store *store, struct gt_segment *segment);

/* ---- spill queues: strings of bytes, many at a time ---- */

#define GT_SPILL_MOST ((size_t)8192) /* bytes that are written together */
#define GT_SPILL_CLASSES 8	      /* sizes of places in the file */

struct gt_spill_piece {
	struct gt_spill_piece *next;
	unsigned char *data; /* NULL: in the file only */
	size_t n, capacity;
	uint64_t place; /* in the file, if it has been there */
	bool in_file;
};

struct gt_spill_queue {
	struct gt_spill_piece *first, *last;
	bool reading; /* the first piece is being read */
};

/* What all queues share. */
struct gt_spill {
	size_t limit;	       /* bytes of memory */
	const char *directory; /* of the file */
	size_t in_memory;
	uint64_t in_file;
	int file;					/* -1: none yet */
	struct gt_spill_piece *free[GT_SPILL_CLASSES]; /* places of the file */
};

void gt_spill_open(struct gt_spill *spill, size_t limit, const char *directory);
/* All queues have been dropped. */
void gt_spill_close(struct gt_spill *spill);

/* A new last piece with room for n bytes, GT_SPILL_MOST at most. Returns 0, or -1. */
int gt_spill_queue_grow(struct gt_spill *spill, struct gt_spill_queue *queue, size_t n, struct gt_error *error);

/* Where to write n bytes at the end; they count once gt_spill_queue_wrote is called. NULL on error. */
static inline unsigned char *gt_spill_queue_room(struct gt_spill *spill, struct gt_spill_queue *queue, size_t n, struct gt_error *error)
{
	if ((!queue->last || queue->last->capacity - queue->last->n < n) && gt_spill_queue_grow(spill, queue, n, error) != 0)
		return NULL;
	return queue->last->data + queue->last->n;
}
static inline void gt_spill_queue_wrote(struct gt_spill_queue *queue, size_t n)
{
	queue->last->n += n;
}

/* Nothing more will be written: gives back unused room, and beyond the limit all memory. Returns 0, or -1. */
int gt_spill_queue_end(struct gt_spill *spill, struct gt_spill_queue *queue, struct gt_error *error);

/* The next bytes, as they were written together; they are valid until the next call. Returns 1, 0 at the end, or -1. */
int gt_spill_queue_read(struct gt_spill *spill, struct gt_spill_queue *queue, const unsigned char **bytes, size_t *n,
		   struct gt_error *error);

/* Frees what is left. */
void gt_spill_queue_drop(struct gt_spill *spill, struct gt_spill_queue *queue);

#endif
