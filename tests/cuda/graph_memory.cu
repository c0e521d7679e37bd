/* SPDX-License-Identifier: MIT */
/* Graphs that allocate, made by hand and captured, freed in the graph, by the program and at the next launch; and conditional
 * nodes: if, if and else, while, switch, one in the other; and graphs that kernels launch. With one argument a kernel sets what is no
 * handle instead; with two, a kernel that is in no graph launches one. */
#include <cstdint>
#include <cstdio>

#include "expect.h"

static const int n = 256;
static int *out;

__global__ void fill(int *to, int value) { to[threadIdx.x] = value + threadIdx.x; }
__global__ void add(int *to, const int *from) { to[threadIdx.x] += from[threadIdx.x]; }

static uint64_t attribute(cudaGraphMemAttributeType which)
{
	uint64_t value = ~0ULL;

	SUCCEEDS(cudaDeviceGetGraphMemAttribute(0, which, &value));
	return value;
}

static cudaKernelNodeParams kernel(void *function, void **arguments, int threads)
{
	cudaKernelNodeParams parameters = {};

	parameters.func = function;
	parameters.gridDim = dim3(1);
	parameters.blockDim = dim3(threads);
	parameters.kernelParams = arguments;
	return parameters;
}

static cudaMemAllocNodeParams allocation(size_t bytes)
{
	cudaMemAllocNodeParams parameters = {};

	parameters.poolProps.allocType = cudaMemAllocationTypePinned;
	parameters.poolProps.location.type = cudaMemLocationTypeDevice;
	parameters.bytesize = bytes;
	return parameters;
}

/* allocate, fill, add to the output, free */
static void by_hand(void)
{
	cudaGraph_t graph, clone;
	cudaGraphExec_t executable;
	cudaGraphNode_t allocate, fills, adds, frees;
	cudaGraphNodeType type;
	cudaMemAllocNodeParams parameters = allocation(n * sizeof(int)), got = {};
	int value = 5;
	void *freed;

	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaGraphAddMemAllocNode(&allocate, graph, NULL, 0, &parameters));
	void *memory = parameters.dptr;
	cudaGraphNode_t nowhere = NULL;
	size_t before, after, total;
	SUCCEEDS(cudaMemGetInfo(&before, &total));
	CHECK(cudaGraphAddMemAllocNode(&frees, graph, &nowhere, 1, &got) == cudaErrorInvalidValue);
	got = allocation(1 << 20);
	CHECK(cudaGraphAddMemAllocNode(&frees, graph, &nowhere, 1, &got) == cudaErrorInvalidValue);
	SUCCEEDS(cudaMemGetInfo(&after, &total));
	CHECK(before == after); /* what a node would have allocated that could not be made */
	void *fill_arguments[] = {&memory, &value}, *add_arguments[] = {&out, &memory};
	cudaKernelNodeParams filling = kernel((void *)fill, fill_arguments, n), adding = kernel((void *)add, add_arguments, n);
	SUCCEEDS(cudaGraphAddKernelNode(&fills, graph, &allocate, 1, &filling));
	SUCCEEDS(cudaGraphAddKernelNode(&adds, graph, &fills, 1, &adding));
	SUCCEEDS(cudaGraphAddMemFreeNode(&frees, graph, &adds, 1, memory));
	CHECK(cudaGraphAddMemFreeNode(&frees, graph, NULL, 0, out) == cudaErrorInvalidValue);
	SUCCEEDS(cudaGraphNodeGetType(allocate, &type));
	CHECK(type == cudaGraphNodeTypeMemAlloc);
	SUCCEEDS(cudaGraphMemAllocNodeGetParams(allocate, &got));
	CHECK(got.dptr == memory && got.bytesize == n * sizeof(int));
	SUCCEEDS(cudaGraphMemFreeNodeGetParams(frees, &freed));
	CHECK(freed == memory);
	CHECK(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
	SUCCEEDS(cudaMemset(out, 0, n * sizeof(int)));
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	CHECK(cudaFree(memory) == cudaErrorInvalidValue); /* it is not allocated now */
	for (int i = 0; i < 3; i++)
		SUCCEEDS(cudaGraphLaunch(executable, 0));
	SUCCEEDS(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		CHECK(out[i] == 3 * (5 + i));
	CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 32 << 20);
	CHECK(attribute(cudaGraphMemAttrReservedMemCurrent) == 32 << 20);
	SUCCEEDS(cudaDeviceGraphMemTrim(0));
	CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
	CHECK(attribute(cudaGraphMemAttrUsedMemHigh) == 32 << 20);
	uint64_t none = 0;
	SUCCEEDS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
	CHECK(attribute(cudaGraphMemAttrUsedMemHigh) == 0);
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
	CHECK(cudaFree(memory) == cudaErrorInvalidValue);
}

