/* SPDX-License-Identifier: MIT */
#include "order/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/pages.h"
#include "order/radix.h"
#include "order/runs.h"

#define CHUNK_BYTES_MAX ((size_t)4 << 20) /* enough for large pages */

struct gt_sorter {
	uint64_t memory, yielded;
	bool by_an;
	struct gt_runs runs, merged; /* `merged`: output of a merge of several runs */
	struct gt_merge *merge;

	/* Rows in memory, in chunks that are never moved. */
	char **chunks;
	size_t n_chunks, chunks_capacity;
	size_t chunk, chunk_used; /* the chunk being filled, and its bytes in use */
	size_t chunk_bytes;
	size_t *chunk_ends; /* bytes in use of each full chunk */

	size_t n; /* rows in memory */
	bool sorted; /* they came in order */
	bool grouped; /* those of each high word of the key came together, in the order of these words: only each group is sorted */
	size_t group, group_most; /* rows of the last group, and of the largest */
	struct gt_sort_key last;
	uint64_t highs, lows; /* bits that are set in some key */

	/* Once the rows have been put in order: room for all of them, or for the largest group; none if they are sorted. */
	struct gt_sort_item *items, *spare;
	struct gt_sort_item *ordered; /* one of the two */
	size_t ordered_n, next; /* and the next of these */
	size_t at_chunk, at; /* the next row in memory, and its offset in the chunk */
};

/* For a sorter without rows. */
static void forget_order(struct gt_sorter *sorter)
{
	sorter->sorted = sorter->grouped = true;
	sorter->group = sorter->group_most = 0;
	sorter->last = (struct gt_sort_key){0, 0};
	sorter->highs = sorter->lows = 0;
}

struct gt_sorter *gt_sorter_open(uint64_t memory, const char *directory, bool by_an, struct gt_error *error)
{
	struct gt_sorter *sorter = calloc(1, sizeof *sorter);

	if (!sorter) {
		gt_fail_memory(error, "sorting");
		return NULL;
	}
	sorter->memory = memory;
	sorter->by_an = by_an;
	forget_order(sorter);
	sorter->runs = sorter->merged = (struct gt_runs){.file = -1, .directory = directory};
	sorter->chunk_bytes = memory / 16 < CHUNK_BYTES_MAX ? (size_t)memory / 16 / 64 * 64 : CHUNK_BYTES_MAX;
	return sorter;
}

static void free_rows(struct gt_sorter *sorter)
{
	for (size_t i = 0; i < sorter->n_chunks; i++)
		free(sorter->chunks[i]);
	free(sorter->chunks);
	free(sorter->chunk_ends);
	sorter->chunks = NULL;
	sorter->chunk_ends = NULL;
	sorter->n_chunks = sorter->chunks_capacity = 0;
}

static void free_items(struct gt_sorter *sorter)
{
	free(sorter->items);
	free(sorter->spare);
	sorter->items = sorter->spare = NULL;
}

void gt_sorter_close(struct gt_sorter *sorter)
{
	if (!sorter)
		return;
	gt_merge_close(sorter->merge);
	gt_runs_close(&sorter->runs);
	gt_runs_close(&sorter->merged);
	free_rows(sorter);
	free_items(sorter);
	free(sorter);
}

void gt_sorter_yield(struct gt_sorter *sorter, uint64_t bytes)
{
	uint64_t most = sorter->memory - sorter->memory / 8;

	sorter->yielded = bytes < most ? bytes : most;
}

static unsigned width(uint64_t bits)
{
	return bits ? 64U - (unsigned)__builtin_clzll(bits) : 0;
}

/* The low word of a key with no more bits for the warp than some warp needs. */
static uint64_t shorten(const struct gt_sorter *sorter, uint64_t low)
{
	return low >> GT_SORT_WARP_BITS << width(sorter->lows & GT_SORT_WARPS) | (low & GT_SORT_WARPS);
}

/* The bytes of a chunk in use. */
static size_t chunk_end(const struct gt_sorter *sorter, size_t chunk)
{
	return chunk < sorter->chunk ? sorter->chunk_ends[chunk] : sorter->chunk_used;
}

/* The next row as they came, or NULL. */
static const struct gt_packed *row_that_came(struct gt_sorter *sorter)
{
	for (; sorter->n > 0 && sorter->at_chunk <= sorter->chunk; sorter->at_chunk++, sorter->at = 0)
		if (sorter->at < chunk_end(sorter, sorter->at_chunk))
			return (const void *)(sorter->chunks[sorter->at_chunk] + sorter->at);
	return NULL;
}

static void put_in_order(struct gt_sorter *sorter, uint64_t bits)
{
	sorter->ordered = gt_radix_sort(sorter->items, sorter->spare, sorter->ordered_n, bits);
}

