/* SPDX-License-Identifier: MIT */
/* Nodes of graphs: what a program says of one, and the work that it is; the calls that add nodes, and change the work of nodes in a
 * graph or in its executable. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

/* ---- what a program says of a node, and the work that it is ---- */

enum { LOCATION_DEVICE = 1 }; /* cudaMemLocationType */
enum { IF, WHILE, SWITCH };   /* cudaGraphConditionalNodeType */

/* Each makes the work of a node. Returns a code. */
static int kernel_work(struct gt_work *work, const struct gt_kernel_parameters *parameters)
{
	if (!parameters)
		return CUDA_INVALID_VALUE;
	if (parameters->extra)
		return gt_cudart_refuse("a kernel node with 'extra' arguments");
	*work = (struct gt_work){GT_WORK_KERNEL, {.kernel = {.function = parameters->function, .grid = parameters->grid,
							      .block = parameters->block, .shared = parameters->shared,
							      .arguments = parameters->arguments}}};
	return gt_cudart_check_launch(work);
}

static int fill_work(struct gt_work *work, const struct gt_fill_parameters *parameters)
{
	if (!parameters || (parameters->element != 1 && parameters->element != 2 && parameters->element != 4) || !parameters->to ||
	    parameters->width == 0 || parameters->height == 0)
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
	return bytes > 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
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

/* The memory has its address from now on. */
static int allocation_work(struct gt_work *work, struct gt_allocation_parameters *parameters)
{
	if (!parameters || parameters->bytes == 0 || parameters->pool.location.type != LOCATION_DEVICE ||
	    !gt_cudart_is_device(parameters->pool.location.id))
		return CUDA_INVALID_VALUE;
	if (parameters->pool.handle_types != 0)
		return gt_cudart_refuse("an allocation of a graph that is shared with other processes");
	return gt_graph_allocate(work, parameters->pool.location.id, &parameters->pointer, parameters->bytes, "cudaGraphAddMemAllocNode");
}

int gt_graph_free_work(struct gt_work *work, const void *pointer)
{
	struct gt_graph_memory *memory = gt_graph_memory_at(gt_cudart_address(pointer));

	*work = (struct gt_work){GT_WORK_FREE, {.memory = memory}};
	return memory ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

static int condition_work(struct gt_work *work, const struct gt_condition_parameters *condition)
{
	bool sized = condition->type == IF	  ? condition->size == 1 || condition->size == 2
		     : condition->type == WHILE ? condition->size == 1
						: condition->type == SWITCH && condition->size > 0;

	*work = (struct gt_work){GT_WORK_CONDITION, {.condition = {condition->handle, condition->type, condition->size, NULL}}};
	return sized && gt_ptx_at(&gt_cudart.memory, condition->handle, sizeof(uint32_t)) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

/* Of parameters of any kind; those of an allocation are told its address. */
static int any_work(struct gt_work *work, struct gt_node_parameters *parameters)
{
	switch (parameters->type) {
	case GT_WORK_KERNEL:
		return kernel_work(work, &parameters->u.kernel);
	case GT_WORK_COPY:
		return volume_work(work, &parameters->u.copy.copy);
	case GT_WORK_FILL:
		return fill_work(work, &parameters->u.fill);
	case GT_WORK_HOST:
		return host_work(work, &parameters->u.host);
	case GT_WORK_GRAPH:
		*work = (struct gt_work){GT_WORK_GRAPH, {.graph = parameters->u.child}};
		return gt_is(GT_GRAPH, parameters->u.child) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	case GT_WORK_EMPTY:
		*work = (struct gt_work){.kind = GT_WORK_EMPTY};
		return CUDA_SUCCESS;
	case GT_WORK_WAIT:
	case GT_WORK_RECORD:
		*work = (struct gt_work){(enum gt_work_kind)parameters->type, {.event = parameters->u.event}};
		return gt_is(GT_EVENT, parameters->u.event) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	case GT_WORK_ALLOCATE:
		return allocation_work(work, &parameters->u.allocation);
	case GT_WORK_FREE:
		return gt_graph_free_work(work, parameters->u.pointer);
	case GT_WORK_CONDITION:
		return condition_work(work, &parameters->u.condition);
	default:
		return gt_cudart_refuse("a node of a graph that waits for a semaphore or signals it");
	}
}

/* ---- adding ---- */

static int add(int code, struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
	       const struct gt_work *work)
{
	if (code == CUDA_SUCCESS)
		code = node && gt_is(GT_GRAPH, graph) ? gt_graph_add(graph, after, n, work, node) : CUDA_INVALID_VALUE;
	return gt_cudart_leave(code);
}

API int cudaGraphAddKernelNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct gt_kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return add(kernel_work(&work, parameters), node, graph, after, n, &work);
}

API int cudaGraphAddMemsetNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, size_t n,
			       const struct gt_fill_parameters *parameters)
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
	return add(gt_is(GT_GRAPH, child) ? CUDA_SUCCESS : CUDA_INVALID_VALUE, node, graph, after, n, &work);
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
	return add(gt_is(GT_EVENT, event) ? CUDA_SUCCESS : CUDA_INVALID_VALUE, node, graph, after, n, &work);
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
	int code = allocation_work(&work, parameters);
	if (code != CUDA_SUCCESS)
		return gt_cudart_leave(code);
	code = node && gt_is(GT_GRAPH, graph) ? gt_graph_add(graph, after, n, &work, node) : CUDA_INVALID_VALUE;
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

/* Gives a node other work of the same kind, if `code` is none of an error; leaves the call. `node` may be NULL, if the call
 * names a node that does not exist. Returns a code. */
static int gt_graph_change(int code, struct gt_node *node, const struct gt_work *work)
{
	struct gt_work kept;

	if (code == CUDA_SUCCESS && (!gt_is(GT_NODE, node) || node->work.kind != work->kind))
		code = CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		code = gt_work_keep(&kept, work);
	if (code == CUDA_SUCCESS) {
		if (kept.kind == GT_WORK_KERNEL) /* its attributes are not among the parameters */
			kept.u.kernel.wishes = node->work.u.kernel.wishes;
		gt_work_free(&node->work);
		node->work = kept;
	}
	return gt_cudart_leave(code);
}

API int cudaGraphKernelNodeSetParams(struct gt_node *node, const struct gt_kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(kernel_work(&work, parameters), node, &work);
}

API int cudaGraphExecKernelNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct gt_kernel_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(kernel_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemsetNodeSetParams(struct gt_node *node, const struct gt_fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(fill_work(&work, parameters), node, &work);
}

API int cudaGraphExecMemsetNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct gt_fill_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(fill_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphHostNodeSetParams(struct gt_node *node, const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(host_work(&work, parameters), node, &work);
}

API int cudaGraphExecHostNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
				       const struct gt_host_work *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(host_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemcpyNodeSetParams(struct gt_node *node, const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(volume_work(&work, parameters), node, &work);
}

API int cudaGraphExecMemcpyNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					 const struct gt_volume_copy *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(volume_work(&work, parameters), gt_executable_node(executable, node), &work);
}

API int cudaGraphMemcpyNodeSetParams1D(struct gt_node *node, void *to, const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(flat_work(&work, to, from, bytes, kind), node, &work);
}

API int cudaGraphExecMemcpyNodeSetParams1D(const struct gt_executable *executable, const struct gt_node *node, void *to,
					   const void *from, size_t bytes, unsigned kind)
{
	struct gt_work work;

	gt_cudart_enter();
	return gt_graph_change(flat_work(&work, to, from, bytes, kind), gt_executable_node(executable, node), &work);
}

API int cudaGraphExecChildGraphNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
					     struct gt_graph *child)
{
	struct gt_work work = {GT_WORK_GRAPH, {.graph = child}};

	gt_cudart_enter();
	return gt_graph_change(gt_is(GT_GRAPH, child) ? CUDA_SUCCESS : CUDA_INVALID_VALUE, gt_executable_node(executable, node), &work);
}

/* ---- asking ---- */

/* The node keeps ownership of the arguments. */
API int cudaGraphKernelNodeGetParams(const struct gt_node *node, struct gt_kernel_parameters *to)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node) || !to || node->work.kind != GT_WORK_KERNEL)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const struct gt_kernel_work *kernel = &node->work.u.kernel;
	*to = (struct gt_kernel_parameters){kernel->function, kernel->grid, kernel->block, (unsigned)kernel->shared,
					 kernel->arguments, NULL};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphMemsetNodeGetParams(const struct gt_node *node, struct gt_fill_parameters *to)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node) || !to || node->work.kind != GT_WORK_FILL)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const struct gt_fill_work *fill = &node->work.u.fill;
	*to = (struct gt_fill_parameters){fill->to, fill->pitch, (unsigned)fill->value, fill->element, fill->width, fill->height};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphHostNodeGetParams(const struct gt_node *node, struct gt_host_work *to)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node) || !to || node->work.kind != GT_WORK_HOST)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*to = node->work.u.host;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphChildGraphNodeGetGraph(const struct gt_node *node, struct gt_graph **to)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node) || !to || node->work.kind != GT_WORK_GRAPH)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*to = node->work.u.graph;
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* ---- nodes of any kind ---- */