/* What a captured stream allocates is the program's to free, or is freed at the next launch. */
static void captured(unsigned long long flags)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	int *memory, *scratch;

	SUCCEEDS(cudaStreamCreate(&stream));
	SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	SUCCEEDS(cudaMallocAsync((void **)&memory, n * sizeof(int), stream));
	SUCCEEDS(cudaMallocAsync((void **)&scratch, n * sizeof(int), stream));
	fill<<<1, n, 0, stream>>>(scratch, 1);
	fill<<<1, n, 0, stream>>>(memory, 2);
	add<<<1, n, 0, stream>>>(memory, scratch);
	SUCCEEDS(cudaFreeAsync(scratch, stream));
	SUCCEEDS(cudaStreamEndCapture(stream, &graph));
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, flags));
	SUCCEEDS(cudaGraphLaunch(executable, stream));
	SUCCEEDS(cudaMemcpyAsync(out, memory, n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
	SUCCEEDS(cudaStreamSynchronize(stream));
	for (int i = 0; i < n; i++)
		CHECK(out[i] == 3 + 2 * i);
	CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 32 << 20); /* pieces of 32 MB, as on an H100 */
	SUCCEEDS(cudaDeviceGraphMemTrim(0));
	CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 32 << 20);
	CHECK(cudaGraphLaunch(executable, stream) == (flags ? cudaSuccess : cudaErrorInvalidValue));
	SUCCEEDS(cudaFreeAsync(memory, stream));
	SUCCEEDS(cudaGraphLaunch(executable, stream));
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
	add<<<1, n, 0, stream>>>(out, memory); /* the memory outlives its graph */
	SUCCEEDS(cudaStreamSynchronize(stream));
	for (int i = 0; i < n; i++)
		CHECK(out[i] == 2 * (3 + 2 * i));
	SUCCEEDS(cudaFree(memory));
	SUCCEEDS(cudaDeviceGraphMemTrim(0));
	CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
	SUCCEEDS(cudaStreamDestroy(stream));
}

__global__ void choose(cudaGraphConditionalHandle handle, const int *value) { cudaGraphSetConditional(handle, *value); }
__global__ void note(int *to, int digit) { *to = *to * 10 + digit; }
__global__ void count_down(cudaGraphConditionalHandle handle, int *left, int *to)
{
	*to = *to * 10 + *left;
	cudaGraphSetConditional(handle, --*left > 0);
}

static void add_note(cudaGraph_t graph, cudaGraphNode_t *after, int digit)
{
	cudaGraphNode_t node;
	void *arguments[] = {&out, &digit};
	cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};

	parameters.kernel.func = (void *)note;
	parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1);
	parameters.kernel.kernelParams = arguments;
	SUCCEEDS(cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &parameters));
}

/* A kernel sets the handle, one node chooses among the bodies, each of which notes its number. */
static void expect_choice(cudaGraphConditionalNodeType type, int size, const int *values, const int *expected, int tries)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	cudaGraphNode_t sets, node;
	cudaGraphConditionalHandle handle;
	cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional};
	cudaGraphNodeType found;
	int *value = out + 1;

	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
	void *arguments[] = {&handle, &value};
	cudaKernelNodeParams setting = kernel((void *)choose, arguments, 1);
	SUCCEEDS(cudaGraphAddKernelNode(&sets, graph, NULL, 0, &setting));
	condition.conditional.handle = handle;
	condition.conditional.type = type;
	condition.conditional.size = size;
	SUCCEEDS(cudaGraphAddNode(&node, graph, &sets, NULL, 1, &condition));
	SUCCEEDS(cudaGraphNodeGetType(node, &found));
	CHECK(found == cudaGraphNodeTypeConditional);
	for (int i = 0; i < size; i++)
		add_note(condition.conditional.phGraph_out[i], NULL, i + 1);
	add_note(graph, &node, 9);
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < tries; i++) {
		out[0] = 0;
		out[1] = values[i];
		SUCCEEDS(cudaGraphLaunch(executable, 0));
		SUCCEEDS(cudaDeviceSynchronize());
		CHECK(out[0] == expected[i]);
	}
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
}