/* Both words of the key nearly always fit into one. */
static void order_all(struct gt_sorter *sorter)
{
	const struct gt_packed *row;
	unsigned low_width = width(shorten(sorter, sorter->lows));
	bool joined = low_width + width(sorter->highs) <= 64 && low_width < 64;

	for (; (row = row_that_came(sorter)) != NULL; sorter->at += gt_packed_bytes(row)) {
		struct gt_sort_key key = gt_sort_key_of(row, sorter->by_an);
		sorter->items[sorter->ordered_n++] = (struct gt_sort_item){
			(joined ? key.high << low_width : 0) | shorten(sorter, key.low), row};
	}
	put_in_order(sorter, (joined ? sorter->highs << low_width : 0) | shorten(sorter, sorter->lows));
	if (joined)
		return;
	struct gt_sort_item *spare = sorter->ordered == sorter->items ? sorter->spare : sorter->items;
	for (size_t i = 0; i < sorter->n; i++)
		sorter->ordered[i].key = gt_sort_key_of(sorter->ordered[i].row, sorter->by_an).high;
	sorter->ordered = gt_radix_sort(sorter->ordered, spare, sorter->n, sorter->highs);
}

/* Of rows that came in groups, the next group. */
static void order_group(struct gt_sorter *sorter)
{
	const struct gt_packed *row;
	uint64_t high = 0;

	sorter->ordered_n = sorter->next = 0;
	for (; (row = row_that_came(sorter)) != NULL; sorter->at += gt_packed_bytes(row)) {
		struct gt_sort_key key = gt_sort_key_of(row, sorter->by_an);
		if (sorter->ordered_n > 0 && key.high != high)
			break;
		high = key.high;
		sorter->items[sorter->ordered_n++] = (struct gt_sort_item){shorten(sorter, key.low), row};
	}
	put_in_order(sorter, shorten(sorter, sorter->lows));
}

/* Puts the rows in memory in order. */
static int sort_rows(struct gt_sorter *sorter, struct gt_error *error)
{
	size_t n = sorter->grouped ? sorter->group_most : sorter->n;

	sorter->at = sorter->at_chunk = sorter->next = sorter->ordered_n = 0;
	if (sorter->sorted)
		return 0;
	sorter->items = malloc(n * sizeof *sorter->items);
	sorter->spare = malloc(n * sizeof *sorter->spare);
	if (!sorter->items || !sorter->spare)
		return gt_fail_memory(error, "sorting");
	if (!sorter->grouped)
		order_all(sorter);
	return 0;
}

/* The next of the rows in memory, in order, or NULL. */
static const struct gt_packed *next_in_memory(struct gt_sorter *sorter)
{
	if (sorter->sorted) {
		const struct gt_packed *row = row_that_came(sorter);
		sorter->at += row ? gt_packed_bytes(row) : 0;
		return row;
	}
	if (sorter->next == sorter->ordered_n && sorter->grouped)
		order_group(sorter);
	if (sorter->next == sorter->ordered_n)
		return NULL;
	if (sorter->next + 8 < sorter->ordered_n)
		__builtin_prefetch(sorter->ordered[sorter->next + 8].row);
	return sorter->ordered[sorter->next++].row;
}

/* Writes the rows in memory as a run; their memory is reused. */
static int spill(struct gt_sorter *sorter, struct gt_error *error)
{
	const struct gt_packed *row;

	if (sort_rows(sorter, error) != 0 || gt_run_begin(&sorter->runs, sorter->chunk_bytes, error) != 0)
		return -1;
	while ((row = next_in_memory(sorter)) != NULL)
		if (gt_run_add(&sorter->runs, row, error) != 0)
			return -1;
	if (gt_run_end(&sorter->runs, error) != 0)
		return -1;
	free_items(sorter);
	sorter->n = sorter->chunk = sorter->chunk_used = 0;
	forget_order(sorter);
	return 0;
}

static int add_chunk(struct gt_sorter *sorter, struct gt_error *error)
{
	size_t n = sorter->n_chunks, capacity = sorter->chunks_capacity;
	char **chunks = gt_grown(sorter->chunks, n, &capacity, sizeof *chunks);

	if (!chunks)
		return gt_fail_memory(error, "sorting");
	sorter->chunks = chunks;
	size_t *ends = gt_grown(sorter->chunk_ends, n, &sorter->chunks_capacity, sizeof *ends);
	if (!ends)
		return gt_fail_memory(error, "sorting");
	sorter->chunk_ends = ends;
	sorter->chunks[sorter->n_chunks] = malloc(sorter->chunk_bytes);
	if (!sorter->chunks[sorter->n_chunks])
		return gt_fail_memory(error, "sorting (a smaller -S needs less)");
	gt_pages_large(sorter->chunks[sorter->n_chunks++], sorter->chunk_bytes);
	return 0;
}

