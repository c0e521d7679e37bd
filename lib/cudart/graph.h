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
	struct gt_nodes after;	       /* which come before it */
	const struct gt_node *origin; /* which it was copied from, or NULL */
	bool disabled, done;
};

struct gt_graph {
	struct gt_nodes nodes;
	bool invalid; /* a call that a capture cannot keep was made while this one was captured */
};

struct gt_cuda_event {
	uint64_t instructions;	  /* executed before it was recorded */
	struct gt_graph *capture; /* that it was recorded in, or NULL */
	struct gt_nodes last;	  /* what it waits for there */
};

struct gt_stream {
	unsigned flags;
	int priority;
	struct gt_window window;  /* of its launches */
	struct gt_graph *capture; /* NULL: its work is done at once */
	bool origin;		   /* the capture began with this stream */
	struct gt_nodes last;	   /* what its next node comes after */
	struct gt_stream *next;   /* of all that there are */
};

/* The stream of a handle; NULL if the handle is that of the default stream. */
struct gt_stream *gt_stream_of(void *handle);
struct gt_stream *gt_streams(void);

/* Does the work, or keeps it if the stream is captured. Returns a code. */
int gt_stream_ask(void *stream, const struct gt_work *work);
bool gt_stream_captured(void *stream);
/* Whether the event stands for a place in a capture that is under way. */
bool gt_event_captured(const struct gt_cuda_event *event);
/* Whether the stream may be asked what a capture cannot keep; else the capture is lost. A code. */
int gt_stream_uncaptured(void *stream);
/* Whether the stream is captured, and a call comes that captures do not keep here: says so, by name. */
bool gt_cudart_capture_refuses(void *stream, const char *call);

struct gt_graph *gt_graph_new(void);
void gt_graph_free(struct gt_graph *graph);
/* Adds a node that keeps the work. Returns a code. */
int gt_graph_add(struct gt_graph *graph, struct gt_node *const *after, size_t n, const struct gt_work *work,
		 struct gt_node **node);
struct gt_graph *gt_graph_copy(const struct gt_graph *graph);
/* Does what the nodes say, each after those it comes after, else in the order they were added; a
 * circle is an error. `dry`: only finds circles. Returns a code. */
int gt_graph_run(struct gt_graph *graph, bool dry);

/* The node of an executable graph that stands for one of the graph it was made of; NULL if none does. */
struct gt_executable;
struct gt_node *gt_executable_node(const struct gt_executable *executable, const struct gt_node *node);

int gt_nodes_join(struct gt_nodes *nodes, struct gt_node *const *more, size_t n);
void gt_nodes_clear(struct gt_nodes *nodes);

#endif
