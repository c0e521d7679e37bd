/* SPDX-License-Identifier: MIT */
/* Rows that are held back in memory and in a temporary file (base/spill.h). */
#define _DEFAULT_SOURCE /* madvise is not in POSIX */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grown.h"
#include "base/pages.h"

/* ---- a store ---- */

#define SEGMENT_BYTES ((size_t)1 << 22)	     /* of memory */
#define FILE_SEGMENT_BYTES ((size_t)1 << 24) /* of the file; larger, since the number of mappings is limited */
#define ALIGNMENT ((size_t)16)

static size_t aligned(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

void gt_store_open(struct gt_store *store, size_t limit, const char *directory)
{
	*store = (struct gt_store){.limit = limit, .directory = directory, .file = -1};
}

static void drop_data(struct gt_segment *segment)
{
	if (segment->in_file)
		munmap(segment->data, segment->bytes);
	else
		gt_pages_free(segment->data, segment->bytes);
}

void gt_store_close(struct gt_store *store)
{
	while (store->all) {
		struct gt_segment *segment = store->all;
		store->all = segment->next;
		drop_data(segment);
		free(segment);
	}
	if (store->file >= 0)
		close(store->file);
	store->file = -1;
}

/* Maps the next `bytes` of the file and reserves them on the disk, so that a full disk is an error here and
 * no SIGBUS later. */
static int map_segment(struct gt_store *store, struct gt_segment *segment, struct gt_error *error)
{
	if (store->file < 0 && (store->file = gt_temporary_file(store->directory, error)) < 0)
		return -1;
	int reason = posix_fallocate(store->file, (off_t)store->in_file, (off_t)segment->bytes);
	if (reason != 0)
		return gt_fail(error, "temporary file in %s: %s", store->directory, strerror(reason));
	segment->data = mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, store->file,
			     (off_t)store->in_file);
	if (segment->data == MAP_FAILED)
		return gt_fail_errno(error, "temporary file in %s", store->directory);
	store->in_file += segment->bytes;
	segment->in_file = 1;
	return 0;
}

static struct gt_segment *new_segment(struct gt_store *store, size_t bytes, struct gt_error *error)
{
	struct gt_segment *segment = calloc(1, sizeof *segment);
	size_t in_memory = bytes > SEGMENT_BYTES ? bytes : SEGMENT_BYTES;

	if (!segment) {
		gt_fail_memory(error, "rows");
		return NULL;
	}
	if (in_memory <= store->limit && store->in_memory <= store->limit - in_memory) {
		segment->bytes = in_memory;
		segment->data = gt_pages_chunk(in_memory);
		if (!segment->data)
			gt_fail_memory(error, "rows: a smaller -S uses less");
		else
			store->in_memory += in_memory;
	} else {
		segment->bytes = aligned(bytes, FILE_SEGMENT_BYTES);
		if (map_segment(store, segment, error) != 0)
			segment->data = NULL;
	}
	if (!segment->data) {
		free(segment);
		return NULL;
	}
	segment->next = store->all;
	store->all = segment;
	return segment;
}

/* A free segment with room for `bytes`, or NULL. */
static struct gt_segment *reuse_segment(struct gt_store *store, size_t bytes)
{
	for (struct gt_segment **at = &store->free; *at; at = &(*at)->next_free) {
		struct gt_segment *segment = *at;
		if (segment->bytes < bytes)
			continue;
		*at = segment->next_free;
		segment->used = 0;
		return segment;
	}
	return NULL;
}

void *gt_store_take(struct gt_store *store, size_t bytes, struct gt_segment **segment,
		    struct gt_error *error)
{
	struct gt_segment *current = store->current;

	bytes = aligned(bytes, ALIGNMENT);
	if (!current || current->bytes - current->used < bytes) {
		struct gt_segment *fresh = reuse_segment(store, bytes);
		if (!fresh)
			fresh = new_segment(store, bytes, error);
		if (!fresh)
			return NULL;
		fresh->holders++; /* the store's own, while it is the current segment */
		store->current = fresh;
		if (current)
			gt_store_release(store, current);
		current = fresh;
	}
	void *piece = current->data + current->used;
	current->used += bytes;
	current->holders++;
	*segment = current;
	return piece;
}

