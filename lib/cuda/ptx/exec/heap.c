/* SPDX-License-Identifier: MIT */
/* Rooms by address, and the heap of the device, which is made of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cuda/ptx/exec/memory.h"

/* ---- rooms by address ---- */

/* Rooms by address: a search tree of what lies in an address space, in which every node has some room and knows the largest room
 * below it. The first node with enough room, and the one that an address lies behind, are each found on one way down.
 *
 * It is a treap: a parent's priority is above those of its children. Priorities are as good as random, so that the tree is as flat
 * as one whose nodes came in random order, whatever their order. */

static uint64_t most(const struct gt_ptx_room *node)
{
	return node ? node->most : 0;
}

static void refresh(struct gt_ptx_room *node)
{
	const uint64_t left = most(node->left), right = most(node->right);

	node->most = left > right ? left : right;
	if (node->room > node->most)
		node->most = node->room;
}

/* Parts a tree into the nodes below an address, and the others. */
static void split(struct gt_ptx_room *tree, uint64_t at, struct gt_ptx_room **below, struct gt_ptx_room **from)
{
	if (!tree) {
		*below = *from = NULL;
		return;
	}
	if (tree->at < at) {
		split(tree->right, at, &tree->right, from);
		*below = tree;
	} else {
		split(tree->left, at, below, &tree->left);
		*from = tree;
	}
	refresh(tree);
}

/* Joins two trees, the first of which lies below the second. */
static struct gt_ptx_room *join(struct gt_ptx_room *below, struct gt_ptx_room *above)
{
	if (!below || !above)
		return below ? below : above;
	struct gt_ptx_room *top = below->priority > above->priority ? below : above;
	if (top == below)
		top->right = join(below->right, above);
	else
		top->left = join(below, above->left);
	refresh(top);
	return top;
}

void gt_ptx_room_add(struct gt_ptx_room **tree, struct gt_ptx_room *node, uint64_t at, uint64_t room)
{
	struct gt_ptx_room *below, *above;

	*node = (struct gt_ptx_room){.at = at, .room = room, .most = room, .priority = gt_random_state(1, at)};
	split(*tree, at, &below, &above);
	*tree = join(join(below, node), above);
}

static void change(struct gt_ptx_room *tree, const struct gt_ptx_room *node, uint64_t room)
{
	if (tree == node)
		tree->room = room;
	else
		change(node->at < tree->at ? tree->left : tree->right, node, room);
	refresh(tree);
}

void gt_ptx_room_change(struct gt_ptx_room **tree, const struct gt_ptx_room *node, uint64_t room)
{
	change(*tree, node, room);
}

void gt_ptx_room_remove(struct gt_ptx_room **tree, const struct gt_ptx_room *node)
{
	struct gt_ptx_room *below, *above, *itself;

	split(*tree, node->at, &below, &above);
	split(above, node->at + 1, &itself, &above);
	*tree = join(below, above);
}

struct gt_ptx_room *gt_ptx_room_first(struct gt_ptx_room *tree, uint64_t from, uint64_t room)
{
	struct gt_ptx_room *found = NULL;

	if (most(tree) < room)
		return NULL;
	if (tree->at >= from)
		found = gt_ptx_room_first(tree->left, from, room);
	if (!found && tree->at >= from && tree->room >= room)
		found = tree;
	return found ? found : gt_ptx_room_first(tree->right, from, room);
}

struct gt_ptx_room *gt_ptx_room_at(struct gt_ptx_room *tree, uint64_t at)
{
	struct gt_ptx_room *last = NULL;

	while (tree) {
		if (tree->at <= at)
			last = tree;
		tree = tree->at <= at ? tree->right : tree->left;
	}
	return last;
}

/* ---- the heap of the device ---- */

/* Pieces cover the heap without gaps. A piece is free, or a block, or a block that was given back but whose
 * bytes are held, so that accesses to them are found. Pieces are a tree by their places, in which the room of a free one is its
 * bytes, and that of others is none. A block has GT_PTX_HEAP_UNIT bytes before those that were asked for. */

/* [room.at, end) from the heap's address on. */
struct piece {
	struct gt_ptx_room room; /* the first member */
	uint64_t end;
	uint64_t bytes; /* asked for */
	uint64_t at;	/* where they begin; 0: the piece is free */
	bool held;	/* they were given back, and no bytes of it are given out yet */
	struct piece *next; /* of those that are held, by time; of spare ones */
};

#define FOUND 4096 /* pieces that were found last, by address */

