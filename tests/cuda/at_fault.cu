/* SPDX-License-Identifier: MIT */
__global__ void kernel(int *to) { *to = 1; }
int main(int n, char **)
{
	int *to;
	cudaMalloc(&to, 4);
	if (n > 1)
		kernel<<<1, 1>>>(to + (1 << 20));
	return cudaDeviceSynchronize() != cudaSuccess;
}
