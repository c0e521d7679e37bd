/* SPDX-License-Identifier: MIT */
/* The device's heap: a list that threads push onto and another kernel takes apart, a heap that is full, alignment, and
 * what the host may not do with it. `device_heap N` does error N in a kernel instead. */
#include <cstdio>
#include <cstdlib>

#include "expect.h"

struct element {
	element *next;
	int value;
};

__device__ element *head;

__global__ void push(int n)
{
	for (int i = 0; i < n; i++) {
		element *made = new element, *old = head, *was;
		made->value = threadIdx.x + blockIdx.x * blockDim.x;
		do {
			was = old;
			made->next = was;
			old = (element *)atomicCAS((unsigned long long *)&head, (unsigned long long)was, (unsigned long long)made);
		} while (old != was);
	}
}

__global__ void pop(int *result)
{
	element *next;

	for (element *one = head; one; one = next) {
		result[0] += one->value;
		result[1]++;
		next = one->next;
		delete one;
	}
	head = 0;
}

__global__ void fill(int *result)
{
	void *most = malloc(7 << 20), *more = malloc(2 << 20);

	result[0] = most != 0;
	result[1] = more == 0;
	free(most);
	more = malloc(2 << 20);
	result[2] = more != 0;
	free(more);
	free(0);
}

struct alignas(64) wide {
	int number[16];
};

__global__ void align(int *result)
{
	wide *one = new wide;
	char *two = (char *)malloc(1);

	result[threadIdx.x] = (size_t)one % 64 == 0 && (size_t)two % 16 == 0;
	delete one;
	free(two);
}

__device__ int *kept;
__global__ void keep() { *(kept = (int *)malloc(sizeof(int))) = 7; }
__global__ void give(int **to, int *value) { *to = kept, *value = *kept; }

__global__ void err(int which)
{
	int *block = (int *)malloc(40), local;

	if (which == 1)
		block[10] = 1;
	free(which == 2 ? block + 1 : which == 3 ? &local : block);
	if (which == 4)
		block[0] = 1;
	if (which == 5)
		free(block);
	if (which == 6) {
		kept = (int *)malloc(40); /* where the block was */
		block[0] = 1;
	}
}

int main(int count, char **words)
{
	int *result, **pointer, value;
	size_t bytes;

	if (count > 1) {
		err<<<1, 1>>>(atoi(words[1]));
		return cudaDeviceSynchronize();
	}
	SUCCEEDS(cudaMallocManaged(&result, 256));
	SUCCEEDS(cudaMallocManaged(&pointer, 8));
	SUCCEEDS(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 100));
	SUCCEEDS(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
	CHECK(bytes == 512 << 10); /* the least */
	SUCCEEDS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 12345));
	SUCCEEDS(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
	CHECK(bytes == 4 << 20);
	CHECK(cudaDeviceSetLimit((cudaLimit)55, 1) == cudaErrorInvalidValue);
	cudaGetLastError();
	SUCCEEDS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
	SUCCEEDS(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
	CHECK(bytes == 8 << 20);
	push<<<4, 64>>>(3);
	pop<<<1, 1>>>(result);
	SUCCEEDS(cudaDeviceSynchronize());
	CHECK(result[0] == 3 * 255 * 256 / 2);
	CHECK(result[1] == 3 * 256);
	fill<<<1, 1>>>(result);
	SUCCEEDS(cudaDeviceSynchronize());
	CHECK(result[0] && result[1] && result[2]);
	align<<<1, 32>>>(result);
	SUCCEEDS(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		CHECK(result[i] == 1);
	keep<<<1, 1>>>();
	give<<<1, 1>>>(pointer, result);
	SUCCEEDS(cudaDeviceSynchronize());
	CHECK(result[0] == 7);
	CHECK(cudaMemcpy(&value, *pointer, sizeof value, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
	CHECK(cudaFree(*pointer) == cudaErrorInvalidValue);
	CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20) == cudaErrorInvalidValue);
	cudaGetLastError();
	SUCCEEDS(cudaDeviceReset());
	SUCCEEDS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
	return verdict();
}
