/* SPDX-License-Identifier: MIT */
/* Memory for rows that are held back: a bounded amount of memory first, then an unlinked temporary file
 * that is mapped. Pieces are cut from segments; a segment is reused once all its pieces are released. */
#ifndef GT_BASE_STORE_H
#define GT_BASE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

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

#endif
