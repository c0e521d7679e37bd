/* SPDX-License-Identifier: MIT */
/* The calls that create, query and change graphs, and those that make a graph ready to be launched, launch it and change it then. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

/* ---- calls that create, query and change graphs ---- */

API int cudaGraphCreate(struct gt_graph **graph, unsigned flags)
{
	gt_cudart_enter();
	if (!graph || flags != 0)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*graph = gt_graph_new();
	return gt_cudart_leave(*graph ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION);
}

API int cudaGraphDestroy(struct gt_graph *graph)
{
	gt_cudart_enter();
	if (!gt_is(GT_GRAPH, graph))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	gt_graph_free(graph);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphClone(struct gt_graph **copy, const struct gt_graph *graph)
{
	gt_cudart_enter();
	if (!copy || !gt_is(GT_GRAPH, graph))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0; i < graph->nodes.n; i++)
		if (graph->nodes.list[i]->work.kind == GT_WORK_ALLOCATE || graph->nodes.list[i]->work.kind == GT_WORK_FREE)
			return gt_cudart_leave(CUDA_NOT_SUPPORTED); /* CUDA does not allow it */
	*copy = gt_graph_copy(graph);
	return gt_cudart_leave(*copy ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION);
}

static size_t place_of(const struct gt_graph *graph, const struct gt_node *node)
{
	size_t i = 0;

	while (i < graph->nodes.n && graph->nodes.list[i] != node)
		i++;
	return i;
}

/* The nodes and their edges in the language of Graphviz. What the flags ask for beside kinds and kernels' names is not written. */
API int cudaGraphDebugDotPrint(const struct gt_graph *graph, const char *path, unsigned flags)
{
	static const char *const kinds[] = {"KERNEL", "MEMCPY", "MEMSET", "HOST", "GRAPH", "EMPTY", "EVENT_WAIT", "EVENT_RECORD", "", "", "MEM_ALLOC",
					    "MEM_FREE", "", "CONDITIONAL"};
	FILE *to;

	(void)flags;
	gt_cudart_enter();
	if (!gt_is(GT_GRAPH, graph) || !path)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (!(to = fopen(path, "w")))
		return gt_cudart_leave(CUDA_OPERATING_SYSTEM);
	fprintf(to, "digraph dot {\n");
	for (size_t i = 0; i < graph->nodes.n; i++) {
		const struct gt_work *work = &graph->nodes.list[i]->work;
		const struct gt_function *function = work->kind == GT_WORK_KERNEL ? gt_cudart_function(work->u.kernel.function) : NULL;
		fprintf(to, "\t\"node_%zu\" [label=\"%zu\\n%s%s%s\"];\n", i, i, kinds[work->kind], function ? "\\n" : "", function ? function->name : "");
	}
	for (size_t i = 0; i < graph->nodes.n; i++)
		for (size_t k = 0; k < graph->nodes.list[i]->after.n; k++)
			fprintf(to, "\t\"node_%zu\" -> \"node_%zu\";\n", place_of(graph, graph->nodes.list[i]->after.list[k]), i);
	fprintf(to, "}\n");
	return gt_cudart_leave(fclose(to) == 0 ? CUDA_SUCCESS : CUDA_OPERATING_SYSTEM);
}

/* ---- objects of the program that graphs keep ---- */

