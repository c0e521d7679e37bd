/* SPDX-License-Identifier: MIT */
#include "order/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "order/runs.h"

#define CHUNK_BYTES_MAX ((size_t)1 << 20)
#define DIGIT_BITS 8
#define DIGITS (64 / DIGIT_BITS)
#define BUCKETS (1U << DIGIT_BITS)

/* A row's place in memory and the word of its key that is being sorted by. */
struct item {
	uint64_t key;
	const struct gt_packed *row;
};

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
	struct gt_sort_key last;
	uint64_t highs, lows; /* bits that are set in some key */

	struct item *items, *spare; /* n each once the rows have been put in order */
	size_t at;		    /* the next item, or the offset of the next row in its chunk */
	size_t at_chunk;
};

struct gt_sorter *gt_sorter_open(uint64_t memory, const char *directory, bool by_an, struct gt_error *error)
{
	struct gt_sorter *sorter = calloc(1, sizeof *sorter);

	if (!sorter) {
		gt_fail_memory(error, "sorting");
		return NULL;
	}
	sorter->memory = memory;
	sorter->by_an = by_an;
	sorter->sorted = true;
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

/* One stable pass by one digit of the key. */
static void sort_by_digit(const struct item *from, struct item *to, size_t n, unsigned shift,
			  const size_t *counts)
{
	size_t places[BUCKETS];
	size_t place = 0;

	for (unsigned b = 0; b < BUCKETS; b++) {
		places[b] = place;
		place += counts[b];
	}
	for (size_t i = 0; i < n; i++)
		to[places[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

/* Sorts the items by their key, least significant digit first, skipping digits that are 0 in all keys. Stable. */
static void sort_by_key(struct gt_sorter *sorter, uint64_t used_bits)
{
	size_t counts[BUCKETS];

	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if ((used_bits >> shift & (BUCKETS - 1)) == 0)
			continue;
		memset(counts, 0, sizeof counts);
		for (size_t i = 0; i < sorter->n; i++)
			counts[sorter->items[i].key >> shift & (BUCKETS - 1)]++;
		sort_by_digit(sorter->items, sorter->spare, sorter->n, shift, counts);
		struct item *swap = sorter->items;
		sorter->items = sorter->spare;
		sorter->spare = swap;
	}
}

static unsigned width(uint64_t bits)
{
	return bits ? 64U - (unsigned)__builtin_clzll(bits) : 0;
}

/* Joins both words in one; the high one is 0 if there is no room for it. */
static uint64_t join(uint64_t high, uint64_t low, unsigned low_width)
{
	return low_width < 64 ? high << low_width | low : low;
}

/* The bytes of a chunk in use. */
static size_t chunk_end(const struct gt_sorter *sorter, size_t chunk)
{
	return chunk < sorter->chunk ? sorter->chunk_ends[chunk] : sorter->chunk_used;
}

static void list_items(struct gt_sorter *sorter, unsigned low_width, bool joined)
{
	size_t i = 0;

	for (size_t c = 0; c <= sorter->chunk; c++) {
		for (size_t offset = 0, end = chunk_end(sorter, c); offset < end; i++) {
			const struct gt_packed *row = (const void *)(sorter->chunks[c] + offset);
			struct gt_sort_key key = gt_sort_key_of(row, sorter->by_an);
			sorter->items[i].key = joined ? join(key.high, key.low, low_width) : key.low;
			sorter->items[i].row = row;
			offset += gt_packed_bytes(row);
		}
	}
}

/* Puts the rows in memory in order. Both words of the key nearly always fit into one. */
static int sort_rows(struct gt_sorter *sorter, struct gt_error *error)
{
	unsigned low_width = width(sorter->lows);
	bool joined = low_width + width(sorter->highs) <= 64;

	if (sorter->sorted)
		return 0;
	sorter->items = malloc(sorter->n * sizeof *sorter->items);
	sorter->spare = malloc(sorter->n * sizeof *sorter->spare);
	if (!sorter->items || !sorter->spare)
		return gt_fail_memory(error, "sorting");
	list_items(sorter, low_width, joined);
	if (joined) {
		sort_by_key(sorter, join(sorter->highs, sorter->lows, low_width));
		return 0;
	}
	sort_by_key(sorter, sorter->lows);
	for (size_t i = 0; i < sorter->n; i++)
		sorter->items[i].key = gt_sort_key_of(sorter->items[i].row, sorter->by_an).high;
	sort_by_key(sorter, sorter->highs);
	return 0;
}

/* The next of the rows in memory, in order, or NULL. */
static const struct gt_packed *next_in_memory(struct gt_sorter *sorter)
{
	if (!sorter->sorted) {
		if (sorter->at == sorter->n)
			return NULL;
		if (sorter->at + 8 < sorter->n)
			__builtin_prefetch(sorter->items[sorter->at + 8].row);
		return sorter->items[sorter->at++].row;
	}
	for (; sorter->n > 0 && sorter->at_chunk <= sorter->chunk; sorter->at_chunk++, sorter->at = 0) {
		if (sorter->at == chunk_end(sorter, sorter->at_chunk))
			continue;
		const struct gt_packed *row = (const void *)(sorter->chunks[sorter->at_chunk] + sorter->at);
		sorter->at += gt_packed_bytes(row);
		return row;
	}
	return NULL;
}

/* Writes the rows in memory as a run; their memory is reused. */
static int spill(struct gt_sorter *sorter, struct gt_error *error)
{
	const struct gt_packed *row;

	if (sort_rows(sorter, error) != 0 || gt_run_begin(&sorter->runs, sorter->chunk_bytes, error) != 0)
		return -1;
	sorter->at = sorter->at_chunk = 0;
	while ((row = next_in_memory(sorter)) != NULL)
		if (gt_run_add(&sorter->runs, row, error) != 0)
			return -1;
	if (gt_run_end(&sorter->runs, error) != 0)
		return -1;
	free_items(sorter);
	sorter->n = sorter->chunk = sorter->chunk_used = 0;
	sorter->sorted = true;
	sorter->last = (struct gt_sort_key){0, 0};
	sorter->highs = sorter->lows = 0;
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
	sorter->n_chunks++;
	return 0;
}

/* True if one more chunk, the items that sort its rows and a write buffer would exceed the memory. */
static bool is_full(const struct gt_sorter *sorter)
{
	uint64_t rows_of_chunk = sorter->chunk_bytes / sizeof(struct gt_packed);
	uint64_t used = (sorter->chunk + 2) * (uint64_t)sorter->chunk_bytes + sorter->chunk_bytes +
			2 * sizeof(struct item) * (sorter->n + rows_of_chunk);

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
	if (gt_sort_key_less(key, sorter->last))
		sorter->sorted = false;
	sorter->last = key;
	sorter->highs |= key.high;
	sorter->lows |= key.low;
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
	if (sorter->runs.n == 0) {
		sorter->at = sorter->at_chunk = 0;
		return sort_rows(sorter, error);
	}
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
