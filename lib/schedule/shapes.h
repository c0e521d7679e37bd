/* SPDX-License-Identifier: MIT */
/* The fields that many rows of a kernel share. The accesses of one instruction usually differ only in their
 * base, so a waiting row holds its base and the number of a shape. */
#ifndef GT_SCHEDULE_SHAPES_H
#define GT_SCHEDULE_SHAPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SHAPES_MAX 32767 /* so that a number has a bit to spare */
#define SHAPE_NONE 65535 /* the number of no shape */

/* A request has size 0 (no access has), and in `mask` sectors, full and threads, a byte each. */
struct shape {
	int64_t stride;
	uint32_t pc, mask, work;
	uint8_t op, size;
	uint16_t hint;
	uint16_t next; /* the shape that last followed this one: tried first */
};

struct shapes {
	struct shape *all;
	uint32_t n, capacity;
	uint16_t *slots; /* hash table of numbers; SHAPE_NONE: empty */
	uint32_t mask;	 /* slots - 1 */
	uint16_t last;	 /* the shape looked up last */
};

int gt_shapes_open(struct shapes *shapes, struct gt_error *error);
void gt_shapes_close(struct shapes *shapes);

/* gt_shapes_find, without a guess. */
int gt_shapes_look_up(struct shapes *shapes, const struct shape *shape, uint16_t *number, struct gt_error *error);

static inline int shape_equal(const struct shape *a, const struct shape *b)
{
	return a->stride == b->stride && a->pc == b->pc && a->mask == b->mask && a->op == b->op &&
	       a->size == b->size && a->hint == b->hint && a->work == b->work;
}

/* The number of a shape, new or known; SHAPE_NONE if there are already SHAPES_MAX others. Returns 0, or -1 when memory is short.
 * The guess is compared where the shape is made, whose fields are then still in registers. */
static inline int gt_shapes_find(struct shapes *shapes, const struct shape *shape, uint16_t *number, struct gt_error *error)
{
	uint16_t guess = shapes->n > 0 ? shapes->all[shapes->last].next : 0;

	if (shapes->n == 0 || !shape_equal(&shapes->all[guess], shape))
		return gt_shapes_look_up(shapes, shape, number, error);
	*number = shapes->last = guess;
	return 0;
}

#endif
