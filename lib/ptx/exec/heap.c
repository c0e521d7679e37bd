/* SPDX-License-Identifier: MIT */
/* The pieces of the heap, free ones and blocks, are a treap by their addresses, in which every node knows the largest free piece
 * below it: the lowest one that is large enough, and the one that an address lies in, are each found on one way down. */
#include "ptx/exec/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/random.h"

/* [begin, end) from the heap's address on. A block has GT_PTX_HEAP_UNIT bytes before those that were asked for. */
struct piece {
	uint64_t begin, end;
	uint64_t bytes; /* asked for */
	uint64_t at;	/* where they begin; 0: the piece is free */
	uint64_t largest; /* free piece of the subtree */
	uint64_t priority;
	uint32_t left, right; /* 0: none */
};

struct gt_ptx_heap {
	uint64_t address, bytes;
	struct piece *pieces; /* [0] stands for none */
	size_t n, capacity;
	uint32_t root, unused; /* unused ones, by `left` */
};

static uint64_t free_bytes(const struct piece *piece)
{
	return piece->at ? 0 : piece->end - piece->begin;
}

static void sum_up(struct gt_ptx_heap *heap, uint32_t i)
{
	struct piece *piece = &heap->pieces[i];
	uint64_t left = heap->pieces[piece->left].largest, right = heap->pieces[piece->right].largest;

	piece->largest = left > right ? left : right;
	if (free_bytes(piece) > piece->largest)
		piece->largest = free_bytes(piece);
}

/* Parts a tree into the pieces before `begin`, and the others. */
static void split(struct gt_ptx_heap *heap, uint32_t tree, uint64_t begin, uint32_t *before, uint32_t *from)
{
	if (!tree) {
		*before = *from = 0;
		return;
	}
	struct piece *piece = &heap->pieces[tree];
	if (piece->begin < begin) {
		*before = tree;
		split(heap, piece->right, begin, &piece->right, from);
	} else {
		*from = tree;
		split(heap, piece->left, begin, before, &piece->left);
	}
	sum_up(heap, tree);
}

/* Joins two trees, the first of which lies before the second. */
static uint32_t join(struct gt_ptx_heap *heap, uint32_t before, uint32_t after)
{
	uint32_t top;

	if (!before || !after)
		return before ? before : after;
	if (heap->pieces[before].priority > heap->pieces[after].priority) {
		top = before;
		heap->pieces[top].right = join(heap, heap->pieces[top].right, after);
	} else {
		top = after;
		heap->pieces[top].left = join(heap, before, heap->pieces[top].left);
	}
	sum_up(heap, top);
	return top;
}

/* Room for three more pieces, which an allocation may need. */
static int reserve(struct gt_ptx_heap *heap, struct gt_error *error)
{
	struct piece *grown = gt_grown_to(heap->pieces, heap->n + 3, &heap->capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "the blocks of the device's heap");
	heap->pieces = grown;
	return 0;
}

/* Adds a piece if it has any bytes. */
static void insert(struct gt_ptx_heap *heap, uint64_t begin, uint64_t end, uint64_t at, uint64_t bytes)
{
	uint32_t i = heap->unused, before, after;

	if (begin == end)
		return;
	if (i)
		heap->unused = heap->pieces[i].left;
	else
		i = (uint32_t)heap->n++;
	heap->pieces[i] = (struct piece){.begin = begin, .end = end, .at = at, .bytes = bytes, .priority = gt_random_state(1, begin)};
	sum_up(heap, i);
	split(heap, heap->root, begin, &before, &after);
	heap->root = join(heap, join(heap, before, i), after);
}

static struct piece remove_piece(struct gt_ptx_heap *heap, const struct piece *gone)
{
	struct piece kept = *gone;
	uint32_t before, at, after;

	split(heap, heap->root, kept.begin, &before, &at);
	split(heap, at, kept.begin + 1, &at, &after);
	heap->pieces[at].left = heap->unused;
	heap->unused = at;
	heap->root = join(heap, before, after);
	return kept;
}

/* The piece that a byte of the heap lies in. */
static const struct piece *piece_at(const struct gt_ptx_heap *heap, uint64_t within)
{
	uint32_t i = heap->root;

	while (i && (within < heap->pieces[i].begin || within >= heap->pieces[i].end))
		i = within < heap->pieces[i].begin ? heap->pieces[i].left : heap->pieces[i].right;
	return i ? &heap->pieces[i] : NULL;
}

