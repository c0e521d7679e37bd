/* SPDX-License-Identifier: MIT */
/* Graphs: made by hand, captured from streams that fork and join, copied, changed, launched again;
 * and boxes of memory, copied by a node and without one. */
#include <cstdio>
#include <cstring>
#include <vector>

#include "expect.h"

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
	SUCCEEDS(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
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

	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaGraphAddKernelNode(&times, graph, nullptr, 0, &parameters));
	parameters = kernel((void *)add, add_arguments);
	SUCCEEDS(cudaGraphAddKernelNode(&plus, graph, nullptr, 0, &parameters));
	SUCCEEDS(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
	SUCCEEDS(cudaGraphAddHostNode(&call, graph, &times, 1, &host_parameters));
	SUCCEEDS(cudaGraphAddDependencies(graph, &set, &plus, nullptr, 1));
	SUCCEEDS(cudaGraphAddDependencies(graph, &plus, &times, nullptr, 1));
	value = 1000; /* arguments were copied */
	SUCCEEDS(cudaGraphGetNodes(graph, nullptr, &nodes));
	SUCCEEDS(cudaGraphGetRootNodes(graph, nullptr, &roots));
	SUCCEEDS(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
	CHECK(nodes == 4 && roots == 1 && edges == 3);
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	CHECK(all(0) && calls == 0);
	SUCCEEDS(cudaGraphLaunch(executable, 0));
	CHECK(all(16) && calls == 1);
	add_arguments[1] = &changed;
	parameters = kernel((void *)add, add_arguments);
	SUCCEEDS(cudaGraphExecKernelNodeSetParams(executable, plus, &parameters));
	SUCCEEDS(cudaGraphLaunch(executable, 0));
	CHECK(all(20) && calls == 2);
	SUCCEEDS(cudaGraphNodeSetEnabled(executable, times, 0));
	SUCCEEDS(cudaGraphLaunch(executable, 0));
	CHECK(all(10) && calls == 3);
	SUCCEEDS(cudaGraphClone(&copy, graph));
	SUCCEEDS(cudaGraphNodeFindInClone(&found, plus, copy));
	SUCCEEDS(cudaGraphDestroyNode(found));
	SUCCEEDS(cudaGraphGetNodes(copy, nullptr, &nodes));
	CHECK(nodes == 3);
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphAddDependencies(graph, &times, &set, nullptr, 1));
	CHECK(cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess); /* a circle */
	SUCCEEDS(cudaGraphDestroy(copy));
	SUCCEEDS(cudaGraphDestroy(graph));
	cudaGetLastError();
}

static cudaGraph_t captured(cudaStream_t one, cudaStream_t two, int value)
{
	cudaEvent_t fork, join;
	cudaGraph_t graph = nullptr;
	cudaStreamCaptureStatus status;

	SUCCEEDS(cudaEventCreate(&fork));
	SUCCEEDS(cudaEventCreate(&join));
	SUCCEEDS(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	SUCCEEDS(cudaMemsetAsync(device, 0, sizeof host, one));
	SUCCEEDS(cudaEventRecord(fork, one));
	SUCCEEDS(cudaStreamWaitEvent(two, fork, 0));
	SUCCEEDS(cudaStreamIsCapturing(two, &status));
	CHECK(status == cudaStreamCaptureStatusActive);
	add<<<4, 32, 0, two>>>(device, value, n);
	twice<<<4, 32, 0, two>>>(device, n);
	SUCCEEDS(cudaEventRecord(join, two));
	SUCCEEDS(cudaStreamWaitEvent(one, join, 0));
	add<<<4, 32, 0, one>>>(device, 1, n);
	SUCCEEDS(cudaStreamEndCapture(one, &graph));
	SUCCEEDS(cudaStreamIsCapturing(two, &status));
	CHECK(status == cudaStreamCaptureStatusNone);
	SUCCEEDS(cudaEventDestroy(fork));
	SUCCEEDS(cudaEventDestroy(join));
	return graph;
}

/* Three nodes of which the last comes after the first, or after the second. */
static cudaGraph_t forked(bool after_second)
{
	cudaGraph_t graph;
	cudaGraphNode_t nodes[3];

	SUCCEEDS(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < 2; i++)
		SUCCEEDS(cudaGraphAddEmptyNode(&nodes[i], graph, nullptr, 0));
	SUCCEEDS(cudaGraphAddEmptyNode(&nodes[2], graph, &nodes[after_second], 1));
	return graph;
}

static void by_update()
{
	cudaGraphExec_t executable;
	cudaGraphExecUpdateResultInfo result;
	cudaGraph_t first = forked(false), second = forked(true);

	SUCCEEDS(cudaGraphInstantiate(&executable, first, 0));
	SUCCEEDS(cudaGraphExecUpdate(executable, first, &result));
	CHECK(cudaGraphExecUpdate(executable, second, &result) == cudaErrorGraphExecUpdateFailure);
	CHECK(result.result == cudaGraphExecUpdateErrorTopologyChanged);
	cudaGetLastError();
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(first));
	SUCCEEDS(cudaGraphDestroy(second));
}

