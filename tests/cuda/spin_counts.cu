// Blocks wait for later blocks in loops that never repeat a state: they count, back off, and store how often they tried. Block b takes its step
// when block b + 1 has. With "never" nobody takes the first one.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

__global__ void chain(volatile int *flag, volatile int *tries, int steps)
{
	int b = blockIdx.x, n = gridDim.x;

	for (int s = 0; s < steps; s++) {
		if (threadIdx.x == 0) {
			unsigned ns = 8;
			for (int t = 1; *flag < s * n + n - 1 - b; t++) {
				__nanosleep(ns);
				ns = ns < 1000 ? 2 * ns : ns;
				tries[b] = t;
			}
			__threadfence();
			*flag = s * n + n - b;
		}
		__syncthreads();
	}
}

int main(int argc, char **argv)
{
	const int blocks = 64, steps = 4, never = argc > 1 && !strcmp(argv[1], "never");
	int *flag, last;

	cudaMalloc(&flag, (blocks + 1) * sizeof(int));
	cudaMemset(flag, never ? 0x80 : 0, (blocks + 1) * sizeof(int));
	clock_t begin = clock();
	chain<<<blocks, 128>>>(flag, flag + 1, steps);
	cudaError_t error = cudaDeviceSynchronize();
	double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	cudaMemcpy(&last, flag, sizeof last, cudaMemcpyDeviceToHost);
	bool ok = !error && last == blocks * steps && seconds < 5;
	printf("%s: %d steps of %d, %.2f s of processor time, %s\n", ok ? "PASS" : "FAIL", last, blocks * steps, seconds,
	       cudaGetErrorString(error));
	return !ok;
}
