/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/gaps.h"

/* A parent's is above those of its children: as good as random, so that the tree is as flat as one of random order. */
static uint64_t priority(const struct gt_ptx_allocation *node)
{
	uint64_t x = (node->address / GT_PTX_ALIGNMENT + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static uint64_t most(const struct gt_ptx_allocation *node)
{
	return node ? node->gap_most : 0;
}

static void refresh(struct gt_ptx_allocation *node)
{
	uint64_t left = most(node->left), right = most(node->right);

	node->gap_most = left > right ? left : right;
	if (node->gap > node->gap_most)
		node->gap_most = node->gap;
}

/* Parts a tree into those below and above an address. */
static void split(struct gt_ptx_allocation *node, uint64_t address, struct gt_ptx_allocation **below,
		  struct gt_ptx_allocation **above)
{
	if (!node) {
		*below = *above = NULL;
		return;
	}
	if (node->address < address) {
		split(node->right, address, &node->right, above);
		*below = node;
	} else {
		split(node->left, address, below, &node->left);
		*above = node;
	}
	refresh(node);
}

static struct gt_ptx_allocation *join(struct gt_ptx_allocation *below, struct gt_ptx_allocation *above)
{
	if (!below || !above)
		return below ? below : above;
	struct gt_ptx_allocation *top = priority(below) > priority(above) ? below : above;
	if (top == below)
		top->right = join(below->right, above);
	else
		top->left = join(below, above->left);
	refresh(top);
	return top;
}

void gt_ptx_gaps_add(struct gt_ptx_memory *memory, struct gt_ptx_allocation *allocation, uint64_t gap)
{
	struct gt_ptx_allocation *below, *above;

	allocation->left = allocation->right = NULL;
	allocation->gap = gap;
	refresh(allocation);
	split(memory->by_gap, allocation->address, &below, &above);
	memory->by_gap = join(join(below, allocation), above);
}

static void change(struct gt_ptx_allocation *node, const struct gt_ptx_allocation *wanted, uint64_t gap)
{
	if (node == wanted)
		node->gap = gap;
	else
		change(wanted->address < node->address ? node->left : node->right, wanted, gap);
	refresh(node);
}

void gt_ptx_gaps_change(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation, uint64_t gap)
{
	change(memory->by_gap, allocation, gap);
}

void gt_ptx_gaps_remove(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation)
{
	struct gt_ptx_allocation *below, *above, *itself;

	split(memory->by_gap, allocation->address, &below, &above);
	split(above, allocation->address + 1, &itself, &above);
	memory->by_gap = join(below, above);
}

struct gt_ptx_allocation *gt_ptx_gaps_first(const struct gt_ptx_memory *memory, uint64_t bytes)
{
	struct gt_ptx_allocation *node = memory->by_gap;

	while (node && node->gap_most > bytes) {
		if (most(node->left) > bytes)
			node = node->left;
		else if (node->gap > bytes)
			return node;
		else
			node = node->right;
	}
	return NULL;
}
