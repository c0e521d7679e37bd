/* SPDX-License-Identifier: MIT */
#include <cassert>
#include <cstdio>
__global__ void k(int *a) { a[threadIdx.x] = 1; assert(threadIdx.x < 30); a[threadIdx.x] = 2; }
int main() {
	int *a; cudaMalloc(&a, 128);
	k<<<1, 32>>>(a);
	printf("%d ", cudaGetLastError());
	printf("%d ", cudaDeviceSynchronize());
	printf("%d ", cudaGetLastError());
	printf("%d\n", cudaMalloc(&a, 4));
	return 0;
}
