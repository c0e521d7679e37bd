/* SPDX-License-Identifier: MIT */
#include <cstdio>
__global__ void gate(volatile unsigned *latch) { while (latch[0] < 1); }
__global__ void twice(int *a) { a[threadIdx.x] *= 2; }
int main(int, char **words)
{
	unsigned *latch;
	int *a, *d, *h, pageable[32], how = *words[1];
	cudaStream_t s;
	cudaEvent_t e;
	cudaMallocHost(&latch, 4), cudaMallocManaged(&a, 128), cudaMalloc(&d, 128), cudaMallocHost(&h, 128);
	cudaStreamCreate(&s), cudaEventCreate(&e);
	for (int i = 0; i < 32; i++)
		a[i] = i, h[i] = 100 + i;
	*latch = how == 'o';
	gate<<<1, 1, 0, s>>>(latch);
	twice<<<1, 32, 0, s>>>(a);
	cudaMemcpyAsync(d, h, 128, cudaMemcpyHostToDevice, s);
	twice<<<1, 32, 0, s>>>(d);
	cudaMemcpyAsync(h, d, 128, cudaMemcpyDeviceToHost, s);
	cudaEventRecord(e, s);
	printf("%d %d ", a[3], h[3]);
	printf("%s\n", cudaGetErrorName(cudaStreamQuery(s)));
	fflush(stdout);
	if (how == 'p')
		cudaMemcpyAsync(d, pageable, 128, cudaMemcpyHostToDevice, s);
	if (how == 'n')
		return cudaStreamSynchronize(s);
	*latch = 1;
	if (how == 's')
		cudaStreamSynchronize(s);
	while (how == 'e' && cudaEventQuery(e) == cudaErrorNotReady);
	if (how == 'c')
		cudaMemcpy(pageable, h, 128, cudaMemcpyDefault);
	printf("%d %d\n", a[3], h[3]);
	return 0;
}