/* while the handle is not 0: count down, captured into the body; within an if, whose body has the handle: it is set at each launch, too */
static void loop(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	cudaGraphNode_t outer, inner;
	cudaGraphConditionalHandle once, again;
	cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional}, repeat = {cudaGraphNodeTypeConditional};
	cudaStream_t stream;

	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaGraphConditionalHandleCreate(&once, graph, 1, cudaGraphCondAssignDefault));
	condition.conditional.handle = once;
	condition.conditional.type = cudaGraphCondTypeIf;
	condition.conditional.size = 1;
	SUCCEEDS(cudaGraphAddNode(&outer, graph, NULL, NULL, 0, &condition));
	SUCCEEDS(cudaGraphConditionalHandleCreate(&again, condition.conditional.phGraph_out[0], 1, cudaGraphCondAssignDefault));
	repeat.conditional.handle = again;
	repeat.conditional.type = cudaGraphCondTypeWhile;
	repeat.conditional.size = 1;
	SUCCEEDS(cudaGraphAddNode(&inner, condition.conditional.phGraph_out[0], NULL, NULL, 0, &repeat));
	SUCCEEDS(cudaStreamCreate(&stream));
	SUCCEEDS(cudaStreamBeginCaptureToGraph(stream, repeat.conditional.phGraph_out[0], NULL, NULL, 0, cudaStreamCaptureModeGlobal));
	count_down<<<1, 1, 0, stream>>>(again, out + 1, out);
	SUCCEEDS(cudaStreamEndCapture(stream, NULL));
	SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < 2; i++) {
		out[0] = 0;
		out[1] = 4;
		SUCCEEDS(cudaGraphLaunch(executable, 0));
		SUCCEEDS(cudaDeviceSynchronize());
		CHECK(out[0] == 4321);
	}
	repeat.conditional.size = 2;
	CHECK(cudaGraphAddNode(&inner, graph, NULL, NULL, 0, &repeat) == cudaErrorInvalidValue);
	SUCCEEDS(cudaGraphExecDestroy(executable));
	SUCCEEDS(cudaGraphDestroy(graph));
	SUCCEEDS(cudaStreamDestroy(stream));
}

/* ---- graphs that kernels launch ---- */

__global__ void digit(int *to, int value) { *to = *to * 10 + value; }

__global__ void start(const cudaGraphExec_t *graphs, int *codes)
{
	codes[0] = cudaGraphLaunch(graphs[2], cudaStreamGraphTailLaunch);
	codes[1] = cudaGraphLaunch(graphs[0], cudaStreamGraphFireAndForget);
	codes[2] = cudaGraphLaunch(graphs[1], cudaStreamGraphFireAndForgetAsSibling);
	codes[3] = cudaGraphLaunch(graphs[0], cudaStreamGraphFireAndForget);
	codes[4] = cudaGraphLaunch(graphs[3], cudaStreamGraphFireAndForget);
	codes[5] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphFireAndForget);
	codes[6] = cudaGraphLaunch(graphs[0], 0);
	codes[7] = cudaGetCurrentGraphExec() == graphs[4];
}

