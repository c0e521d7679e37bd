/* SPDX-License-Identifier: MIT */
/* Graphs. The structures are the runtime's, except those of copies. A context that a call names is not looked at: the device
 * has all memory. */
#include "cuda/driver/driver.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/work.h"

struct kernel_parameters;
struct fill_parameters;
struct instantiate_parameters;
struct update_result;
struct gt_executable;

#define NODES struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n
extern int cudaGraphCreate(struct gt_graph **graph, unsigned flags), cudaGraphDestroy(struct gt_graph *graph);
extern int cudaGraphClone(struct gt_graph **copy, const struct gt_graph *graph);
extern int cudaGraphAddKernelNode(NODES, const struct kernel_parameters *parameters);
extern int cudaGraphAddMemsetNode(NODES, const struct fill_parameters *parameters);
extern int cudaGraphAddHostNode(NODES, const struct gt_host_work *parameters);
extern int cudaGraphAddChildGraphNode(NODES, struct gt_graph *child);
extern int cudaGraphAddEmptyNode(NODES);
extern int cudaGraphAddEventRecordNode(NODES, struct gt_cuda_event *event);
extern int cudaGraphAddEventWaitNode(NODES, struct gt_cuda_event *event);
extern int cudaGraphKernelNodeSetParams(struct gt_node *node, const struct kernel_parameters *parameters);
extern int cudaGraphKernelNodeGetParams(const struct gt_node *node, struct kernel_parameters *to);
extern int cudaGraphMemsetNodeSetParams(struct gt_node *node, const struct fill_parameters *parameters);
extern int cudaGraphMemsetNodeGetParams(const struct gt_node *node, struct fill_parameters *to);
extern int cudaGraphHostNodeSetParams(struct gt_node *node, const struct gt_host_work *parameters);
extern int cudaGraphHostNodeGetParams(const struct gt_node *node, struct gt_host_work *to);
extern int cudaGraphChildGraphNodeGetGraph(const struct gt_node *node, struct gt_graph **to);
extern int cudaGraphExecKernelNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					    const struct kernel_parameters *parameters);
extern int cudaGraphExecMemsetNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					    const struct fill_parameters *parameters);
extern int cudaGraphExecHostNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					  const struct gt_host_work *parameters);
extern int cudaGraphExecChildGraphNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
						struct gt_graph *child);
extern int cudaGraphDebugDotPrint(const struct gt_graph *graph, const char *path, unsigned flags);
extern int cudaGraphKernelNodeSetAttribute(struct gt_node *node, unsigned id, const union gt_launch_value *value);
extern int cudaGraphKernelNodeGetAttribute(const struct gt_node *node, unsigned id, union gt_launch_value *value);
extern int cudaGraphKernelNodeCopyAttributes(struct gt_node *to, const struct gt_node *from);
extern int cudaUserObjectCreate(struct gt_user_object **object, void *data, void (*destroy)(void *), unsigned references, unsigned flags);
extern int cudaUserObjectRetain(struct gt_user_object *object, unsigned references);
extern int cudaUserObjectRelease(struct gt_user_object *object, unsigned references);
extern int cudaGraphRetainUserObject(struct gt_graph *graph, struct gt_user_object *object, unsigned references, unsigned flags);
extern int cudaGraphReleaseUserObject(const struct gt_graph *graph, struct gt_user_object *object, unsigned references);
extern int cudaGraphGetNodes(const struct gt_graph *graph, struct gt_node **to, size_t *n);
extern int cudaGraphGetRootNodes(const struct gt_graph *graph, struct gt_node **to, size_t *n);
extern int cudaGraphGetEdges(const struct gt_graph *graph, struct gt_node **from, struct gt_node **to, void *edges, size_t *n);
extern int cudaGraphNodeGetDependencies(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n);
extern int cudaGraphNodeGetDependentNodes(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n);
extern int cudaGraphAddDependencies(const struct gt_graph *graph, struct gt_node *const *from, struct gt_node *const *to,
				    const void *edges, size_t n);
extern int cudaGraphRemoveDependencies(const struct gt_graph *graph, struct gt_node *const *from, struct gt_node *const *to,
				       const void *edges, size_t n);
extern int cudaGraphNodeGetType(const struct gt_node *node, int *type), cudaGraphDestroyNode(struct gt_node *node);
extern int cudaGraphInstantiate(struct gt_executable **to, const struct gt_graph *graph, unsigned long long flags);
extern int cudaGraphInstantiateWithParams(struct gt_executable **to, const struct gt_graph *graph,
					  struct instantiate_parameters *parameters);
