/* SPDX-License-Identifier: MIT */
/* rodinia_bfs [nodes [edges]]: breadth-first search from node 0 of a random graph, a level at a time, with the data of
 * Rodinia's bfs: a byte for each mask, and the first edge of a node beside the number of its edges, of which there are up to
 * 2 x edges - 1. Blocks of 512 threads. */
#include "suite.h"

enum { BLOCK = 512 };

struct node {
	int first, edges;
};

__global__ void Kernel(const struct node *nodes, const int *edges, bool *mask, bool *next, const bool *visited, int *cost, int n)
{
	int me = blockIdx.x * BLOCK + threadIdx.x;

	if (me >= n || !mask[me])
		return;
	mask[me] = false;
#pragma unroll 1
	for (int i = nodes[me].first; i < nodes[me].first + nodes[me].edges; i++) {
		int other = edges[i];

		if (!visited[other]) {
			cost[other] = cost[me] + 1;
			next[other] = true;
		}
	}
}

__global__ void Kernel2(bool *mask, bool *next, bool *visited, bool *more, int n)
{
	int me = blockIdx.x * BLOCK + threadIdx.x;

	if (me >= n || !next[me])
		return;
	mask[me] = true;
	visited[me] = true;
	*more = true;
	next[me] = false;
}

static void on_cpu(const struct node *nodes, const int *edges, int n, int *cost)
{
	int *queue = host_ints(n), head = 0, tail = 1;

	while (head < tail) {
		int me = queue[head++];

		for (int i = nodes[me].first; i < nodes[me].first + nodes[me].edges; i++) {
			if (cost[edges[i]] >= 0)
				continue;
			cost[edges[i]] = cost[me] + 1;
			queue[tail++] = edges[i];
		}
	}
	free(queue);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 65536), most = argument(argc, argv, 2, 6), all = 0;
	struct node *nodes = (struct node *)host_bytes(n * sizeof *nodes);
	unsigned seed = 1;

	for (int i = 0; i < n; i++) {
		nodes[i].first = all;
		nodes[i].edges = (int)(next_random(&seed) % (unsigned)(2 * most));
		all += nodes[i].edges;
	}
	int *edges = host_ints(all + 1), *cost = host_ints(n);
	bool *first = (bool *)host_bytes(n), more = true;

	for (int i = 0; i < all; i++)
		edges[i] = (int)(next_random(&seed) % (unsigned)n);
	memset(cost, 0xff, n * sizeof *cost);
	cost[0] = 0;
	bool *dnext = (bool *)to_device(first, n);

	first[0] = true;
	struct node *dnodes = (struct node *)to_device(nodes, n * sizeof *nodes);
	int *dedges = ints_to_device(edges, all + 1), *dcost = ints_to_device(cost, n);
	bool *dmask = (bool *)to_device(first, n), *dvisited = (bool *)to_device(first, n), *dmore = (bool *)device_bytes(1);

	while (more) {
		try_cuda(cudaMemset(dmore, 0, 1), "cudaMemset");
		Kernel<<<divide_up(n, BLOCK), BLOCK>>>(dnodes, dedges, dmask, dnext, dvisited, dcost, n);
		Kernel2<<<divide_up(n, BLOCK), BLOCK>>>(dmask, dnext, dvisited, dmore, n);
		finish("bfs");
		to_host(&more, dmore, 1);
	}
	on_cpu(nodes, edges, n, cost);
	return report(differ_ints("cost", dcost, cost, n));
}