/* True if one more chunk, the items that sort its rows and a write buffer would exceed the memory. */
static bool is_full(const struct gt_sorter *sorter)
{
	uint64_t rows_of_chunk = sorter->chunk_bytes / sizeof(struct gt_packed);
	uint64_t used = (sorter->chunk + 2) * (uint64_t)sorter->chunk_bytes + sorter->chunk_bytes +
			2 * sizeof(struct gt_sort_item) * (sorter->n + rows_of_chunk);

	return used > sorter->memory - sorter->yielded;
}

/* Room for a row of this many bytes. */
static char *make_room(struct gt_sorter *sorter, size_t bytes, struct gt_error *error)
{
	if (sorter->n_chunks == 0) {
		if (add_chunk(sorter, error) != 0)
			return NULL;
	} else if (sorter->chunk_used + bytes > sorter->chunk_bytes) {
		if (is_full(sorter)) {
			if (spill(sorter, error) != 0)
				return NULL;
		} else {
			sorter->chunk_ends[sorter->chunk++] = sorter->chunk_used;
			sorter->chunk_used = 0;
			if (sorter->chunk == sorter->n_chunks && add_chunk(sorter, error) != 0)
				return NULL;
		}
	}
	sorter->chunk_used += bytes;
	return sorter->chunks[sorter->chunk] + sorter->chunk_used - bytes;
}

static void note_order(struct gt_sorter *sorter, struct gt_sort_key key)
{
	struct gt_sort_key last = sorter->last;

	sorter->sorted &= !gt_sort_key_less(key, last);
	sorter->grouped &= key.high >= last.high;
	sorter->group = key.high == last.high ? sorter->group + 1 : 1;
	sorter->group_most = sorter->group > sorter->group_most ? sorter->group : sorter->group_most;
	sorter->highs |= key.high;
	sorter->lows |= key.low;
	sorter->last = key;
}

int gt_sorter_add(struct gt_sorter *sorter, const struct gt_packed *row, const uint64_t *lanes,
		  struct gt_error *error)
{
	char *place = make_room(sorter, gt_packed_bytes(row), error);

	if (!place)
		return -1;
	memcpy(place, row, sizeof *row);
	if (row->lanes > 0)
		memcpy(place + sizeof *row, lanes, row->lanes * sizeof *lanes);
	struct gt_sort_key key = gt_sort_key_of(row, sorter->by_an);
	note_order(sorter, key);
	sorter->n++;
	return 0;
}

/* Merges runs [first, first + n) into one of `merged`. */
static int merge_group(struct gt_sorter *sorter, size_t first, size_t n, uint64_t memory,
		       struct gt_error *error)
{
	const struct gt_packed *row;
	struct gt_merge *merge = gt_merge_open(&sorter->runs, first, n, memory, sorter->by_an, error);
	int got = merge ? gt_run_begin(&sorter->merged, sorter->chunk_bytes, error) : -1;

	while (got >= 0 && (got = gt_merge_next(merge, &row, error)) > 0)
		got = gt_run_add(&sorter->merged, row, error);
	gt_merge_close(merge);
	return got < 0 ? -1 : gt_run_end(&sorter->merged, error);
}

/* Merges groups of consecutive runs until few enough are left for one merge. */
static int reduce_runs(struct gt_sorter *sorter, struct gt_error *error)
{
	uint64_t memory = sorter->memory - sorter->chunk_bytes;
	size_t most = gt_merge_width(memory);

	while (sorter->runs.n > most) {
		for (size_t first = 0; first < sorter->runs.n; first += most) {
			size_t n = sorter->runs.n - first < most ? sorter->runs.n - first : most;
			if (merge_group(sorter, first, n, memory, error) != 0)
				return -1;
		}
		gt_runs_close(&sorter->runs);
		sorter->runs = sorter->merged;
		sorter->merged = (struct gt_runs){.file = -1, .directory = sorter->runs.directory};
	}
	return 0;
}

int gt_sorter_finish(struct gt_sorter *sorter, struct gt_error *error)
{
	if (sorter->runs.n == 0)
		return sort_rows(sorter, error);
	if (sorter->n > 0 && spill(sorter, error) != 0)
		return -1;
	free_rows(sorter);
	if (reduce_runs(sorter, error) != 0)
		return -1;
	sorter->merge = gt_merge_open(&sorter->runs, 0, sorter->runs.n, sorter->memory, sorter->by_an, error);
	return sorter->merge ? 0 : -1;
}

int gt_sorter_next(struct gt_sorter *sorter, const struct gt_packed **row, struct gt_error *error)
{
	if (sorter->merge)
		return gt_merge_next(sorter->merge, row, error);
	*row = next_in_memory(sorter);
	return *row != NULL;
}