extern int cudaGraphExecGetFlags(const struct gt_executable *executable, unsigned long long *flags);
extern int cudaGraphExecDestroy(struct gt_executable *executable);
extern int cudaGraphUpload(struct gt_executable *executable, void *stream);
extern int cudaGraphLaunch(struct gt_executable *executable, void *stream);
extern int cudaGraphNodeSetEnabled(const struct gt_executable *executable, const struct gt_node *node, unsigned enabled);
extern int cudaGraphNodeGetEnabled(const struct gt_executable *executable, const struct gt_node *node, unsigned *enabled);
extern int cudaGraphExecUpdate(struct gt_executable *executable, const struct gt_graph *graph, struct update_result *result);

/* ---- graphs and nodes ---- */

DRIVER(cuGraphCreate, (struct gt_graph **graph, unsigned flags), cudaGraphCreate(graph, flags))
DRIVER(cuGraphDestroy, (struct gt_graph *graph), cudaGraphDestroy(graph))
DRIVER(cuGraphClone, (struct gt_graph **copy, const struct gt_graph *graph), cudaGraphClone(copy, graph))
DRIVER(cuGraphAddKernelNode_v2, (NODES, const struct kernel_parameters *parameters),
       cudaGraphAddKernelNode(node, graph, after, n, parameters))
DRIVER(cuGraphAddKernelNode, (NODES, const struct kernel_parameters *parameters),
       cudaGraphAddKernelNode(node, graph, after, n, parameters))
DRIVER(cuGraphAddMemsetNode, (NODES, const struct fill_parameters *parameters, const void *context),
       ((void)context, cudaGraphAddMemsetNode(node, graph, after, n, parameters)))
DRIVER(cuGraphAddHostNode, (NODES, const struct gt_host_work *parameters),
       cudaGraphAddHostNode(node, graph, after, n, parameters))
DRIVER(cuGraphAddChildGraphNode, (NODES, struct gt_graph *child), cudaGraphAddChildGraphNode(node, graph, after, n, child))
DRIVER(cuGraphAddEmptyNode, (NODES), cudaGraphAddEmptyNode(node, graph, after, n))
DRIVER(cuGraphAddEventRecordNode, (NODES, struct gt_cuda_event *event),
       cudaGraphAddEventRecordNode(node, graph, after, n, event))
DRIVER(cuGraphAddEventWaitNode, (NODES, struct gt_cuda_event *event), cudaGraphAddEventWaitNode(node, graph, after, n, event))

static int add_copy(NODES, const struct gt_box_copy *copy)
{
	struct gt_work work;
	int code = node && graph ? gt_driver_box(&work, copy) : CUDA_INVALID_VALUE;

	return code == CUDA_SUCCESS ? gt_graph_add(graph, after, n, &work, node) : code;
}

DRIVER(cuGraphAddMemcpyNode, (NODES, const struct gt_box_copy *copy, const void *context),
       ((void)context, add_copy(node, graph, after, n, copy)))

static int change_copy(struct gt_node *node, const struct gt_box_copy *copy)
{
	return node && node->work.kind == GT_WORK_COPY ? gt_driver_box(&node->work, copy) : CUDA_INVALID_VALUE;
}

DRIVER(cuGraphMemcpyNodeSetParams, (struct gt_node *node, const struct gt_box_copy *copy), change_copy(node, copy))
DRIVER(cuGraphExecMemcpyNodeSetParams, (const struct gt_executable *executable, const struct gt_node *node,
					const struct gt_box_copy *copy, const void *context),
       ((void)context, change_copy(gt_executable_node(executable, node), copy)))

DRIVER(cuGraphKernelNodeSetParams_v2, (struct gt_node *node, const struct kernel_parameters *parameters),
       cudaGraphKernelNodeSetParams(node, parameters))
DRIVER(cuGraphKernelNodeSetParams, (struct gt_node *node, const struct kernel_parameters *parameters),
       cudaGraphKernelNodeSetParams(node, parameters))
DRIVER(cuGraphKernelNodeGetParams, (const struct gt_node *node, struct kernel_parameters *to),
       cudaGraphKernelNodeGetParams(node, to))
