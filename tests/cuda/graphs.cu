/* SPDX-License-Identifier: MIT */
/* Graphs: made by hand, captured from streams that fork and join, copied, changed, launched again;
 * and boxes of memory, copied by a node and without one. */
#include <cstdio>
#include <cstring>
#include <vector>

static int wrong;
static void expect(bool holds, const char *what)
{
	if (!holds) {
		printf("FAIL %s\n", what);
		wrong++;
	}
}
#define EXPECT(CONDITION) expect(CONDITION, #CONDITION)
#define OK(CALL) EXPECT((CALL) == cudaSuccess)

__global__ void add(int *to, int value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] += value;
}

__global__ void twice(int *to, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] *= 2;
}

static const int n = 100;
static int *device;
static int host[n];

static bool all(int value)
{
	OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		if (host[i] != value)
			return false;
	return true;
}

static void count(void *counter) { ++*(int *)counter; }

static cudaKernelNodeParams kernel(void *function, void **arguments)
{
	cudaKernelNodeParams parameters = {};
	parameters.func = function;
	parameters.gridDim = dim3(4);
	parameters.blockDim = dim3(32);
	parameters.kernelParams = arguments;
	return parameters;
}

/* set to 3; + 5; * 2; count: the edges say the order, not the nodes' */
static void by_hand()
{
	cudaGraph_t graph, copy;
	cudaGraphNode_t set, plus, times, call, found;
	cudaGraphExec_t executable;
	int value = 5, size = n, calls = 0, changed = 7;
	void *add_arguments[] = {&device, &value, &size}, *twice_arguments[] = {&device, &size};
	cudaKernelNodeParams parameters = kernel((void *)twice, twice_arguments);
	cudaHostNodeParams host_parameters = {count, &calls};
	cudaMemsetParams fill = {device, 0, 3, sizeof(int), n, 1};
	size_t nodes = 0, roots = 0, edges = 0;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddKernelNode(&times, graph, nullptr, 0, &parameters));
	parameters = kernel((void *)add, add_arguments);
	OK(cudaGraphAddKernelNode(&plus, graph, nullptr, 0, &parameters));
	OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
	OK(cudaGraphAddHostNode(&call, graph, &times, 1, &host_parameters));
	OK(cudaGraphAddDependencies(graph, &set, &plus, nullptr, 1));
	OK(cudaGraphAddDependencies(graph, &plus, &times, nullptr, 1));
	value = 1000; /* arguments were copied */
	OK(cudaGraphGetNodes(graph, nullptr, &nodes));
	OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
	OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
	EXPECT(nodes == 4 && roots == 1 && edges == 3);
	OK(cudaGraphInstantiate(&executable, graph, 0));
	EXPECT(all(0) && calls == 0);
	OK(cudaGraphLaunch(executable, 0));
	EXPECT(all(16) && calls == 1);
	add_arguments[1] = &changed;
	parameters = kernel((void *)add, add_arguments);
	OK(cudaGraphExecKernelNodeSetParams(executable, plus, &parameters));
	OK(cudaGraphLaunch(executable, 0));
	EXPECT(all(20) && calls == 2);
	OK(cudaGraphNodeSetEnabled(executable, times, 0));
	OK(cudaGraphLaunch(executable, 0));
	EXPECT(all(10) && calls == 3);
	OK(cudaGraphClone(&copy, graph));
	OK(cudaGraphNodeFindInClone(&found, plus, copy));
	OK(cudaGraphDestroyNode(found));
	OK(cudaGraphGetNodes(copy, nullptr, &nodes));
	EXPECT(nodes == 3);
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphAddDependencies(graph, &times, &set, nullptr, 1));
	EXPECT(cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess); /* a circle */
	OK(cudaGraphDestroy(copy));
	OK(cudaGraphDestroy(graph));
	cudaGetLastError();
}

static cudaGraph_t captured(cudaStream_t one, cudaStream_t two, int value)
{
	cudaEvent_t fork, join;
	cudaGraph_t graph = nullptr, child = nullptr;
	cudaGraphExec_t executable;
	cudaStreamCaptureStatus status;

	OK(cudaEventCreate(&fork));
	OK(cudaEventCreate(&join));
	OK(cudaStreamBeginCapture(two, cudaStreamCaptureModeGlobal));
	twice<<<4, 32, 0, two>>>(device, n);
	OK(cudaStreamEndCapture(two, &child));
	OK(cudaGraphInstantiate(&executable, child, 0));
	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(device, 0, sizeof host, one));
	OK(cudaEventRecord(fork, one));
	OK(cudaStreamWaitEvent(two, fork, 0));
	OK(cudaStreamIsCapturing(two, &status));
	EXPECT(status == cudaStreamCaptureStatusActive);
	add<<<4, 32, 0, two>>>(device, value, n);
	OK(cudaGraphLaunch(executable, two));
	OK(cudaEventRecord(join, two));
	OK(cudaStreamWaitEvent(one, join, 0));
	add<<<4, 32, 0, one>>>(device, 1, n);
	OK(cudaStreamEndCapture(one, &graph));
	OK(cudaStreamIsCapturing(two, &status));
	EXPECT(status == cudaStreamCaptureStatusNone);
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(child));
	OK(cudaEventDestroy(fork));
	OK(cudaEventDestroy(join));
	return graph;
}