/* Nodes of any kind by one call, and those that only this call makes: conditional nodes and their handles; and what allocating
 * nodes say of themselves. */

enum { PINNED = 1, ASSIGN_DEFAULT = 1 };

API int cudaGraphAddNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, const void *edges, size_t n,
			 struct gt_node_parameters *parameters)
{
	struct gt_work work;

	(void)edges;
	gt_cudart_enter();
	if (!node || !gt_is(GT_GRAPH, graph) || !parameters)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	int code = any_work(&work, parameters);
	if (code != CUDA_SUCCESS)
		return gt_cudart_leave(code);
	code = gt_graph_add(graph, after, n, &work, node);
	if (work.kind == GT_WORK_ALLOCATE)
		gt_work_free(&work);
	if (code == CUDA_SUCCESS && work.kind == GT_WORK_CONDITION)
		parameters->u.condition.bodies = (*node)->work.u.condition.bodies;
	return gt_cudart_leave(code);
}

/* What a node allocates or which bodies it has cannot be changed. */
static int change(struct gt_node *node, struct gt_node_parameters *parameters)
{
	struct gt_work work;

	gt_cudart_enter();
	if (!parameters || parameters->type >= GT_WORK_ALLOCATE)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	return gt_graph_change(any_work(&work, parameters), node, &work);
}

