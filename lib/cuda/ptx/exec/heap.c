/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/random.h"
#include "cuda/ptx/exec/heap.h"
#include "cuda/ptx/exec/pieces.h"

/* ---- pieces ---- */

int gt_ptx_pieces_open(struct gt_ptx_pieces *pieces, uint64_t bytes, struct gt_error *error)
{
	*pieces = (struct gt_ptx_pieces){0};
	if (gt_ptx_pieces_reserve(pieces, error) != 0)
		return -1;
	pieces->all[pieces->n++] = (struct gt_ptx_piece){0};
	gt_ptx_pieces_insert(pieces, 0, bytes, 0, 0);
	return 0;
}

void gt_ptx_pieces_close(struct gt_ptx_pieces *pieces)
{
	free(pieces->all);
}

int gt_ptx_pieces_reserve(struct gt_ptx_pieces *pieces, struct gt_error *error)
{
	struct gt_ptx_piece *grown = gt_grown_to(pieces->all, pieces->n + 3, &pieces->capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "the blocks of the device's heap");
	pieces->all = grown;
	return 0;
}

static uint64_t free_bytes(const struct gt_ptx_piece *piece)
{
	return piece->at ? 0 : piece->end - piece->begin;
}

static void sum_up(struct gt_ptx_pieces *pieces, uint32_t i)
{
	struct gt_ptx_piece *piece = &pieces->all[i];
	uint64_t left = pieces->all[piece->left].largest, right = pieces->all[piece->right].largest;

	piece->largest = left > right ? left : right;
	if (free_bytes(piece) > piece->largest)
		piece->largest = free_bytes(piece);
}

/* Parts a tree into the pieces before `begin`, and the others. */
static void split(struct gt_ptx_pieces *pieces, uint32_t tree, uint64_t begin, uint32_t *before, uint32_t *from)
{
	if (!tree) {
		*before = *from = 0;
		return;
	}
	struct gt_ptx_piece *piece = &pieces->all[tree];
	if (piece->begin < begin) {
		*before = tree;
		split(pieces, piece->right, begin, &piece->right, from);
	} else {
		*from = tree;
		split(pieces, piece->left, begin, before, &piece->left);
	}
	sum_up(pieces, tree);
}

/* Joins two trees, the first of which lies before the second. */
static uint32_t join(struct gt_ptx_pieces *pieces, uint32_t before, uint32_t after)
{
	uint32_t top;

	if (!before || !after)
		return before ? before : after;
	if (pieces->all[before].priority > pieces->all[after].priority) {
		top = before;
		pieces->all[top].right = join(pieces, pieces->all[top].right, after);
	} else {
		top = after;
		pieces->all[top].left = join(pieces, before, pieces->all[top].left);
	}
	sum_up(pieces, top);
	return top;
}

void gt_ptx_pieces_insert(struct gt_ptx_pieces *pieces, uint64_t begin, uint64_t end, uint64_t at, uint64_t bytes)
{
	uint32_t i = pieces->unused, before, after;

	if (begin == end)
		return;
	if (i)
		pieces->unused = pieces->all[i].left;
	else
		i = (uint32_t)pieces->n++;
	pieces->all[i] = (struct gt_ptx_piece){.begin = begin, .end = end, .at = at, .bytes = bytes, .priority = gt_random_state(1, begin)};
	sum_up(pieces, i);
	split(pieces, pieces->root, begin, &before, &after);
	pieces->root = join(pieces, join(pieces, before, i), after);
}

struct gt_ptx_piece gt_ptx_pieces_remove(struct gt_ptx_pieces *pieces, const struct gt_ptx_piece *gone)
{
	struct gt_ptx_piece kept = *gone;
	uint32_t before, at, after;

	split(pieces, pieces->root, kept.begin, &before, &at);
	split(pieces, at, kept.begin + 1, &at, &after);
	pieces->all[at].left = pieces->unused;
	pieces->unused = at;
	pieces->root = join(pieces, before, after);
	return kept;
}

const struct gt_ptx_piece *gt_ptx_pieces_at(const struct gt_ptx_pieces *pieces, uint64_t within)
{
	uint32_t i = pieces->root;

	while (i && (within < pieces->all[i].begin || within >= pieces->all[i].end))
		i = within < pieces->all[i].begin ? pieces->all[i].left : pieces->all[i].right;
	return i ? &pieces->all[i] : NULL;
}

const struct gt_ptx_piece *gt_ptx_first_free(const struct gt_ptx_pieces *pieces, uint64_t bytes)
{
	uint32_t i = pieces->root;

	if (pieces->all[i].largest < bytes)
		return NULL;
	for (;;) {
		const struct gt_ptx_piece *piece = &pieces->all[i];
		if (pieces->all[piece->left].largest >= bytes)
			i = piece->left;
		else if (free_bytes(piece) >= bytes)
			return piece;
		else
			i = piece->right;
	}
}

void gt_ptx_pieces_free(struct gt_ptx_pieces *pieces, const struct gt_ptx_piece *block)
{
	struct gt_ptx_piece gone = gt_ptx_pieces_remove(pieces, block);
	const struct gt_ptx_piece *before = gone.begin > 0 ? gt_ptx_pieces_at(pieces, gone.begin - 1) : NULL;

	if (before && !before->at)
		gone.begin = gt_ptx_pieces_remove(pieces, before).begin;
	const struct gt_ptx_piece *after = gt_ptx_pieces_at(pieces, gone.end);
	if (after && !after->at)
		gone.end = gt_ptx_pieces_remove(pieces, after).end;
	gt_ptx_pieces_insert(pieces, gone.begin, gone.end, 0, 0);
}

void gt_ptx_pieces_hold(struct gt_ptx_pieces *pieces, const struct gt_ptx_piece *block)
{
	uint32_t i = (uint32_t)(block - pieces->all);

	pieces->all[i].held = true;
	*(pieces->held_last ? &pieces->all[pieces->held_last].held_next : &pieces->held_first) = i;
	pieces->held_last = i;
	pieces->held_bytes += block->end - block->begin;
}

void gt_ptx_pieces_release(struct gt_ptx_pieces *pieces)
{
	const struct gt_ptx_piece *oldest = &pieces->all[pieces->held_first];

	pieces->held_bytes -= oldest->end - oldest->begin;
	pieces->held_first = oldest->held_next;
	if (!pieces->held_first)
		pieces->held_last = 0;
	gt_ptx_pieces_free(pieces, oldest);
}

/* ---- heap ---- */

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