/* A graph in a graph. */
static void in_graph(cudaStream_t stream)
{
	cudaGraph_t child, graph;
	cudaGraphNode_t node, leaf;
	cudaGraphExec_t executable;
	size_t leaves = 1;

	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	twice<<<4, 32, 0, stream>>>(device, n);
	SUCCEEDS(cudaStreamEndCapture(stream, &child));
	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	add<<<4, 32, 0, stream>>>(device, 3, n);
	SUCCEEDS(cudaStreamEndCapture(stream, &graph));
	SUCCEEDS(cudaGraphGetRootNodes(graph, &leaf, &leaves));
	SUCCEEDS(cudaGraphAddChildGraphNode(&node, graph, &leaf, 1, child));
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	SUCCEEDS(cudaMemset(device, 0, sizeof host));
	SUCCEEDS(cudaGraphLaunch(executable, stream));
	SUCCEEDS(cudaStreamSynchronize(stream));
	CHECK(all(6));
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaGraphDestroy(child));
}

/* Neither a launch of a graph nor, but in relaxed captures, cudaMalloc: they make a capture invalid. */
static void not_captured(cudaStream_t stream, cudaGraphExec_t executable)
{
	cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	cudaGraph_t graph;
	void *memory;

	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	CHECK(cudaGraphLaunch(executable, stream) != cudaSuccess);
	CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
	CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
	CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	SUCCEEDS(cudaMalloc(&memory, 4));
	SUCCEEDS(cudaStreamEndCapture(stream, &graph));
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaFree(memory));
	SUCCEEDS(cudaThreadExchangeStreamCaptureMode(&mode));
	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	SUCCEEDS(cudaMalloc(&memory, 4));
	SUCCEEDS(cudaStreamEndCapture(stream, &graph));
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaFree(memory));
	SUCCEEDS(cudaThreadExchangeStreamCaptureMode(&mode));
	CHECK(mode == cudaStreamCaptureModeRelaxed);
	cudaGetLastError();
}