DRIVER(cuGraphMemsetNodeSetParams, (struct gt_node *node, const struct fill_parameters *parameters),
       cudaGraphMemsetNodeSetParams(node, parameters))
DRIVER(cuGraphMemsetNodeGetParams, (const struct gt_node *node, struct fill_parameters *to),
       cudaGraphMemsetNodeGetParams(node, to))
DRIVER(cuGraphHostNodeSetParams, (struct gt_node *node, const struct gt_host_work *parameters),
       cudaGraphHostNodeSetParams(node, parameters))
DRIVER(cuGraphHostNodeGetParams, (const struct gt_node *node, struct gt_host_work *to), cudaGraphHostNodeGetParams(node, to))
DRIVER(cuGraphChildGraphNodeGetGraph, (const struct gt_node *node, struct gt_graph **to),
       cudaGraphChildGraphNodeGetGraph(node, to))

/* ---- what a graph has ---- */

#define PAIRS const struct gt_graph *graph, struct gt_node *const *from, struct gt_node *const *to
DRIVER(cuGraphGetNodes, (const struct gt_graph *graph, struct gt_node **to, size_t *n), cudaGraphGetNodes(graph, to, n))
DRIVER(cuGraphGetRootNodes, (const struct gt_graph *graph, struct gt_node **to, size_t *n),
       cudaGraphGetRootNodes(graph, to, n))
DRIVER(cuGraphGetEdges, (const struct gt_graph *graph, struct gt_node **from, struct gt_node **to, size_t *n),
       cudaGraphGetEdges(graph, from, to, NULL, n))
DRIVER(cuGraphGetEdges_v2,
       (const struct gt_graph *graph, struct gt_node **from, struct gt_node **to, void *edges, size_t *n),
       cudaGraphGetEdges(graph, from, to, edges, n))
DRIVER(cuGraphNodeGetDependencies, (const struct gt_node *node, struct gt_node **to, size_t *n),
       cudaGraphNodeGetDependencies(node, to, NULL, n))
DRIVER(cuGraphNodeGetDependencies_v2, (const struct gt_node *node, struct gt_node **to, void *edges, size_t *n),
       cudaGraphNodeGetDependencies(node, to, edges, n))
DRIVER(cuGraphNodeGetDependentNodes, (const struct gt_node *node, struct gt_node **to, size_t *n),
       cudaGraphNodeGetDependentNodes(node, to, NULL, n))
DRIVER(cuGraphNodeGetDependentNodes_v2, (const struct gt_node *node, struct gt_node **to, void *edges, size_t *n),
       cudaGraphNodeGetDependentNodes(node, to, edges, n))
DRIVER(cuGraphAddDependencies, (PAIRS, size_t n), cudaGraphAddDependencies(graph, from, to, NULL, n))
DRIVER(cuGraphAddDependencies_v2, (PAIRS, const void *edges, size_t n), cudaGraphAddDependencies(graph, from, to, edges, n))
DRIVER(cuGraphRemoveDependencies, (PAIRS, size_t n), cudaGraphRemoveDependencies(graph, from, to, NULL, n))
DRIVER(cuGraphRemoveDependencies_v2, (PAIRS, const void *edges, size_t n),
       cudaGraphRemoveDependencies(graph, from, to, edges, n))
DRIVER(cuGraphNodeGetType, (const struct gt_node *node, int *type), cudaGraphNodeGetType(node, type))
DRIVER(cuGraphDestroyNode, (struct gt_node *node), cudaGraphDestroyNode(node))

/* ---- executables ---- */

#define EXEC const struct gt_executable *executable
DRIVER(cuGraphInstantiateWithFlags, (struct gt_executable **to, const struct gt_graph *graph, unsigned long long flags),
       cudaGraphInstantiate(to, graph, flags))
DRIVER(cuGraphInstantiate_v2, (struct gt_executable **to, const struct gt_graph *graph, struct gt_node **node, char *log,
			       size_t bytes),
       ((void)node, (void)log, (void)bytes, cudaGraphInstantiate(to, graph, 0)))
DRIVER(cuGraphInstantiateWithParams, (struct gt_executable **to, const struct gt_graph *graph,
				      struct instantiate_parameters *parameters),
       cudaGraphInstantiateWithParams(to, graph, parameters))
