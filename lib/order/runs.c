/* SPDX-License-Identifier: MIT */
#include "order/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grown.h"
#include "base/temporary.h"

#define READ_BYTES_MIN ((size_t)4 << 10)
#define READ_BYTES_MAX ((size_t)1 << 20)

int gt_run_begin(struct gt_runs *runs, size_t buffer_bytes, struct gt_error *error)
{
	if (runs->file < 0 && (runs->file = gt_temporary_file(runs->directory, error)) < 0)
		return -1;
	if (!runs->buffer) {
		runs->buffer_capacity = GT_RECORD_BYTES_MAX;
		if (buffer_bytes > GT_RECORD_BYTES_MAX)
			runs->buffer_capacity = buffer_bytes;
		runs->buffer = malloc(runs->buffer_capacity);
	}
	struct gt_sorted_run *more = gt_grown(runs->runs, runs->n, &runs->capacity, sizeof *more);

	if (!more)
		return gt_fail_memory(error, "the list of runs");
	runs->runs = more;
	if (!runs->buffer)
		return gt_fail_memory(error, "a write buffer");
	runs->runs[runs->n++] = (struct gt_sorted_run){.offset = runs->bytes};
	runs->placed = false;
	return 0;
}

static int write_out(struct gt_runs *runs, struct gt_error *error)
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

int gt_run_add(struct gt_runs *runs, const struct gt_packed *row, const uint64_t *lanes, struct gt_error *error)
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

int gt_run_end(struct gt_runs *runs, struct gt_error *error)
{
	struct gt_sorted_run *run = &runs->runs[runs->n - 1];

	if (write_out(runs, error) != 0)
		return -1;
	run->bytes = runs->bytes - run->offset;
	return 0;
}

void gt_runs_close(struct gt_runs *runs)
{
	if (runs->file >= 0)
		close(runs->file);
	free(runs->runs);
	free(runs->buffer);
	*runs = (struct gt_runs){.file = -1, .directory = runs->directory};
}

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

struct gt_merge {
	const struct gt_runs *runs;
	struct source *sources;
	size_t n;
	size_t *heap; /* indices of sources, the least key first */
	size_t in_heap;
	bool by_an, started;
	char *buffers;
	size_t buffer_bytes;
};

size_t gt_merge_width(uint64_t memory)
{
	uint64_t width = memory / (READ_BYTES_MIN + sizeof(struct source) + sizeof(size_t));

	return width < 2 ? 2 : width > 65536 ? 65536 : (size_t)width;
}

/* Moves the rest of a buffer to its front and reads after it. */
static int refill(struct gt_merge *merge, struct source *source, struct gt_error *error)
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
static int advance(struct gt_merge *merge, struct source *source, struct gt_error *error)
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
static bool before(const struct gt_merge *merge, size_t a, size_t b)
{
	struct gt_sort_key key_a = merge->sources[a].key, key_b = merge->sources[b].key;

	return gt_sort_key_less(key_a, key_b) || (!gt_sort_key_less(key_b, key_a) && a < b);
}

static void sift_down(struct gt_merge *merge, size_t at)
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

struct gt_merge *gt_merge_open(const struct gt_runs *runs, size_t first, size_t n, uint64_t memory,
			       bool by_an, struct gt_error *error)
{
	struct gt_merge *merge = calloc(1, sizeof *merge);
	uint64_t each = memory / n;

	if (merge) {
		each = each > READ_BYTES_MAX ? READ_BYTES_MAX : each < READ_BYTES_MIN ? READ_BYTES_MIN : each;
		*merge = (struct gt_merge){.runs = runs, .n = n, .by_an = by_an,
					   .buffer_bytes = (size_t)each / 8 * 8};
		merge->sources = calloc(n, sizeof *merge->sources);
		merge->heap = calloc(n, sizeof *merge->heap);
		merge->buffers = malloc(n * merge->buffer_bytes);
	}
	if (!merge || !merge->sources || !merge->heap || !merge->buffers) {
		gt_merge_close(merge);
		gt_fail_memory(error, "merging");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		struct source *source = &merge->sources[i];
		const struct gt_sorted_run *run = &runs->runs[first + i];
		*source = (struct source){.offset = run->offset, .left = run->bytes,
					  .buffer = merge->buffers + i * merge->buffer_bytes};
		int got = advance(merge, source, error);
		if (got < 0) {
			gt_merge_close(merge);
			return NULL;
		}
		if (got > 0)
			merge->heap[merge->in_heap++] = i;
	}
	for (size_t i = merge->in_heap / 2; i-- > 0;)
		sift_down(merge, i);
	return merge;
}

int gt_merge_next(struct gt_merge *merge, const struct gt_packed **row, const uint64_t **lanes, struct gt_error *error)
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

void gt_merge_close(struct gt_merge *merge)
{
	if (!merge)
		return;
	free(merge->sources);
	free(merge->heap);
	free(merge->buffers);
	free(merge);
}