/* The lowest free piece of so many bytes; NULL if there is none. */
static const struct piece *first_free(const struct gt_ptx_heap *heap, uint64_t bytes)
{
	uint32_t i = heap->root;

	if (heap->pieces[i].largest < bytes)
		return NULL;
	for (;;) {
		const struct piece *piece = &heap->pieces[i];
		if (heap->pieces[piece->left].largest >= bytes)
			i = piece->left;
		else if (free_bytes(piece) >= bytes)
			return piece;
		else
			i = piece->right;
	}
}

static uint64_t rounded_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* ---- the heap ---- */

struct gt_ptx_heap *gt_ptx_heap_new(uint64_t address, uint64_t bytes, struct gt_error *error)
{
	struct gt_ptx_heap *heap = calloc(1, sizeof *heap);

	if (!heap || reserve(heap, error) != 0) {
		free(heap);
		gt_fail_memory(error, "the device's heap");
		return NULL;
	}
	heap->address = address;
	heap->bytes = bytes;
	heap->pieces[heap->n++] = (struct piece){0};
	insert(heap, 0, bytes, 0, 0);
	return heap;
}

uint64_t gt_ptx_heap_address(const struct gt_ptx_heap *heap)
{
	return heap->address;
}

void gt_ptx_heap_free(struct gt_ptx_heap *heap)
{
	if (heap)
		free(heap->pieces);
	free(heap);
}

struct gt_ptx_heap *gt_ptx_heap_copy(const struct gt_ptx_memory *memory)
{
	struct gt_ptx_heap *copy = memory->heap ? malloc(sizeof *copy) : NULL;

	if (!copy)
		return NULL;
	*copy = *memory->heap;
	copy->pieces = malloc(copy->capacity * sizeof *copy->pieces);
	if (!copy->pieces) {
		free(copy);
		return NULL;
	}
	memcpy(copy->pieces, memory->heap->pieces, copy->n * sizeof *copy->pieces);
	return copy;
}

void gt_ptx_heap_restore(struct gt_ptx_memory *memory, struct gt_ptx_heap *copy)
{
	gt_ptx_heap_free(memory->heap);
	memory->heap = copy;
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
	if (reserve(heap, error) != 0)
		return -1;
	const struct piece *found = first_free(heap, alignment + room);
	if (!found)
		return 0;
	struct piece piece = remove_piece(heap, found);
	uint64_t at = rounded_up(heap->address + piece.begin + unit, alignment) - heap->address;
	uint64_t end = at + room;
	insert(heap, piece.begin, at - unit, 0, 0);
	insert(heap, at - unit, end, at, bytes);
	insert(heap, end, piece.end, 0, 0);
	*address = heap->address + at;
	return 0;
}

int gt_ptx_heap_give(struct gt_ptx_memory *memory, uint64_t address)
{
	struct gt_ptx_heap *heap = memory->heap;
	const struct piece *piece = gt_ptx_in_heap(memory, address) ? piece_at(heap, address - heap->address - 1) : NULL;

	if (!piece || !piece->at || heap->address + piece->at != address)
		return -1;
	struct piece gone = remove_piece(heap, piece);
	const struct piece *before = gone.begin > 0 ? piece_at(heap, gone.begin - 1) : NULL;
	if (before && !before->at)
		gone.begin = remove_piece(heap, before).begin;
	const struct piece *after = piece_at(heap, gone.end);
	if (after && !after->at)
		gone.end = remove_piece(heap, after).end;
	insert(heap, gone.begin, gone.end, 0, 0);
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
	const struct piece *piece = piece_at(heap, within);

	if (!piece || !piece->at || within < piece->at || within - piece->at > piece->bytes ||
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
	const struct piece *piece = piece_at(heap, within);

	if (piece && piece->at)
		snprintf(text, GT_PTX_HEAP_TEXT, "of the device's heap: %s of the block of %" PRIu64 " bytes at 0x%" PRIx64,
			 within >= piece->at && within - piece->at < piece->bytes ? "inside" : "outside", piece->bytes,
			 heap->address + piece->at);
	else
		snprintf(text, GT_PTX_HEAP_TEXT, "of the device's heap: in no block that is allocated; it was freed, or never was");
	return text;
}
