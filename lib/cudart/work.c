/* SPDX-License-Identifier: MIT */
#include "cudart/work.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/graph.h"

#define ALIGNMENT 16 /* of each argument that is kept */

struct gt_work gt_copy_of(void *to, const void *from, size_t bytes, unsigned kind)
{
	return (struct gt_work){GT_WORK_COPY, {.copy = {.to = to, .from = from, .to_pitch = bytes, .from_pitch = bytes,
							 .to_slice = bytes, .from_slice = bytes, .width = bytes,
							 .height = 1, .depth = 1, .kind = kind}}};
}

static int launch(const struct gt_kernel_work *kernel)
{
	return gt_cudart_launch(kernel->function, kernel->grid, kernel->block, kernel->arguments, kernel->shared,
				&kernel->wishes);
}

/* Other threads may use the runtime meanwhile, and the function may wait for them. */
static int call(const struct gt_host_work *host)
{
	gt_cudart_leave(CUDA_SUCCESS);
	host->function(host->data);
	gt_cudart_enter();
	return CUDA_SUCCESS;
}

int gt_cudart_do(const struct gt_work *work)
{
	switch (work->kind) {
	case GT_WORK_KERNEL:
		return launch(&work->u.kernel);
	case GT_WORK_COPY:
		return gt_cudart_copy(&work->u.copy);
	case GT_WORK_FILL:
		return gt_cudart_fill(&work->u.fill);
	case GT_WORK_HOST:
		return call(&work->u.host);
	case GT_WORK_GRAPH:
		return gt_graph_run(work->u.graph, false);
	case GT_WORK_RECORD:
		work->u.event->instructions = gt_cudart.instructions;
		return CUDA_SUCCESS;
	case GT_WORK_EMPTY:
	case GT_WORK_WAIT: /* everything before it is done */
		return CUDA_SUCCESS;
	}
	return CUDA_INVALID_VALUE;
}

/* One block of memory: the pointers, then what they point to. */
static int keep_arguments(struct gt_kernel_work *kernel)
{
	const struct gt_function *function = gt_cudart_function(kernel->function);
	void **given = kernel->arguments;

	kernel->arguments = NULL;
	if (!function)
		return CUDA_INVALID_DEVICE_FUNCTION;
	const struct gt_ptx_function *ptx = function->kernel;
	size_t at = (ptx->n_parameters * sizeof(void *) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, bytes = at;
	for (size_t i = 0; i < ptx->n_parameters; i++)
		bytes += (ptx->parameters[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (ptx->n_parameters > 0 && !given)
		return CUDA_INVALID_VALUE;
	kernel->arguments = calloc(1, bytes + 1);
	if (!kernel->arguments)
		return CUDA_MEMORY_ALLOCATION;
	for (size_t i = 0; i < ptx->n_parameters; i++) {
		kernel->arguments[i] = (char *)kernel->arguments + at;
		memcpy(kernel->arguments[i], given[i], ptx->parameters[i].bytes);
		at += (ptx->parameters[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return CUDA_SUCCESS;
}

int gt_work_keep(struct gt_work *kept, const struct gt_work *work)
{
	*kept = *work;
	if (kept->kind == GT_WORK_KERNEL)
		return keep_arguments(&kept->u.kernel);
	if (kept->kind == GT_WORK_GRAPH) {
		kept->u.graph = gt_graph_copy(work->u.graph);
		return kept->u.graph ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
	}
	return CUDA_SUCCESS;
}

void gt_work_free(struct gt_work *work)
{
	if (work->kind == GT_WORK_KERNEL)
		free(work->u.kernel.arguments);
	else if (work->kind == GT_WORK_GRAPH)
		gt_graph_free(work->u.graph);
}
