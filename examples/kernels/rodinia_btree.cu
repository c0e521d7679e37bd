/* SPDX-License-Identifier: MIT */
/* rodinia_btree [keys [queries]]: two lookups in a B+ tree with nodes of 256 keys, as Rodinia's b+tree has them: of the
 * value of a key, and of a range of keys. A block of 256 threads goes down the tree for one query, a thread for each
 * key of a node. The tree has the keys 0, 2, 4, ...; each node is half full. */
#include "suite.h"

enum { ORDER = 256, HALF = ORDER / 2 };

struct knode {
	int location, indices[ORDER + 1], keys[ORDER + 1];
	bool is_leaf;
	int num_keys;
};

/* One level down: thread t looks whether the key is in the interval before key t + 1. */
__device__ static void descend(const struct knode *nodes, long count, long node, int key, long *found)
{
	int t = threadIdx.x;

	if (nodes[node].keys[t] <= key && nodes[node].keys[t + 1] > key && nodes[node].indices[t] < count)
		*found = nodes[node].indices[t];
}

__global__ void findK(long height, const struct knode *nodes, long count, const int *records, long *node, long *found,
		      const int *keys, int *answer)
{
	int t = threadIdx.x, b = blockIdx.x;

#pragma unroll 1
	for (int level = 0; level < height; level++) {
		descend(nodes, count, node[b], keys[b], &found[b]);
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
		descend(nodes, count, node[b], start[b], &found[b]);
		descend(nodes, count, last_node[b], end[b], &last_found[b]);
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

static void end_node(struct knode *node, int n)
{
	node->num_keys = n;
	for (int i = n; i <= ORDER; i++) {
		node->keys[i] = 1 << 30; /* above every key */
		node->indices[i] = 1 << 30;
	}
}

/* The level above `n` nodes from `first`: each has up to HALF of them, by the lowest key below. Returns its number of nodes. */
static int add_level(struct tree *tree, int first, int n)
{
	for (int i = 0; i < n; i++) {
		struct knode *parent = &tree->nodes[tree->count + i / HALF];

		parent->keys[i % HALF] = tree->nodes[first + i].keys[0];
		parent->indices[i % HALF] = first + i;
		end_node(parent, i % HALF + 1);
	}
	return divide_up(n, HALF);
}

/* Leaves first, the root last. */
static struct tree make_tree(int keys)
{
	int leaves = divide_up(keys, HALF), first = 0, n = leaves;
	struct tree tree = {(struct knode *)host_bytes((size_t)(2 * leaves + 1) * sizeof *tree.nodes), leaves, 0};

	for (int i = 0; i < keys; i++) {
		struct knode *leaf = &tree.nodes[i / HALF];

		leaf->is_leaf = true;
		leaf->keys[i % HALF] = 2 * i;
		leaf->indices[i % HALF] = i;
		end_node(leaf, i % HALF + 1);
	}
	for (; n > 1; tree.height++) {
		int above = add_level(&tree, first, n);

		first = tree.count;
		tree.count += n = above;
	}
	return tree;
}

int main(int argc, char **argv)
{
	int keys = argument(argc, argv, 1, 10000), queries = argument(argc, argv, 2, 60);
	struct tree tree = make_tree(keys);
	int *records = host_ints(keys), *start = host_ints(queries), *end = host_ints(queries), *length = host_ints(queries);
	long *root = (long *)host_bytes(queries * sizeof *root);
	unsigned seed = 1;

	for (int i = 0; i < keys; i++)
		records[i] = 3 * i + 1;
	for (int q = 0; q < queries; q++) {
		int i = (int)(next_random(&seed) % (unsigned)keys), j = i + (int)(next_random(&seed) % (unsigned)(keys - i));

		start[q] = 2 * i;
		end[q] = 2 * j;
		length[q] = j - i + 1;
		root[q] = tree.count - 1;
	}
	struct knode *nodes = (struct knode *)to_device(tree.nodes, tree.count * sizeof *nodes);
	long *ways[4];
	int *dstart = ints_to_device(start, queries), *dend = ints_to_device(end, queries), *drecords = ints_to_device(records, keys);
	int *answer = (int *)device_bytes(queries * sizeof(int)), *first = (int *)device_bytes(queries * sizeof(int));
	int *dlength = (int *)device_bytes(queries * sizeof(int));

	for (int i = 0; i < 4; i++)
		ways[i] = (long *)to_device(root, queries * sizeof *root);
	findK<<<queries, ORDER>>>(tree.height, nodes, tree.count, drecords, ways[0], ways[1], dstart, answer);
	finish("findK");
	for (int i = 0; i < 2; i++)
		try_cuda(cudaMemcpy(ways[i], root, queries * sizeof *root, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
	findRangeK<<<queries, ORDER>>>(tree.height, nodes, tree.count, ways[0], ways[1], ways[2], ways[3], dstart, dend, first, dlength);
	finish("findRangeK");
	for (int q = 0; q < queries; q++)
		end[q] = records[start[q] / 2];
	return report(differ_ints("answer", answer, end, queries) || differ_ints("length", dlength, length, queries));
}