DRIVER(cuGraphExecGetFlags, (EXEC, unsigned long long *flags), cudaGraphExecGetFlags(executable, flags))
DRIVER(cuGraphExecDestroy, (struct gt_executable *executable), cudaGraphExecDestroy(executable))
DRIVER_OF(stream, cuGraphUpload, (struct gt_executable *executable, void *stream), cudaGraphUpload(executable, stream))
DRIVER(cuGraphNodeSetEnabled, (EXEC, const struct gt_node *node, unsigned enabled),
       cudaGraphNodeSetEnabled(executable, node, enabled))
DRIVER(cuGraphNodeGetEnabled, (EXEC, const struct gt_node *node, unsigned *enabled),
       cudaGraphNodeGetEnabled(executable, node, enabled))
DRIVER(cuGraphExecUpdate_v2, (struct gt_executable *executable, const struct gt_graph *graph, struct update_result *result),
       cudaGraphExecUpdate(executable, graph, result))
DRIVER(cuGraphExecKernelNodeSetParams_v2, (EXEC, const struct gt_node *node, const struct kernel_parameters *parameters),
       cudaGraphExecKernelNodeSetParams(executable, node, parameters))
DRIVER(cuGraphExecKernelNodeSetParams, (EXEC, const struct gt_node *node, const struct kernel_parameters *parameters),
       cudaGraphExecKernelNodeSetParams(executable, node, parameters))
DRIVER(cuGraphExecMemsetNodeSetParams,
       (EXEC, const struct gt_node *node, const struct fill_parameters *parameters, const void *context),
       ((void)context, cudaGraphExecMemsetNodeSetParams(executable, node, parameters)))
DRIVER(cuGraphExecHostNodeSetParams, (EXEC, const struct gt_node *node, const struct gt_host_work *parameters),
       cudaGraphExecHostNodeSetParams(executable, node, parameters))
DRIVER(cuGraphExecChildGraphNodeSetParams, (EXEC, const struct gt_node *node, struct gt_graph *child),
       cudaGraphExecChildGraphNodeSetParams(executable, node, child))

/* The runtime's call does it, since a node may call a function of the host, which must not have the lock. */
API int cuGraphLaunch(struct gt_executable *executable, void *stream)
{
	int code = gt_driver_end(gt_driver_begin_of(stream));

	return code == CUDA_SUCCESS ? cudaGraphLaunch(executable, stream) : code;
}

ALSO(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz);
ALSO(cuGraphUpload, cuGraphUpload_ptsz);
ALSO(cuGraphLaunch, cuGraphLaunch_ptsz);

/* ---- nodes that allocate, and conditional nodes ---- */

extern int cudaGraphAddMemAllocNode(NODES, struct gt_allocation_parameters *parameters);
extern int cudaGraphAddMemFreeNode(NODES, const void *pointer);
extern int cudaGraphMemAllocNodeGetParams(const struct gt_node *node, struct gt_allocation_parameters *to);
extern int cudaGraphMemFreeNodeGetParams(const struct gt_node *node, void **to);
extern int cudaDeviceGetGraphMemAttribute(int device, unsigned attribute, uint64_t *value);
extern int cudaDeviceSetGraphMemAttribute(int device, unsigned attribute, const uint64_t *value);
extern int cudaDeviceGraphMemTrim(int device);
extern int cudaGraphConditionalHandleCreate(uint64_t *handle, struct gt_graph *graph, unsigned value, unsigned flags);
extern int cudaGraphNodeFindInClone(struct gt_node **found, const struct gt_node *node, const struct gt_graph *copy);
extern int cudaGraphAddNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, const void *edges, size_t n,
			    struct gt_node_parameters *parameters);
extern int cudaGraphNodeSetParams(struct gt_node *node, struct gt_node_parameters *parameters);

/* CUgraphNodeParams of a copy */
struct copy_parameters {
	int type, reserved[3];
	int flags, reserved_too;
	const void *context;
	struct gt_box_copy copy;
};

DRIVER(cuGraphAddMemAllocNode, (NODES, struct gt_allocation_parameters *parameters),
       cudaGraphAddMemAllocNode(node, graph, after, n, parameters))
DRIVER(cuGraphAddMemFreeNode, (NODES, uint64_t address), cudaGraphAddMemFreeNode(node, graph, after, n, (void *)(uintptr_t)address))
DRIVER(cuGraphMemAllocNodeGetParams, (const struct gt_node *node, struct gt_allocation_parameters *to),
       cudaGraphMemAllocNodeGetParams(node, to))
