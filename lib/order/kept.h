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
	struct gt_sort_key last_key; /* of the row that came last */
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

/* Goes on with the next chunk. */
int gt_kept_grow(struct gt_kept *kept, struct gt_error *error);

/* Bytes that the rows and a further chunk of them take. */
uint64_t gt_kept_bytes(const struct gt_kept *kept);

/* Begins a span with the row that comes next, of this high word. */
int gt_kept_begin_span(struct gt_kept *kept, uint64_t high, struct gt_error *error);

/* Whether a row with this key belongs to the last span. */
static inline bool gt_kept_span_goes_on(const struct gt_kept *kept, struct gt_sort_key key)
{
	struct gt_sort_key last = kept->last_key;

	if (kept->used == 0 || kept->n == 0)
		return false;
	switch (kept->spans_of) {
	case GT_SPANS_OF_WARPS:
		return key.high == last.high && key.low >= last.low && ((key.low ^ last.low) & GT_SORT_WARPS) == 0;
	case GT_SPANS_OF_HIGHS:
		return key.high == last.high;
	case GT_SPANS_OF_CHUNKS:
		break;
	}
	return true;
}

/* Adds a row with this key, for which there is room, and the addresses that belong to it. */
static inline int gt_kept_add(struct gt_kept *kept, const struct gt_packed *row, struct gt_sort_key key, const uint64_t *lanes,
			      struct gt_error *error)
{
	bool placed = kept->by_an || kept->n == 0 || key.high != kept->last_key.high;

	if (!gt_kept_span_goes_on(kept, key) && gt_kept_begin_span(kept, key.high, error) != 0)
		return -1;
	kept->used += gt_record_put(kept->chunks[kept->chunk] + kept->used, row, lanes, placed);
	kept->spans[kept->spans_n - 1].n++;
	kept->sorted &= !gt_sort_key_less(key, kept->last_key);
	kept->highs |= key.high;
	kept->lows |= key.low;
	kept->last_key = key;
	kept->n++;
	kept->tried_n++;
	return 0;
}

/* Forgets the rows; their memory is used for others. */
void gt_kept_clear(struct gt_kept *kept);

#endif
