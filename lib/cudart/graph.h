/* SPDX-License-Identifier: MIT */
/* Graphs of work, and streams whose work becomes a graph instead of being done. */
#ifndef GT_CUDART_GRAPH_H
#define GT_CUDART_GRAPH_H

#include "cudart/work.h"

struct gt_nodes {
	struct gt_node **of;
	size_t n;
};

struct gt_node {
	struct gt_graph *graph;
	struct gt_work work;
	struct gt_nodes after;	       /* its dependencies */
	const struct gt_node *origin; /* the node that it was copied from, or NULL */
	bool disabled, done;
};

struct gt_graph {
	struct gt_nodes nodes;
	bool invalid; /* a call that cannot be captured was made during the capture */
};

struct gt_cuda_event {
	uint64_t instructions;	  /* executed before it was recorded */
	struct gt_graph *capture; /* in which it was recorded, or NULL */
	struct gt_nodes last;	  /* its dependencies there */
};

struct gt_stream {
	unsigned flags;
	int priority;
	struct gt_window window;  /* of its launches */
	struct gt_graph *capture; /* NULL: its work is executed at once */
	bool origin;		   /* the capture began with this stream */
	struct gt_nodes last;	   /* the dependencies of its next node */
	struct gt_stream *next;   /* in the list of all streams */
};

/* The stream of a handle; NULL if the handle is that of the default stream. */
struct gt_stream *gt_stream_of(void *handle);
struct gt_stream *gt_streams(void);

/* Executes the work, or adds it to the graph if the stream is captured. Returns a code. */
int gt_stream_ask(void *stream, const struct gt_work *work);
bool gt_stream_captured(void *stream);
/* Whether the event was recorded in a capture that has not ended. */
bool gt_event_captured(const struct gt_cuda_event *event);
/* For a call that cannot be captured: if the stream is captured, invalidates the capture. Returns a code. */
int gt_stream_uncaptured(void *stream);
/* Whether the stream is captured, for a call that is not supported in captures; then reports it by name. */
bool gt_cudart_capture_refuses(void *stream, const char *call);

struct gt_graph *gt_graph_new(void);
void gt_graph_free(struct gt_graph *graph);
/* Adds a node that keeps the work. Returns a code. */
int gt_graph_add(struct gt_graph *graph, struct gt_node *const *after, size_t n, const struct gt_work *work,
		 struct gt_node **node);
struct gt_graph *gt_graph_copy(const struct gt_graph *graph);
/* Executes the nodes in the order of their dependencies, otherwise in the order in which they were added; a cycle is an
 * error. `dry`: only looks for cycles. Returns a code. */
int gt_graph_run(struct gt_graph *graph, bool dry);

/* The node of an executable graph that corresponds to a node of the original graph; NULL if there is none. */
struct gt_executable;
struct gt_node *gt_executable_node(const struct gt_executable *executable, const struct gt_node *node);

int gt_nodes_join(struct gt_nodes *nodes, struct gt_node *const *more, size_t n);
void gt_nodes_clear(struct gt_nodes *nodes);

#endif
