/* SPDX-License-Identifier: MIT */
/* The memory of a PTX module: zeroed pieces that are freed all at once; and the module's names, each stored once, so that
 * equal names are the same pointer. */
#ifndef GT_PTX_ARENA_H
#define GT_PTX_ARENA_H

#include <stddef.h>

#include "base/error.h"

struct gt_ptx_arena;

struct gt_ptx_arena *gt_ptx_arena_open(struct gt_error *error);
void gt_ptx_arena_close(struct gt_ptx_arena *arena);

/* `n` zeroed elements, aligned for any type. NULL when memory is short; not NULL if n is 0. */
void *gt_ptx_arena_take(struct gt_ptx_arena *arena, size_t n, size_t element, struct gt_error *error);
/* The same, with a copy of the elements. */
void *gt_ptx_arena_copy(struct gt_ptx_arena *arena, const void *from, size_t n, size_t element,
			struct gt_error *error);

/* The stored copy of a name. NULL when memory is short. */
char *gt_ptx_arena_name(struct gt_ptx_arena *arena, const char *text, size_t length, struct gt_error *error);
/* The stored name, or NULL if it was not stored. */
char *gt_ptx_arena_known(const struct gt_ptx_arena *arena, const char *text, size_t length);

#endif
