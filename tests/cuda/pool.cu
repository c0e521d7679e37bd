/* SPDX-License-Identifier: MIT */
#include <cstdio>
int main()
{
	cudaMemPool_t pool;
	unsigned long long used;
	float *a, *b;
	cudaDeviceGetDefaultMemPool(&pool, 0);
	cudaMallocAsync(&a, 4096, 0);
	cudaFree(a);
	cudaMalloc(&b, 4096);
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
	printf("%d %llu\n", a == b, used);
	cudaDeviceReset();
	return 0;
}