__global__ void again(int *left, int *code)
{
	if (--*left > 0)
		*code += cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

static void unused(void *) {}

static cudaGraph_t graph_of(void *function, void **arguments)
{
	cudaKernelNodeParams parameters = kernel(function, arguments, 1);
	cudaGraph_t graph;
	cudaGraphNode_t node;

	SUCCEEDS(cudaGraphCreate(&graph, 0));
	SUCCEEDS(cudaGraphAddKernelNode(&node, graph, NULL, 0, &parameters));
	return graph;
}

/* What a kernel launches to run beside it runs when it has ended, and tails when its graph has. A graph runs once at a time, only if it
 * was made for kernels, and if it was uploaded or launched before. */
static void by_kernels(void)
{
	static const int want[8] = {0, 0, 0, cudaErrorInvalidValue, cudaErrorInvalidValue, cudaErrorInvalidValue, cudaErrorInvalidValue, 1};
	cudaGraphExec_t *graphs;
	cudaGraph_t graph;
	cudaGraphNode_t node;
	int *codes;

	SUCCEEDS(cudaMallocManaged(&graphs, 5 * sizeof *graphs));
	SUCCEEDS(cudaMallocManaged(&codes, 9 * sizeof *codes));
	for (int i = 0; i < 4; i++) {
		int value = i + 2;
		void *arguments[] = {&out, &value};
		SUCCEEDS(cudaGraphInstantiate(&graphs[i], graph_of((void *)digit, arguments), cudaGraphInstantiateFlagDeviceLaunch));
		SUCCEEDS(i < 3 ? cudaGraphUpload(graphs[i], 0) : cudaSuccess);
	}
	int one = 1;
	void *of_start[] = {&graphs, &codes}, *of_digit[] = {&out, &one}, *of_again[] = {&out, &codes};
	graph = graph_of((void *)start, of_start);
	size_t nodes = 1;
	SUCCEEDS(cudaGraphGetNodes(graph, &node, &nodes));
	cudaKernelNodeParams after = kernel((void *)digit, of_digit, 1);
	SUCCEEDS(cudaGraphAddKernelNode(&node, graph, &node, 1, &after));
	SUCCEEDS(cudaGraphInstantiate(&graphs[4], graph, cudaGraphInstantiateFlagDeviceLaunch));
	for (int i = 0; i < 2; i++) {
		out[0] = 0;
		SUCCEEDS(cudaGraphLaunch(graphs[4], 0));
		SUCCEEDS(cudaDeviceSynchronize());
		CHECK(out[0] == 2314);
		for (int k = 0; k < 8; k++)
			CHECK(codes[k] == want[k]);
	}
	out[0] = 3;
	codes[0] = 0;
	SUCCEEDS(cudaGraphInstantiate(&graphs[3], graph_of((void *)again, of_again), cudaGraphInstantiateFlagDeviceLaunch));
	SUCCEEDS(cudaGraphLaunch(graphs[3], 0));
	SUCCEEDS(cudaDeviceSynchronize());
	CHECK(out[0] == 0 && codes[0] == 0);

	cudaHostNodeParams call = {unused, NULL};
	cudaGraphInstantiateParams how = {cudaGraphInstantiateFlagDeviceLaunch};
	CHECK(cudaGraphInstantiate(&graphs[3], graph, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagAutoFreeOnLaunch) == cudaErrorInvalidValue);
	SUCCEEDS(cudaGraphAddHostNode(&node, graph, NULL, 0, &call));
	CHECK(cudaGraphInstantiateWithParams(&graphs[3], graph, &how) == cudaErrorNotSupported);
	CHECK(how.result_out == cudaGraphInstantiateNodeOperationNotSupported);
}

int main(int words, char **)
{
	static const int values[] = {0, 1, 2, 7};
	static const int if_only[] = {9, 19, 19, 19}, if_else[] = {29, 19, 19, 19}, one_of_three[] = {19, 29, 39, 9};

	SUCCEEDS(cudaMallocManaged(&out, n * sizeof(int)));
	if (words == 3) {
		again<<<1, 1>>>(out + 1, out);
		out[1] = 2;
		again<<<1, 1>>>(out + 1, out);
		return cudaDeviceSynchronize();
	}
	if (words > 1) {
		choose<<<1, 1>>>(1, out);
		return cudaDeviceSynchronize();
	}
	by_hand();
	captured(0);
	captured(cudaGraphInstantiateFlagAutoFreeOnLaunch);
	expect_choice(cudaGraphCondTypeIf, 1, values, if_only, 4);
	expect_choice(cudaGraphCondTypeIf, 2, values, if_else, 4);
	expect_choice(cudaGraphCondTypeSwitch, 3, values, one_of_three, 4);
	loop();
	by_kernels();
	return verdict();
}