struct gt_ptx_heap {
	uint64_t address, bytes;
	uint64_t changes; /* of which piece lies where, from 1 */
	struct {
		const struct piece *piece;
		uint64_t changes; /* of the heap, when it was found; 0: none was */
	} found[FOUND];
	struct gt_ptx_room *pieces;
	struct piece *spare;
	struct piece *held_first, *held_last;
	uint64_t held_bytes;
};

static struct piece *piece_of(struct gt_ptx_room *room)
{
	return (struct piece *)(void *)room;
}

/* ---- pieces ---- */

/* Room for three more pieces. */
static int reserve(struct gt_ptx_heap *heap, struct gt_error *error)
{
	unsigned n = 0;

	for (const struct piece *one = heap->spare; one && n < 3; one = one->next)
		n++;
	for (; n < 3; n++) {
		struct piece *more = malloc(sizeof *more);
		if (!more)
			return gt_fail_memory(error, "the blocks of the device's heap");
		more->next = heap->spare;
		heap->spare = more;
	}
	return 0;
}

/* Adds a piece, for which there is room, if it has any bytes. */
static void insert(struct gt_ptx_heap *heap, uint64_t begin, uint64_t end, uint64_t at, uint64_t bytes)
{
	struct piece *piece = heap->spare;

	if (begin == end)
		return;
	heap->spare = piece->next;
	*piece = (struct piece){.end = end, .at = at, .bytes = bytes};
	gt_ptx_room_add(&heap->pieces, &piece->room, begin, at ? 0 : end - begin);
}

/* Returns what it was. */
static struct piece take_out(struct gt_ptx_heap *heap, struct piece *gone)
{
	const struct piece was = *gone;

	heap->changes++;
	gt_ptx_room_remove(&heap->pieces, &gone->room);
	gone->next = heap->spare;
	heap->spare = gone;
	return was;
}

/* The piece that a byte of the heap lies in; NULL: it is not in the heap. */
static struct piece *piece_at(const struct gt_ptx_heap *heap, uint64_t within)
{
	return within < heap->bytes ? piece_of(gt_ptx_room_at(heap->pieces, within)) : NULL;
}

/* A block is free, together with the free pieces beside it. */
static void free_piece(struct gt_ptx_heap *heap, struct piece *block)
{
	struct piece gone = take_out(heap, block);
	struct piece *before = gone.room.at > 0 ? piece_at(heap, gone.room.at - 1) : NULL;

	if (before && !before->at)
		gone.room.at = take_out(heap, before).room.at;
	struct piece *after = piece_at(heap, gone.end);
	if (after && !after->at)
		gone.end = take_out(heap, after).end;
	insert(heap, gone.room.at, gone.end, 0, 0);
}

static void hold(struct gt_ptx_heap *heap, struct piece *block)
{
	block->held = true;
	block->next = NULL;
	*(heap->held_last ? &heap->held_last->next : &heap->held_first) = block;
	heap->held_last = block;
	heap->held_bytes += block->end - block->room.at;
}

/* Frees the oldest block that is held. */
static void release_oldest(struct gt_ptx_heap *heap)
{
	struct piece *oldest = heap->held_first;

	heap->held_bytes -= oldest->end - oldest->room.at;
	heap->held_first = oldest->next;
	if (!heap->held_first)
		heap->held_last = NULL;
	free_piece(heap, oldest);
}

/* The lowest free piece that is large enough, for which blocks that are held are freed if need be. */
static struct piece *find_room(struct gt_ptx_heap *heap, uint64_t bytes)
{
	struct gt_ptx_room *found = gt_ptx_room_first(heap->pieces, 0, bytes);

	while (!found && heap->held_first) {
		release_oldest(heap);
		found = gt_ptx_room_first(heap->pieces, 0, bytes);
	}
	return found ? piece_of(found) : NULL;
}

/* ---- the heap comes and goes ---- */

static void free_pieces(struct gt_ptx_room *tree)
{
	if (!tree)
		return;
	free_pieces(tree->left);
	free_pieces(tree->right);
	free(piece_of(tree));
}

void gt_ptx_heap_free(struct gt_ptx_heap *heap)
{
	if (!heap)
		return;
	free_pieces(heap->pieces);
	for (struct piece *one = heap->spare, *next; one; one = next) {
		next = one->next;
		free(one);
	}
	free(heap);
}

struct gt_ptx_heap *gt_ptx_heap_new(uint64_t address, uint64_t bytes, struct gt_error *error)
{
	struct gt_ptx_heap *heap = calloc(1, sizeof *heap);

