/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise is not in POSIX */
#include "base/pages.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE (4U << 20) /* bytes; smaller arrays gain too little */
#define LARGE_PAGE (2U << 20) /* bytes, where other pages have 4096 */

void gt_pages_large(void *array, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	if (!array || bytes < LARGE)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* Rounded outward to whole pages: leaving out the first or last page would split the mapping, and a
	 * split mapping can only grow by copying. */
	uintptr_t begin = (uintptr_t)array / page * page, end = ((uintptr_t)array + bytes + page - 1) / page * page;
	madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* only a hint: failure is harmless */
#else
	(void)array;
	(void)bytes;
#endif
}

static size_t rounded(size_t bytes, size_t border)
{
	return (bytes + border - 1) / border * border;
}

/* Zeros on the border of a large page. What is mapped to find that border is given back, so that no address space is wasted.
 * NULL when memory is short. */
static void *map_large(size_t bytes)
{
	const size_t mapped = bytes + LARGE_PAGE;
	char *mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapping == MAP_FAILED)
		return NULL;
	const size_t before = rounded((uintptr_t)mapping, LARGE_PAGE) - (uintptr_t)mapping;
	if (before > 0)
		munmap(mapping, before);
	munmap(mapping + before + bytes, LARGE_PAGE - before);
	gt_pages_large(mapping + before, bytes);
	return mapping + before;
}

static size_t whole_pages(size_t bytes)
{
	return rounded(bytes, (size_t)sysconf(_SC_PAGESIZE));
}

void *gt_pages_chunk(size_t bytes)
{
	if (bytes < LARGE)
		return malloc(bytes);
	return bytes > PTRDIFF_MAX / 2 ? NULL : map_large(whole_pages(bytes));
}

void gt_pages_free(void *chunk, size_t bytes)
{
	if (chunk && bytes >= LARGE)
		munmap(chunk, whole_pages(bytes));
	else
		free(chunk);
}

void gt_pages_return(void *array, size_t bytes, size_t *begin, size_t *end)
{
	*begin = *end = 0;
#ifdef MADV_DONTNEED
	if (bytes < LARGE)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)array;
	uintptr_t first = (at + page - 1) / page * page, last = (at + bytes) / page * page;
	if (madvise((void *)first, last - first, MADV_DONTNEED) != 0)
		return;
	*begin = first - at;
	*end = last - at;
#else
	(void)array;
	(void)bytes;
#endif
}

/* ---- memory that is freed as one ---- */

#define BORDER 64 /* bytes of a line of the machine's cache */

struct gt_arena_chunk {
	struct gt_arena_chunk *next;
	size_t bytes; /* of the chunk, whole large pages */
	int used; /* by an arena before: there may be anything in it */
	_Alignas(BORDER) char data[];
};

/* Those that no arena has. */
#define SPARE_MOST ((size_t)32 << 20) /* bytes of them */
static struct gt_arena_chunk *spare;
static size_t spare_bytes;
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

/* The first that is large enough; NULL: there is none. */
static struct gt_arena_chunk *take_spare(size_t bytes)
{
	pthread_mutex_lock(&spare_lock);
	struct gt_arena_chunk **at = &spare;
	while (*at && (*at)->bytes < bytes)
		at = &(*at)->next;
	struct gt_arena_chunk *chunk = *at;
	if (chunk) {
		*at = chunk->next;
		spare_bytes -= chunk->bytes;
	}
	pthread_mutex_unlock(&spare_lock);
	return chunk;
}

/* Returns whether it is kept. */
static int give_spare(struct gt_arena_chunk *chunk)
{
	pthread_mutex_lock(&spare_lock);
	int kept = chunk->bytes <= SPARE_MOST - spare_bytes;
	chunk->used = 1;
	if (kept) {
		chunk->next = spare;
		spare = chunk;
		spare_bytes += chunk->bytes;
	}
	pthread_mutex_unlock(&spare_lock);
	return kept;
}

static int add_chunk(struct gt_arena *arena, size_t bytes)
{
	size_t whole = rounded(bytes + sizeof(struct gt_arena_chunk), LARGE_PAGE);

	whole = whole < LARGE ? LARGE : whole;
	struct gt_arena_chunk *chunk = take_spare(whole);
	if (!chunk) {
		chunk = map_large(whole);
		if (!chunk)
			return -1;
		*chunk = (struct gt_arena_chunk){.bytes = whole};
	}
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->left = chunk->bytes - sizeof *chunk;
	return 0;
}

void *gt_arena_take(struct gt_arena *arena, size_t bytes)
{
	if (bytes > PTRDIFF_MAX / 2)
		return NULL;
	bytes = rounded(bytes ? bytes : 1, BORDER);
	if (bytes > arena->left && add_chunk(arena, bytes) != 0)
		return NULL;
	char *taken = (char *)arena->chunks + arena->chunks->bytes - arena->left;
	arena->left -= bytes;
	return taken;
}

void *gt_arena_zeroed(struct gt_arena *arena, size_t bytes)
{
	void *taken = gt_arena_take(arena, bytes);

	return taken && arena->chunks->used ? memset(taken, 0, bytes) : taken;
}

void *gt_arena_grow(struct gt_arena *arena, void *array, size_t wanted, size_t *capacity, size_t element)
{
	size_t more = *capacity ? 2 * *capacity : BORDER;

	more = more < wanted ? wanted : more;
	void *bigger = more > SIZE_MAX / element ? NULL : gt_arena_take(arena, more * element);
	if (!bigger)
		return NULL;
	if (array)
		memcpy(bigger, array, *capacity * element);
	*capacity = more;
	return bigger;
}

void gt_arena_close(struct gt_arena *arena)
{
	for (struct gt_arena_chunk *chunk; (chunk = arena->chunks);) {
		arena->chunks = chunk->next;
		if (!give_spare(chunk))
			munmap(chunk, chunk->bytes);
	}
	arena->left = 0;
}

/* The number of the list of a size, which is rounded up. */
static size_t list_of_size(size_t *bytes)
{
	const size_t least = *bytes < BORDER ? BORDER : *bytes;
	const unsigned shift = 61 - (unsigned)__builtin_clzll(least);
	const size_t steps = ((least - 1) >> shift) + 1; /* 4 to 8 */

	*bytes = steps << shift;
	return 4 * (size_t)shift + steps;
}

void *gt_free_lists_take(struct gt_free_lists *lists, size_t bytes)
{
	if (bytes > PTRDIFF_MAX / 2)
		return NULL;
	void **first = &lists->first[list_of_size(&bytes)], *part = *first;

	if (part)
		*first = *(void **)part;
	else if ((part = gt_arena_take(lists->arena, bytes)))
		lists->bytes += bytes;
	return part;
}

void gt_free_lists_give(struct gt_free_lists *lists, void *part, size_t bytes)
{
	void **first = &lists->first[list_of_size(&bytes)];

	*(void **)part = *first;
	*first = part;
}

/* ---- arrays in large pages ---- */

void *gt_room_take(struct gt_room *room, size_t bytes)
{
	room->lists.arena = &room->arena;
	return bytes < LARGE ? gt_free_lists_take(&room->lists, bytes) : gt_pages_chunk(bytes);
}

void gt_room_give(struct gt_room *room, void *array, size_t bytes)
{
	if (!array)
		return;
	if (bytes < LARGE)
		gt_free_lists_give(&room->lists, array, bytes);
	else
		gt_pages_free(array, bytes);
}

void gt_room_close(struct gt_room *room)
{
	gt_arena_close(&room->arena);
	*room = (struct gt_room){.lists = {.bytes = 0}};
}
