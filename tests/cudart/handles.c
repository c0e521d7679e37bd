/* SPDX-License-Identifier: MIT */
/* A program that gives the runtime and the driver what is no handle: a number, or one that was destroyed. `handles` prints each
 * answer that is not CUDA's; `handles CALL` gives one call a pointer to nowhere, and ends there. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ARGUMENTS 7
#define NOWHERE 8 /* an address without memory */
typedef int call(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, CONTEXT_IS_DESTROYED = 709 };
/* What stands for an argument: the handle in question; good ones; and a place for an answer. */
enum { BAD = 1000, STREAM, EVENT, GRAPH, NODE, EXECUTABLE, PLACE, LIST };

static uintptr_t good[LIST - BAD + 1], place[16], list[1];

struct row {
	const char *name;
	int code;
	uintptr_t arguments[ARGUMENTS];
};

static const struct row streams[] = {
	{"cudaStreamSynchronize", INVALID_HANDLE, {BAD}}, {"cudaStreamQuery", INVALID_HANDLE, {BAD}},
	{"cudaStreamWaitEvent", INVALID_HANDLE, {BAD, EVENT}}, {"cudaStreamDestroy", INVALID_HANDLE, {BAD}},
	{"cudaStreamGetFlags", INVALID_HANDLE, {BAD, PLACE}}, {"cudaStreamGetPriority", INVALID_HANDLE, {BAD, PLACE}},
	{"cudaStreamGetDevice", INVALID_HANDLE, {BAD, PLACE}}, {"cudaStreamAttachMemAsync", INVALID_HANDLE, {BAD}},
	{"cudaStreamBeginCapture", INVALID_HANDLE, {BAD}}, {"cudaStreamEndCapture", INVALID_HANDLE, {BAD, PLACE}},
	{"cudaStreamIsCapturing", INVALID_HANDLE, {BAD, PLACE}}, {"cudaStreamGetCaptureInfo", INVALID_HANDLE, {BAD, PLACE}},
	{"cudaStreamUpdateCaptureDependencies", INVALID_HANDLE, {BAD}}, {"cudaStreamAddCallback", INVALID_HANDLE, {BAD, PLACE}},
	{"cudaLaunchHostFunc", INVALID_HANDLE, {BAD, PLACE}}, {"cudaMemcpyAsync", INVALID_HANDLE, {PLACE, PLACE, 4, 0, BAD}},
	{"cudaMemsetAsync", INVALID_HANDLE, {PLACE, 0, 4, BAD}}, {"cudaMallocAsync", INVALID_HANDLE, {PLACE, 4, BAD}},
	{"cudaFreeAsync", INVALID_HANDLE, {PLACE, BAD}}, {"cudaEventRecord", INVALID_HANDLE, {EVENT, BAD}},
	{"cudaGraphLaunch", INVALID_HANDLE, {EXECUTABLE, BAD}}, {"cudaGraphUpload", INVALID_HANDLE, {EXECUTABLE, BAD}},
	{"cudaStreamGetAttribute", INVALID_HANDLE, {BAD, 1, PLACE}}, {"cudaStreamCopyAttributes", INVALID_HANDLE, {BAD, STREAM}},
	{"cuStreamSynchronize", INVALID_HANDLE, {BAD}}, {"cuStreamQuery", INVALID_HANDLE, {BAD}},
	{"cuStreamGetCtx", INVALID_HANDLE, {BAD, PLACE}}, {"cuStreamGetId", INVALID_HANDLE, {BAD, PLACE}}, {NULL}};

static const struct row events[] = {
	{"cudaEventRecord", INVALID_HANDLE, {BAD}}, {"cudaEventRecordWithFlags", INVALID_HANDLE, {BAD}},
	{"cudaEventSynchronize", INVALID_HANDLE, {BAD}}, {"cudaEventQuery", INVALID_HANDLE, {BAD}},
	{"cudaEventElapsedTime", INVALID_HANDLE, {PLACE, BAD, EVENT}}, {"cudaEventElapsedTime", INVALID_HANDLE, {PLACE, EVENT, BAD}},
	{"cudaStreamWaitEvent", INVALID_HANDLE, {STREAM, BAD}}, {"cudaEventDestroy", INVALID_HANDLE, {BAD}},
	{"cudaGraphAddEventRecordNode", INVALID_VALUE, {PLACE, GRAPH, 0, 0, BAD}},
	{"cudaGraphAddEventWaitNode", INVALID_VALUE, {PLACE, GRAPH, 0, 0, BAD}}, {"cuEventRecord", INVALID_HANDLE, {BAD}},
	{"cuEventSynchronize", INVALID_HANDLE, {BAD}}, {NULL}};

