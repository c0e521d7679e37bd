/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/pieces.h"

/* A block is a piece that has GT_PTX_HEAP_UNIT bytes before those that were asked for. */
struct gt_ptx_heap {
	uint64_t address, bytes;
	struct gt_ptx_pieces pieces;
};

static uint64_t rounded_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

struct gt_ptx_heap *gt_ptx_heap_new(uint64_t address, uint64_t bytes, struct gt_error *error)
{
	struct gt_ptx_heap *heap = calloc(1, sizeof *heap);

	if (!heap || gt_ptx_pieces_open(&heap->pieces, bytes, error) != 0) {
		free(heap);
		gt_fail_memory(error, "the device's heap");
		return NULL;
	}
	heap->address = address;
	heap->bytes = bytes;
	return heap;
}

uint64_t gt_ptx_heap_address(const struct gt_ptx_heap *heap)
{
	return heap->address;
}

void gt_ptx_heap_free(struct gt_ptx_heap *heap)
{
	if (heap)
		gt_ptx_pieces_close(&heap->pieces);
	free(heap);
}

struct gt_ptx_heap *gt_ptx_heap_copy(const struct gt_ptx_memory *memory)
{
	struct gt_ptx_heap *copy = memory->heap ? malloc(sizeof *copy) : NULL;

	if (!copy)
		return NULL;
	*copy = *memory->heap;
	copy->pieces.all = malloc(copy->pieces.capacity * sizeof *copy->pieces.all);
	if (!copy->pieces.all) {
		free(copy);
		return NULL;
	}
	memcpy(copy->pieces.all, memory->heap->pieces.all, copy->pieces.n * sizeof *copy->pieces.all);
	return copy;
}

void gt_ptx_heap_restore(struct gt_ptx_memory *memory, struct gt_ptx_heap *copy)
{
	gt_ptx_heap_free(memory->heap);
	memory->heap = copy;
}

/* The lowest free piece that is large enough, for which blocks that are held are freed if need be. */
static const struct gt_ptx_piece *find_room(struct gt_ptx_pieces *pieces, uint64_t bytes)
{
	const struct gt_ptx_piece *found = gt_ptx_first_free(pieces, bytes);

	while (!found && pieces->held_first) {
		gt_ptx_pieces_release(pieces);
		found = gt_ptx_first_free(pieces, bytes);
	}
	return found;
}

int gt_ptx_heap_take(struct gt_ptx_memory *memory, uint64_t bytes, uint64_t alignment, uint64_t *address, struct gt_error *error)
{
	struct gt_ptx_heap *heap = memory->heap;
	uint64_t unit = GT_PTX_HEAP_UNIT, room = rounded_up(bytes ? bytes : 1, unit);

	*address = 0;
	if (alignment < unit)
		alignment = unit;
	if (bytes > heap->bytes || alignment > heap->bytes)
		return 0;
	/* A piece begins at a multiple of the unit, so so much is always enough. */
	if (gt_ptx_pieces_reserve(&heap->pieces, error) != 0)
		return -1;
	const struct gt_ptx_piece *found = find_room(&heap->pieces, alignment + room);
	if (!found)
		return 0;
	struct gt_ptx_piece piece = gt_ptx_pieces_remove(&heap->pieces, found);
	uint64_t at = rounded_up(heap->address + piece.begin + unit, alignment) - heap->address;
	uint64_t end = at + room;
	gt_ptx_pieces_insert(&heap->pieces, piece.begin, at - unit, 0, 0);
	gt_ptx_pieces_insert(&heap->pieces, at - unit, end, at, bytes);
	gt_ptx_pieces_insert(&heap->pieces, end, piece.end, 0, 0);
	*address = heap->address + at;
	return 0;
}

int gt_ptx_heap_give(struct gt_ptx_memory *memory, uint64_t address)
{
	struct gt_ptx_heap *heap = memory->heap;
	const struct gt_ptx_piece *piece =
		gt_ptx_in_heap(memory, address) ? gt_ptx_pieces_at(&heap->pieces, address - heap->address - 1) : NULL;

	if (!piece || !piece->at || piece->held || heap->address + piece->at != address)
		return -1;
	if (memory->held_max == 0) {
		gt_ptx_pieces_free(&heap->pieces, piece);
		return 0;
	}
	gt_ptx_pieces_hold(&heap->pieces, piece);
	while (heap->pieces.held_bytes > heap->bytes / GT_PTX_HELD_PART)
		gt_ptx_pieces_release(&heap->pieces);
	return 0;
}

bool gt_ptx_in_heap(const struct gt_ptx_memory *memory, uint64_t address)
{
	return memory->heap && address - memory->heap->address < memory->heap->bytes;
}

bool gt_ptx_heap_block(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *end)
{
	const struct gt_ptx_heap *heap = memory->heap;
	uint64_t within = address - heap->address;
	const struct gt_ptx_piece *piece = gt_ptx_pieces_at(&heap->pieces, within);

	if (!piece || !piece->at || piece->held || within < piece->at || within - piece->at > piece->bytes ||
	    bytes > piece->bytes - (within - piece->at))
		return false;
	*begin = heap->address + piece->at;
	*end = *begin + piece->bytes;
	return true;
}

const char *gt_ptx_heap_describe(const struct gt_ptx_memory *memory, uint64_t address, char text[GT_PTX_HEAP_TEXT])
{
	const struct gt_ptx_heap *heap = memory->heap;
	uint64_t within = address - heap->address;
	const struct gt_ptx_piece *piece = gt_ptx_pieces_at(&heap->pieces, within);

	if (piece && piece->at)
		snprintf(text, GT_PTX_HEAP_TEXT, "of the device's heap: %s of the block of %" PRIu64 " bytes at 0x%" PRIx64 "%s",
			 within >= piece->at && within - piece->at < piece->bytes ? "inside" : "outside", piece->bytes,
			 heap->address + piece->at, piece->held ? ", which was freed" : "");
	else
		snprintf(text, GT_PTX_HEAP_TEXT, "of the device's heap: in no block that is allocated; it was freed, or never was");
	return text;
}
