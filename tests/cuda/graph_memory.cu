/* SPDX-License-Identifier: MIT */
/* Graphs that allocate, made by hand and captured, freed in the graph, by the program and at the next launch; and conditional
 * nodes: if, if and else, while, switch, one in the other. With one argument a kernel sets what is no handle instead; with two, a
 * graph is made for kernels to launch. */
#include <cstdint>
#include <cstdio>

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

static const int n = 256;
static int *out;

__global__ void fill(int *to, int value) { to[threadIdx.x] = value + threadIdx.x; }
__global__ void add(int *to, const int *from) { to[threadIdx.x] += from[threadIdx.x]; }

static uint64_t attribute(cudaGraphMemAttributeType which)
{
	uint64_t value = ~0ULL;

	OK(cudaDeviceGetGraphMemAttribute(0, which, &value));
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

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemAllocNode(&allocate, graph, NULL, 0, &parameters));
	void *memory = parameters.dptr;
	cudaGraphNode_t nowhere = NULL;
	size_t before, after, total;
	OK(cudaMemGetInfo(&before, &total));
	EXPECT(cudaGraphAddMemAllocNode(&frees, graph, &nowhere, 1, &got) == cudaErrorInvalidValue);
	got = allocation(1 << 20);
	EXPECT(cudaGraphAddMemAllocNode(&frees, graph, &nowhere, 1, &got) == cudaErrorInvalidValue);
	OK(cudaMemGetInfo(&after, &total));
	EXPECT(before == after); /* what a node would have allocated that could not be made */
	void *fill_arguments[] = {&memory, &value}, *add_arguments[] = {&out, &memory};
	cudaKernelNodeParams filling = kernel((void *)fill, fill_arguments, n), adding = kernel((void *)add, add_arguments, n);
	OK(cudaGraphAddKernelNode(&fills, graph, &allocate, 1, &filling));
	OK(cudaGraphAddKernelNode(&adds, graph, &fills, 1, &adding));
	OK(cudaGraphAddMemFreeNode(&frees, graph, &adds, 1, memory));
	EXPECT(cudaGraphAddMemFreeNode(&frees, graph, NULL, 0, out) == cudaErrorInvalidValue);
	OK(cudaGraphNodeGetType(allocate, &type));
	EXPECT(type == cudaGraphNodeTypeMemAlloc);
	OK(cudaGraphMemAllocNodeGetParams(allocate, &got));
	EXPECT(got.dptr == memory && got.bytesize == n * sizeof(int));
	OK(cudaGraphMemFreeNodeGetParams(frees, &freed));
	EXPECT(freed == memory);
	EXPECT(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
	OK(cudaMemset(out, 0, n * sizeof(int)));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	EXPECT(cudaFree(memory) == cudaErrorInvalidValue); /* it is not allocated now */
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(executable, 0));
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		EXPECT(out[i] == 3 * (5 + i));
	EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == n * sizeof(int));
	EXPECT(attribute(cudaGraphMemAttrReservedMemCurrent) == n * sizeof(int));
	OK(cudaDeviceGraphMemTrim(0));
	EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
	EXPECT(attribute(cudaGraphMemAttrUsedMemHigh) == n * sizeof(int));
	uint64_t none = 0;
	OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
	EXPECT(attribute(cudaGraphMemAttrUsedMemHigh) == 0);
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(graph));
	EXPECT(cudaFree(memory) == cudaErrorInvalidValue);
}