API int cudaUserObjectCreate(struct gt_user_object **object, void *data, void (*destroy)(void *), unsigned references, unsigned flags)
{
	gt_cudart_enter();
	if (!object || !destroy || references == 0 || references > INT_MAX || flags != 1) /* cudaUserObjectNoDestructorSync */
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	struct gt_user_object *made = gt_handle_made(GT_USER_OBJECT, calloc(1, sizeof *made));
	if (!made)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	*made = (struct gt_user_object){destroy, data, references};
	*object = made;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaUserObjectRetain(struct gt_user_object *object, unsigned references)
{
	gt_cudart_enter();
	if (!gt_is(GT_USER_OBJECT, object) || references == 0 || references > INT_MAX)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	object->references += references;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaUserObjectRelease(struct gt_user_object *object, unsigned references)
{
	gt_cudart_enter();
	if (!gt_is(GT_USER_OBJECT, object) || references == 0 || references > object->references)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	gt_user_object_drop(object, references);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphRetainUserObject(struct gt_graph *graph, struct gt_user_object *object, unsigned references, unsigned flags)
{
	gt_cudart_enter();
	const bool moves = flags == 1; /* cudaGraphUserObjectMove: the program's references become the graph's */
	if (!gt_is(GT_GRAPH, graph) || !gt_is(GT_USER_OBJECT, object) || references == 0 || references > INT_MAX || flags > 1 ||
	    (moves && references > object->references))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const int code = gt_graph_hold(graph, object, references);
	if (code == CUDA_SUCCESS && !moves)
		object->references += references;
	return gt_cudart_leave(code);
}

API int cudaGraphReleaseUserObject(const struct gt_graph *graph, struct gt_user_object *object, unsigned references)
{
	gt_cudart_enter();
	for (size_t i = 0; gt_is(GT_GRAPH, graph) && i < graph->n_held; i++)
		if (graph->held[i].object == object && references > 0 && references <= graph->held[i].references) {
			graph->held[i].references -= references;
			gt_user_object_drop(object, references);
			return gt_cudart_leave(CUDA_SUCCESS);
		}
	return gt_cudart_leave(CUDA_INVALID_VALUE);
}

/* The node of a copy that was made from the node; NULL if there is none. */
static struct gt_node *gt_graph_twin(const struct gt_node *node, const struct gt_graph *copy)
{
	for (size_t i = 0; i < copy->nodes.n; i++)
		if (copy->nodes.list[i]->origin == node)
			return copy->nodes.list[i];
	return NULL;
}

API int cudaGraphNodeFindInClone(struct gt_node **found, const struct gt_node *node, const struct gt_graph *copy)
{
	gt_cudart_enter();
	if (!found || !gt_is(GT_GRAPH, copy))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*found = gt_graph_twin(node, copy);
	return gt_cudart_leave(*found ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

/* Copies up to *n nodes; if `to` is NULL, only sets *n to their number. */
static int tell(const struct gt_nodes *nodes, struct gt_node **to, size_t *n)
{
	if (!n)
		return CUDA_INVALID_VALUE;
	for (size_t i = 0; to && i < *n; i++)
		to[i] = i < nodes->n ? nodes->list[i] : NULL;
	if (!to || *n > nodes->n)
		*n = nodes->n;
	return CUDA_SUCCESS;
}

API int cudaGraphGetNodes(const struct gt_graph *graph, struct gt_node **to, size_t *n)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_is(GT_GRAPH, graph) ? tell(&graph->nodes, to, n) : CUDA_INVALID_VALUE);
}

API int cudaGraphGetRootNodes(const struct gt_graph *graph, struct gt_node **to, size_t *n)
{
	struct gt_nodes roots = {0};

	gt_cudart_enter();
	int code = gt_is(GT_GRAPH, graph) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	for (size_t i = 0; code == CUDA_SUCCESS && i < graph->nodes.n; i++)
		if (graph->nodes.list[i]->after.n == 0)
			code = gt_nodes_join(&roots, &graph->nodes.list[i], 1);
	if (code == CUDA_SUCCESS)
		code = tell(&roots, to, n);
	gt_nodes_clear(&roots);
	return gt_cudart_leave(code);
}

API int cudaGraphGetEdges(const struct gt_graph *graph, struct gt_node **from, struct gt_node **to, void *edges,
			  size_t *n)
{
	size_t at = 0;

	(void)edges;
	gt_cudart_enter();
	if (!gt_is(GT_GRAPH, graph) || !n)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0; i < graph->nodes.n; i++)
		for (size_t k = 0; k < graph->nodes.list[i]->after.n; k++, at++)
			if (from && to && at < *n) {
				from[at] = graph->nodes.list[i]->after.list[k];
				to[at] = graph->nodes.list[i];
			}
	if (!from || !to || *n > at)
		*n = at;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphNodeGetDependencies(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n)
{
	(void)edges;
	gt_cudart_enter();
	return gt_cudart_leave(gt_is(GT_NODE, node) ? tell(&node->after, to, n) : CUDA_INVALID_VALUE);
}

static bool comes_after(const struct gt_node *node, const struct gt_node *before)
{
	for (size_t i = 0; i < node->after.n; i++)
		if (node->after.list[i] == before)
			return true;
	return false;
}

API int cudaGraphNodeGetDependentNodes(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n)
{
	struct gt_nodes later = {0};

	(void)edges;
	gt_cudart_enter();
	int code = gt_is(GT_NODE, node) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	for (size_t i = 0; code == CUDA_SUCCESS && i < node->graph->nodes.n; i++)
		if (comes_after(node->graph->nodes.list[i], node))
			code = gt_nodes_join(&later, &node->graph->nodes.list[i], 1);
	if (code == CUDA_SUCCESS)
		code = tell(&later, to, n);
	gt_nodes_clear(&later);
	return gt_cudart_leave(code);
}

static void forget(struct gt_nodes *nodes, const struct gt_node *node)
{
	size_t kept = 0;

	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->list[i] != node)
			nodes->list[kept++] = nodes->list[i];
	nodes->n = kept;
}

static int change_edges(const struct gt_graph *graph, struct gt_node *const *from, struct gt_node *const *to, size_t n,
			bool add)
{
	int code = gt_is(GT_GRAPH, graph) && (n == 0 || (from && to)) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;

	for (size_t i = 0; i < n && code == CUDA_SUCCESS; i++) {
		if (!gt_is(GT_NODE, from[i]) || !gt_is(GT_NODE, to[i]) || from[i]->graph != graph || to[i]->graph != graph ||
		    (add && from[i] == to[i]) || comes_after(to[i], from[i]) == add)
			code = CUDA_INVALID_VALUE;
		else if (add)
			code = gt_nodes_join(&to[i]->after, &from[i], 1);
		else
			forget(&to[i]->after, from[i]);
	}
	return code;
}

API int cudaGraphAddDependencies(const struct gt_graph *graph, struct gt_node *const *from, struct gt_node *const *to,
				 const void *edges, size_t n)
{
	(void)edges;
	gt_cudart_enter();
	return gt_cudart_leave(change_edges(graph, from, to, n, true));
}

API int cudaGraphRemoveDependencies(const struct gt_graph *graph, struct gt_node *const *from,
				    struct gt_node *const *to, const void *edges, size_t n)
{
	(void)edges;
	gt_cudart_enter();
	return gt_cudart_leave(change_edges(graph, from, to, n, false));
}

API int cudaGraphNodeGetType(const struct gt_node *node, int *type)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node) || !type)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*type = (int)node->work.kind;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphDestroyNode(struct gt_node *node)
{
	gt_cudart_enter();
	if (!gt_is(GT_NODE, node))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	struct gt_nodes *nodes = &node->graph->nodes;
	forget(nodes, node);
	for (size_t i = 0; i < nodes->n; i++)
		forget(&nodes->list[i]->after, node);
	gt_work_free(&node->work);
	gt_nodes_clear(&node->after);
	gt_handle_free(node);
	return gt_cudart_leave(CUDA_SUCCESS);
}