static void by_capture()
{
	cudaStream_t one, two;
	cudaGraphExec_t executable;
	cudaGraphExecUpdateResultInfo result;
	cudaEvent_t fork;
	cudaGraph_t lost;
	size_t nodes = 0;

	OK(cudaStreamCreate(&one));
	OK(cudaStreamCreate(&two));
	OK(cudaMemset(device, 0, sizeof host));
	cudaGraph_t graph = captured(one, two, 4);
	EXPECT(all(0)); /* nothing was done yet */
	OK(cudaGraphGetNodes(graph, nullptr, &nodes));
	EXPECT(nodes == 4);
	OK(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(executable, one));
	OK(cudaStreamSynchronize(one));
	EXPECT(all(9));
	cudaGraph_t other = captured(one, two, 10);
	OK(cudaGraphExecUpdate(executable, other, &result));
	OK(cudaGraphLaunch(executable, two));
	EXPECT(all(21));

	/* A stream that was drawn in and not waited for, and a call that no capture keeps. */
	OK(cudaEventCreate(&fork));
	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(fork, one));
	OK(cudaStreamWaitEvent(two, fork, 0));
	add<<<4, 32, 0, two>>>(device, 1, n);
	EXPECT(cudaStreamEndCapture(one, &lost) == cudaErrorStreamCaptureUnjoined);
	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	EXPECT(cudaStreamSynchronize(one) == cudaErrorStreamCaptureUnsupported);
	EXPECT(cudaStreamEndCapture(one, &lost) == cudaErrorStreamCaptureInvalidated);
	EXPECT(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
	cudaGetLastError();
	EXPECT(all(21));
	OK(cudaEventDestroy(fork));
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphDestroy(other));
	OK(cudaStreamDestroy(one));
	OK(cudaStreamDestroy(two));
}

/* 5 x 4 x 3 bytes out of the middle of a larger box, and back to somewhere else. */
static void boxes()
{
	std::vector<unsigned char> from(20 * 10 * 6), to(20 * 10 * 6, 0);
	cudaPitchedPtr middle;
	cudaMemcpy3DParms in = {}, out = {};
	cudaGraph_t graph;
	cudaGraphNode_t node;
	cudaGraphExec_t executable;
	int differ = 0;

	for (size_t i = 0; i < from.size(); i++)
		from[i] = (unsigned char)(i * 7);
	OK(cudaMalloc3D(&middle, make_cudaExtent(33, 10, 6)));
	EXPECT(middle.pitch >= 33 && middle.xsize == 33 && middle.ysize == 10);
	OK(cudaMemset3D(middle, 0xee, make_cudaExtent(33, 10, 6)));
	in.srcPtr = make_cudaPitchedPtr(from.data(), 20, 20, 10);
	in.srcPos = make_cudaPos(2, 3, 1);
	in.dstPtr = middle;
	in.dstPos = make_cudaPos(4, 5, 2);
	in.extent = make_cudaExtent(5, 4, 3);
	in.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&in));
	out.srcPtr = middle;
	out.srcPos = make_cudaPos(3, 5, 2);
	out.dstPtr = make_cudaPitchedPtr(to.data(), 20, 20, 10);
	out.dstPos = make_cudaPos(1, 0, 3);
	out.extent = make_cudaExtent(6, 4, 3);
	out.kind = cudaMemcpyDeviceToHost;
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &out));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	OK(cudaGraphLaunch(executable, 0));
	for (int z = 0; z < 6; z++)
		for (int y = 0; y < 10; y++)
			for (int x = 0; x < 20; x++) {
				int expected = 0;
				if (z >= 3 && y < 4 && x >= 1 && x < 7)
					expected = x == 1 ? 0xee : from[((z - 3 + 1) * 10 + y + 3) * 20 + x - 2 + 2];
				differ += to[(z * 10 + y) * 20 + x] != expected;
			}
	EXPECT(differ == 0);
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(graph));
	OK(cudaFree(middle.ptr));
}

int main()
{
	OK(cudaMalloc(&device, sizeof host));
	OK(cudaMemset(device, 0, sizeof host));
	by_hand();
	by_capture();
	boxes();
	printf(wrong ? "FAIL\n" : "PASS\n");
	return wrong != 0;
}
