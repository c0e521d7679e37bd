/* SPDX-License-Identifier: MIT */
/* Rows in memory, and reading them in order: by the high word of their keys, and then, for the rows of each such word, which are few,
 * by the low one. The sorter (order/sort.c) adds them; they stay where they were put. */
#ifndef GT_ORDER_ORDERED_H
#define GT_ORDER_ORDERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "order/packed.h"

/* ---- rows in memory as they came, and what is known of their order ---- */

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

/* ---- reading them in order ---- */

/* What is sorted, and the word that it is sorted by. */
struct gt_sort_item {
	uint64_t key;
	const void *what;
};

/* The rows of one high word of the key from spans of warps, which are in order already: as long as there are not
 * many, looking at the next row of each is less work than sorting all. */
#define GT_WARPS_SPANS 64

/* What is left of a span: the next record, and the number that its key has between the high word and the warp. */
struct gt_warps_rest {
	const char *at;
	size_t left;
	uint32_t second;
	uint8_t warp;
};

struct gt_warps {
	bool by_an;
	struct gt_warps_rest spans[GT_WARPS_SPANS]; /* by warp; those of one warp as they came */
	size_t n, at;				    /* and where the next row is looked for */
	uint32_t second;			    /* of the rows whose turn it is */
	uint64_t following;			    /* the least second of those that were passed over */
};

/* An array that is sorted, and what sorting it takes. */
struct gt_sortable {
	struct gt_sort_item *items, *spare;
	size_t n, next; /* the next that is read */
	size_t capacity;
};

struct gt_ordered {
	const struct gt_kept *kept;
	struct gt_packed row; /* the last that was read */
	bool is_part; /* what it lists by high words is the whole's */
	bool as_they_came;
	/* Rows that are read as they came: the span, its next record, and how many are left of it. */
	size_t span, left;
	const char *at;
	/* Others: spans, or rows if spans have nothing in common, by high words; and rows of one high word, from few spans of
	 * warps, or sorted by low words. */
	struct gt_sortable by_high, by_low;
	struct gt_warps warps;
	uint64_t high; /* that word */
};

/* For rows that stay as they are until the end. */
int gt_ordered_begin(struct gt_ordered *ordered, const struct gt_kept *kept, struct gt_error *error);
/* The next row and its addresses, valid until the next call; false after the last. */
bool gt_ordered_next(struct gt_ordered *ordered, const struct gt_packed **row, const uint64_t **lanes);
/* Also of one that is all zero, and of a part. */
void gt_ordered_end(struct gt_ordered *ordered);

/* To read rows in parts, some high words in each; *largest: the rows of the largest high word. */
int gt_ordered_begin_parts(struct gt_ordered *whole, const struct gt_kept *kept, size_t *largest, struct gt_error *error);
/* The next of what is listed by high words, for high words of this kernel with so many rows or the kernel's last: how many. */
size_t gt_ordered_next_listed(struct gt_ordered *whole, uint32_t kernel, size_t rows);
/* Begins a part with n of them; it may have been one before, else it is all zero. */
int gt_ordered_begin_part(struct gt_ordered *part, const struct gt_ordered *whole, size_t first, size_t n, struct gt_error *error);

/* Bytes that this takes at most: spans are sorted, and so many rows. */
static inline uint64_t gt_ordered_bytes(const struct gt_kept *kept, uint64_t rows)
{
	return 2 * sizeof(struct gt_sort_item) * (rows + kept->spans_n);
}

#endif