SINCE_13(cudaGraphGetEdges);
SINCE_13(cudaGraphNodeGetDependencies);
SINCE_13(cudaGraphNodeGetDependentNodes);
SINCE_13(cudaGraphAddDependencies);
SINCE_13(cudaGraphRemoveDependencies);

/* ---- executable graphs ---- */

enum { AUTO_FREE = 1, UPLOAD = 2 }; /* cudaGraphInstantiateFlags; and GT_FOR_KERNELS */
enum { INSTANTIATE_SUCCESS, INSTANTIATE_ERROR, INSTANTIATE_OPERATION = 3 }; /* cudaGraphInstantiateResult */
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

/* Whether kernels may launch it, by the kinds of its nodes. */
static bool suits_kernels(const struct gt_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.n; i++) {
		const struct gt_work *work = &graph->nodes.list[i]->work;
		const bool suits = work->kind == GT_WORK_KERNEL || work->kind == GT_WORK_COPY || work->kind == GT_WORK_FILL ||
				   work->kind == GT_WORK_EMPTY || (work->kind == GT_WORK_GRAPH && suits_kernels(work->u.graph));
		if (!suits)
			return false;
	}
	return true;
}

static int instantiate(struct gt_executable **to, const struct gt_graph *graph, unsigned long long flags)
{
	struct gt_executable *made;
	int code;

	if (!to || !gt_is(GT_GRAPH, graph))
		return CUDA_INVALID_VALUE;
	if ((flags & GT_FOR_KERNELS) && (flags & AUTO_FREE))
		return CUDA_INVALID_VALUE;
	if ((flags & GT_FOR_KERNELS) && !suits_kernels(graph))
		return CUDA_NOT_SUPPORTED;
	made = gt_handle_made(GT_EXECUTABLE, calloc(1, sizeof *made));
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	*made = (struct gt_executable){.graph = gt_graph_copy(graph), .flags = flags};
	code = made->graph ? gt_graph_run(made->graph, true) : CUDA_MEMORY_ALLOCATION;
	if (code == CUDA_SUCCESS) {
		made->graph->executable = made;
		*to = made;
		return code;
	}
	gt_graph_free(made->graph);
	gt_handle_free(made);
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
	if (code == CUDA_SUCCESS)
		(*to)->uploaded = parameters->flags & UPLOAD;
	parameters->node = NULL;
	parameters->result = code == CUDA_SUCCESS ? INSTANTIATE_SUCCESS : code == CUDA_NOT_SUPPORTED ? INSTANTIATE_OPERATION : INSTANTIATE_ERROR;
	return gt_cudart_leave(code);
}

