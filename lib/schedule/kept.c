/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/grown.h"
#include "schedule/kept.h"

#define XXH_INLINE_ALL


#define FIRST_SHAPES 256

static uint32_t home(const struct shapes *shapes, const struct shape *shape)
{
	/* Four words, without the guess and padding of the struct. */
	uint64_t words[4] = {(uint64_t)shape->stride, (uint64_t)shape->pc << 32 | shape->mask,
			     (uint64_t)shape->hint << 16 | (uint64_t)shape->op << 8 | shape->size,
			     shape->work};

	return (uint32_t)XXH3_64bits(words, sizeof words) & shapes->mask;
}

/* The slot that holds the shape's number, or the empty one where it belongs. */
static uint16_t *slot_of(const struct shapes *shapes, const struct shape *shape)
{
	uint32_t at = home(shapes, shape);

	while (shapes->slots[at] != SHAPE_NONE && !shape_equal(&shapes->all[shapes->slots[at]], shape))
		at = (at + 1) & shapes->mask;
	return &shapes->slots[at];
}

/* Room for `capacity` shapes, and a table of twice as many slots with those there are. */
static int make_slots(struct shapes *shapes, uint32_t capacity, struct gt_error *error)
{
	uint16_t *slots = malloc(2 * (size_t)capacity * sizeof *slots);
	struct shape *all = gt_resized(shapes->all, capacity, sizeof *all);

	if (all)
		shapes->all = all;
	if (!slots || !all) {
		free(slots);
		return gt_fail_memory(error, "shapes of rows");
	}
	free(shapes->slots);
	shapes->slots = slots;
	shapes->capacity = capacity;
	shapes->mask = 2 * capacity - 1;
	memset(slots, 0xff, 2 * (size_t)capacity * sizeof *slots);
	for (uint32_t i = 0; i < shapes->n; i++)
		*slot_of(shapes, &shapes->all[i]) = (uint16_t)i;
	return 0;
}

int gt_shapes_open(struct shapes *shapes, struct gt_error *error)
{
	*shapes = (struct shapes){0};
	return make_slots(shapes, FIRST_SHAPES, error);
}

void gt_shapes_close(struct shapes *shapes)
{
	free(shapes->all);
	free(shapes->slots);
	*shapes = (struct shapes){0};
}

int gt_shapes_look_up(struct shapes *shapes, const struct shape *shape, uint16_t *number, struct gt_error *error)
{
	uint16_t *slot = slot_of(shapes, shape);
	if (*slot == SHAPE_NONE && shapes->n == SHAPES_MAX) {
		*number = SHAPE_NONE;
		return 0;
	}
	if (*slot == SHAPE_NONE) {
		if (shapes->n == shapes->capacity && make_slots(shapes, 2 * shapes->capacity, error) != 0)
			return -1;
		slot = slot_of(shapes, shape);
		*slot = (uint16_t)shapes->n;
		shapes->all[shapes->n] = *shape;
		shapes->all[shapes->n++].next = *slot;
	}
	shapes->all[shapes->last].next = *slot;
	*number = shapes->last = *slot;
	return 0;
}
