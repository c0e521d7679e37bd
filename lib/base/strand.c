/* SPDX-License-Identifier: MIT */
#include "base/strand.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/grown.h"
#include "base/temporary.h"

/* Capacities of pieces. Short strands are many, and those that are read at the same time each have one piece in memory. */
#define FIRST_BYTES ((size_t)128)
#define TIMES 4
#define MOST_BYTES GT_STRAND_MOST
#define LEAST_IN_FILE ((size_t)2048) /* of a piece whose strand goes on */
#define LEAST_PLACE ((size_t)64)

_Static_assert(LEAST_PLACE << (GT_STRAND_CLASSES - 1) == MOST_BYTES, "the largest piece is in the last class");

void gt_strands_open(struct gt_strands *strands, size_t limit, const char *directory)
{
	*strands = (struct gt_strands){.limit = limit, .directory = directory, .file = -1};
}

void gt_strands_close(struct gt_strands *strands)
{
	for (size_t i = 0; i < GT_STRAND_CLASSES; i++) {
		while (strands->free[i]) {
			struct gt_strand_piece *piece = strands->free[i];
			strands->free[i] = piece->next;
			free(piece);
		}
	}
	if (strands->file >= 0)
		close(strands->file);
	strands->file = -1;
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

static int fail_file(const struct gt_strands *strands, struct gt_error *error)
{
	return gt_fail_errno(error, "temporary file in %s", strands->directory);
}

static uint64_t find_place(struct gt_strands *strands, size_t n)
{
	struct gt_strand_piece **used = &strands->free[class_of(n)], *piece = *used;
	uint64_t place = strands->in_file;

	if (piece) {
		place = piece->place;
		*used = piece->next;
		free(piece);
	} else {
		strands->in_file += LEAST_PLACE << class_of(n);
	}
	return place;
}

/* Writes a piece to the file; its memory is the caller's. */
static int put_away(struct gt_strands *strands, struct gt_strand_piece *piece, struct gt_error *error)
{
	if (strands->file < 0 && (strands->file = gt_temporary_file(strands->directory, error)) < 0)
		return -1;
	piece->place = find_place(strands, piece->n);
	if (write_at(strands->file, piece->data, piece->n, piece->place) != 0)
		return fail_file(strands, error);
	piece->data = NULL;
	piece->in_file = true;
	return 0;
}

/* ---- writing ---- */

static bool is_full(const struct gt_strands *strands, size_t more)
{
	return more > strands->limit || strands->in_memory > strands->limit - more;
}

int gt_strand_grow(struct gt_strands *strands, struct gt_strand *strand, size_t n, struct gt_error *error)
{
	struct gt_strand_piece *last = strand->last;
	size_t capacity = last ? TIMES * last->capacity : FIRST_BYTES;
	unsigned char *data = NULL;

	capacity = capacity < MOST_BYTES ? capacity : MOST_BYTES;
	capacity = capacity > n ? capacity : n;
	struct gt_strand_piece *piece = calloc(1, sizeof *piece);
	if (!piece)
		return gt_fail_memory(error, "rows");
	if (last && last->capacity >= LEAST_IN_FILE && last->capacity >= n && is_full(strands, capacity)) {
		capacity = last->capacity;
		data = last->data;
		if (put_away(strands, last, error) != 0) {
			free(piece);
			return -1;
		}
	} else {
		data = malloc(capacity);
		strands->in_memory += data ? capacity : 0;
	}
	if (!data) {
		free(piece);
		return gt_fail_memory(error, "rows: a smaller -S uses less");
	}
	*piece = (struct gt_strand_piece){.data = data, .capacity = capacity};
	*(last ? &last->next : &strand->first) = piece;
	strand->last = piece;
	return 0;
}

/* Frees the memory of a piece. */
static void forget(struct gt_strands *strands, unsigned char *data, size_t capacity)
{
	free(data);
	strands->in_memory -= capacity;
}

int gt_strand_end(struct gt_strands *strands, struct gt_strand *strand, struct gt_error *error)
{
	struct gt_strand_piece *last = strand->last;

	for (struct gt_strand_piece *piece = strand->first; piece && is_full(strands, 0); piece = piece->next) {
		unsigned char *data = piece->data;
		if (!data)
			continue;
		if (put_away(strands, piece, error) != 0)
			return -1;
		forget(strands, data, piece->capacity);
	}
	if (!last || !last->data)
		return 0;
	unsigned char *data = gt_resized(last->data, last->n, 1);
	if (data) {
		last->data = data;
		strands->in_memory -= last->capacity - last->n;
		last->capacity = last->n;
	}
	return 0;
}

/* ---- reading ---- */

/* Removes the first piece. Its place in the file is free. */
static void drop_first(struct gt_strands *strands, struct gt_strand *strand)
{
	struct gt_strand_piece *piece = strand->first, **free_places = &strands->free[class_of(piece->n)];

	strand->first = piece->next;
	if (!strand->first)
		strand->last = NULL;
	if (piece->data)
		forget(strands, piece->data, piece->capacity);
	if (piece->in_file) {
		piece->next = *free_places;
		*free_places = piece;
	} else {
		free(piece);
	}
}

/* Brings a piece back from the file. */
static int bring(struct gt_strands *strands, struct gt_strand_piece *piece, struct gt_error *error)
{
	unsigned char *data = malloc(piece->n);

	if (!data)
		return gt_fail_memory(error, "rows");
	if (read_at(strands->file, data, piece->n, piece->place) != 0) {
		free(data);
		return fail_file(strands, error);
	}
	piece->data = data;
	piece->capacity = piece->n;
	strands->in_memory += piece->n;
	return 0;
}

int gt_strand_read(struct gt_strands *strands, struct gt_strand *strand, const unsigned char **bytes, size_t *n,
		   struct gt_error *error)
{
	if (strand->reading)
		drop_first(strands, strand);
	strand->reading = strand->first != NULL;
	if (!strand->first)
		return 0;
	if (!strand->first->data && bring(strands, strand->first, error) != 0)
		return -1;
	*bytes = strand->first->data;
	*n = strand->first->n;
	return 1;
}

void gt_strand_drop(struct gt_strands *strands, struct gt_strand *strand)
{
	while (strand->first)
		drop_first(strands, strand);
	strand->reading = false;
}
