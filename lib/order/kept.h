/* SPDX-License-Identifier: MIT */
/* Rows in memory as they came, and what is known of their order. */
#ifndef GT_ORDER_KEPT_H
#define GT_ORDER_KEPT_H

#include "base/error.h"
#include "order/packed.h"

/* What the rows of a span have in common. It begins with the first, and goes on to the next where spans are too short to be worth
 * it. */
enum gt_spans {
	GT_SPANS_OF_WARPS, /* the high word of the key, and the warp; and they came in order */
	GT_SPANS_OF_HIGHS, /* the high word */
	GT_SPANS_OF_CHUNKS /* nothing */
};

/* Rows that came one behind the other, in one chunk. */
struct gt_span {
	uint64_t high;
	const char *records;
	size_t n;
};

struct gt_kept {
	bool by_an; /* the key's order; then each record says its kernel and block */
	size_t chunk_bytes;
	char **chunks; /* never moved */
	size_t chunks_n, chunks_capacity;
	size_t chunk, used; /* the chunk being filled, and its bytes in use */

	struct gt_span *spans;
	size_t spans_n, spans_capacity;
	size_t n;	/* rows */
	bool sorted;	/* they came in order */
	enum gt_spans spans_of;
	size_t tried_spans, tried_n; /* spans and rows since that is so */
	uint32_t kernel, block;	     /* of the row that came last */
	struct gt_sort_key last_key; /* and its key */
	uint64_t highs, lows; /* bits that are set in some key */
};

/* Memory for rows is taken by chunks of so many bytes, at least GT_RECORD_BYTES_MAX. */
void gt_kept_open(struct gt_kept *kept, size_t chunk_bytes, bool by_an);
void gt_kept_close(struct gt_kept *kept);

/* Whether there is room for any row in the chunk. */
static inline bool gt_kept_has_room(const struct gt_kept *kept)
{
	return kept->chunks_n > 0 && kept->used + GT_RECORD_BYTES_MAX <= kept->chunk_bytes;
}

/* Whether a row leaves the rows sorted, if they are. */
static inline bool gt_kept_stays_sorted(const struct gt_kept *kept, const struct gt_packed *row)
{
	return !gt_sort_key_less(gt_sort_key_of(row, kept->by_an), kept->last_key);
}

/* Goes on with the next chunk. */
int gt_kept_grow(struct gt_kept *kept, struct gt_error *error);

/* Bytes that the rows and a further chunk of them take. */
uint64_t gt_kept_bytes(const struct gt_kept *kept);

/* Adds a row, for which there is room, and the addresses that belong to it. */
int gt_kept_add(struct gt_kept *kept, const struct gt_packed *row, const uint64_t *lanes, struct gt_error *error);

/* Forgets the rows; their memory is used for others. */
void gt_kept_clear(struct gt_kept *kept);

#endif
