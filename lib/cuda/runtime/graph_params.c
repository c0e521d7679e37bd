/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/contexts.h"
#include "cuda/runtime/graph_params.h"

enum { LOCATION_DEVICE = 1 }; /* cudaMemLocationType */
enum { IF, WHILE, SWITCH };   /* cudaGraphConditionalNodeType */

int gt_graph_kernel_work(struct gt_work *work, const struct gt_kernel_parameters *parameters)
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

int gt_graph_fill_work(struct gt_work *work, const struct gt_fill_parameters *parameters)
{
	if (!parameters || (parameters->element != 1 && parameters->element != 2 && parameters->element != 4))
		return CUDA_INVALID_VALUE;
	*work = (struct gt_work){GT_WORK_FILL, {.fill = {parameters->to, parameters->pitch, parameters->value,
							  parameters->element, parameters->width, parameters->height}}};
	return CUDA_SUCCESS;
}

int gt_graph_host_work(struct gt_work *work, const struct gt_host_work *parameters)
{
	if (!parameters || !parameters->function)
		return CUDA_INVALID_VALUE;
	*work = (struct gt_work){GT_WORK_HOST, {.host = *parameters}};
	return CUDA_SUCCESS;
}

int gt_graph_volume_work(struct gt_work *work, const struct gt_volume_copy *parameters)
{
	work->kind = GT_WORK_COPY;
	return gt_cudart_volume(&work->u.copy, parameters);
}

int gt_graph_flat_work(struct gt_work *work, void *to, const void *from, size_t bytes, unsigned kind)
{
	*work = gt_copy_of(to, from, bytes, kind);
	return CUDA_SUCCESS;
}

int gt_graph_symbol_work(struct gt_work *work, const void *symbol, bool is_target, const void *other, size_t bytes,
		       size_t offset, unsigned kind)
{
	void *address;
	int code = gt_cudart_part_of_symbol(symbol, bytes, offset, &address);

	if (code != CUDA_SUCCESS)
		return code;
	return is_target ? gt_graph_flat_work(work, address, other, bytes, kind)
			 : gt_graph_flat_work(work, (void *)(uintptr_t)other, address, bytes, kind);
}

/* The memory has its address from now on. */
int gt_graph_allocation_work(struct gt_work *work, struct gt_allocation_parameters *parameters)
{
	if (!parameters || parameters->bytes == 0 || parameters->pool.location.type != LOCATION_DEVICE ||
	    !gt_cudart_is_device(parameters->pool.location.id))
		return CUDA_INVALID_VALUE;
	if (parameters->pool.handle_types != 0)
		return gt_cudart_refuse("an allocation of a graph that is shared with other processes");
	return gt_graph_allocate(work, &parameters->pointer, parameters->bytes, "cudaGraphAddMemAllocNode");
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

int gt_graph_any_work(struct gt_work *work, struct gt_node_parameters *parameters)
{
	switch (parameters->type) {
	case GT_WORK_KERNEL:
		return gt_graph_kernel_work(work, &parameters->u.kernel);
	case GT_WORK_COPY:
		return gt_graph_volume_work(work, &parameters->u.copy.copy);
	case GT_WORK_FILL:
		return gt_graph_fill_work(work, &parameters->u.fill);
	case GT_WORK_HOST:
		return gt_graph_host_work(work, &parameters->u.host);
	case GT_WORK_GRAPH:
		*work = (struct gt_work){GT_WORK_GRAPH, {.graph = parameters->u.child}};
		return parameters->u.child ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	case GT_WORK_EMPTY:
		*work = (struct gt_work){.kind = GT_WORK_EMPTY};
		return CUDA_SUCCESS;
	case GT_WORK_WAIT:
	case GT_WORK_RECORD:
		*work = (struct gt_work){(enum gt_work_kind)parameters->type, {.event = parameters->u.event}};
		return parameters->u.event ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	case GT_WORK_ALLOCATE:
		return gt_graph_allocation_work(work, &parameters->u.allocation);
	case GT_WORK_FREE:
		return gt_graph_free_work(work, parameters->u.pointer);
	case GT_WORK_CONDITION:
		return condition_work(work, &parameters->u.condition);
	default:
		return gt_cudart_refuse("a node of a graph that waits for a semaphore or signals it");
	}
}