void gt_store_put_aside(const struct gt_segment *segment, void *piece, size_t bytes)
{
#ifdef MADV_DONTNEED
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)piece;
	const uintptr_t first = (at + page - 1) / page * page, end = (at + bytes) / page * page;

	/* The file keeps what is there. Failure is harmless. */
	if (segment->in_file && first < end)
		madvise((void *)first, end - first, MADV_DONTNEED);
#else
	(void)segment, (void)piece, (void)bytes;
#endif
}

void gt_store_release(struct gt_store *store, struct gt_segment *segment)
{
	if (--segment->holders > 0)
		return;
	gt_store_put_aside(segment, segment->data, segment->bytes);
	segment->next_free = store->free;
	store->free = segment;
}

/* ---- spill queues ---- */

/* Capacities of pieces. Short queues are many, and those that are read at the same time each have one piece in memory. */
#define FIRST_BYTES ((size_t)128)
#define TIMES 4
#define MOST_BYTES GT_SPILL_MOST
#define LEAST_IN_FILE ((size_t)2048) /* of a piece whose queue goes on */
#define LEAST_PLACE ((size_t)64)

_Static_assert(LEAST_PLACE << (GT_SPILL_CLASSES - 1) == MOST_BYTES, "the largest piece is in the last class");

void gt_spill_open(struct gt_spill *spill, size_t limit, const char *directory)
{
	*spill = (struct gt_spill){.limit = limit, .directory = directory, .file = -1};
}

void gt_spill_close(struct gt_spill *spill)
{
	for (size_t i = 0; i < GT_SPILL_CLASSES; i++) {
		while (spill->free[i]) {
			struct gt_spill_piece *piece = spill->free[i];
			spill->free[i] = piece->next;
			free(piece);
		}
	}
	if (spill->file >= 0)
		close(spill->file);
	spill->file = -1;
}

/* ---- the file ---- */

/* The class of places for n bytes. */
static size_t class_of(size_t n)
{
	size_t class = 0;

	while (LEAST_PLACE << class < n)
		class ++;
	return class;
}

static int write_at(int file, const unsigned char *data, size_t n, uint64_t at)
{
	while (n > 0) {
		ssize_t wrote = pwrite(file, data, n, (off_t)at);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return -1;
		data += wrote;
		n -= (size_t)wrote;
		at += (uint64_t)wrote;
	}
	return 0;
}

