/* SPDX-License-Identifier: MIT */
/* Rows in memory, read in order: as they came if they came in order, from spans of warps that did, or sorted by radix. */
#include "order/ordered.h"

#include <stdlib.h>
#include <string.h>



/* ---- sorting by one word ---- */

#define DIGIT_BITS 8
#define BUCKETS (1U << DIGIT_BITS)
#define FEW 64 /* items that are sorted by insertion: counting takes longer */

/* One pass by one digit of the key. */
static void sort_by_digit(const struct gt_sort_item *from, struct gt_sort_item *to, size_t n, unsigned shift)
{
	size_t places[BUCKETS] = {0};
	size_t place = 0;

	for (size_t i = 0; i < n; i++)
		places[from[i].key >> shift & (BUCKETS - 1)]++;
	for (unsigned b = 0; b < BUCKETS; b++) {
		size_t count = places[b];
		places[b] = place;
		place += count;
	}
	for (size_t i = 0; i < n; i++)
		to[places[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

static void sort_few(struct gt_sort_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct gt_sort_item item = items[i];
		size_t at = i;
		for (; at > 0 && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Sorts n items, of which equal ones stay in their order, the least significant digit first; `bits` are set if they are in some key,
 * and digits that are 0 in all keys are skipped. `spare` has room for n. Returns the array of the two that has the result. */
static struct gt_sort_item *sort_items(struct gt_sort_item *items, struct gt_sort_item *spare, size_t n, uint64_t bits)
{
	if (n <= FEW) {
		sort_few(items, n);
		return items;
	}
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if ((bits >> shift & (BUCKETS - 1)) == 0)
			continue;
		sort_by_digit(items, spare, n, shift);
		struct gt_sort_item *swap = items;
		items = spare;
		spare = swap;
	}
	return items;
}

/* ---- spans of warps ---- */

#define NONE UINT64_MAX

static void begin_warps(struct gt_warps *warps, bool by_an)
{
	warps->by_an = by_an;
	warps->n = warps->at = 0;
	warps->second = 0;
	warps->following = NONE;
}

static void look_at_next(const struct gt_warps *warps, struct gt_warps_rest *rest)
{
	const struct gt_record *record = (const void *)rest->at;

	rest->second = warps->by_an ? gt_record_block(record) : record->an;
}

/* Adds one of at most GT_WARPS_SPANS spans. */
static void add_span(struct gt_warps *warps, const struct gt_span *span)
{
	struct gt_warps_rest rest = {.at = span->records, .left = span->n, .warp = ((const struct gt_record *)(const void *)span->records)->warp};
	size_t at = warps->n++;

	look_at_next(warps, &rest);
	for (; at > 0 && warps->spans[at - 1].warp > rest.warp; at--)
		warps->spans[at] = warps->spans[at - 1];
	warps->spans[at] = rest;
}

/* The next record, or NULL. */
static const struct gt_record *next_of_warps(struct gt_warps *warps)
{
	for (;;) {
		for (; warps->at < warps->n; warps->at++) {
			struct gt_warps_rest *rest = &warps->spans[warps->at];
			if (rest->left == 0)
				continue;
			if (rest->second == warps->second) {
				const struct gt_record *record = (const void *)rest->at;
				rest->at += gt_record_bytes(record);
				if (--rest->left > 0)
					look_at_next(warps, rest);
				return record;
			}
			if (rest->second < warps->following)
				warps->following = rest->second;
		}
		if (warps->following == NONE)
			return NULL;
		warps->second = (uint32_t)warps->following;
		warps->following = NONE;
		warps->at = 0;
	}
}

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

/* ---- rows that did not: what is sorted ---- */

static void close_sortable(struct gt_sortable *sortable)
{
	free(sortable->items);
	free(sortable->spare);
	*sortable = (struct gt_sortable){.n = 0};
}

/* Room for n items, in the place of those that there are. */
static int open_sortable(struct gt_sortable *sortable, size_t n, struct gt_error *error)
{
	if (n <= sortable->capacity)
		return 0;
	close_sortable(sortable);
	sortable->items = malloc(n * sizeof *sortable->items);
	sortable->spare = malloc(n * sizeof *sortable->spare);
	sortable->capacity = n;
	return sortable->items && sortable->spare ? 0 : gt_fail_memory(error, "sorting");
}

static void sort(struct gt_sortable *sortable, uint64_t bits)
{
	struct gt_sort_item *sorted = sort_items(sortable->items, sortable->spare, sortable->n, bits);

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

static bool are_scattered(const struct gt_kept *kept)
{
	return kept->spans_of == GT_SPANS_OF_CHUNKS;
}

/* Lists what is to be sorted by high words: spans, or rows if spans have nothing in common. */
static int list(struct gt_ordered *ordered, struct gt_error *error)
{
	const struct gt_kept *kept = ordered->kept;

	if (open_sortable(&ordered->by_high, are_scattered(kept) ? kept->n : kept->spans_n, error) != 0)
		return -1;
	(are_scattered(kept) ? list_rows : list_spans)(ordered);
	sort(&ordered->by_high, kept->highs);
	return 0;
}

/* How many of those that are listed, from this one on, are of one high word, and their rows. */
static size_t count_group(const struct gt_ordered *ordered, size_t first, size_t *rows)
{
	const struct gt_sortable *listed = &ordered->by_high;
	bool scattered = are_scattered(ordered->kept);
	size_t end = first;

	*rows = 0;
	for (; end < listed->n && listed->items[end].key == listed->items[first].key; end++)
		*rows += scattered ? 1 : ((const struct gt_span *)listed->items[end].what)->n;
	return end - first;
}

static bool are_few_of_warps(const struct gt_kept *kept, size_t spans)
{
	return kept->spans_of == GT_SPANS_OF_WARPS && spans <= GT_WARPS_SPANS;
}

/* The most rows of a high word for which sorting takes memory: rows that are listed are sorted where they stand. */
static size_t most_to_sort(const struct gt_ordered *ordered)
{
	size_t rows, most = 0, n;

	for (size_t i = 0; i < ordered->by_high.n && !are_scattered(ordered->kept); i += n) {
		n = count_group(ordered, i, &rows);
		if (!are_few_of_warps(ordered->kept, n) && rows > most)
			most = rows;
	}
	return most;
}

int gt_ordered_begin(struct gt_ordered *ordered, const struct gt_kept *kept, struct gt_error *error)
{
	*ordered = (struct gt_ordered){.kept = kept, .as_they_came = kept->sorted};
	if (kept->sorted)
		return 0;
	return list(ordered, error) != 0 ? -1 : open_sortable(&ordered->by_low, most_to_sort(ordered), error);
}

void gt_ordered_end(struct gt_ordered *ordered)
{
	if (!ordered->is_part)
		close_sortable(&ordered->by_high);
	if (ordered->kept && !are_scattered(ordered->kept))
		close_sortable(&ordered->by_low);
	*ordered = (struct gt_ordered){.kept = NULL};
}

/* The low word of a row's key with no more bits for the warp than some warp needs. */
static uint64_t low_of(const struct gt_kept *kept, const struct gt_record *record, unsigned warp_bits)
{
	return (uint64_t)(kept->by_an ? gt_record_block(record) : record->an) << warp_bits | record->warp;
}

/* Makes items of the rows of a span. */
static void add_items(struct gt_ordered *ordered, const struct gt_span *span, unsigned warp_bits)
{
	struct gt_sortable *to = &ordered->by_low;
	const char *at = span->records;

	for (size_t left = span->n; left > 0; left--) {
		const struct gt_record *record = (const void *)at;
		to->items[to->n++] = (struct gt_sort_item){low_of(ordered->kept, record, warp_bits), record};
		at += gt_record_bytes(record);
	}
}

/* Puts n spans, or rows where these are listed, of one high word in order, by sorting the rows. */
static void sort_group(struct gt_ordered *ordered, size_t first, size_t n)
{
	const struct gt_kept *kept = ordered->kept;
	struct gt_sort_item *from = ordered->by_high.items + first;
	uint64_t warps = kept->lows & GT_SORT_WARPS, seconds = kept->lows >> GT_SORT_WARP_BITS;
	unsigned warp_bits = warps ? 64U - (unsigned)__builtin_clzll(warps) : 0;
	struct gt_sortable *to = &ordered->by_low;

	if (are_scattered(kept)) {
		*to = (struct gt_sortable){.items = from, .spare = ordered->by_high.spare + first, .n = n};
		for (size_t i = 0; i < n; i++)
			from[i].key = low_of(kept, from[i].what, warp_bits);
	} else {
		for (size_t i = 0; i < n; i++)
			add_items(ordered, from[i].what, warp_bits);
	}
	sort(to, seconds << warp_bits | warps);
}

/* Puts the rows of the next high word in order. */
static bool order_group(struct gt_ordered *ordered)
{
	struct gt_sortable *from = &ordered->by_high;
	size_t first = from->next;

	if (first == from->n)
		return false;
	ordered->high = from->items[first].key;
	while (from->next < from->n && from->items[from->next].key == ordered->high)
		from->next++;
	begin_warps(&ordered->warps, ordered->kept->by_an);
	ordered->by_low.n = ordered->by_low.next = 0;
	if (!are_few_of_warps(ordered->kept, from->next - first))
		sort_group(ordered, first, from->next - first);
	else
		for (size_t i = first; i < from->next; i++)
			add_span(&ordered->warps, from->items[i].what);
	return true;
}

/* The next row of the high word. */
static const struct gt_record *next_of_group(struct gt_ordered *ordered)
{
	struct gt_sortable *rows = &ordered->by_low;

	if (rows->next == rows->n)
		return next_of_warps(&ordered->warps);
	if (rows->next + AHEAD < rows->n)
		__builtin_prefetch(rows->items[rows->next + AHEAD].what);
	return rows->items[rows->next++].what;
}

bool gt_ordered_next(struct gt_ordered *ordered, const struct gt_packed **row, const uint64_t **lanes)
{
	const struct gt_kept *kept = ordered->kept;
	const struct gt_record *record;

	if (ordered->as_they_came) {
		record = next_that_came(ordered);
	} else {
		while ((record = next_of_group(ordered)) == NULL && order_group(ordered))
			;
		if (!kept->by_an) {
			ordered->row.kernel = (uint32_t)(ordered->high >> 32);
			ordered->row.block = (uint32_t)ordered->high;
		}
	}
	if (!record)
		return false;
	*lanes = gt_record_get(record, &ordered->row);
	*row = &ordered->row;
	return true;
}

/* ---- parts ---- */

int gt_ordered_begin_parts(struct gt_ordered *whole, const struct gt_kept *kept, size_t *largest, struct gt_error *error)
{
	size_t rows;

	*whole = (struct gt_ordered){.kept = kept};
	if (list(whole, error) != 0)
		return -1;
	*largest = 0;
	for (size_t i = 0; i < whole->by_high.n; *largest = rows > *largest ? rows : *largest)
		i += count_group(whole, i, &rows);
	return 0;
}

size_t gt_ordered_next_listed(struct gt_ordered *whole, uint32_t kernel, size_t rows)
{
	struct gt_sortable *listed = &whole->by_high;
	size_t first = listed->next, of_group;

	for (size_t n = 0; n < rows && listed->next < listed->n && listed->items[listed->next].key >> 32 == kernel; n += of_group)
		listed->next += count_group(whole, listed->next, &of_group);
	return listed->next - first;
}

int gt_ordered_begin_part(struct gt_ordered *part, const struct gt_ordered *whole, size_t first, size_t n, struct gt_error *error)
{
	const struct gt_sortable *listed = &whole->by_high;
	struct gt_sortable by_low = part->by_low;

	*part = (struct gt_ordered){.kept = whole->kept, .is_part = true, .by_low = by_low,
				    .by_high = {.items = listed->items + first, .spare = listed->spare + first, .n = n}};
	part->by_low.n = part->by_low.next = 0;
	return open_sortable(&part->by_low, most_to_sort(part), error);
}
