/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/held.h"

#include "base/file.h"

void gt_ptx_held_store_open(struct gt_ptx_held_store *store, uint64_t memory)
{
	*store = (struct gt_ptx_held_store){.spare = NULL};
	gt_store_open(&store->store, memory, gt_temporary_directory());
}

void gt_ptx_held_store_close(struct gt_ptx_held_store *store)
{
	gt_store_close(&store->store);
}

static struct gt_ptx_held_chunk *take(struct gt_ptx_held_store *store, struct gt_error *error)
{
	struct gt_ptx_held_chunk *chunk = store->spare;
	struct gt_segment *segment;

	if (chunk) {
		store->spare = chunk->next;
		return chunk;
	}
	chunk = gt_store_take(&store->store, sizeof *chunk, &segment, error);
	if (chunk)
		chunk->segment = segment;
	return chunk;
}

static void release(struct gt_ptx_held_store *store, struct gt_ptx_held_chunk *chunk)
{
	if (chunk->segment->in_file) {
		gt_store_release(&store->store, chunk->segment);
		return;
	}
	chunk->next = store->spare;
	store->spare = chunk;
}

/* Appends a chunk. */
int gt_ptx_held_grow(struct gt_ptx_held *held, struct gt_ptx_held_store *store, struct gt_error *error)
{
	struct gt_ptx_held_chunk *chunk = take(store, error);

	if (!chunk)
		return -1;
	chunk->next = NULL;
	chunk->written = 0;
	if (held->last)
		held->last->next = chunk;
	else
		held->first = chunk;
	held->last = chunk;
	return 0;
}

/* Removes the first chunk, which was read completely. The last chunk is kept, empty. */
void gt_ptx_held_shrink(struct gt_ptx_held *held, struct gt_ptx_held_store *store)
{
	struct gt_ptx_held_chunk *chunk = held->first;

	held->read = 0;
	if (!chunk->next) {
		chunk->written = 0;
		return;
	}
	held->first = chunk->next;
	release(store, chunk);
}

void gt_ptx_held_clear(struct gt_ptx_held *held, struct gt_ptx_held_store *store)
{
	while (held->first) {
		struct gt_ptx_held_chunk *next = held->first->next;
		release(store, held->first);
		held->first = next;
	}
	*held = (struct gt_ptx_held){0};
}
