/* SPDX-License-Identifier: MIT */
#include <cassert>
#include <cstdio>
__global__ void traps(int *a) { if (threadIdx.x == 5) __trap(); a[threadIdx.x] = 1; }
__global__ void strays(int *a) { a[threadIdx.x + 32] = 1; }
__global__ void asserts(int *a) { assert(threadIdx.x != 6); a[threadIdx.x] = 1; }
int main() {
	int *a; cudaMalloc(&a, 128);
	traps<<<1, 32>>>(a), printf("%d ", cudaDeviceSynchronize());
	strays<<<1, 32>>>(a), printf("%d ", cudaDeviceSynchronize());
	asserts<<<1, 32>>>(a), printf("%d\n", cudaDeviceSynchronize());
	return 0;
}
