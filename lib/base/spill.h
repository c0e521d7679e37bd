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

/* Gives back the unused tail of a piece of `bytes`, of which `kept` were used, if it is its segment's last. */
void gt_store_trim(struct gt_segment *segment, const void *piece, size_t bytes, size_t kept);

/* Releases one piece of a segment. */
void gt_store_release(struct gt_store *store, struct gt_segment *segment);

/* ---- spill queues: strings of bytes, many at a time ---- */

#define GT_STRAND_MOST ((size_t)8192) /* bytes that are written together */
#define GT_STRAND_CLASSES 8	      /* sizes of places in the file */

struct gt_strand_piece {
	struct gt_strand_piece *next;
	unsigned char *data; /* NULL: in the file only */
	size_t n, capacity;
	uint64_t place; /* in the file, if it has been there */
	bool in_file;
};

struct gt_strand {
	struct gt_strand_piece *first, *last;
	bool reading; /* the first piece is being read */
};

/* What all strands share. */
struct gt_strands {
	size_t limit;	       /* bytes of memory */
	const char *directory; /* of the file */
	size_t in_memory;
	uint64_t in_file;
	int file;					/* -1: none yet */
	struct gt_strand_piece *free[GT_STRAND_CLASSES]; /* places of the file */
};

void gt_strands_open(struct gt_strands *strands, size_t limit, const char *directory);
/* All strands have been dropped. */
void gt_strands_close(struct gt_strands *strands);

/* A new last piece with room for n bytes, GT_STRAND_MOST at most. Returns 0, or -1. */
int gt_strand_grow(struct gt_strands *strands, struct gt_strand *strand, size_t n, struct gt_error *error);

/* Where to write n bytes at the end; they count once gt_strand_wrote is called. NULL on error. */
static inline unsigned char *gt_strand_room(struct gt_strands *strands, struct gt_strand *strand, size_t n, struct gt_error *error)
{
	if ((!strand->last || strand->last->capacity - strand->last->n < n) && gt_strand_grow(strands, strand, n, error) != 0)
		return NULL;
	return strand->last->data + strand->last->n;
}
static inline void gt_strand_wrote(struct gt_strand *strand, size_t n)
{
	strand->last->n += n;
}

/* Nothing more will be written: gives back unused room, and beyond the limit all memory. Returns 0, or -1. */
int gt_strand_end(struct gt_strands *strands, struct gt_strand *strand, struct gt_error *error);

/* The next bytes, as they were written together; they are valid until the next call. Returns 1, 0 at the end, or -1. */
int gt_strand_read(struct gt_strands *strands, struct gt_strand *strand, const unsigned char **bytes, size_t *n,
		   struct gt_error *error);

/* Frees what is left. */
void gt_strand_drop(struct gt_strands *strands, struct gt_strand *strand);

#endif
