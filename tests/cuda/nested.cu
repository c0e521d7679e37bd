/* SPDX-License-Identifier: MIT */
/* Kernels that launch kernels: streams of every kind, tail launches, levels of launches, copies and fills by kernels, and the
 * errors that a kernel is given. Build with -rdc=true -lcudadevrt, and with -DCUDA_FORCE_CDP1_IF_SUPPORTED for the first
 * interface. */
#include <cstdio>

#include "expect.h"

__device__ int order[64], n_order;

__global__ void note(int tag)
{
	if (threadIdx.x == 0)
		order[atomicAdd(&n_order, 1)] = tag;
}

__global__ void add(int *to, int value)
{
	to[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

/* 1, and below it 11 and 12, and so on: each launches two of the next level. */
__global__ void tree(int tag, int levels)
{
	order[n_order++] = tag;
	if (levels == 0)
		return;
	tree<<<1, 1>>>(10 * tag + 1, levels - 1);
	tree<<<1, 1>>>(10 * tag + 2, levels - 1);
}

#ifndef CUDA_FORCE_CDP1_IF_SUPPORTED
__global__ void by_stream(void)
{
	cudaStream_t stream;
	cudaEvent_t event;

	note<<<1, 32, 0, cudaStreamTailLaunch>>>(5);
	note<<<2, 32, 0, cudaStreamFireAndForget>>>(1);
	note<<<1, 32>>>(2);
	cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
	note<<<1, 32, 64, stream>>>(3);
	cudaEventRecord(event, stream);
	cudaStreamWaitEvent(0, event, 0);
	note<<<1, 32>>>(4);
	note<<<1, 32, 0, cudaStreamTailLaunch>>>(6);
	cudaEventDestroy(event);
	cudaStreamDestroy(stream);
}
#endif

__global__ void copies(int *to, const int *from, int n)
{
	cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyDeviceToDevice, 0);
	cudaMemsetAsync(to + n, 0, n * sizeof *to, 0); /* libcudadevrt 13.0 fills with 0 whatever the value */
	add<<<2, n>>>(to, 1);
}

__global__ void deep(int *last, int depth)
{
	*last = depth;
	deep<<<1, 1>>>(last, depth + 1);
	if (cudaError_t error = cudaGetLastError())
		last[1] = error;
}

__global__ void nothing() {}

__global__ void many(int *result, int n)
{
	for (int i = 0; i < n; i++)
		nothing<<<1, 32>>>();
	result[0] = cudaGetLastError();
}

__global__ void shapes(int *result)
{
	nothing<<<0, 1>>>();
	result[0] = cudaPeekAtLastError();
	result[1] = cudaGetLastError();
	result[2] = cudaGetLastError();
	nothing<<<1, 1025>>>();
	result[3] = cudaGetLastError();
	size_t pending = 0;
	cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount);
	result[4] = (int)pending;
	cudaDeviceGetAttribute(&result[5], cudaDevAttrWarpSize, 0);
	cudaGetDevice(&result[6]);
}

static void expect_order(const int *expected, int n)
{
	int count, found[64], zero = 0;

	SUCCEEDS(cudaDeviceSynchronize());
	SUCCEEDS(cudaMemcpyFromSymbol(&count, n_order, sizeof count));
	SUCCEEDS(cudaMemcpyFromSymbol(found, order, sizeof found));
	CHECK(count == n);
	for (int i = 0; i < n && i < count; i++)
		CHECK(found[i] == expected[i]);
	SUCCEEDS(cudaMemcpyToSymbol(n_order, &zero, sizeof zero));
}

#ifndef CUDA_FORCE_CDP1_IF_SUPPORTED
/* Launches of one stream are in order, and tail launches last; what is launched to be forgotten may run at any time. */
static void expect_streams()
{
	int count, found[64], zero = 0, last = 1;

	SUCCEEDS(cudaMemcpyFromSymbol(&count, n_order, sizeof count));
	SUCCEEDS(cudaMemcpyFromSymbol(found, order, sizeof found));
	CHECK(count == 7);
	for (int i = 0; i < count; i++)
		if (found[i] > 1) {
			CHECK(found[i] == last + 1);
			last = found[i];
		}
	CHECK(last == 6);
	SUCCEEDS(cudaMemcpyToSymbol(n_order, &zero, sizeof zero));
}
#endif

int main()
{
	static const int levels[] = {1, 11, 111, 112, 12, 121, 122};
	int *a;

	SUCCEEDS(cudaMallocManaged(&a, 4096));
	SUCCEEDS(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 40));
	tree<<<1, 1>>>(1, 2);
	expect_order(levels, 7);
#ifndef CUDA_FORCE_CDP1_IF_SUPPORTED
	by_stream<<<1, 1>>>();
	SUCCEEDS(cudaDeviceSynchronize());
	expect_streams();
#endif
	for (int i = 0; i < 64; i++) {
		a[512 + i] = i;
		a[64 + i] = 7;
	}
	copies<<<1, 1>>>(a, a + 512, 64);
	SUCCEEDS(cudaDeviceSynchronize());
	for (int i = 0; i < 64; i++) {
		CHECK(a[i] == i + 1);
		CHECK(a[64 + i] == 1);
	}
	deep<<<1, 1>>>(a, 0);
	SUCCEEDS(cudaDeviceSynchronize());
#ifdef CUDA_FORCE_CDP1_IF_SUPPORTED
	CHECK(a[0] == 24);
	CHECK(a[1] == cudaErrorLaunchMaxDepthExceeded);
#else
	CHECK(a[0] == 40); /* all 40 are pending: an H100 says so, too */
	CHECK(a[1] == cudaErrorLaunchPendingCountExceeded);
#endif
	many<<<1, 1>>>(a, 40);
	many<<<1, 1>>>(a + 1, 41);
	shapes<<<1, 1>>>(a + 2);
	SUCCEEDS(cudaDeviceSynchronize());
	CHECK(a[0] == cudaSuccess);
	CHECK(a[1] == cudaErrorLaunchPendingCountExceeded || a[1] == cudaSuccess); /* on a GPU the first ones may be done before the last */
	CHECK(a[2] == cudaErrorInvalidConfiguration);
	CHECK(a[3] == cudaErrorInvalidConfiguration);
	CHECK(a[4] == cudaSuccess);
	CHECK(a[5] == cudaErrorInvalidConfiguration);
	CHECK(a[6] == 40);
	CHECK(a[7] == 32);
	CHECK(a[8] == 0);
	return verdict();
}