static const struct row graphs[] = {
	{"cudaGraphDestroy", INVALID_VALUE, {BAD}}, {"cudaGraphClone", INVALID_VALUE, {PLACE, BAD}},
	{"cudaGraphGetNodes", INVALID_VALUE, {BAD, 0, PLACE}}, {"cudaGraphGetRootNodes", INVALID_VALUE, {BAD, 0, PLACE}},
	{"cudaGraphGetEdges", INVALID_VALUE, {BAD, 0, 0, 0, PLACE}}, {"cudaGraphAddEmptyNode", INVALID_VALUE, {PLACE, BAD}},
	{"cudaGraphAddChildGraphNode", INVALID_VALUE, {PLACE, GRAPH, 0, 0, BAD}}, {"cudaGraphInstantiate", INVALID_VALUE, {PLACE, BAD}},
	{"cudaGraphAddDependencies", INVALID_VALUE, {BAD}}, {"cudaStreamBeginCaptureToGraph", INVALID_VALUE, {STREAM, BAD}},
	{"cudaGraphConditionalHandleCreate", INVALID_VALUE, {PLACE, BAD}}, {"cudaGraphExecUpdate", INVALID_VALUE, {EXECUTABLE, BAD, PLACE}},
	{"cudaGraphNodeFindInClone", INVALID_VALUE, {PLACE, NODE, BAD}}, {NULL}};

static const struct row nodes[] = {
	{"cudaGraphNodeGetType", INVALID_VALUE, {BAD, PLACE}}, {"cudaGraphDestroyNode", INVALID_VALUE, {BAD}},
	{"cudaGraphNodeGetDependencies", INVALID_VALUE, {BAD, 0, 0, PLACE}}, {"cudaGraphKernelNodeGetParams", INVALID_VALUE, {BAD, PLACE}},
	{"cudaGraphNodeGetDependentNodes", INVALID_VALUE, {BAD, 0, 0, PLACE}}, {"cudaGraphChildGraphNodeGetGraph", INVALID_VALUE, {BAD, PLACE}},
	{"cudaGraphAddEmptyNode", INVALID_VALUE, {PLACE, GRAPH, LIST, 1}}, {"cudaGraphAddDependencies", INVALID_VALUE, {GRAPH, LIST, LIST, 0, 1}},
	{NULL}};

static const struct row executables[] = {
	{"cudaGraphLaunch", INVALID_VALUE, {BAD}}, {"cudaGraphExecDestroy", INVALID_VALUE, {BAD}}, {"cudaGraphUpload", INVALID_VALUE, {BAD}},
	{"cudaGraphExecGetFlags", INVALID_VALUE, {BAD, PLACE}}, {"cudaGraphExecUpdate", INVALID_VALUE, {BAD, GRAPH, PLACE}},
	{"cudaGraphNodeSetEnabled", INVALID_VALUE, {BAD, NODE}}, {NULL}};

static const struct row pools[] = {
	{"cudaMemPoolDestroy", INVALID_VALUE, {BAD}}, {"cudaMallocFromPoolAsync", INVALID_VALUE, {PLACE, 4, BAD}},
	{"cudaMemPoolGetAttribute", INVALID_VALUE, {BAD, 1, PLACE}}, {"cudaMemPoolTrimTo", INVALID_VALUE, {BAD}}, {NULL}};

