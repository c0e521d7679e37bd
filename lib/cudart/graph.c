/* SPDX-License-Identifier: MIT */
#include "cudart/graph.h"

#include <stdlib.h>
#include <string.h>

int gt_nodes_join(struct gt_nodes *nodes, struct gt_node *const *more, size_t n)
{
	struct gt_node **grown = realloc(nodes->of, (nodes->n + n + 1) * sizeof *grown);

	if (!grown)
		return CUDA_MEMORY_ALLOCATION;
	nodes->of = grown;
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;
		while (at < nodes->n && nodes->of[at] != more[i])
			at++;
		nodes->of[at] = more[i];
		nodes->n += at == nodes->n;
	}
	return CUDA_SUCCESS;
}

void gt_nodes_clear(struct gt_nodes *nodes)
{
	free(nodes->of);
	*nodes = (struct gt_nodes){0};
}

struct gt_graph *gt_graph_new(void)
{
	return calloc(1, sizeof(struct gt_graph));
}

static void free_node(struct gt_node *node)
{
	gt_work_free(&node->work);
	gt_nodes_clear(&node->after);
	free(node);
}

void gt_graph_free(struct gt_graph *graph)
{
	for (size_t i = 0; graph && i < graph->nodes.n; i++)
		free_node(graph->nodes.of[i]);
	if (graph)
		gt_nodes_clear(&graph->nodes);
	free(graph);
}

int gt_graph_add(struct gt_graph *graph, struct gt_node *const *after, size_t n, const struct gt_work *work,
		 struct gt_node **node)
{
	struct gt_node *made;

	for (size_t i = 0; i < n; i++)
		if (!after || !after[i] || after[i]->graph != graph)
			return CUDA_INVALID_VALUE;
	made = calloc(1, sizeof *made);
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	made->graph = graph;
	int code = gt_work_keep(&made->work, work);
	if (code == CUDA_SUCCESS)
		code = gt_nodes_join(&made->after, after, n);
	if (code == CUDA_SUCCESS)
		code = gt_nodes_join(&graph->nodes, &made, 1);
	if (code != CUDA_SUCCESS)
		free_node(made);
	else if (node)
		*node = made;
	return code;
}

/* A node's twin stands at the same place. */
static struct gt_node *twin(const struct gt_graph *from, const struct gt_graph *to, const struct gt_node *node)
{
	size_t at = 0;

	while (from->nodes.of[at] != node)
		at++;
	return to->nodes.of[at];
}

struct gt_graph *gt_graph_copy(const struct gt_graph *graph)
{
	struct gt_graph *copy = gt_graph_new();
	int code = copy ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;

	for (size_t i = 0; i < graph->nodes.n && code == CUDA_SUCCESS; i++) {
		struct gt_node *made;
		code = gt_graph_add(copy, NULL, 0, &graph->nodes.of[i]->work, &made);
		if (code == CUDA_SUCCESS)
			made->origin = graph->nodes.of[i];
	}
	/* An edge may lead to a node that was added later. */
	for (size_t i = 0; i < graph->nodes.n && code == CUDA_SUCCESS; i++) {
		const struct gt_nodes *after = &graph->nodes.of[i]->after;
		for (size_t k = 0; k < after->n && code == CUDA_SUCCESS; k++) {
			struct gt_node *before = twin(graph, copy, after->of[k]);
			code = gt_nodes_join(&copy->nodes.of[i]->after, &before, 1);
		}
	}
	if (code == CUDA_SUCCESS)
		return copy;
	gt_graph_free(copy);
	return NULL;
}

static bool ready(const struct gt_node *node)
{
	for (size_t i = 0; i < node->after.n; i++)
		if (!node->after.of[i]->done)
			return false;
	return !node->done;
}

int gt_graph_run(struct gt_graph *graph, bool dry)
{
	size_t left = graph->nodes.n, before = 0;
	int code = CUDA_SUCCESS;

	for (size_t i = 0; i < graph->nodes.n; i++)
		graph->nodes.of[i]->done = false;
	while (left > 0 && left != before && code == CUDA_SUCCESS) {
		before = left;
		for (size_t i = 0; i < graph->nodes.n && code == CUDA_SUCCESS; i++) {
			struct gt_node *node = graph->nodes.of[i];
			if (!ready(node))
				continue;
			if (!dry && !node->disabled)
				code = gt_cudart_do(&node->work);
			node->done = true;
			left--;
		}
	}
	return code == CUDA_SUCCESS && left > 0 ? CUDA_INVALID_VALUE : code;
}
