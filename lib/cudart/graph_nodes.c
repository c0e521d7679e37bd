/* SPDX-License-Identifier: MIT */
/* The calls that add nodes to graphs, and change the work of nodes in a graph or in its executable. */
#include <stdlib.h>

#include "cudart/graph.h"
#include "cudart/volume.h"

struct kernel_parameters {
	const void *function;
	struct gt_dim3 grid, block;
	unsigned shared;
	void **arguments, **extra;
};

struct fill_parameters {
	void *to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

/* ---- from parameters to work; a code each ---- */

static int kernel_work(struct gt_work *work, const struct kernel_parameters *parameters)
{
	if (!parameters)
		return CUDA_INVALID_VALUE;
	if (parameters->extra)
		return gt_cudart_refuse("a kernel node with 'extra' arguments");
	*work = (struct gt_work){GT_WORK_KERNEL, {.kernel = {.function = parameters->function, .grid = parameters->grid,
							      .block = parameters->block, .shared = parameters->shared,
							      .arguments = parameters->arguments}}};
	return CUDA_SUCCESS;
}

static int fill_work(struct gt_work *work, const struct fill_parameters *parameters)
{
	if (!parameters || (parameters->element != 1 && parameters->element != 2 && parameters->element != 4))
		return CUDA_INVALID_VALUE;
	*work = (struct gt_work){GT_WORK_FILL, {.fill = {parameters->to, parameters->pitch, parameters->value,
							  parameters->element, parameters->width, parameters->height}}};
	return CUDA_SUCCESS;
}

static int host_work(struct gt_work *work, const struct gt_host_work *parameters)
{
	if (!parameters || !parameters->function)
		return CUDA_INVALID_VALUE;
	*work = (struct gt_work){GT_WORK_HOST, {.host = *parameters}};
	return CUDA_SUCCESS;
}

static int volume_work(struct gt_work *work, const struct gt_volume_copy *parameters)
{
	work->kind = GT_WORK_COPY;
	return gt_cudart_volume(&work->u.copy, parameters);
}

static int flat_work(struct gt_work *work, void *to, const void *from, size_t bytes, unsigned kind)
{
	*work = gt_copy_of(to, from, bytes, kind);
	return CUDA_SUCCESS;
}

static int symbol_work(struct gt_work *work, const void *symbol, bool is_target, const void *other, size_t bytes,
		       size_t offset, unsigned kind)
{
	void *address;
	int code = gt_cudart_part_of_symbol(symbol, bytes, offset, &address);

	if (code != CUDA_SUCCESS)
		return code;
	return is_target ? flat_work(work, address, other, bytes, kind)
			 : flat_work(work, (void *)(uintptr_t)other, address, bytes, kind);
}

/* ---- adding ---- */

static int add(int code, struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
	       const struct gt_work *work)
{
	if (code == CUDA_SUCCESS)
		code = node && graph ? gt_graph_add(graph, after, n, work, node) : CUDA_INVALID_VALUE;
	return gt_cudart_leave(code);
}

API int cudaGraphAddKernelNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(kernel_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddMemsetNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(fill_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddHostNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			     const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(host_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(volume_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNode1D(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
				 void *to, const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(flat_work(&work, to, from, bytes, kind), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNodeToSymbol(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after,
				       size_t n, const void *symbol, const void *from, size_t bytes, size_t offset,
				       unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(symbol_work(&work, symbol, true, from, bytes, offset, kind), node, graph, after, n, &work);
}

API int cudaGraphAddMemcpyNodeFromSymbol(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after,
					 size_t n, void *to, const void *symbol, size_t bytes, size_t offset,
					 unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(symbol_work(&work, symbol, false, to, bytes, offset, kind), node, graph, after, n, &work);
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

/* ---- changing ---- */

/* `node` may be NULL, if the call names a node that does not exist. */
static int change(int code, struct gt_node *node, const struct gt_work *work)
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

API int cudaGraphKernelNodeSetParams(struct gt_node *node, const struct kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(kernel_work(&work, parameters), node, &work);
}

API int cudaGraphExecKernelNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(kernel_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemsetNodeSetParams(struct gt_node *node, const struct fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(fill_work(&work, parameters), node, &work);
}

API int cudaGraphExecMemsetNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(fill_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphHostNodeSetParams(struct gt_node *node, const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(host_work(&work, parameters), node, &work);
}

API int cudaGraphExecHostNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
				       const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(host_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemcpyNodeSetParams(struct gt_node *node, const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(volume_work(&work, parameters), node, &work);
}

API int cudaGraphExecMemcpyNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(volume_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemcpyNodeSetParams1D(struct gt_node *node, void *to, const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(flat_work(&work, to, from, bytes, kind), node, &work);
}

API int cudaGraphExecMemcpyNodeSetParams1D(const struct gt_executable *executable, const struct gt_node *node, void *to,
					   const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return change(flat_work(&work, to, from, bytes, kind), gt_executable_node(executable, node), &work);
}

API int cudaGraphExecChildGraphNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					     struct gt_graph *child)
{
	struct gt_work work = {GT_WORK_GRAPH, {.graph = child}};

	gt_cudart_enter();
	return change(child ? CUDA_SUCCESS : CUDA_INVALID_VALUE, gt_executable_node(executable, node), &work);
}

/* ---- asking ---- */

/* The node keeps ownership of the arguments. */
API int cudaGraphKernelNodeGetParams(const struct gt_node *node, struct kernel_parameters *to)
{
	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_KERNEL)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const struct gt_kernel_work *kernel = &node->work.u.kernel;
	*to = (struct kernel_parameters){kernel->function, kernel->grid, kernel->block, (unsigned)kernel->shared,
					 kernel->arguments, NULL};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphMemsetNodeGetParams(const struct gt_node *node, struct fill_parameters *to)
{
	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_FILL)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const struct gt_fill_work *fill = &node->work.u.fill;
	*to = (struct fill_parameters){fill->to, fill->pitch, fill->value, fill->element, fill->width, fill->height};
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
