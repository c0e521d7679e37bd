/* SPDX-License-Identifier: MIT */
#include "ptx/exec/held.h"

/* Appends a chunk. */
int gt_ptx_held_grow(struct gt_ptx_held *held, struct gt_store *store, struct gt_error *error)
{
	struct gt_segment *segment;
	struct gt_ptx_held_chunk *chunk = gt_store_take(store, sizeof *chunk, &segment, error);

	if (!chunk)
		return -1;
	chunk->next = NULL;
	chunk->segment = segment;
	chunk->written = 0;
	if (held->last)
		held->last->next = chunk;
	else
		held->first = chunk;
	held->last = chunk;
	return 0;
}

/* Removes the first chunk, which was read completely. The last chunk is kept, empty. */
void gt_ptx_held_shrink(struct gt_ptx_held *held, struct gt_store *store)
{
	struct gt_ptx_held_chunk *chunk = held->first;

	held->read = 0;
	if (!chunk->next) {
		chunk->written = 0;
		return;
	}
	held->first = chunk->next;
	gt_store_release(store, chunk->segment);
}

void gt_ptx_held_clear(struct gt_ptx_held *held, struct gt_store *store)
{
	while (held->first) {
		struct gt_ptx_held_chunk *next = held->first->next;
		gt_store_release(store, held->first->segment);
		held->first = next;
	}
	*held = (struct gt_ptx_held){0};
}
