/* SPDX-License-Identifier: MIT */
#include "order/sort.h"

#include <stdlib.h>

#include "order/ordered.h"
#include "order/runs.h"

#define CHUNK_BYTES_MAX ((size_t)4 << 20) /* enough for large pages */

struct gt_sorter {
	uint64_t memory, yielded;
	struct gt_kept kept;
	struct gt_ordered ordered;   /* once all rows are there, unless they were written as runs */
	struct gt_runs runs, merged; /* `merged`: output of a merge of several runs */
	struct gt_merge *merge;
};

struct gt_sorter *gt_sorter_open(uint64_t memory, const char *directory, bool by_an, struct gt_error *error)
{
	struct gt_sorter *sorter = calloc(1, sizeof *sorter);

	if (!sorter) {
		gt_fail_memory(error, "sorting");
		return NULL;
	}
	sorter->memory = memory;
	gt_kept_open(&sorter->kept, memory / 16 < CHUNK_BYTES_MAX ? (size_t)memory / 16 / 64 * 64 : CHUNK_BYTES_MAX, by_an);
	sorter->runs = sorter->merged = (struct gt_runs){.file = -1, .directory = directory};
	return sorter;
}

void gt_sorter_close(struct gt_sorter *sorter)
{
	if (!sorter)
		return;
	gt_merge_close(sorter->merge);
	gt_runs_close(&sorter->runs);
	gt_runs_close(&sorter->merged);
	gt_ordered_end(&sorter->ordered);
	gt_kept_close(&sorter->kept);
	free(sorter);
}

void gt_sorter_yield(struct gt_sorter *sorter, uint64_t bytes)
{
	uint64_t most = sorter->memory - sorter->memory / 8;

	sorter->yielded = bytes < most ? bytes : most;
}

/* Writes the rows in memory as a run; their memory is reused. */
static int spill(struct gt_sorter *sorter, struct gt_error *error)
{
	struct gt_ordered ordered;
	const struct gt_packed *row;
	const uint64_t *lanes;
	int result = gt_ordered_begin(&ordered, &sorter->kept, error);

	if (result == 0)
		result = gt_run_begin(&sorter->runs, sorter->kept.chunk_bytes, error);
	while (result == 0 && gt_ordered_next(&ordered, &row, &lanes))
		result = gt_run_add(&sorter->runs, row, lanes, error);
	if (result == 0)
		result = gt_run_end(&sorter->runs, error);
	gt_ordered_end(&ordered);
	gt_kept_clear(&sorter->kept);
	return result;
}

/* True if one more chunk, a write buffer and what puts the rows in order, little if they are sorted, would exceed the memory. */
static bool is_full(const struct gt_sorter *sorter, bool sorted)
{
	uint64_t rows_of_chunk = sorter->kept.chunk_bytes / sizeof(struct gt_record);
	uint64_t used = gt_kept_bytes(&sorter->kept) + sorter->kept.chunk_bytes +
			gt_ordered_bytes(&sorter->kept, sorted ? 0 : sorter->kept.n + rows_of_chunk);

	return used > sorter->memory - sorter->yielded;
}

/* Goes on with another chunk, or with the first after what is in memory has been written. */
static int make_room(struct gt_sorter *sorter, struct gt_error *error)
{
	if (sorter->kept.n > 0 && is_full(sorter, sorter->kept.sorted))
		return spill(sorter, error);
	return gt_kept_grow(&sorter->kept, error);
}

int gt_sorter_add(struct gt_sorter *sorter, const struct gt_packed *row, const uint64_t *lanes,
		  struct gt_error *error)
{
	struct gt_kept *kept = &sorter->kept;
	struct gt_sort_key key = gt_sort_key_of(row, kept->by_an);

	if (!gt_kept_has_room(kept) && make_room(sorter, error) != 0)
		return -1;
	/* There may be room for rows that are sorted only. They are written while they are. */
	if (kept->sorted && gt_sort_key_less(key, kept->last_key) && is_full(sorter, false) && spill(sorter, error) != 0)
		return -1;
	return gt_kept_add(kept, row, key, lanes, error);
}

/* Merges runs [first, first + n) into one of `merged`. */
static int merge_group(struct gt_sorter *sorter, size_t first, size_t n, uint64_t memory,
		       struct gt_error *error)
{
	const struct gt_packed *row;
	const uint64_t *lanes;
	struct gt_merge *merge = gt_merge_open(&sorter->runs, first, n, memory, sorter->kept.by_an, error);
	int got = merge ? gt_run_begin(&sorter->merged, sorter->kept.chunk_bytes, error) : -1;

	while (got >= 0 && (got = gt_merge_next(merge, &row, &lanes, error)) > 0)
		got = gt_run_add(&sorter->merged, row, lanes, error);
	gt_merge_close(merge);
	return got < 0 ? -1 : gt_run_end(&sorter->merged, error);
}

/* Merges groups of consecutive runs until few enough are left for one merge. */
static int reduce_runs(struct gt_sorter *sorter, struct gt_error *error)
{
	uint64_t memory = sorter->memory - sorter->kept.chunk_bytes;
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

const struct gt_kept *gt_sorter_kept(const struct gt_sorter *sorter)
{
	return sorter->runs.n == 0 ? &sorter->kept : NULL;
}

int gt_sorter_finish(struct gt_sorter *sorter, struct gt_error *error)
{
	if (sorter->runs.n == 0)
		return gt_ordered_begin(&sorter->ordered, &sorter->kept, error);
	if (sorter->kept.n > 0 && spill(sorter, error) != 0)
		return -1;
	gt_kept_close(&sorter->kept);
	if (reduce_runs(sorter, error) != 0)
		return -1;
	sorter->merge = gt_merge_open(&sorter->runs, 0, sorter->runs.n, sorter->memory, sorter->kept.by_an, error);
	return sorter->merge ? 0 : -1;
}

int gt_sorter_next(struct gt_sorter *sorter, const struct gt_packed **row, const uint64_t **lanes, struct gt_error *error)
{
	return sorter->merge ? gt_merge_next(sorter->merge, row, lanes, error) : gt_ordered_next(&sorter->ordered, row, lanes);
}
