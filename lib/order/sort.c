/* SPDX-License-Identifier: MIT */
/* The sorter: rows are kept in memory as they come, and, when they outgrow it, written in order as runs to an unlinked temporary file,
 * which are merged at the end. */
#include "order/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grown.h"
#include "base/pages.h"
#include "order/ordered.h"

/* ---- rows in memory ---- */

#define SHORT_SPAN 4 /* rows, on average: as much work with spans as it saves */
#define SPANS_LEAST 1024 /* before the average counts */

/* Forgets the rows; their memory is used for others. */
static void clear_kept(struct gt_kept *kept)
{
	kept->chunk = kept->used = kept->spans_n = kept->n = 0;
	kept->sorted = true;
	kept->spans_of = GT_SPANS_OF_WARPS;
	kept->tried_spans = kept->tried_n = 0;
	kept->last_key = (struct gt_sort_key){0, 0};
	kept->highs = kept->lows = 0;
}

/* Memory for rows is taken by chunks of so many bytes, at least GT_RECORD_BYTES_MAX. */
static void open_kept(struct gt_kept *kept, size_t chunk_bytes, bool by_an)
{
	*kept = (struct gt_kept){.chunk_bytes = chunk_bytes, .by_an = by_an};
	clear_kept(kept);
}

static void close_kept(struct gt_kept *kept)
{
	for (size_t i = 0; i < kept->chunks_n; i++)
		gt_pages_free(kept->chunks[i], kept->chunk_bytes);
	free(kept->chunks);
	free(kept->spans);
	*kept = (struct gt_kept){.by_an = kept->by_an, .chunk_bytes = kept->chunk_bytes};
}

/* Goes on with the next chunk. */
static int add_chunk(struct gt_kept *kept, struct gt_error *error)
{
	size_t next = kept->chunks_n > 0 ? kept->chunk + 1 : 0;

	if (next == kept->chunks_n) {
		char **chunks = gt_grown(kept->chunks, kept->chunks_n, &kept->chunks_capacity, sizeof *chunks);
		if (!chunks)
			return gt_fail_memory(error, "sorting");
		kept->chunks = chunks;
		char *chunk = gt_pages_chunk(kept->chunk_bytes);
		if (!chunk)
			return gt_fail_memory(error, "sorting (a smaller -S needs less)");
		kept->chunks[kept->chunks_n++] = chunk;
	}
	kept->chunk = next;
	kept->used = 0;
	return 0;
}

/* Bytes that the rows and a further chunk of them take. */
static uint64_t kept_bytes(const struct gt_kept *kept)
{
	return (kept->chunk + 2) * (uint64_t)kept->chunk_bytes + kept->spans_capacity * sizeof *kept->spans;
}

/* Begins a span with the row that comes next, of this high word. */
static int begin_span(struct gt_kept *kept, uint64_t high, struct gt_error *error)
{
	struct gt_span *spans = gt_grown(kept->spans, kept->spans_n, &kept->spans_capacity, sizeof *spans);

	if (!spans)
		return gt_fail_memory(error, "sorting");
	kept->spans = spans;
	kept->spans[kept->spans_n++] = (struct gt_span){high, kept->chunks[kept->chunk] + kept->used, 0};
	if (++kept->tried_spans >= SPANS_LEAST && kept->tried_spans > kept->tried_n / SHORT_SPAN &&
	    kept->spans_of != GT_SPANS_OF_CHUNKS) {
		kept->spans_of++;
		kept->tried_spans = kept->tried_n = 0;
	}
	return 0;
}

/* Whether there is room for any row in the chunk. */
static inline bool has_room(const struct gt_kept *kept)
{
	return kept->chunks_n > 0 && kept->used + GT_RECORD_BYTES_MAX <= kept->chunk_bytes;
}

/* Whether a row with this key belongs to the last span. */
static inline bool span_goes_on(const struct gt_kept *kept, struct gt_sort_key key)
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
static inline int add_kept(struct gt_kept *kept, const struct gt_packed *row, struct gt_sort_key key, const uint64_t *lanes,
			   struct gt_error *error)
{
	bool placed = kept->by_an || kept->n == 0 || key.high != kept->last_key.high;