DRIVER(cuGraphMemFreeNodeGetParams, (const struct gt_node *node, void **to), cudaGraphMemFreeNodeGetParams(node, to))
DRIVER(cuDeviceGetGraphMemAttribute, (int device, unsigned attribute, uint64_t *value),
       cudaDeviceGetGraphMemAttribute(device, attribute, value))
DRIVER(cuDeviceSetGraphMemAttribute, (int device, unsigned attribute, const uint64_t *value),
       cudaDeviceSetGraphMemAttribute(device, attribute, value))
DRIVER(cuDeviceGraphMemTrim, (int device), cudaDeviceGraphMemTrim(device))
DRIVER(cuGraphConditionalHandleCreate,
       (uint64_t *handle, struct gt_graph *graph, const void *context, unsigned value, unsigned flags),
       ((void)context, cudaGraphConditionalHandleCreate(handle, graph, value, flags)))
DRIVER(cuGraphNodeFindInClone, (struct gt_node **found, const struct gt_node *node, const struct gt_graph *copy),
       cudaGraphNodeFindInClone(found, node, copy))

/* ---- of any kind ---- */

static int copy_of(struct gt_work *work, const struct gt_node_parameters *parameters)
{
	return gt_driver_box(work, &((const struct copy_parameters *)(const void *)parameters)->copy);
}

static int add(NODES, struct gt_node_parameters *parameters)
{
	struct gt_work work;

	if (!node || !graph || !parameters)
		return CUDA_INVALID_VALUE;
	if (parameters->type != GT_WORK_COPY)
		return cudaGraphAddNode(node, graph, after, NULL, n, parameters);
	int code = copy_of(&work, parameters);
	return code == CUDA_SUCCESS ? gt_graph_add(graph, after, n, &work, node) : code;
}

DRIVER(cuGraphAddNode, (NODES, struct gt_node_parameters *parameters), add(node, graph, after, n, parameters))
DRIVER(cuGraphAddNode_v2,
       (struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, const void *edges, size_t n,
	struct gt_node_parameters *parameters),
       ((void)edges, add(node, graph, after, n, parameters)))

static int change(struct gt_node *node, struct gt_node_parameters *parameters)
{
	if (!node || !parameters)
		return CUDA_INVALID_VALUE;
	if (parameters->type != GT_WORK_COPY)
		return cudaGraphNodeSetParams(node, parameters);
	return node->work.kind == GT_WORK_COPY ? copy_of(&node->work, parameters) : CUDA_INVALID_VALUE;
}

DRIVER(cuGraphNodeSetParams, (struct gt_node *node, struct gt_node_parameters *parameters), change(node, parameters))
DRIVER(cuGraphExecNodeSetParams,
       (const struct gt_executable *executable, const struct gt_node *node, struct gt_node_parameters *parameters),
       change(gt_executable_node(executable, node), parameters))
DRIVER(cuGraphDebugDotPrint, (const struct gt_graph *graph, const char *path, unsigned flags), cudaGraphDebugDotPrint(graph, path, flags))
DRIVER(cuGraphKernelNodeSetAttribute, (struct gt_node * node, unsigned id, const union gt_launch_value *value),
       cudaGraphKernelNodeSetAttribute(node, id, value))
DRIVER(cuGraphKernelNodeGetAttribute, (const struct gt_node *node, unsigned id, union gt_launch_value *value),
       cudaGraphKernelNodeGetAttribute(node, id, value))
DRIVER(cuGraphKernelNodeCopyAttributes, (struct gt_node * to, const struct gt_node *from), cudaGraphKernelNodeCopyAttributes(to, from))
DRIVER(cuUserObjectCreate, (struct gt_user_object * *object, void *data, void (*destroy)(void *), unsigned references, unsigned flags),
       cudaUserObjectCreate(object, data, destroy, references, flags))
DRIVER(cuUserObjectRetain, (struct gt_user_object * object, unsigned references), cudaUserObjectRetain(object, references))
DRIVER(cuUserObjectRelease, (struct gt_user_object * object, unsigned references), cudaUserObjectRelease(object, references))
DRIVER(cuGraphRetainUserObject, (struct gt_graph * graph, struct gt_user_object *object, unsigned references, unsigned flags),
       cudaGraphRetainUserObject(graph, object, references, flags))
DRIVER(cuGraphReleaseUserObject, (const struct gt_graph *graph, struct gt_user_object *object, unsigned references),
       cudaGraphReleaseUserObject(graph, object, references))