API int cudaGraphExecGetFlags(const struct gt_executable *executable, unsigned long long *flags)
{
	gt_cudart_enter();
	if (!gt_is(GT_EXECUTABLE, executable) || !flags)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*flags = executable->flags;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphExecDestroy(struct gt_executable *executable)
{
	gt_cudart_enter();
	if (!gt_is(GT_EXECUTABLE, executable))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	gt_graph_free(executable->graph);
	gt_handle_free(executable);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphUpload(struct gt_executable *executable, void *stream)
{
	gt_cudart_enter();
	int code = gt_is(GT_EXECUTABLE, executable) ? gt_stream_check(stream) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		executable->uploaded = true;
	return gt_cudart_leave(code);
}

API int cudaGraphLaunch(struct gt_executable *executable, void *stream)
{
	gt_cudart_enter();
	if (!gt_is(GT_EXECUTABLE, executable))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	struct gt_work work = {GT_WORK_GRAPH, {.graph = executable->graph}};
	int code = gt_stream_captured(stream) ? CUDA_SUCCESS
					      : gt_graph_begin_launch(executable->graph, executable->flags & AUTO_FREE);
	executable->uploaded |= code == CUDA_SUCCESS;
	return gt_cudart_leave(code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code);
}

struct gt_node *gt_executable_node(const struct gt_executable *executable, const struct gt_node *node)
{
	return gt_is(GT_EXECUTABLE, executable) && node ? gt_graph_twin(node, executable->graph) : NULL;
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
		const struct gt_node *node = one->nodes.list[i], *pair = other->nodes.list[i];
		if (node->work.kind != pair->work.kind)
			return UPDATE_TYPE;
		if (node->after.n != pair->after.n)
			return UPDATE_TOPOLOGY;
		for (size_t k = 0; k < node->after.n; k++)
			if (gt_graph_paired(one, other, node->after.list[k]) != pair->after.list[k])
				return UPDATE_TOPOLOGY;
	}
	return UPDATE_SUCCESS;
}

/* The executable's nodes are still identified by the nodes of the graph that it was made from. */
API int cudaGraphExecUpdate(struct gt_executable *executable, const struct gt_graph *graph, struct update_result *result)
{
	gt_cudart_enter();
	if (!gt_is(GT_EXECUTABLE, executable) || !gt_is(GT_GRAPH, graph) || !result)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*result = (struct update_result){.result = alike(executable->graph, graph)};
	if (result->result != UPDATE_SUCCESS)
		return gt_cudart_leave(CUDA_GRAPH_EXEC_UPDATE_FAILURE);
	struct gt_graph *copy = gt_graph_copy(graph);
	if (!copy)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	for (size_t i = 0; i < copy->nodes.n; i++) {
		copy->nodes.list[i]->origin = executable->graph->nodes.list[i]->origin;
		copy->nodes.list[i]->disabled = executable->graph->nodes.list[i]->disabled;
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
