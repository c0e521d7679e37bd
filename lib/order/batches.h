/* SPDX-License-Identifier: MIT */
/* Batches of a stream whose rows are in order already, packed as they will be written: a third of what rows that are to be sorted
 * take. They are held, since rows that belong before them may still come. */
#ifndef GT_ORDER_BATCHES_H
#define GT_ORDER_BATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "order/packed.h"
#include "stream/columns.h"
#include "stream/rows.h"
#include "stream/writer.h"

struct gt_order_batch {
	uint32_t launch; /* its place among those seen */
	size_t rows;
	size_t chunk, offset, n; /* its record: where it is among the chunks, and its bytes */
};

/* Initially zero. */
struct gt_order_batches {
	struct gt_order_batch *batches; /* in order */
	size_t n, capacity;
	struct gt_bytes *chunks; /* which are freed one by one */
	size_t chunks_n, chunks_capacity;
	uint64_t bytes;	       /* of all records */
	struct gt_bytes record; /* the last that was packed */
	struct gt_rows *rest; /* rows of the last launch that make no whole batch; NULL: none yet */
	uint32_t launch;      /* that one */
	struct gt_sort_key last; /* of the last row, if there are any */
};

void gt_order_batches_close(struct gt_order_batches *batches);

static inline bool gt_order_batches_any(const struct gt_order_batches *batches)
{
	return batches->n > 0 || (batches->rest && batches->rest->n > 0);
}

/* Whether rows of a launch, which a reader has checked, can be added: they are behind all others, no two are of one ordinal, and
 * each is as it would be written. */
bool gt_order_batches_fit(const struct gt_order_batches *batches, uint32_t launch, const struct gt_rows *rows, bool by_an);
/* Adds them. All rows of a launch have the same columns. Returns 0, or -1 when memory is short. */
int gt_order_batches_add(struct gt_order_batches *batches, uint32_t launch, const struct gt_rows *rows, bool by_an,
			 struct gt_error *error);

/* Packs the rest. Returns 0, or -1 when memory is short. */
int gt_order_batches_end(struct gt_order_batches *batches, struct gt_error *error);
/* Writes those of a launch from batch *first on, which is then the first that is of another launch. Returns 0, or -1. */
int gt_order_batches_write(const struct gt_order_batches *batches, uint32_t launch, size_t *first, struct gt_writer *writer,
			   struct gt_error *error);

/* The record of a batch. */
static inline const unsigned char *gt_order_batch_record(const struct gt_order_batches *batches, const struct gt_order_batch *batch)
{
	return batches->chunks[batch->chunk].data + batch->offset;
}
/* Frees chunks that have no batch from this one on. */
void gt_order_batches_free_before(struct gt_order_batches *batches, const struct gt_order_batch *batch);

#endif