/* What a captured stream allocates is the program's to free, or is freed at the next launch. */
static void captured(unsigned long long flags)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	int *memory, *scratch;

	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMallocAsync((void **)&memory, n * sizeof(int), stream));
	OK(cudaMallocAsync((void **)&scratch, n * sizeof(int), stream));
	fill<<<1, n, 0, stream>>>(scratch, 1);
	fill<<<1, n, 0, stream>>>(memory, 2);
	add<<<1, n, 0, stream>>>(memory, scratch);
	OK(cudaFreeAsync(scratch, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&executable, graph, flags));
	OK(cudaGraphLaunch(executable, stream));
	OK(cudaMemcpyAsync(out, memory, n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < n; i++)
		EXPECT(out[i] == 3 + 2 * i);
	EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == 2 * n * sizeof(int)); /* of both, until it is trimmed */
	OK(cudaDeviceGraphMemTrim(0));
	EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == n * sizeof(int));
	EXPECT(cudaGraphLaunch(executable, stream) == (flags ? cudaSuccess : cudaErrorInvalidValue));
	OK(cudaFreeAsync(memory, stream));
	OK(cudaGraphLaunch(executable, stream));
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(graph));
	add<<<1, n, 0, stream>>>(out, memory); /* the memory outlives its graph */
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < n; i++)
		EXPECT(out[i] == 2 * (3 + 2 * i));
	OK(cudaFree(memory));
	OK(cudaDeviceGraphMemTrim(0));
	EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
	OK(cudaStreamDestroy(stream));
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
	OK(cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &parameters));
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

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
	void *arguments[] = {&handle, &value};
	cudaKernelNodeParams setting = kernel((void *)choose, arguments, 1);
	OK(cudaGraphAddKernelNode(&sets, graph, NULL, 0, &setting));
	condition.conditional.handle = handle;
	condition.conditional.type = type;
	condition.conditional.size = size;
	OK(cudaGraphAddNode(&node, graph, &sets, NULL, 1, &condition));
	OK(cudaGraphNodeGetType(node, &found));
	EXPECT(found == cudaGraphNodeTypeConditional);
	for (int i = 0; i < size; i++)
		add_note(condition.conditional.phGraph_out[i], NULL, i + 1);
	add_note(graph, &node, 9);
	OK(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < tries; i++) {
		out[0] = 0;
		out[1] = values[i];
		OK(cudaGraphLaunch(executable, 0));
		OK(cudaDeviceSynchronize());
		EXPECT(out[0] == expected[i]);
	}
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(graph));
}

/* while the handle is not 0: count down, captured into the body; within an if */
static void loop(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	cudaGraphNode_t outer, inner;
	cudaGraphConditionalHandle once, again;
	cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional}, repeat = {cudaGraphNodeTypeConditional};
	cudaStream_t stream;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphConditionalHandleCreate(&once, graph, 1, cudaGraphCondAssignDefault));
	OK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
	condition.conditional.handle = once;
	condition.conditional.type = cudaGraphCondTypeIf;
	condition.conditional.size = 1;
	OK(cudaGraphAddNode(&outer, graph, NULL, NULL, 0, &condition));
	repeat.conditional.handle = again;
	repeat.conditional.type = cudaGraphCondTypeWhile;
	repeat.conditional.size = 1;
	OK(cudaGraphAddNode(&inner, condition.conditional.phGraph_out[0], NULL, NULL, 0, &repeat));
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCaptureToGraph(stream, repeat.conditional.phGraph_out[0], NULL, NULL, 0, cudaStreamCaptureModeGlobal));
	count_down<<<1, 1, 0, stream>>>(again, out + 1, out);
	OK(cudaStreamEndCapture(stream, NULL));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < 2; i++) {
		out[0] = 0;
		out[1] = 4;
		OK(cudaGraphLaunch(executable, 0));
		OK(cudaDeviceSynchronize());
		EXPECT(out[0] == 4321);
	}
	repeat.conditional.size = 2;
	EXPECT(cudaGraphAddNode(&inner, graph, NULL, NULL, 0, &repeat) == cudaErrorInvalidValue);
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(stream));
}

int main(int words, char **)
{
	static const int values[] = {0, 1, 2, 7};
	static const int if_only[] = {9, 19, 19, 19}, if_else[] = {29, 19, 19, 19}, one_of_three[] = {19, 29, 39, 9};
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	OK(cudaMallocManaged(&out, n * sizeof(int)));
	if (words == 3) {
		OK(cudaGraphCreate(&graph, 0));
		return cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagDeviceLaunch) != cudaErrorNotSupported;
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
	puts(wrong ? "FAIL" : "PASS");
	return wrong != 0;
}