static void by_capture()
{
	cudaStream_t one, two;
	cudaGraphExec_t executable;
	cudaGraphExecUpdateResultInfo result;
	cudaEvent_t fork;
	cudaGraph_t lost;
	size_t nodes = 0;

	SUCCEEDS(cudaStreamCreate(&one));
	SUCCEEDS(cudaStreamCreate(&two));
	SUCCEEDS(cudaMemset(device, 0, sizeof host));
	cudaGraph_t graph = captured(one, two, 4);
	CHECK(all(0)); /* nothing was done yet */
	SUCCEEDS(cudaGraphGetNodes(graph, nullptr, &nodes));
	CHECK(nodes == 4);
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < 3; i++)
		SUCCEEDS(cudaGraphLaunch(executable, one));
	SUCCEEDS(cudaStreamSynchronize(one));
	CHECK(all(9));
	cudaGraph_t other = captured(one, two, 10);
	SUCCEEDS(cudaGraphExecUpdate(executable, other, &result));
	SUCCEEDS(cudaGraphLaunch(executable, two));
	CHECK(all(21));

	/* A stream that was drawn in and not waited for, and a call that no capture keeps. */
	SUCCEEDS(cudaEventCreate(&fork));
	SUCCEEDS(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	SUCCEEDS(cudaEventRecord(fork, one));
	SUCCEEDS(cudaStreamWaitEvent(two, fork, 0));
	add<<<4, 32, 0, two>>>(device, 1, n);
	CHECK(cudaStreamEndCapture(one, &lost) == cudaErrorStreamCaptureUnjoined);
	SUCCEEDS(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	CHECK(cudaStreamSynchronize(one) == cudaErrorStreamCaptureUnsupported);
	CHECK(cudaStreamEndCapture(one, &lost) == cudaErrorStreamCaptureInvalidated);
	CHECK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
	cudaGetLastError();
	CHECK(all(21));
	not_captured(one, executable);
	in_graph(one);
	SUCCEEDS(cudaEventDestroy(fork));
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaGraphDestroy(other));
	SUCCEEDS(cudaStreamDestroy(one));
	SUCCEEDS(cudaStreamDestroy(two));
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
	SUCCEEDS(cudaMalloc3D(&middle, make_cudaExtent(33, 10, 6)));
	CHECK(middle.pitch >= 33 && middle.xsize == 33 && middle.ysize == 10);
	SUCCEEDS(cudaMemset3D(middle, 0xee, make_cudaExtent(33, 10, 6)));
	in.srcPtr = make_cudaPitchedPtr(from.data(), 20, 20, 10);
	in.srcPos = make_cudaPos(2, 3, 1);
	in.dstPtr = middle;
	in.dstPos = make_cudaPos(4, 5, 2);
	in.extent = make_cudaExtent(5, 4, 3);
	in.kind = cudaMemcpyHostToDevice;
	SUCCEEDS(cudaMemcpy3D(&in));
	out.srcPtr = middle;
	out.srcPos = make_cudaPos(3, 5, 2);
	out.dstPtr = make_cudaPitchedPtr(to.data(), 20, 20, 10);
	out.dstPos = make_cudaPos(1, 0, 3);
	out.extent = make_cudaExtent(6, 4, 3);
	out.kind = cudaMemcpyDeviceToHost;
	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &out));
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	SUCCEEDS(cudaGraphLaunch(executable, 0));
	for (int z = 0; z < 6; z++)
		for (int y = 0; y < 10; y++)
			for (int x = 0; x < 20; x++) {
				int expected = 0;
				if (z >= 3 && y < 4 && x >= 1 && x < 7)
					expected = x == 1 ? 0xee : from[((z - 3 + 1) * 10 + y + 3) * 20 + x - 2 + 2];
				differ += to[(z * 10 + y) * 20 + x] != expected;
			}
	CHECK(differ == 0);
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaFree(middle.ptr));
}

/* Attributes of kernel nodes, which new parameters leave as they are; a picture of the graph; where a kernel's parameters lie. */
static void nodes_and_kernels()
{
	cudaGraph_t graph;
	cudaGraphNode_t first, second;
	cudaKernelNodeParams parameters = {};
	cudaKernelNodeAttrValue value = {};
	int more = 1, count = n;
	void *arguments[] = {&device, &more, &count};
	char text[4096] = "";
	size_t at = 0, bytes = 0;

	parameters.func = (void *)add;
	parameters.gridDim = parameters.blockDim = 1;
	parameters.kernelParams = arguments;
	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters));
	SUCCEEDS(cudaGraphAddKernelNode(&second, graph, &first, 1, &parameters));
	value.cooperative = 1;
	SUCCEEDS(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributeCooperative, &value));
	SUCCEEDS(cudaGraphKernelNodeSetParams(first, &parameters));
	SUCCEEDS(cudaGraphKernelNodeCopyAttributes(second, first));
	value.cooperative = 0;
	SUCCEEDS(cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributeCooperative, &value));
	CHECK(value.cooperative == 1);
	SUCCEEDS(cudaGraphDebugDotPrint(graph, "graph.dot", 0));
	FILE *dot = fopen("graph.dot", "r");
	CHECK(dot && fread(text, 1, sizeof text - 1, dot) > 0);
	if (dot)
		fclose(dot);
	CHECK(strstr(text, "\"node_0\" -> \"node_1\";") && strstr(text, "KERNEL\\n_Z") && strstr(text, "3add"));
	CHECK(cudaGraphDebugDotPrint(graph, "missing/graph.dot", 0) == cudaErrorOperatingSystem);
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaFuncGetParamInfo((void *)add, 2, &at, &bytes));
	CHECK(at == 12 && bytes == 4);
	CHECK(cudaFuncGetParamInfo((void *)add, 3, &at, &bytes) == cudaErrorInvalidValue);
}

