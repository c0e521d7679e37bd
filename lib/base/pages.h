/* SPDX-License-Identifier: MIT */
/* What the system is told of pages. Large ones, for large arrays that are accessed at random, avoid most page table walks,
 * each of which costs more than the access itself. Pages of a mapping that nothing uses go back to the system. */
#ifndef GT_BASE_PAGES_H
#define GT_BASE_PAGES_H

#include <stddef.h>

/* Asks for large pages under an array, if the system has them and the array is large. Only pages that were
 * not touched yet are affected: call it right after the allocation. */
void gt_pages_large(void *array, size_t bytes);

/* Memory for an array; on the borders of large pages if it is large, so that they fill it. NULL when memory is short. */
void *gt_pages_chunk(size_t bytes);

/* Frees such an array of so many bytes; NULL is none. */
void gt_pages_free(void *chunk, size_t bytes);

/* Gives the memory of an array in a private mapping of zeros back to the system, but for the ends that fill no page: the rest
 * is zero when it is touched next. Returns the rest's offset in *begin and *end; both are 0 for a small array, of
 * which nothing is given back. */
void gt_pages_return(void *array, size_t bytes, size_t *begin, size_t *end);

/* ---- memory that is freed as one ---- */

/* Arrays that live as long as each other, close together and in large pages, so that few page table walks reach all of them. */
struct gt_arena {
	struct gt_arena_chunk *chunks;
	size_t left; /* bytes of the first chunk, at its end */
};

/* Memory on the border of a line of the machine's cache, in which anything may be. NULL when memory is short. */
void *gt_arena_take(struct gt_arena *arena, size_t bytes);

/* The same with zeros in it, of which the system makes pages when they are used, unless the memory was an arena's before. */
void *gt_arena_zeroed(struct gt_arena *arena, size_t bytes);

/* gt_arena_grown, if the array is too small. */
void *gt_arena_grow(struct gt_arena *arena, void *array, size_t wanted, size_t *capacity, size_t element);

/* As gt_grown_to (base/grown.h), of an array that is NULL or of the arena. What it leaves behind is freed with the others. */
static inline void *gt_arena_grown(struct gt_arena *arena, void *array, size_t wanted, size_t *capacity, size_t element)
{
	return wanted <= *capacity ? array : gt_arena_grow(arena, array, wanted, capacity, element);
}

/* Some of the memory is kept for the next arena: launches that follow each other open one each, and to have as much from the system again
 * takes longer than a short launch. */
void gt_arena_close(struct gt_arena *arena);

#define GT_FREE_SIZES (4 * 64 + 1) /* four to a power of two, to which sizes are rounded up */

/* Parts of an arena that are taken again, once they have been given back, by who wants one of the same size. */
struct gt_free_lists {
	struct gt_arena *arena;
	void *first[GT_FREE_SIZES]; /* each part begins with a pointer to the next */
	size_t bytes; /* of the arena */
};

/* At least a pointer's size, in which anything may be. NULL when memory is short. */
void *gt_free_lists_take(struct gt_free_lists *lists, size_t bytes);

/* Gives back what was taken as so many bytes. */
void gt_free_lists_give(struct gt_free_lists *lists, void *part, size_t bytes);

/* ---- arrays in large pages, small ones too ---- */

/* Small arrays are parts of an arena, a large one has pages of its own. All zeros to begin with; it stays where it is as long as it has
 * arrays. */
struct gt_room {
	struct gt_arena arena;
	struct gt_free_lists lists;
};

/* An array on the border of a line of the machine's cache, in which anything may be. NULL when memory is short. */
void *gt_room_take(struct gt_room *room, size_t bytes);

/* Gives back an array of so many bytes; NULL is none. */
void gt_room_give(struct gt_room *room, void *array, size_t bytes);

/* Small arrays need not have been given back. */
void gt_room_close(struct gt_room *room);

#endif
