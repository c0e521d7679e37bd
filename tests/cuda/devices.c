/* SPDX-License-Identifier: MIT */
/* Several devices: `devices N` expects N of them (2 or more), checks what a program sees of them, and prints PASS, or FAIL with
 * what is wrong. `devices N stray` then reads memory of another device without access to it. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define OK(CALL) CHECK((CALL) == cudaSuccess)

/* to[i] = from[i] + counter, and counter += 1 by the first thread; each device has its own counter. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 counter;\n"
			  ".visible .entry copy(.param .u64 to, .param .u64 from)\n{\n"
			  "	.reg .pred %p<2>;\n	.reg .b32 %r<6>;\n	.reg .b64 %rd<6>;\n"
			  "	ld.param.u64 %rd1, [to];\n	ld.param.u64 %rd2, [from];\n	mov.u32 %r1, %tid.x;\n"
			  "	mul.wide.u32 %rd3, %r1, 4;\n	add.s64 %rd4, %rd1, %rd3;\n	add.s64 %rd5, %rd2, %rd3;\n"
			  "	ld.global.u32 %r2, [%rd5];\n	ld.global.u32 %r3, [counter];\n	add.s32 %r4, %r2, %r3;\n"
			  "	st.global.u32 [%rd4], %r4;\n	setp.ne.u32 %p1, %r1, 0;\n	@%p1 ret;\n"
			  "	add.s32 %r5, %r3, 1;\n	st.global.u32 [counter], %r5;\n	ret;\n}\n";

enum { N = 32 };
static cudaKernel_t copy;

static cudaError_t launch(int *to, const int *from, cudaStream_t stream)
{
	void *arguments[] = {&to, &from};

	return cudaLaunchKernel((void *)copy, (dim3){1, 1, 1}, (dim3){N, 1, 1}, arguments, 0, stream);
}

static int *memory_on(int device, int value)
{
	int *to = NULL, host[N];

	for (int i = 0; i < N; i++)
		host[i] = value;
	OK(cudaSetDevice(device));
	OK(cudaMalloc((void **)&to, sizeof host));
	OK(cudaMemcpy(to, host, sizeof host, cudaMemcpyHostToDevice));
	return to;
}

static int all_are(const int *on_device, int value)
{
	int host[N], n = 0;

	OK(cudaMemcpy(host, on_device, sizeof host, cudaMemcpyDeviceToHost));
	while (n < N && host[n] == value)
		n++;
	return n == N;
}

static void what_there_is(int expected)
{
	int n = 0, device = -1, can = -1, other = -1;
	char bus[32];
	cudaUUID_t uuids[2];
	struct cudaDeviceProp properties;
	size_t left, total, before;
	void *pointer;

	OK(cudaGetDeviceCount(&n));
	CHECK(n == expected);
	OK(cudaGetDevice(&device));
	CHECK(device == 0);
	CHECK(cudaSetDevice(n) == cudaErrorInvalidDevice && cudaSetDevice(-1) == cudaErrorInvalidDevice);
	OK(cudaSetDevice(n - 1));
	OK(cudaGetDevice(&device));
	CHECK(device == n - 1);
	for (int i = 0; i < 2; i++) {
		OK(cudaGetDeviceProperties(&properties, i));
		uuids[i] = properties.uuid;
		OK(cudaDeviceGetAttribute(&other, cudaDevAttrPciBusId, i));
		CHECK(properties.pciBusID == other && other == i + 1);
	}
	CHECK(memcmp(&uuids[0], &uuids[1], sizeof uuids[0]) != 0);
	OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
	OK(cudaDeviceGetByPCIBusId(&other, bus));
	CHECK(other == 1);
	OK(cudaDeviceCanAccessPeer(&can, 0, 1));
	CHECK(can == 1);
	OK(cudaDeviceCanAccessPeer(&can, 0, 0));
	CHECK(can == 0);
	CHECK(cudaDeviceCanAccessPeer(&can, 0, n) == cudaErrorInvalidDevice);

	/* Each device has memory of its own. */
	OK(cudaSetDevice(0));
	OK(cudaMemGetInfo(&before, &total));
	OK(cudaSetDevice(1));
	OK(cudaMalloc(&pointer, 1 << 20));
	OK(cudaMemGetInfo(&left, &total));
	CHECK(total - left >= 1 << 20);
	CHECK(cudaMalloc(&pointer, total) == cudaErrorMemoryAllocation);
	OK(cudaSetDevice(0));
	OK(cudaMemGetInfo(&left, &total));
	CHECK(left == before);
}

static void *in_thread(void *unused)
{
	int device = -1;

	(void)unused;
	OK(cudaGetDevice(&device));
	CHECK(device == 0); /* the device is each thread's own */
	OK(cudaSetDevice(1));
	return NULL;
}

