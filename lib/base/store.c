/* SPDX-License-Identifier: MIT */
#include "base/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/temporary.h"

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
		free(segment->data);
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
		segment->data = malloc(in_memory);
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

void gt_store_trim(struct gt_segment *segment, const void *piece, size_t bytes, size_t kept)
{
	size_t offset = (size_t)((const unsigned char *)piece - segment->data);

	if (offset + aligned(bytes, ALIGNMENT) == segment->used)
		segment->used = offset + aligned(kept, ALIGNMENT);
}

void gt_store_release(struct gt_store *store, struct gt_segment *segment)
{
	if (--segment->holders > 0)
		return;
	segment->next_free = store->free;
	store->free = segment;
}
