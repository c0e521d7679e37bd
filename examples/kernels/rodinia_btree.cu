/* SPDX-License-Identifier: MIT */
/* rodinia_btree [keys [ranges [queries]]]: two lookups in a B+ tree with nodes of 256 keys, as Rodinia's b+tree has them: of a range
 * of keys, and of the value of a key. A block of 256 threads goes down the tree for one query, a thread for each key of a node. The keys
 * are 0, 1, 2, ..., inserted in this order; Rodinia's mil.txt has 1000000 of them. The queries are those of its commands `j RANGES`
 * and `k QUERIES`, one after the other: drawn with rand(), and a range has as many keys as there are ranges. */
#include <limits.h>
#include "suite.h"

enum { ORDER = 256, HALF = ORDER / 2, MOST_LEVELS = 5 };

struct knode {
	int location, indices[ORDER + 1], keys[ORDER + 1];
	bool is_leaf;
	int num_keys;
};

/* One level down: thread t looks whether the key is in the interval before key t + 1 of the node `at`, and if so takes the child's
 * place out of the node `from`, which is the same one. */
__device__ static void descend(const struct knode *nodes, long count, const long *at, const long *from, const int *key, long *found)
{
	int t = threadIdx.x;

	if (nodes[*at].keys[t] <= *key && nodes[*at].keys[t + 1] > *key && nodes[*from].indices[t] < count)
		*found = nodes[*from].indices[t];
}

__global__ void findK(long height, const struct knode *nodes, long count, const int *records, long *node, long *found,
		      const int *keys, int *answer)
{
	int t = threadIdx.x, b = blockIdx.x;

#pragma unroll 1
	for (int level = 0; level < height; level++) {
		descend(nodes, count, &node[b], &found[b], &keys[b], &found[b]);
		__syncthreads();
		if (t == 0)
			node[b] = found[b];
		__syncthreads();
	}
	if (nodes[node[b]].keys[t] == keys[b])
		answer[b] = records[nodes[node[b]].indices[t]];
}

__global__ void findRangeK(long height, const struct knode *nodes, long count, long *node, long *found, long *last_node,
			   long *last_found, const int *start, const int *end, int *first_record, int *length)
{
	int t = threadIdx.x, b = blockIdx.x;

#pragma unroll 1
	for (int level = 0; level < height; level++) {
		descend(nodes, count, &node[b], &node[b], &start[b], &found[b]);
		descend(nodes, count, &last_node[b], &last_node[b], &end[b], &last_found[b]);
		__syncthreads();
		if (t == 0) {
			node[b] = found[b];
			last_node[b] = last_found[b];
		}
		__syncthreads();
	}
	if (nodes[node[b]].keys[t] == start[b])
		first_record[b] = nodes[node[b]].indices[t];
	__syncthreads();
	if (nodes[last_node[b]].keys[t] == end[b])
		length[b] = nodes[last_node[b]].indices[t] - first_record[b] + 1;
}

struct tree {
	struct knode *nodes;
	int count, height;
};

static int at_least_one(int n) { return n > 0 ? n : 1; }

/* A node's entry at `place`. */
static void put_entry(struct knode *node, int place, int key, int index)
{
	node->keys[place] = key;
	node->indices[place] = index;
}

/* Node i of a level whose entries are `spacing` keys apart: entries from i * HALF on; `below`: the place of the first node of the level below,
 * or -1 in a leaf. A key below all others comes before a leaf's entries, and in the place of the first key of another node. */
static void fill_node(struct knode *node, int i, int entries, int spacing, int below)
{
	int skip = below < 0;

	node->is_leaf = skip;
	for (int e = 0; e < entries; e++)
		put_entry(node, e + skip, (i * HALF + e) * spacing, skip ? i * HALF + e : below + i * HALF + e);
	node->keys[0] = INT_MIN;
	for (int e = entries + skip; e < ORDER; e++)
		node->keys[e] = INT_MAX;
	node->num_keys = entries + skip + 1;
}