API int cudaGraphNodeSetParams(struct gt_node *node, struct gt_node_parameters *parameters)
{
	return change(node, parameters);
}

API int cudaGraphExecNodeSetParams(const struct gt_executable *executable, const struct gt_node *node,
				   struct gt_node_parameters *parameters)
{
	return change(gt_executable_node(executable, node), parameters);
}

API int cudaGraphConditionalHandleCreate(uint64_t *handle, struct gt_graph *graph, unsigned value, unsigned flags)
{
	void *pointer = NULL;

	gt_cudart_enter();
	if (!handle || !gt_is(GT_GRAPH, graph) || flags > ASSIGN_DEFAULT)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	struct gt_condition *grown = gt_resized(graph->conditions, graph->n_conditions + 1, sizeof *grown);
	if (!grown)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	graph->conditions = grown;
	size_t *graphs = malloc(sizeof *graphs);
	int code = graphs ? gt_cudart_allocate(&pointer, sizeof(uint32_t), "cudaGraphConditionalHandleCreate") : CUDA_MEMORY_ALLOCATION;
	if (code != CUDA_SUCCESS) {
		free(graphs);
		return gt_cudart_leave(code);
	}
	*graphs = 1;
	*handle = gt_cudart_address(pointer);
	graph->conditions[graph->n_conditions++] = (struct gt_condition){*handle, graphs, value, flags == ASSIGN_DEFAULT};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphMemAllocNodeGetParams(const struct gt_node *node, struct gt_allocation_parameters *to)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node) || !to || node->work.kind != GT_WORK_ALLOCATE)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	void *pointer = (void *)(uintptr_t)node->work.u.memory->address;
	*to = (struct gt_allocation_parameters){.pool = {.allocation_type = PINNED, .location = {LOCATION_DEVICE, gt_cudart_pointer(pointer).device}},
						.bytes = node->work.u.memory->bytes, .pointer = pointer};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphMemFreeNodeGetParams(const struct gt_node *node, void **to)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node) || !to || node->work.kind != GT_WORK_FREE)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*to = (void *)(uintptr_t)node->work.u.memory->address;
	return gt_cudart_leave(CUDA_SUCCESS);
}