static const struct row numbers[] = {
	{"cuModuleUnload", INVALID_HANDLE, {BAD}}, {"cuModuleGetFunctionCount", INVALID_VALUE, {PLACE, BAD}},
	{"cuCtxSetCurrent", INVALID_CONTEXT, {BAD}}, {"cuCtxPushCurrent_v2", INVALID_CONTEXT, {BAD}}, {"cuCtxDestroy_v2", INVALID_CONTEXT, {BAD}},
	{"cudaFreeArray", INVALID_HANDLE, {BAD}}, {"cudaDestroyTextureObject", INVALID_VALUE, {BAD}}, {NULL}};

static int do_call(const char *name, const uintptr_t *arguments, uintptr_t bad)
{
	call *function = (call *)(uintptr_t)dlsym(RTLD_DEFAULT, name);
	uintptr_t a[ARGUMENTS];

	if (!function)
		return -1;
	list[0] = bad;
	for (int i = 0; i < ARGUMENTS; i++)
		a[i] = arguments[i] == BAD ? bad : arguments[i] > BAD && arguments[i] <= LIST ? good[arguments[i] - BAD] : arguments[i];
	return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* Calls that make something: its handle. */
static uintptr_t made(const char *name, uintptr_t second, uintptr_t third)
{
	uintptr_t handle = 0;

	if (do_call(name, (const uintptr_t[ARGUMENTS]){(uintptr_t)&handle, second, third}, 0) != 0 || !handle)
		printf("%s: no handle\n", name);
	return handle;
}

static uintptr_t destroyed(uintptr_t handle, const char *name)
{
	if (do_call(name, (const uintptr_t[ARGUMENTS]){handle}, 0) != 0)
		printf("%s: failed\n", name);
	return handle;
}

static unsigned calls;

static void each(const struct row *rows, uintptr_t bad, const char *what)
{
	for (; rows->name; rows++, calls++) {
		int code = do_call(rows->name, rows->arguments, bad);
		if (code != rows->code)
			printf("%s, given %s: %d, expected %d\n", rows->name, what, code, rows->code);
	}
}

static void give(void)
{
	static const struct row *const all[] = {streams, events, graphs, nodes, executables, pools, numbers};
	uintptr_t properties[12] = {1, 0}, graph;

	((int *)properties)[2] = 1; /* on device 0 */
	good[STREAM - BAD] = made("cudaStreamCreate", 0, 0);
	good[EVENT - BAD] = made("cudaEventCreate", 0, 0);
	good[GRAPH - BAD] = made("cudaGraphCreate", 0, 0);
	good[NODE - BAD] = made("cudaGraphAddEmptyNode", good[GRAPH - BAD], 0);
	good[EXECUTABLE - BAD] = made("cudaGraphInstantiate", good[GRAPH - BAD], 0);
	good[PLACE - BAD] = (uintptr_t)place;
	good[LIST - BAD] = (uintptr_t)list;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		each(all[i], 0x1234, "0x1234");
	each(streams, good[EVENT - BAD], "an event");
	each(events, good[STREAM - BAD], "a stream");
	each(streams, destroyed(made("cudaStreamCreate", 0, 0), "cudaStreamDestroy"), "a destroyed stream");
	each(events, destroyed(made("cudaEventCreate", 0, 0), "cudaEventDestroy"), "a destroyed event");
	each(graphs, destroyed(made("cudaGraphCreate", 0, 0), "cudaGraphDestroy"), "a destroyed graph");
	graph = made("cudaGraphCreate", 0, 0);
	uintptr_t node = made("cudaGraphAddEmptyNode", graph, 0), executable = made("cudaGraphInstantiate", graph, 0);
	destroyed(graph, "cudaGraphDestroy");
	each(nodes, node, "a node of a destroyed graph");
	each(executables, destroyed(executable, "cudaGraphExecDestroy"), "a destroyed executable graph");
	each(pools, destroyed(made("cudaMemPoolCreate", (uintptr_t)properties, 0), "cudaMemPoolDestroy"), "a destroyed pool");
	printf("%u calls\n", calls);
}

int main(int argc, char **argv)
{
	const uintptr_t nowhere[ARGUMENTS] = {(uintptr_t)place, NOWHERE, 4}, first[ARGUMENTS] = {NOWHERE, 4, 0};

	if (argc < 2)
		give();
	else
		do_call(argv[1], strcmp(argv[1], "cudaMemcpy") == 0 ? nowhere : first, 0);
	return 0;
}