	if (!span_goes_on(kept, key) && begin_span(kept, key.high, error) != 0)
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

/* ---- sorted runs, one behind the other in a file ---- */

#define READ_BYTES_MIN ((size_t)4 << 10)
#define READ_BYTES_MAX ((size_t)1 << 20)

struct sorted_run {
	uint64_t offset, bytes; /* in the file */
};

struct runs {
	int file; /* -1: none yet */
	const char *directory;
	struct sorted_run *runs;
	size_t n, capacity;
	uint64_t bytes; /* of the file */
	char *buffer;	/* what is to be written */
	size_t buffered, buffer_capacity;
	uint32_t kernel, block; /* of the last row, if it is one of the run: */
	bool placed;
};

/* Begins a run, making the file if there is none. */
static int begin_run(struct runs *runs, size_t buffer_bytes, struct gt_error *error)
{
	if (runs->file < 0 && (runs->file = gt_temporary_file(runs->directory, error)) < 0)
		return -1;
	if (!runs->buffer) {
		runs->buffer_capacity = GT_RECORD_BYTES_MAX;
		if (buffer_bytes > GT_RECORD_BYTES_MAX)
			runs->buffer_capacity = buffer_bytes;
		runs->buffer = malloc(runs->buffer_capacity);
	}
	struct sorted_run *more = gt_grown(runs->runs, runs->n, &runs->capacity, sizeof *more);

	if (!more)
		return gt_fail_memory(error, "the list of runs");
	runs->runs = more;
	if (!runs->buffer)
		return gt_fail_memory(error, "a write buffer");
	runs->runs[runs->n++] = (struct sorted_run){.offset = runs->bytes};
	runs->placed = false;
	return 0;
}

static int write_out(struct runs *runs, struct gt_error *error)
{
	for (size_t done = 0; done < runs->buffered;) {
		ssize_t put = write(runs->file, runs->buffer + done, runs->buffered - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return gt_fail_errno(error, "%s: cannot write a temporary file", runs->directory);
		done += (size_t)put;
	}
	runs->bytes += runs->buffered;
	runs->buffered = 0;
	return 0;
}

static int add_to_run(struct runs *runs, const struct gt_packed *row, const uint64_t *lanes, struct gt_error *error)
{
	bool placed = !runs->placed || row->kernel != runs->kernel || row->block != runs->block;

	if (runs->buffered + GT_RECORD_BYTES_MAX > runs->buffer_capacity && write_out(runs, error) != 0)
		return -1;
	runs->buffered += gt_record_put(runs->buffer + runs->buffered, row, lanes, placed);
	runs->placed = true;
	runs->kernel = row->kernel;
	runs->block = row->block;
	return 0;
}

static int end_run(struct runs *runs, struct gt_error *error)
{
	struct sorted_run *run = &runs->runs[runs->n - 1];

	if (write_out(runs, error) != 0)
		return -1;
	run->bytes = runs->bytes - run->offset;
	return 0;
}

static void close_runs(struct runs *runs)
{
	if (runs->file >= 0)
		close(runs->file);
	free(runs->runs);
	free(runs->buffer);
	*runs = (struct runs){.file = -1, .directory = runs->directory};
}

/* ---- merging runs ---- */

/* One run being read: `row` is its next row, of which the record is in `buffer`. */
struct source {
	uint64_t offset, left; /* in the file */
	char *buffer;
	size_t start, end;
	const struct gt_record *record; /* NULL: none has been read */
	struct gt_packed row;
	const uint64_t *lanes;
	struct gt_sort_key key;
};

/* A merge of some consecutive runs. */
struct merge {
	const struct runs *runs;
	struct source *sources;
	size_t n;
	size_t *heap; /* indices of sources, the least key first */
	size_t in_heap;
	bool by_an, started;
	char *buffers;
	size_t buffer_bytes;
};

/* How many runs can be merged at once through `memory` bytes. */
static size_t merge_width(uint64_t memory)
{
	uint64_t width = memory / (READ_BYTES_MIN + sizeof(struct source) + sizeof(size_t));

	return width < 2 ? 2 : width > 65536 ? 65536 : (size_t)width;
}

/* Moves the rest of a buffer to its front and reads after it. */
static int refill(struct merge *merge, struct source *source, struct gt_error *error)
{
	size_t kept = source->end - source->start;

	memmove(source->buffer, source->buffer + source->start, kept);
	source->start = 0;
	source->end = kept;
	while (source->left > 0 && source->end < merge->buffer_bytes) {
		size_t wanted = merge->buffer_bytes - source->end;
		if (wanted > source->left)
			wanted = (size_t)source->left;
		ssize_t got = pread(merge->runs->file, source->buffer + source->end, wanted,
				    (off_t)source->offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return gt_fail_errno(error, "%s: cannot read a temporary file",
					     merge->runs->directory);
		if (got == 0)
			return gt_fail(error, "%s: a temporary file ends early", merge->runs->directory);
		source->end += (size_t)got;
		source->offset += (size_t)got;
		source->left -= (size_t)got;
	}
	return 0;
}

/* Moves to the next row of a run. Returns 1, 0 at its end, or -1. */
static int advance(struct merge *merge, struct source *source, struct gt_error *error)
{
	if (source->record)
		source->start += gt_record_bytes(source->record);
	if (source->end - source->start < GT_RECORD_BYTES_MAX && source->left > 0 &&
	    refill(merge, source, error) != 0)
		return -1;
	if (source->start == source->end)
		return 0;
	source->record = (const void *)(source->buffer + source->start);
	source->lanes = gt_record_get(source->record, &source->row);
	source->key = gt_sort_key_of(&source->row, merge->by_an);
	return 1;
}

/* If keys are equal, the rows of the earlier run come first. */
static bool before(const struct merge *merge, size_t a, size_t b)
{
	struct gt_sort_key key_a = merge->sources[a].key, key_b = merge->sources[b].key;

	return gt_sort_key_less(key_a, key_b) || (!gt_sort_key_less(key_b, key_a) && a < b);
}

static void sift_down(struct merge *merge, size_t at)
{
	size_t moved = merge->heap[at];

	for (size_t child; (child = 2 * at + 1) < merge->in_heap; at = child) {
		if (child + 1 < merge->in_heap && before(merge, merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!before(merge, merge->heap[child], moved))
			break;
		merge->heap[at] = merge->heap[child];
	}
	merge->heap[at] = moved;
}

static void close_merge(struct merge *merge)
{
	if (!merge)
		return;
	free(merge->sources);
	free(merge->heap);
	free(merge->buffers);
	free(merge);
}

/* Merges runs [first, first + n) through `memory` bytes of buffers. */
static struct merge *open_merge(const struct runs *runs, size_t first, size_t n, uint64_t memory,
				bool by_an, struct gt_error *error)
{
	struct merge *merge = calloc(1, sizeof *merge);
	uint64_t each = memory / n;

	if (merge) {
		each = each > READ_BYTES_MAX ? READ_BYTES_MAX : each < READ_BYTES_MIN ? READ_BYTES_MIN : each;
		*merge = (struct merge){.runs = runs, .n = n, .by_an = by_an,
					   .buffer_bytes = (size_t)each / 8 * 8};
		merge->sources = calloc(n, sizeof *merge->sources);
		merge->heap = calloc(n, sizeof *merge->heap);
		merge->buffers = malloc(n * merge->buffer_bytes);
	}
	if (!merge || !merge->sources || !merge->heap || !merge->buffers) {
		close_merge(merge);
		gt_fail_memory(error, "merging");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		struct source *source = &merge->sources[i];
		const struct sorted_run *run = &runs->runs[first + i];
		*source = (struct source){.offset = run->offset, .left = run->bytes,
					  .buffer = merge->buffers + i * merge->buffer_bytes};
		int got = advance(merge, source, error);
		if (got < 0) {
			close_merge(merge);
			return NULL;
		}
		if (got > 0)
			merge->heap[merge->in_heap++] = i;
	}
	for (size_t i = merge->in_heap / 2; i-- > 0;)
		sift_down(merge, i);
	return merge;
}

/* Returns 1 and the next row and its addresses, valid until the next call, 0 after the last, or -1. */
static int next_of_merge(struct merge *merge, const struct gt_packed **row, const uint64_t **lanes, struct gt_error *error)
{
	if (merge->started && merge->in_heap > 0) {
		int got = advance(merge, &merge->sources[merge->heap[0]], error);
		if (got < 0)
			return -1;
		if (got == 0)
			merge->heap[0] = merge->heap[--merge->in_heap];
		if (merge->in_heap > 0)
			sift_down(merge, 0);
	}
	merge->started = true;
	if (merge->in_heap == 0)
		return 0;
	*row = &merge->sources[merge->heap[0]].row;
	*lanes = merge->sources[merge->heap[0]].lanes;
	return 1;
}

/* ---- the sorter ---- */

#define CHUNK_BYTES_MAX ((size_t)4 << 20) /* enough for large pages */

struct gt_sorter {
	uint64_t memory, yielded;
	struct gt_kept kept;
	struct gt_ordered ordered;   /* once all rows are there, unless they were written as runs */
	struct runs runs, merged; /* `merged`: output of a merge of several runs */
	struct merge *merge;
};

struct gt_sorter *gt_sorter_open(uint64_t memory, const char *directory, bool by_an, struct gt_error *error)
{
	struct gt_sorter *sorter = calloc(1, sizeof *sorter);

	if (!sorter) {
		gt_fail_memory(error, "sorting");
		return NULL;
	}
	sorter->memory = memory;
	open_kept(&sorter->kept, memory / 16 < CHUNK_BYTES_MAX ? (size_t)memory / 16 / 64 * 64 : CHUNK_BYTES_MAX, by_an);
	sorter->runs = sorter->merged = (struct runs){.file = -1, .directory = directory};
	return sorter;
}

void gt_sorter_close(struct gt_sorter *sorter)
{
	if (!sorter)
		return;
	close_merge(sorter->merge);
	close_runs(&sorter->runs);
	close_runs(&sorter->merged);
	gt_ordered_end(&sorter->ordered);
	close_kept(&sorter->kept);
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
		result = begin_run(&sorter->runs, sorter->kept.chunk_bytes, error);
	while (result == 0 && gt_ordered_next(&ordered, &row, &lanes))
		result = add_to_run(&sorter->runs, row, lanes, error);
	if (result == 0)
		result = end_run(&sorter->runs, error);
	gt_ordered_end(&ordered);
	clear_kept(&sorter->kept);
	return result;
}

/* True if one more chunk, a write buffer and what puts the rows in order, little if they are sorted, would exceed the memory. */
static bool is_full(const struct gt_sorter *sorter, bool sorted)
{
	uint64_t rows_of_chunk = sorter->kept.chunk_bytes / sizeof(struct gt_record);
	uint64_t used = kept_bytes(&sorter->kept) + sorter->kept.chunk_bytes +
			gt_ordered_bytes(&sorter->kept, sorted ? 0 : sorter->kept.n + rows_of_chunk);

	return used > sorter->memory - sorter->yielded;
}

/* Goes on with another chunk, or with the first after what is in memory has been written. */
static int make_room(struct gt_sorter *sorter, struct gt_error *error)
{
	if (sorter->kept.n > 0 && is_full(sorter, sorter->kept.sorted))
		return spill(sorter, error);
	return add_chunk(&sorter->kept, error);
}

int gt_sorter_add(struct gt_sorter *sorter, const struct gt_packed *row, const uint64_t *lanes,
		  struct gt_error *error)
{
	struct gt_kept *kept = &sorter->kept;
	struct gt_sort_key key = gt_sort_key_of(row, kept->by_an);

	if (!has_room(kept) && make_room(sorter, error) != 0)
		return -1;
	/* There may be room for rows that are sorted only. They are written while they are. */
	if (kept->sorted && gt_sort_key_less(key, kept->last_key) && is_full(sorter, false) && spill(sorter, error) != 0)
		return -1;
	return add_kept(kept, row, key, lanes, error);
}

/* Merges runs [first, first + n) into one of `merged`. */
static int merge_group(struct gt_sorter *sorter, size_t first, size_t n, uint64_t memory,
		       struct gt_error *error)
{
	const struct gt_packed *row;
	const uint64_t *lanes;
	struct merge *merge = open_merge(&sorter->runs, first, n, memory, sorter->kept.by_an, error);
	int got = merge ? begin_run(&sorter->merged, sorter->kept.chunk_bytes, error) : -1;

	while (got >= 0 && (got = next_of_merge(merge, &row, &lanes, error)) > 0)
		got = add_to_run(&sorter->merged, row, lanes, error);
	close_merge(merge);
	return got < 0 ? -1 : end_run(&sorter->merged, error);
}

/* Merges groups of consecutive runs until few enough are left for one merge. */
static int reduce_runs(struct gt_sorter *sorter, struct gt_error *error)
{
	uint64_t memory = sorter->memory - sorter->kept.chunk_bytes;
	size_t most = merge_width(memory);

	while (sorter->runs.n > most) {
		for (size_t first = 0; first < sorter->runs.n; first += most) {
			size_t n = sorter->runs.n - first < most ? sorter->runs.n - first : most;
			if (merge_group(sorter, first, n, memory, error) != 0)
				return -1;
		}
		close_runs(&sorter->runs);
		sorter->runs = sorter->merged;
		sorter->merged = (struct runs){.file = -1, .directory = sorter->runs.directory};
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
	close_kept(&sorter->kept);
	if (reduce_runs(sorter, error) != 0)
		return -1;
	sorter->merge = open_merge(&sorter->runs, 0, sorter->runs.n, sorter->memory, sorter->kept.by_an, error);
	return sorter->merge ? 0 : -1;
}

int gt_sorter_next(struct gt_sorter *sorter, const struct gt_packed **row, const uint64_t **lanes, struct gt_error *error)
{
	return sorter->merge ? next_of_merge(sorter->merge, row, lanes, error) : gt_ordered_next(&sorter->ordered, row, lanes);
}