static void CUDART_CB count_down(void *left)
{
	--*(int *)left;
}

/* An object lives as long as the program or a graph has a reference to it. */
static void objects()
{
	cudaGraph_t graph, copy;
	cudaGraphExec_t executable;
	cudaUserObject_t object;
	int left = 1;

	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaUserObjectCreate(&object, &left, count_down, 1, cudaUserObjectNoDestructorSync));
	SUCCEEDS(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
	SUCCEEDS(cudaUserObjectRetain(object, 2));
	SUCCEEDS(cudaGraphClone(&copy, graph));
	SUCCEEDS(cudaGraphInstantiate(&executable, copy, 0));
	SUCCEEDS(cudaGraphReleaseUserObject(graph, object, 1));
	CHECK(cudaGraphReleaseUserObject(graph, object, 1) == cudaErrorInvalidValue);
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaGraphDestroy(copy));
	SUCCEEDS(cudaUserObjectRelease(object, 2));
	CHECK(left == 1);
	SUCCEEDS(cudaGraphExecDestroy(executable));
	CHECK(left == 0);
	CHECK(cudaUserObjectRetain(object, 1) == cudaErrorInvalidValue);
}

/* To wait for an event from outside of the graph is a node. */
static void external_wait()
{
	cudaStream_t stream;
	cudaEvent_t event;
	cudaGraph_t graph;
	cudaGraphNode_t node;
	cudaGraphNodeType type;
	size_t nodes = 1;

	SUCCEEDS(cudaStreamCreate(&stream));
	SUCCEEDS(cudaEventCreate(&event));
	SUCCEEDS(cudaEventRecord(event, stream));
	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	SUCCEEDS(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
	SUCCEEDS(cudaMemsetAsync(device, 0, sizeof host, stream));
	SUCCEEDS(cudaStreamEndCapture(stream, &graph));
	SUCCEEDS(cudaGraphGetRootNodes(graph, &node, &nodes));
	SUCCEEDS(cudaGraphNodeGetType(node, &type));
	CHECK(nodes == 1 && type == cudaGraphNodeTypeWaitEvent);
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaEventDestroy(event));
	SUCCEEDS(cudaStreamDestroy(stream));
}

/* What nvcc --default-stream per-thread calls: the handle 0 is the default stream of the thread, which can be captured. */
extern "C" cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t, cudaStreamCaptureMode);
extern "C" cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t *);
extern "C" cudaError_t cudaMemsetAsync_ptsz(void *, int, size_t, cudaStream_t);

static void default_stream_of_a_thread()
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	SUCCEEDS(cudaMemset(device, 0, sizeof host));
	SUCCEEDS(cudaStreamBeginCapture_ptsz(0, cudaStreamCaptureModeGlobal));
	SUCCEEDS(cudaMemsetAsync_ptsz(device, 1, sizeof host, 0));
	SUCCEEDS(cudaStreamEndCapture_ptsz(0, &graph));
	CHECK(all(0));
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	SUCCEEDS(cudaGraphLaunch(executable, 0));
	CHECK(all(0x01010101));
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
}

int main()
{
	SUCCEEDS(cudaMalloc(&device, sizeof host));
	SUCCEEDS(cudaMemset(device, 0, sizeof host));
	by_hand();
	by_capture();
	by_update();
	boxes();
	nodes_and_kernels();
	objects();
	external_wait();
	default_stream_of_a_thread();
	return verdict();
}
