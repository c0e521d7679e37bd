/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/text/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CHUNK 65536 /* bytes allocated at a time; larger pieces have a chunk of their own */

struct chunk {
	struct chunk *next;
	max_align_t bytes[];
};

struct name {
	uint64_t hash;
	size_t length;
	char *text;
};

struct gt_ptx_arena {
	struct chunk *chunks;
	char *at; /* in the last chunk of ordinary size */
	size_t left;
	struct name *names; /* open addressing, at most half full */
	size_t mask, n_names;
};

struct gt_ptx_arena *gt_ptx_arena_open(struct gt_error *error)
{
	struct gt_ptx_arena *arena = calloc(1, sizeof *arena);

	if (arena) {
		arena->mask = 255;
		arena->names = calloc(arena->mask + 1, sizeof *arena->names);
	}
	if (!arena || !arena->names) {
		free(arena);
		gt_fail_memory(error, "a PTX module");
		return NULL;
	}
	return arena;
}

void gt_ptx_arena_close(struct gt_ptx_arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(arena->names);
	free(arena);
}

static struct chunk *new_chunk(struct gt_ptx_arena *arena, size_t bytes)
{
	struct chunk *chunk = bytes < SIZE_MAX / 2 ? calloc(1, sizeof *chunk + bytes) : NULL;

	if (chunk) {
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	return chunk;
}

void *gt_ptx_arena_take(struct gt_ptx_arena *arena, size_t n, size_t element, struct gt_error *error)
{
	const size_t align = sizeof(max_align_t);
	struct chunk *chunk;

	if (n > (SIZE_MAX / 4) / element) {
		gt_fail_memory(error, "a PTX module");
		return NULL;
	}
	size_t bytes = (n * element + align - 1) / align * align;
	if (bytes > CHUNK / 4) {
		chunk = new_chunk(arena, bytes);
		if (!chunk)
			gt_fail_memory(error, "a PTX module");
		return chunk ? chunk->bytes : NULL;
	}
	if (bytes > arena->left || !arena->at) {
		chunk = new_chunk(arena, CHUNK);
		if (!chunk) {
			gt_fail_memory(error, "a PTX module");
			return NULL;
		}
		arena->at = (char *)chunk->bytes;
		arena->left = CHUNK;
	}
	void *piece = arena->at;
	arena->at += bytes;
	arena->left -= bytes;
	return piece;
}

void *gt_ptx_arena_copy(struct gt_ptx_arena *arena, const void *from, size_t n, size_t element,
			struct gt_error *error)
{
	void *copy = gt_ptx_arena_take(arena, n, element, error);

	if (copy && n > 0)
		memcpy(copy, from, n * element);
	return copy;
}

/* The slot of the name, or the empty one where it belongs. */
static struct name *find(struct name *names, size_t mask, uint64_t hash, const char *text, size_t length)
{
	size_t i = (size_t)hash & mask;

	while (names[i].text && (names[i].hash != hash || names[i].length != length ||
				 memcmp(names[i].text, text, length) != 0))
		i = (i + 1) & mask;
	return &names[i];
}

static bool grow_names(struct gt_ptx_arena *arena)
{
	size_t mask = arena->mask * 2 + 1;
	struct name *names = calloc(mask + 1, sizeof *names);

	if (!names)
		return false;
	for (size_t i = 0; i <= arena->mask; i++) {
		const struct name *old = &arena->names[i];
		if (old->text)
			*find(names, mask, old->hash, old->text, old->length) = *old;
	}
	free(arena->names);
	arena->names = names;
	arena->mask = mask;
	return true;
}

char *gt_ptx_arena_known(const struct gt_ptx_arena *arena, const char *text, size_t length)
{
	return find(arena->names, arena->mask, XXH3_64bits(text, length), text, length)->text;
}

char *gt_ptx_arena_name(struct gt_ptx_arena *arena, const char *text, size_t length, struct gt_error *error)
{
	uint64_t hash = XXH3_64bits(text, length);
	struct name *name = find(arena->names, arena->mask, hash, text, length);

	if (name->text)
		return name->text;
	if (arena->n_names * 2 >= arena->mask) {
		if (!grow_names(arena)) {
			gt_fail_memory(error, "the names of a PTX module");
			return NULL;
		}
		name = find(arena->names, arena->mask, hash, text, length);
	}
	char *copy = gt_ptx_arena_take(arena, length + 1, 1, error);
	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	*name = (struct name){hash, length, copy};
	arena->n_names++;
	return copy;
}
