/* SPDX-License-Identifier: MIT */
/* Nodes of any kind, nodes that allocate, and conditional nodes. The structures are the runtime's, except that of a copy. */
#include "cuda/driver/boxes.h"
#include "cuda/driver/driver.h"
#include "cuda/runtime/graph_params.h"

#define NODES struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n
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
