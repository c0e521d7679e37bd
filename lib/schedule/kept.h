/* SPDX-License-Identifier: MIT */
/* A row that waits, apart from what its shape says. */
#ifndef GT_SCHEDULE_KEPT_H
#define GT_SCHEDULE_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/hint.h"
#include "stream/rows.h"

/* The fields that many rows of a kernel share. The accesses of one instruction usually differ only in their
 * base, so a waiting row holds its base and the number of a shape. */

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

/* A row of either kind. `base` is an access's base or a request's line; if the shape is SHAPE_NONE, it is a
 * pointer to a struct odd. */
struct kept {
	uint64_t base;
	uint32_t an;
	uint16_t warp, shape;
};

/* A row that has no numbered shape, or whose lanes have no common stride. */
struct odd {
	uint64_t base;
	struct shape shape;
	uint64_t lanes[]; /* popcount(shape.mask) of them if the stride is GT_STRIDE_LANES */
};

#define ODD_WORDS (sizeof(struct odd) / sizeof(uint64_t)) /* without lanes */

_Static_assert(sizeof(struct kept) == 16, "a kept row is 16 bytes");
_Static_assert(sizeof(struct odd) % sizeof(uint64_t) == 0, "odd rows are made of words");

/* NULL: its shape has a number. */
static inline const struct odd *odd_of(const struct kept *row)
{
	return row->shape == SHAPE_NONE ? (const struct odd *)(uintptr_t)row->base : NULL;
}

/* The addresses of its lanes if they have no common stride; else NULL. */
static inline const uint64_t *odd_lanes(const struct odd *odd)
{
	return odd && odd->shape.stride == GT_STRIDE_LANES ? odd->lanes : NULL;
}

/* What row i of a batch shares with others. */
static inline struct shape shape_of(const struct gt_rows *rows, size_t i)
{
	struct shape shape = {.pc = rows->pc[i], .op = rows->op[i], .hint = gt_rows_hint(rows, i),
			      .work = rows->has_work ? rows->work[i] : 0};

	if (rows->kind == GT_REQUESTS) {
		shape.mask = (uint32_t)(rows->sectors[i] | rows->full[i] << 8 | rows->threads[i] << 16);
	} else {
		shape.size = rows->size[i];
		shape.mask = rows->mask[i];
		shape.stride = rows->stride[i];
	}
	return shape;
}

/* The addresses of row i, if it is an access without a common stride; else NULL. */
static inline const uint64_t *lanes_of(const struct gt_rows *rows, size_t i)
{
	return rows->kind == GT_ACCESSES && rows->stride[i] == GT_STRIDE_LANES ? rows->lanes + rows->base[i] : NULL;
}

#endif
