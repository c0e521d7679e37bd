/* SPDX-License-Identifier: MIT */
/* The calls that make a graph ready to be launched, launch it and change it then. */
#include <stdlib.h>

#include "cuda/runtime/since.h"
#include "cuda/runtime/graph.h"

/* A graph that can be launched: a copy, so that the graph may change. */
struct gt_executable {
	struct gt_graph *graph;
	unsigned long long flags;
};

enum { AUTO_FREE = 1, DEVICE_LAUNCH = 4 }; /* cudaGraphInstantiateFlags */
enum { UPDATE_SUCCESS, UPDATE_ERROR, UPDATE_TOPOLOGY, UPDATE_TYPE }; /* cudaGraphExecUpdateResult */

struct update_result {
	int result;
	struct gt_node *node, *from;
};

struct instantiate_parameters {
	unsigned long long flags;
	void *upload;
	struct gt_node *node;
	int result;
};

static int instantiate(struct gt_executable **to, const struct gt_graph *graph, unsigned long long flags)
{
	struct gt_executable *made;
	int code;

	if (!to || !graph)
		return CUDA_INVALID_VALUE;
	if (flags & DEVICE_LAUNCH)
		return gt_cudart_refuse("a graph to be launched by kernels (cudaGraphInstantiateFlagDeviceLaunch)");
	made = calloc(1, sizeof *made);
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	*made = (struct gt_executable){gt_graph_copy(graph), flags};
	code = made->graph ? gt_graph_run(made->graph, true) : CUDA_MEMORY_ALLOCATION;
	if (code == CUDA_SUCCESS) {
		*to = made;
		return code;
	}
	gt_graph_free(made->graph);
	free(made);
	return code;
}

API int cudaGraphInstantiate(struct gt_executable **to, const struct gt_graph *graph, unsigned long long flags)
{
	gt_cudart_enter();
	return gt_cudart_leave(instantiate(to, graph, flags));
}

API int cudaGraphInstantiateWithFlags(struct gt_executable **to, const struct gt_graph *graph, unsigned long long flags)
{
	return cudaGraphInstantiate(to, graph, flags);
}

API int cudaGraphInstantiateWithParams(struct gt_executable **to, const struct gt_graph *graph,
				       struct instantiate_parameters *parameters)
{
	gt_cudart_enter();
	if (!parameters)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	int code = instantiate(to, graph, parameters->flags);
	parameters->node = NULL;
	parameters->result = code != CUDA_SUCCESS;
	return gt_cudart_leave(code);
}

API int cudaGraphExecGetFlags(const struct gt_executable *executable, unsigned long long *flags)
{
	gt_cudart_enter();
	if (!executable || !flags)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*flags = executable->flags;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphExecDestroy(struct gt_executable *executable)
{
	gt_cudart_enter();
	if (!executable)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	gt_graph_free(executable->graph);
	free(executable);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphUpload(const struct gt_executable *executable, void *stream)
{
	(void)stream;
	gt_cudart_enter();
	return gt_cudart_leave(executable ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaGraphLaunch(const struct gt_executable *executable, void *stream)
{
	gt_cudart_enter();
	if (!executable)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	struct gt_work work = {GT_WORK_GRAPH, {.graph = executable->graph}};
	int code = gt_stream_captured(stream) ? CUDA_SUCCESS
					      : gt_graph_begin_launch(executable->graph, executable->flags & AUTO_FREE);
	return gt_cudart_leave(code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code);
}

struct gt_node *gt_executable_node(const struct gt_executable *executable, const struct gt_node *node)
{
	return executable && node ? gt_graph_twin(node, executable->graph) : NULL;
}

API int cudaGraphNodeSetEnabled(const struct gt_executable *executable, const struct gt_node *node, unsigned enabled)
{
	gt_cudart_enter();
	struct gt_node *twin = gt_executable_node(executable, node);
	if (!twin)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	twin->disabled = !enabled;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphNodeGetEnabled(const struct gt_executable *executable, const struct gt_node *node, unsigned *enabled)
{
	gt_cudart_enter();
	const struct gt_node *twin = gt_executable_node(executable, node);
	if (!twin || !enabled)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*enabled = !twin->disabled;
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* Whether two graphs have the same nodes and edges, in the same order. */
static int alike(const struct gt_graph *one, const struct gt_graph *other)
{
	if (one->nodes.n != other->nodes.n)
		return UPDATE_TOPOLOGY;
	for (size_t i = 0; i < one->nodes.n; i++) {
		const struct gt_node *node = one->nodes.of[i], *paired = other->nodes.of[i];
		if (node->work.kind != paired->work.kind)
			return UPDATE_TYPE;
		if (node->after.n != paired->after.n)
			return UPDATE_TOPOLOGY;
		for (size_t k = 0; k < node->after.n; k++)
			if (gt_graph_paired(one, other, node->after.of[k]) != paired->after.of[k])
				return UPDATE_TOPOLOGY;
	}
	return UPDATE_SUCCESS;
}

/* The executable's nodes are still identified by the nodes of the graph that it was made from. */
API int cudaGraphExecUpdate(struct gt_executable *executable, const struct gt_graph *graph, struct update_result *result)
{
	gt_cudart_enter();
	if (!executable || !graph || !result)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*result = (struct update_result){.result = alike(executable->graph, graph)};
	if (result->result != UPDATE_SUCCESS)
		return gt_cudart_leave(CUDA_GRAPH_EXEC_UPDATE_FAILURE);
	struct gt_graph *copy = gt_graph_copy(graph);
	if (!copy)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	for (size_t i = 0; i < copy->nodes.n; i++) {
		copy->nodes.of[i]->origin = executable->graph->nodes.of[i]->origin;
		copy->nodes.of[i]->disabled = executable->graph->nodes.of[i]->disabled;
	}
	gt_graph_free(executable->graph);
	executable->graph = copy;
	return gt_cudart_leave(CUDA_SUCCESS);
}

ALSO(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz);
ALSO(cudaGraphUpload, cudaGraphUpload_ptsz);
ALSO(cudaGraphLaunch, cudaGraphLaunch_ptsz);

SINCE_12(cudaGraphInstantiate);
SINCE_12(cudaGraphExecUpdate);
