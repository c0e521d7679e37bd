/* SPDX-License-Identifier: MIT */
/* bfs [nodes [edges [block]]]: breadth-first search from node 0 of a random graph with up to 2 x edges - 1
 * edges a node, a level at a time. One kernel writes the distance of what the frontier reaches, a second
 * makes that the next frontier, so that what is read does not depend on which thread came first. */
#include "example.h"

__global__ void bfs_visit(const int *first, const int *to, const int *frontier, const int *visited, int *reached,
			  int *distance, int nodes, int level)
{
	int node = blockIdx.x * blockDim.x + threadIdx.x;

	if (node >= nodes || !frontier[node])
		return;
#pragma unroll 1
	for (int i = first[node], end = first[node + 1]; i < end; i++) {
		int other = to[i];

		if (!visited[other]) {
			distance[other] = level + 1;
			reached[other] = 1;
		}
	}
}

__global__ void bfs_advance(int *frontier, int *visited, int *reached, int *more, int nodes)
{
	int node = blockIdx.x * blockDim.x + threadIdx.x;
	int now;

	if (node >= nodes)
		return;
	now = reached[node];
	frontier[node] = now;
	if (now) {
		visited[node] = 1;
		reached[node] = 0;
		*more = 1;
	}
}

struct graph {
	int nodes, *first, *to;
};

static struct graph random_graph(int nodes, int edges)
{
	struct graph graph = {nodes, host_ints(nodes + 1), NULL};
	unsigned seed = 1;

	for (int node = 0; node < nodes; node++)
		graph.first[node + 1] = graph.first[node] + (int)(next_random(&seed) % (unsigned)(2 * edges));
	graph.to = host_ints(graph.first[nodes] + 1);
	for (int i = 0; i < graph.first[nodes]; i++)
		graph.to[i] = (int)(next_random(&seed) % (unsigned)nodes);
	return graph;
}

static void on_cpu(struct graph graph, int *distance)
{
	int *queue = host_ints(graph.nodes), head = 0, tail = 1;

	for (int node = 1; node < graph.nodes; node++)
		distance[node] = -1;
	while (head < tail) {
		int node = queue[head++];

		for (int i = graph.first[node]; i < graph.first[node + 1]; i++) {
			if (distance[graph.to[i]] >= 0)
				continue;
			distance[graph.to[i]] = distance[node] + 1;
			queue[tail++] = graph.to[i];
		}
	}
	free(queue);
}

int main(int argc, char **argv)
{
	int nodes = argument(argc, argv, 1, 512), edges = argument(argc, argv, 2, 3);
	int block = argument(argc, argv, 3, 128), grid = divide_up(nodes, block), more = 1;
	int *start = host_ints(nodes), *distance = host_ints(nodes);
	struct graph graph = random_graph(nodes, edges);
	int *dfirst = ints_to_device(graph.first, nodes + 1), *dto = ints_to_device(graph.to, graph.first[nodes] + 1);
	int *dreached = ints_to_device(start, nodes), *dmore = ints_to_device(&more, 1);
	int *dfrontier, *dvisited, *ddistance;

	start[0] = 1;
	dfrontier = ints_to_device(start, nodes);
	dvisited = ints_to_device(start, nodes);
	memset(distance, 0xff, nodes * sizeof(int));
	distance[0] = 0;
	ddistance = ints_to_device(distance, nodes);
	for (int level = 0; more; level++) {
		try_cuda(cudaMemset(dmore, 0, sizeof(int)), "cudaMemset");
		bfs_visit<<<grid, block>>>(dfirst, dto, dfrontier, dvisited, dreached, ddistance, nodes, level);
		bfs_advance<<<grid, block>>>(dfrontier, dvisited, dreached, dmore, nodes);
		finish("bfs");
		to_host(&more, dmore, sizeof(int));
	}
	on_cpu(graph, distance);
	return report(differ_ints("distance", ddistance, distance, nodes));
}
