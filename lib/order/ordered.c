/* SPDX-License-Identifier: MIT */
#include "order/ordered.h"

#include <stdlib.h>

#define AHEAD 8 /* rows by which memory is asked for early */

/* ---- rows that came in order ---- */

static const struct gt_record *next_that_came(struct gt_ordered *ordered)
{
	const struct gt_kept *kept = ordered->kept;

	if (ordered->left == 0) {
		if (ordered->span == kept->spans_n)
			return NULL;
		ordered->at = kept->spans[ordered->span].records;
		ordered->left = kept->spans[ordered->span++].n;
	}
	const struct gt_record *record = (const void *)ordered->at;
	ordered->at += gt_record_bytes(record);
	ordered->left--;
	return record;
}

/* ---- others ---- */

static int open_sortable(struct gt_sortable *sortable, size_t n, struct gt_error *error)
{
	sortable->items = malloc(n * sizeof *sortable->items);
	sortable->spare = malloc(n * sizeof *sortable->spare);
	return sortable->items && sortable->spare ? 0 : gt_fail_memory(error, "sorting");
}

static void close_sortable(struct gt_sortable *sortable)
{
	free(sortable->items);
	free(sortable->spare);
}

static void sort(struct gt_sortable *sortable, uint64_t bits)
{
	struct gt_sort_item *sorted = gt_radix_sort(sortable->items, sortable->spare, sortable->n, bits);

	if (sorted == sortable->items)
		return;
	sortable->spare = sortable->items;
	sortable->items = sorted;
}

/* The spans by high words. */
static void list_spans(struct gt_ordered *ordered)
{
	const struct gt_kept *kept = ordered->kept;

	for (size_t i = 0; i < kept->spans_n; i++)
		ordered->by_high.items[i] = (struct gt_sort_item){kept->spans[i].high, &kept->spans[i]};
	ordered->by_high.n = kept->spans_n;
}

/* All rows by high words. */
static void list_rows(struct gt_ordered *ordered)
{
	const struct gt_record *record;

	for (size_t i = 0; (record = next_that_came(ordered)) != NULL; ordered->by_high.n = ++i) {
		gt_record_get(record, &ordered->row);
		ordered->by_high.items[i] = (struct gt_sort_item){gt_sort_key_of(&ordered->row, ordered->kept->by_an).high, record};
	}
}

/* How many of the spans from this one on are of one high word, and their rows. */
static size_t count_group(const struct gt_sortable *spans, size_t first, size_t *rows)
{
	size_t end = first;

	*rows = 0;
	for (; end < spans->n && spans->items[end].key == spans->items[first].key; end++)
		*rows += ((const struct gt_span *)spans->items[end].what)->n;
	return end - first;
}

static size_t largest_group(const struct gt_sortable *spans)
{
	size_t rows, most = 0;

	for (size_t i = 0; i < spans->n; i += count_group(spans, i, &rows), most = rows > most ? rows : most)
		;
	return most;
}

int gt_ordered_begin(struct gt_ordered *ordered, const struct gt_kept *kept, struct gt_error *error)
{
	*ordered = (struct gt_ordered){.kept = kept};
	if (kept->sorted)
		return 0;
	if (open_sortable(&ordered->by_high, kept->scattered ? kept->n : kept->spans_n, error) != 0)
		return -1;
	(kept->scattered ? list_rows : list_spans)(ordered);
	sort(&ordered->by_high, kept->highs);
	return kept->scattered ? 0 : open_sortable(&ordered->by_low, largest_group(&ordered->by_high), error);
}

void gt_ordered_end(struct gt_ordered *ordered)
{
	close_sortable(&ordered->by_high);
	if (ordered->kept && !ordered->kept->scattered)
		close_sortable(&ordered->by_low);
	*ordered = (struct gt_ordered){.kept = NULL};
}

/* The low word of a row's key with no more bits for the warp than some warp needs. */
static uint64_t low_of(const struct gt_kept *kept, const struct gt_record *record, unsigned warp_bits)
{
	return (uint64_t)(kept->by_an ? gt_record_block(record) : record->an) << warp_bits | record->warp;
}

/* The rows of the next high word, in the order of their low words. */
static bool order_group(struct gt_ordered *ordered)
{
	const struct gt_kept *kept = ordered->kept;
	struct gt_sortable *from = &ordered->by_high, *to = &ordered->by_low;
	uint64_t warps = kept->lows & GT_SORT_WARPS, seconds = kept->lows >> GT_SORT_WARP_BITS;
	unsigned warp_bits = warps ? 64U - (unsigned)__builtin_clzll(warps) : 0;
	size_t first = from->next;

	if (first == from->n)
		return false;
	to->n = to->next = 0;
	if (kept->scattered) {
		/* Sorted where they stand. */
		to->items = from->items + first;
		to->spare = from->spare + first;
	}
	ordered->high = from->items[first].key;
	for (; from->next < from->n && from->items[from->next].key == ordered->high; from->next++) {
		const void *what = from->items[from->next].what;
		const char *at = kept->scattered ? what : ((const struct gt_span *)what)->records;
		for (size_t left = kept->scattered ? 1 : ((const struct gt_span *)what)->n; left > 0; left--) {
			const struct gt_record *record = (const void *)at;
			to->items[to->n++] = (struct gt_sort_item){low_of(kept, record, warp_bits), record};
			at += gt_record_bytes(record);
		}
	}
	sort(to, seconds << warp_bits | warps);
	return true;
}

bool gt_ordered_next(struct gt_ordered *ordered, const struct gt_packed **row, const uint64_t **lanes)
{
	const struct gt_kept *kept = ordered->kept;
	const struct gt_record *record;

	if (kept->sorted) {
		if ((record = next_that_came(ordered)) == NULL)
			return false;
	} else {
		struct gt_sortable *rows = &ordered->by_low;
		if (rows->next == rows->n && !order_group(ordered))
			return false;
		if (rows->next + AHEAD < rows->n)
			__builtin_prefetch(rows->items[rows->next + AHEAD].what);
		record = rows->items[rows->next++].what;
		if (!kept->by_an) {
			ordered->row.kernel = (uint32_t)(ordered->high >> 32);
			ordered->row.block = (uint32_t)ordered->high;
		}
	}
	*lanes = gt_record_get(record, &ordered->row);
	*row = &ordered->row;
	return true;
}
