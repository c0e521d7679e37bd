/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/pieces.h"

#include <stdlib.h>

#include "base/grown.h"
#include "base/random.h"

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