/* Level by level, the root first. Keys that come in rising order split the last node of a level again and again and leave HALF entries in
 * all others; that node has up to ORDER - 1 if it is a leaf, and up to ORDER if not. */
static struct tree make_tree(int keys)
{
	int entries[MOST_LEVELS] = {keys}, nodes[MOST_LEVELS] = {at_least_one(keys / HALF)}, spacing = 1;
	struct tree tree = {NULL, nodes[0], 0};

	for (; nodes[tree.height] > 1; tree.count += nodes[tree.height]) {
		int children = nodes[tree.height++];

		entries[tree.height] = children;
		nodes[tree.height] = at_least_one((children - 1) / HALF);
	}
	tree.nodes = (struct knode *)host_bytes((size_t)tree.count * sizeof *tree.nodes);
	for (int level = 0, first = tree.count, below = -1; level <= tree.height; level++, below = first, spacing *= HALF) {
		first -= nodes[level];
		for (int i = 0, n = nodes[level]; i < n; i++) {
			tree.nodes[first + i].location = first + i;
			fill_node(&tree.nodes[first + i], i, i < n - 1 ? HALF : entries[level] - i * HALF, spacing, below);
		}
	}
	return tree;
}

/* A key as Rodinia draws it, in single precision; the product may round up to the number of keys. */
static int draw_key(int keys)
{
	int key = (int)((float)rand() / (float)RAND_MAX * (float)keys);

	return key < keys ? key : keys - 1;
}

/* Ranges of `width` keys; one that would end behind the last key is moved. */
static void draw_ranges(int *start, int *end, int n, int keys, int width)
{
	for (int q = 0; q < n; q++) {
		start[q] = draw_key(keys);
		end[q] = start[q] + width;
		if (end[q] >= keys) {
			start[q] = keys - width;
			end[q] = keys - 1;
		}
	}
}

/* Where each query begins: at the root. */
static long *roots(int n)
{
	long *root = (long *)host_bytes(n * sizeof *root), *device = (long *)to_device(root, n * sizeof *root);

	free(root);
	return device;
}

static int run_ranges(const struct tree *tree, const struct knode *nodes, int keys, int n)
{
	int *start = host_ints(n), *end = host_ints(n), *length = host_ints(n);
	int *first = (int *)device_bytes(n * sizeof(int)), *dlength = (int *)device_bytes(n * sizeof(int));

	draw_ranges(start, end, n, keys, n < keys ? n : keys);
	long *node = roots(n), *found = roots(n), *last_node = roots(n), *last_found = roots(n);
	findRangeK<<<n, ORDER>>>(tree->height, nodes, tree->count, node, found, last_node, last_found, ints_to_device(start, n),
				 ints_to_device(end, n), first, dlength);
	finish("findRangeK");
	for (int q = 0; q < n; q++)
		length[q] = end[q] - start[q] + 1;
	return differ_ints("first", first, start, n) || differ_ints("length", dlength, length, n);
}

static int run_keys(const struct tree *tree, const struct knode *nodes, int keys, int n)
{
	int *records = host_ints(keys), *key = host_ints(n), *expected = host_ints(n), *answer = (int *)device_bytes(n * sizeof(int));

	for (int i = 0; i < keys; i++)
		records[i] = 3 * i + 1;
	for (int q = 0; q < n; q++) {
		key[q] = draw_key(keys);
		expected[q] = records[key[q]];
	}
	findK<<<n, ORDER>>>(tree->height, nodes, tree->count, ints_to_device(records, keys), roots(n), roots(n), ints_to_device(key, n), answer);
	finish("findK");
	return differ_ints("answer", answer, expected, n);
}

int main(int argc, char **argv)
{
	int keys = argument(argc, argv, 1, 10000), ranges = argument(argc, argv, 2, 60), queries = argument(argc, argv, 3, ranges);
	struct tree tree = make_tree(keys);
	struct knode *nodes = (struct knode *)to_device(tree.nodes, tree.count * sizeof *nodes);

	return report(run_ranges(&tree, nodes, keys, ranges) || run_keys(&tree, nodes, keys, queries));
}