static int read_at(int file, unsigned char *data, size_t n, uint64_t at)
{
	while (n > 0) {
		ssize_t got = pread(file, data, n, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = EIO; /* the file is ours and was longer */
		if (got <= 0)
			return -1;
		data += got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

static int fail_file(const struct gt_spill *spill, struct gt_error *error)
{
	return gt_fail_errno(error, "temporary file in %s", spill->directory);
}

static uint64_t find_place(struct gt_spill *spill, size_t n)
{
	struct gt_spill_piece **used = &spill->free[class_of(n)], *piece = *used;
	uint64_t place = spill->in_file;

	if (piece) {
		place = piece->place;
		*used = piece->next;
		free(piece);
	} else {
		spill->in_file += LEAST_PLACE << class_of(n);
	}
	return place;
}

/* Writes a piece to the file; its memory is the caller's. */
static int put_away(struct gt_spill *spill, struct gt_spill_piece *piece, struct gt_error *error)
{
	if (spill->file < 0 && (spill->file = gt_temporary_file(spill->directory, error)) < 0)
		return -1;
	piece->place = find_place(spill, piece->n);
	if (write_at(spill->file, piece->data, piece->n, piece->place) != 0)
		return fail_file(spill, error);
	piece->data = NULL;
	piece->in_file = true;
	return 0;
}

/* ---- writing ---- */

static bool is_full(const struct gt_spill *spill, size_t more)
{
	return more > spill->limit || spill->in_memory > spill->limit - more;
}

int gt_spill_queue_grow(struct gt_spill *spill, struct gt_spill_queue *queue, size_t n, struct gt_error *error)
{
	struct gt_spill_piece *last = queue->last;
	size_t capacity = last ? TIMES * last->capacity : FIRST_BYTES;
	unsigned char *data = NULL;

	capacity = capacity < MOST_BYTES ? capacity : MOST_BYTES;
	capacity = capacity > n ? capacity : n;
	struct gt_spill_piece *piece = calloc(1, sizeof *piece);
	if (!piece)
		return gt_fail_memory(error, "rows");
	if (last && last->capacity >= LEAST_IN_FILE && last->capacity >= n && is_full(spill, capacity)) {
		capacity = last->capacity;
		data = last->data;
		if (put_away(spill, last, error) != 0) {
			free(piece);
			return -1;
		}
	} else {
		data = malloc(capacity);
		spill->in_memory += data ? capacity : 0;
	}
	if (!data) {
		free(piece);
		return gt_fail_memory(error, "rows: a smaller -S uses less");
	}
	*piece = (struct gt_spill_piece){.data = data, .capacity = capacity};
	*(last ? &last->next : &queue->first) = piece;
	queue->last = piece;
	return 0;
}

/* Frees the memory of a piece. */
static void forget(struct gt_spill *spill, unsigned char *data, size_t capacity)
{
	free(data);
	spill->in_memory -= capacity;
}

int gt_spill_queue_end(struct gt_spill *spill, struct gt_spill_queue *queue, struct gt_error *error)
{
	struct gt_spill_piece *last = queue->last;

	for (struct gt_spill_piece *piece = queue->first; piece && is_full(spill, 0); piece = piece->next) {
		unsigned char *data = piece->data;
		if (!data)
			continue;
		if (put_away(spill, piece, error) != 0)
			return -1;
		forget(spill, data, piece->capacity);
	}
	if (!last || !last->data)
		return 0;
	unsigned char *data = gt_resized(last->data, last->n, 1);
	if (data) {
		last->data = data;
		spill->in_memory -= last->capacity - last->n;
		last->capacity = last->n;
	}
	return 0;
}

/* ---- reading ---- */

/* Removes the first piece. Its place in the file is free. */
static void drop_first(struct gt_spill *spill, struct gt_spill_queue *queue)
{
	struct gt_spill_piece *piece = queue->first, **free_places = &spill->free[class_of(piece->n)];

	queue->first = piece->next;
	if (!queue->first)
		queue->last = NULL;
	if (piece->data)
		forget(spill, piece->data, piece->capacity);
	if (piece->in_file) {
		piece->next = *free_places;
		*free_places = piece;
	} else {
		free(piece);
	}
}

/* Brings a piece back from the file. */
static int bring(struct gt_spill *spill, struct gt_spill_piece *piece, struct gt_error *error)
{
	unsigned char *data = malloc(piece->n);

	if (!data)
		return gt_fail_memory(error, "rows");
	if (read_at(spill->file, data, piece->n, piece->place) != 0) {
		free(data);
		return fail_file(spill, error);
	}
	piece->data = data;
	piece->capacity = piece->n;
	spill->in_memory += piece->n;
	return 0;
}

int gt_spill_queue_read(struct gt_spill *spill, struct gt_spill_queue *queue, const unsigned char **bytes, size_t *n,
		   struct gt_error *error)
{
	if (queue->reading)
		drop_first(spill, queue);
	queue->reading = queue->first != NULL;
	if (!queue->first)
		return 0;
	if (!queue->first->data && bring(spill, queue->first, error) != 0)
		return -1;
	*bytes = queue->first->data;
	*n = queue->first->n;
	return 1;
}

void gt_spill_queue_drop(struct gt_spill *spill, struct gt_spill_queue *queue)
{
	while (queue->first)
		drop_first(spill, queue);
	queue->reading = false;
}
