/* SPDX-License-Identifier: MIT */
/* A row that waits, apart from what its shape says. */
#ifndef GT_SCHEDULE_KEPT_H
#define GT_SCHEDULE_KEPT_H

#include <stdint.h>

#include "schedule/shapes.h"
#include "stream/hint.h"
#include "stream/rows.h"

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
