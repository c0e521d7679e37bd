/* SPDX-License-Identifier: MIT */
/* Nodes of any kind by one call, and those that only this call makes: conditional nodes and their handles; and what allocating
 * nodes say of themselves. */
#include <string.h>

#include "base/grown.h"
#include "cuda/runtime/graph_params.h"

enum { LOCATION_DEVICE = 1, PINNED = 1, ASSIGN_DEFAULT = 1 };

API int cudaGraphAddNode(struct gt_node **node, struct gt_graph *graph, struct gt_node *const *after, const void *edges, size_t n,
			 struct gt_node_parameters *parameters)
{
	struct gt_work work;

	(void)edges;
	gt_cudart_enter();
	if (!node || !graph || !parameters)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	int code = gt_graph_any_work(&work, parameters);
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
	return gt_graph_change(gt_graph_any_work(&work, parameters), node, &work);
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
	if (!handle || !graph || flags > ASSIGN_DEFAULT)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	struct gt_condition *grown = gt_resized(graph->conditions, graph->n_conditions + 1, sizeof *grown);
	if (!grown)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	graph->conditions = grown;
	int code = gt_cudart_allocate(&pointer, sizeof(uint32_t), "cudaGraphConditionalHandleCreate");
	if (code != CUDA_SUCCESS)
		return gt_cudart_leave(code);
	*handle = gt_cudart_address(pointer);
	graph->conditions[graph->n_conditions++] = (struct gt_condition){*handle, value, flags == ASSIGN_DEFAULT};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphMemAllocNodeGetParams(const struct gt_node *node, struct gt_allocation_parameters *to)
{
	uint64_t address, bytes;

	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_ALLOCATE)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	gt_graph_memory_place(node->work.u.memory, &address, &bytes);
	*to = (struct gt_allocation_parameters){.pool = {.allocation_type = PINNED, .location = {LOCATION_DEVICE, 0}},
						.bytes = bytes, .pointer = (void *)(uintptr_t)address};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphMemFreeNodeGetParams(const struct gt_node *node, void **to)
{
	uint64_t address, bytes;

	gt_cudart_enter();
	if (!node || !to || node->work.kind != GT_WORK_FREE)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	gt_graph_memory_place(node->work.u.memory, &address, &bytes);
	*to = (void *)(uintptr_t)address;
	return gt_cudart_leave(CUDA_SUCCESS);
}
