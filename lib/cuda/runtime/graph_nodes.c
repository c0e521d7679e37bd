/* SPDX-License-Identifier: MIT */
/* The calls that add nodes to graphs, and change the work of nodes in a graph or in its executable. */
#include <stdlib.h>

#include "cuda/runtime/graph_params.h"

/* ---- adding ---- */

static int add(int code, struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
	       const struct gt_work *work)
{
	if (code == CUDA_SUCCESS)
		code = node && graph ? gt_graph_add(graph, after, n, work, node) : CUDA_INVALID_VALUE;
	return gt_cudart_leave(code);
}

API int cudaGraphAddKernelNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct gt_kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_kernel_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddMemsetNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct gt_fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_fill_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddHostNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			     const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_host_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_volume_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNode1D(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
				 void *to, const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_flat_work(&work, to, from, bytes, kind), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNodeToSymbol(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after,
				       size_t n, const void *symbol, const void *from, size_t bytes, size_t offset,
				       unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_symbol_work(&work, symbol, true, from, bytes, offset, kind), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNodeFromSymbol(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after,
					 size_t n, void *to, const void *symbol, size_t bytes, size_t offset,
					 unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_symbol_work(&work, symbol, false, to, bytes, offset, kind), node, graph, after, n, &work);
}

API int cudaGraphAddChildGraphNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after,
				   size_t n, struct gt_graph *child)
{
	struct gt_work work = {GT_WORK_GRAPH, {.graph = child}};

	gt_cudart_enter();
	return add(child ? CUDA_SUCCESS : CUDA_INVALID_VALUE, node, graph, after, n, &work);
}

API int cudaGraphAddEmptyNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n)
{
	struct gt_work work = {.kind = GT_WORK_EMPTY};

	gt_cudart_enter();
	return add(CUDA_SUCCESS, node, graph, after, n, &work);
}

static int add_event(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
		     struct gt_cuda_event *event, enum gt_work_kind kind)
{
	struct gt_work work = {kind, {.event = event}};

	gt_cudart_enter();
	return add(event ? CUDA_SUCCESS : CUDA_INVALID_VALUE, node, graph, after, n, &work);
}

API int cudaGraphAddEventRecordNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after,
				    size_t n, struct gt_cuda_event *event)
{
	return add_event(node, graph, after, n, event, GT_WORK_RECORD);
}

API int cudaGraphAddEventWaitNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after,
				  size_t n, struct gt_cuda_event *event)
{
	return add_event(node, graph, after, n, event, GT_WORK_WAIT);
}

API int cudaGraphAddMemAllocNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
				 struct gt_allocation_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	int code = gt_graph_allocation_work(&work, parameters);
	if (code != CUDA_SUCCESS)
		return gt_cudart_leave(code);
	code = node && graph ? gt_graph_add(graph, after, n, &work, node) : CUDA_INVALID_VALUE;
	gt_work_free(&work);
	return gt_cudart_leave(code);
}

API int cudaGraphAddMemFreeNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
				const void *pointer)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(gt_graph_free_work(&work, pointer), node, graph, after, n, &work);
}

/* ---- changing ---- */

int gt_graph_change(int code, struct gt_node *node, const struct gt_work *work)
{
	struct gt_work kept;

	if (code == CUDA_SUCCESS && (!node || node->work.kind != work->kind))
		code = CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		code = gt_work_keep(&kept, work);
	if (code == CUDA_SUCCESS) {
		gt_work_free(&node->work);
		node->work = kept;
	}
	return gt_cudart_leave(code);
}

API int cudaGraphKernelNodeSetParams(struct gt_node *node, const struct gt_kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_kernel_work(&work, parameters), node, &work);
}

API int cudaGraphExecKernelNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct gt_kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_kernel_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemsetNodeSetParams(struct gt_node *node, const struct gt_fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_fill_work(&work, parameters), node, &work);
}

API int cudaGraphExecMemsetNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct gt_fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_fill_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphHostNodeSetParams(struct gt_node *node, const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_host_work(&work, parameters), node, &work);
}

API int cudaGraphExecHostNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
				       const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_host_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemcpyNodeSetParams(struct gt_node *node, const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_volume_work(&work, parameters), node, &work);
}

API int cudaGraphExecMemcpyNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_volume_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemcpyNodeSetParams1D(struct gt_node *node, void *to, const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_flat_work(&work, to, from, bytes, kind), node, &work);
}

API int cudaGraphExecMemcpyNodeSetParams1D(const struct gt_executable *executable, const struct gt_node *node, void *to,
					   const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(gt_graph_flat_work(&work, to, from, bytes, kind), gt_executable_node(executable, node), &work);
}

API int cudaGraphExecChildGraphNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					     struct gt_graph *child)
{
	struct gt_work work = {GT_WORK_GRAPH, {.graph = child}};

	gt_cudart_enter();
	return gt_graph_change(child ? CUDA_SUCCESS : CUDA_INVALID_VALUE, gt_executable_node(executable, node), &work);
}

/* ---- asking ---- */

/* The node keeps ownership of the arguments. */
API int cudaGraphKernelNodeGetParams(const struct gt_node *node, struct gt_kernel_parameters *to)
{
	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_KERNEL)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const struct gt_kernel_work *kernel = &node->work.u.kernel;
	*to = (struct gt_kernel_parameters){kernel->function, kernel->grid, kernel->block, (unsigned)kernel->shared,
					 kernel->arguments, NULL};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphMemsetNodeGetParams(const struct gt_node *node, struct gt_fill_parameters *to)
{
	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_FILL)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const struct gt_fill_work *fill = &node->work.u.fill;
	*to = (struct gt_fill_parameters){fill->to, fill->pitch, fill->value, fill->element, fill->width, fill->height};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphHostNodeGetParams(const struct gt_node *node, struct gt_host_work *to)
{
	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_HOST)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*to = node->work.u.host;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphChildGraphNodeGetGraph(const struct gt_node *node, struct gt_graph **to)
{
	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_GRAPH)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*to = node->work.u.graph;
	return gt_cudart_leave(CUDA_SUCCESS);
}
