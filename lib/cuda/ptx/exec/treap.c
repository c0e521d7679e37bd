/* SPDX-License-Identifier: MIT */
/* Rooms by address: a search tree of what lies in an address space, in which every node has some room and knows the largest room
 * below it. The first node with enough room, and the one that an address lies behind, are each found on one way down.
 *
 * It is a treap: a parent's priority is above those of its children. Priorities are as good as random, so that the tree is as flat
 * as one whose nodes came in random order, whatever their order. */
#include "base/random.h"
#include "cuda/ptx/exec/memory.h"

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