	if (!heap || reserve(heap, error) != 0) {
		gt_ptx_heap_free(heap);
		gt_fail_memory(error, "the device's heap");
		return NULL;
	}
	heap->address = address;
	heap->bytes = bytes;
	heap->changes = 1;
	insert(heap, 0, bytes, 0, 0);
	return heap;
}

uint64_t gt_ptx_heap_address(const struct gt_ptx_heap *heap)
{
	return heap->address;
}

/* ---- a copy of its state ---- */

/* NULL when memory is short, or there is none to copy. */
static struct gt_ptx_room *copy_pieces(struct gt_ptx_room *tree)
{
	struct piece *copy = tree ? malloc(sizeof *copy) : NULL;

	if (!copy)
		return NULL;
	*copy = *piece_of(tree);
	copy->room.left = copy_pieces(tree->left);
	copy->room.right = copy_pieces(tree->right);
	if ((tree->left && !copy->room.left) || (tree->right && !copy->room.right)) {
		free_pieces(&copy->room);
		return NULL;
	}
	return &copy->room;
}

struct gt_ptx_heap *gt_ptx_heap_copy(const struct gt_ptx_memory *memory)
{
	const struct gt_ptx_heap *heap = memory->heap;
	struct gt_ptx_heap *copy = heap ? calloc(1, sizeof *copy) : NULL;

	if (!copy)
		return NULL;
	copy->address = heap->address;
	copy->bytes = heap->bytes;
	copy->changes = 1;
	copy->pieces = copy_pieces(heap->pieces);
	if (!copy->pieces) {
		free(copy);
		return NULL;
	}
	for (const struct piece *one = heap->held_first; one; one = one->next)
		hold(copy, piece_at(copy, one->room.at));
	return copy;
}

void gt_ptx_heap_restore(struct gt_ptx_memory *memory, struct gt_ptx_heap *copy)
{
	gt_ptx_heap_free(memory->heap);
	memory->heap = copy;
}

/* ---- blocks ---- */

static uint64_t rounded_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
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
	struct piece *found = find_room(heap, alignment + room);
	if (!found)
		return 0;
	const struct piece piece = take_out(heap, found);
	uint64_t at = rounded_up(heap->address + piece.room.at + unit, alignment) - heap->address;
	uint64_t end = at + room;
	insert(heap, piece.room.at, at - unit, 0, 0);
	insert(heap, at - unit, end, at, bytes);
	insert(heap, end, piece.end, 0, 0);
	*address = heap->address + at;
	return 0;
}

int gt_ptx_heap_give(struct gt_ptx_memory *memory, uint64_t address)
{
	struct gt_ptx_heap *heap = memory->heap;
	struct piece *piece = gt_ptx_in_heap(memory, address) ? piece_at(heap, address - heap->address - 1) : NULL;

	if (!piece || !piece->at || piece->held || heap->address + piece->at != address)
		return -1;
	if (memory->held_max == 0) {
		free_piece(heap, piece);
		return 0;
	}
	hold(heap, piece);
	while (heap->held_bytes > heap->bytes / GT_PTX_HELD_PART)
		release_oldest(heap);
	return 0;
}

bool gt_ptx_in_heap(const struct gt_ptx_memory *memory, uint64_t address)
{
	return memory->heap && address - memory->heap->address < memory->heap->bytes;
}

/* The same as piece_at, and faster where kernels come back to the same blocks. */
static const struct piece *find_piece(struct gt_ptx_heap *heap, uint64_t within)
{
	const size_t at = within / GT_PTX_HEAP_UNIT % FOUND;
	const struct piece *piece = heap->found[at].piece;

	if (heap->found[at].changes == heap->changes && within >= piece->room.at && within < piece->end)
		return piece;
	piece = piece_at(heap, within);
	heap->found[at].piece = piece;
	heap->found[at].changes = piece ? heap->changes : 0;
	return piece;
}

bool gt_ptx_heap_block(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *end)
{
	struct gt_ptx_heap *heap = memory->heap;
	uint64_t within = address - heap->address;
	const struct piece *piece = find_piece(heap, within);

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
	const struct piece *piece = piece_at(heap, within);

	if (piece && piece->at)
		snprintf(text, GT_PTX_HEAP_TEXT, "of the device's heap: %s of the block of %" PRIu64 " bytes at 0x%" PRIx64 "%s",
			 within >= piece->at && within - piece->at < piece->bytes ? "inside" : "outside", piece->bytes,
			 heap->address + piece->at, piece->held ? ", which was freed" : "");
	else
		snprintf(text, GT_PTX_HEAP_TEXT, "of the device's heap: in no block that is allocated; it was freed, or never was");
	return text;
}
