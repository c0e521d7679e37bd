/* SPDX-License-Identifier: MIT */
/* Graphs of work, and streams whose work becomes a graph instead of being done. */
#ifndef GT_CUDART_GRAPH_H
#define GT_CUDART_GRAPH_H

#include "cuda/runtime/work.h"

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

/* A handle of conditional nodes, which is the address of its value. */
struct gt_condition {
	uint64_t handle;
	uint32_t value; /* that it has when the graph is launched, if it */
	bool assigned;
};

struct gt_graph {
	struct gt_nodes nodes;
	struct gt_condition *conditions;
	size_t n_conditions;
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
	int device; /* -1: that of the thread */
	struct gt_window window;  /* of its launches */
	struct gt_graph *capture; /* NULL: its work is executed at once */
	bool origin;		   /* the capture began with this stream, */
	bool given;		   /* in a graph that the program gave */
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
/* The node of `to` at the place that a node of `from` has there; a copy has as many nodes, in the same order. */
struct gt_node *gt_graph_paired(const struct gt_graph *from, const struct gt_graph *to, const struct gt_node *node);
/* The node of a copy that was made from the node; NULL if there is none. */
struct gt_node *gt_graph_twin(const struct gt_node *node, const struct gt_graph *copy);
/* Executes the nodes in the order of their dependencies, otherwise in the order in which they were added; a cycle is an
 * error. `dry`: only looks for cycles. Returns a code. */
int gt_graph_run(struct gt_graph *graph, bool dry);

/* Sets the values that the graph's handles have when it is launched, and checks that what its nodes allocate is free; or frees
 * it. Returns a code. */
int gt_graph_begin_launch(const struct gt_graph *graph, bool frees);

/* Memory of allocating nodes; its address; NULL if there is none. */
struct gt_graph_memory *gt_graph_memory_new(uint64_t address, uint64_t bytes);
struct gt_graph_memory *gt_graph_memory_at(uint64_t address);
void gt_graph_memory_place(const struct gt_graph_memory *memory, uint64_t *address, uint64_t *bytes);
bool gt_graph_memory_live(const struct gt_graph_memory *memory);
/* A node more, or less, that allocates or frees it. The address to be released, or 0. */
void gt_graph_memory_retain(struct gt_graph_memory *memory);
uint64_t gt_graph_memory_drop(struct gt_graph_memory *memory);
/* Allocates it, or frees it. Returns a code. */
int gt_graph_memory_set(struct gt_graph_memory *memory, bool live);
/* The same for the program's own free. *keeps: its room is still needed, or it was not allocated. */
int gt_graph_memory_release(struct gt_graph_memory *memory, bool *keeps);
void gt_graph_memory_reset(void);
/* The work of a node that allocates so much, named after the call, and its address; to be freed with gt_work_free() when the node
 * has been made, or could not be. Returns a code. */
int gt_graph_allocate(struct gt_work *work, void **pointer, size_t bytes, const char *call);

/* The node of an executable graph that corresponds to a node of the original graph; NULL if there is none. */
struct gt_executable;
struct gt_node *gt_executable_node(const struct gt_executable *executable, const struct gt_node *node);

int gt_nodes_join(struct gt_nodes *nodes, struct gt_node *const *more, size_t n);
void gt_nodes_clear(struct gt_nodes *nodes);

#endif