static void launches(void)
{
	int *first = memory_on(0, 100), *second = memory_on(1, 200), *pinned;
	struct cudaPointerAttributes about;
	cudaStream_t stream;
	pthread_t thread;
	int device = -1;

	OK(cudaPointerGetAttributes(&about, second));
	CHECK(about.device == 1 && about.type == cudaMemoryTypeDevice);
	OK(cudaSetDevice(0));
	OK(launch(first, first, NULL));
	OK(launch(first, first, NULL));
	CHECK(all_are(first, 101)); /* + 0, + 1 */
	OK(cudaSetDevice(1));
	OK(launch(second, second, NULL));
	CHECK(all_are(second, 200)); /* the counter of device 1 was 0 */

	/* Copies need no access; kernels do. */
	OK(cudaMemcpyPeer(second, 1, first, 0, N * sizeof *first));
	CHECK(all_are(second, 101));
	CHECK(cudaMemcpyPeer(second, 9, first, 0, 4) == cudaErrorInvalidDevice);
	OK(cudaMallocHost((void **)&pinned, N * sizeof *pinned));
	for (int i = 0; i < N; i++)
		pinned[i] = 7;
	OK(launch(second, pinned, NULL));
	CHECK(all_are(second, 8)); /* the counter is 1 */
	CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
	CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessUnsupported);
	CHECK(cudaDeviceEnablePeerAccess(0, 1) == cudaErrorInvalidValue);
	OK(cudaDeviceEnablePeerAccess(0, 0));
	CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
	OK(launch(second, first, NULL));
	CHECK(all_are(second, 103)); /* the counter is 2 */
	OK(cudaDeviceDisablePeerAccess(0));

	/* A stream has its device, and a node the one that it was made on. */
	cudaGraph_t graph;
	cudaGraphExec_t ready;
	OK(cudaStreamCreate(&stream));
	OK(cudaSetDevice(0));
	CHECK(launch(first, first, stream) == cudaErrorInvalidResourceHandle);
	OK(cudaStreamGetDevice(stream, &device));
	CHECK(device == 1);
	void *of_stream;
	OK(cudaMallocAsync(&of_stream, 100, stream));
	OK(cudaPointerGetAttributes(&about, of_stream));
	CHECK(about.device == 1);
	OK(cudaFreeAsync(of_stream, stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaMallocAsync(&of_stream, 100, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaPointerGetAttributes(&about, of_stream));
	CHECK(about.device == 1);
	OK(cudaGraphDestroy(graph));

	/* So has what a node allocates. */
	struct cudaMemAllocNodeParams asked = {.poolProps = {.allocType = cudaMemAllocationTypePinned,
							      .location = {.type = cudaMemLocationTypeDevice, .id = 1}}, .bytesize = 100};
	struct cudaMemAllocNodeParams told = {.bytesize = 0};
	cudaGraphNode_t node;
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &asked));
	OK(cudaPointerGetAttributes(&about, asked.dptr));
	OK(cudaGraphMemAllocNodeGetParams(node, &told));
	CHECK(about.device == 1 && told.poolProps.location.id == 1 && told.dptr == asked.dptr);
	OK(cudaGraphDestroy(graph));
	OK(cudaSetDevice(1));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(launch(second, second, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&ready, graph, 0));
	OK(cudaSetDevice(0));
	OK(cudaGraphLaunch(ready, NULL));
	CHECK(all_are(second, 106));
	CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	OK(cudaGetDevice(&device));
	CHECK(device == 0);
	(void)cudaGetLastError();
}

/* The same by contexts. */
static void contexts(void)
{
	CUcontext contexts[2];
	CUdeviceptr there;
	int ordinal = -1;

	for (int i = 0; i < 2; i++)
		OK((cudaError_t)cuDevicePrimaryCtxRetain(&contexts[i], i));
	OK((cudaError_t)cuCtxSetCurrent(contexts[1]));
	OK((cudaError_t)cuMemAlloc(&there, 64));
	OK((cudaError_t)cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there));
	CHECK(ordinal == 1);
	OK((cudaError_t)cuCtxSetCurrent(contexts[0]));
	CHECK(cuCtxEnablePeerAccess(contexts[0], 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
	OK((cudaError_t)cuCtxEnablePeerAccess(contexts[1], 0));
	CHECK(cuCtxEnablePeerAccess(contexts[1], 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	OK((cudaError_t)cuCtxDisablePeerAccess(contexts[1]));
	OK((cudaError_t)cuMemFree(there));
}

int main(int argc, char **argv)
{
	cudaLibrary_t library;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		return 2;
	OK(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&copy, library, "copy"));
	what_there_is(atoi(argv[1]));
	launches();
	contexts();
	int status = verdict();
	if (argc > 2) {
		const int *first = memory_on(0, 1);
		int *second = memory_on(1, 2);
		launch(second, first, NULL);
		printf("not reached\n");
	}
	return status;
}
