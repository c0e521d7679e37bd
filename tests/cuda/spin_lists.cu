// The levels of a directed acyclic graph, each node by a thread that polls the flags of its predecessors one after the other until all
// have a level. Predecessors are of any block and any lane, so lanes of a warp poll lists of different lengths, and wait for each other.
// There is one right result, which the host computes in the order of the ranks.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

__global__ void levels(int nodes, const int *first, const int *list, volatile int *level)
{
	int v = threadIdx.x + blockIdx.x * blockDim.x, waits;

	do {
		waits = 0;
		if (v < nodes && !level[v]) {
			int most = 0, i = first[v];
			for (; i < first[v + 1]; i++) {
				int l = level[list[i]];
				if (!l)
					break;
				most = l > most ? l : most;
			}
			if (i < first[v + 1])
				waits = 1;
			else
				level[v] = most + 1;
		}
	} while (waits);
}

// The same in one loop of several nodes a thread, which compilers merge with the walk: a node that waits begins its list anew. The state of a
// warp is that of lanes whose lists have different lengths, so it repeats after their least common multiple; that of each lane repeats soon.
__global__ void merged(int nodes, const int *first, const int *list, volatile int *level)
{
	for (int v = threadIdx.x + blockIdx.x * blockDim.x; v < nodes; v += gridDim.x * blockDim.x) {
		int most, i, tries = 0;
top:
		most = 0;
		for (i = first[v]; i < first[v + 1]; i++) {
			int l = level[list[i]];
			if (!l) {
				tries++;
				goto top;
			}
			most = l > most ? l : most;
		}
		level[v] = most + 1 + (tries < 0);
	}
}

static unsigned draw(unsigned *state)
{
	*state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
	return *state;
}

int main(int argc, char **argv)
{
	const int nodes = argc > 1 ? atoi(argv[1]) : 2401, edges = nodes * (argc > 2 ? atoi(argv[2]) : 4), per = argc > 3 ? atoi(argv[3]) : 0;
	std::vector<int> rank(nodes), node(nodes), first(1), list, right(nodes), got(nodes);
	std::vector<std::vector<int>> before(nodes);
	unsigned state = 1;
	int wrong = 0, deepest = 0, *d_first, *d_list, *d_level;

	for (int v = 0; v < nodes; v++)
		node[v] = v;
	for (int v = nodes - 1; v > 0 && !per; v--) // a thread takes its nodes in the order of their numbers
		std::swap(node[v], node[draw(&state) % (v + 1)]);
	for (int r = 0; r < nodes; r++)
		rank[node[r]] = r;
	for (int e = 0; e < edges; e++) {
		int a = draw(&state) % nodes, b = draw(&state) % nodes;
		if (a != b)
			before[rank[a] < rank[b] ? b : a].push_back(rank[a] < rank[b] ? a : b);
	}
	for (int v = 0; v < nodes; v++) {
		list.insert(list.end(), before[v].begin(), before[v].end());
		first.push_back((int)list.size());
	}
	for (int r = 0; r < nodes; r++) {
		for (int b : before[node[r]])
			right[node[r]] = right[b] > right[node[r]] ? right[b] : right[node[r]];
		deepest = ++right[node[r]] > deepest ? right[node[r]] : deepest;
	}
	cudaMalloc(&d_first, first.size() * sizeof(int));
	cudaMalloc(&d_list, list.size() * sizeof(int));
	cudaMalloc(&d_level, nodes * sizeof(int));
	cudaMemcpy(d_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice);
	cudaMemcpy(d_list, list.data(), list.size() * sizeof(int), cudaMemcpyHostToDevice);
	cudaMemset(d_level, 0, nodes * sizeof(int));
	clock_t begin = clock();
	if (per)
		merged<<<(nodes + 256 * per - 1) / (256 * per), 256>>>(nodes, d_first, d_list, d_level);
	else
		levels<<<(nodes + 255) / 256, 256>>>(nodes, d_first, d_list, d_level);
	cudaError_t error = cudaDeviceSynchronize();
	double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	cudaMemcpy(got.data(), d_level, nodes * sizeof(int), cudaMemcpyDeviceToHost);
	for (int v = 0; v < nodes; v++)
		wrong += got[v] != right[v];
	bool ok = !error && !wrong && seconds < 10;
	printf("%s: %d of %d levels differ, the deepest is %d, %.2f s of processor time, %s\n", ok ? "PASS" : "FAIL", wrong, nodes, deepest,
	       seconds, cudaGetErrorString(error));
	return !ok;
}
