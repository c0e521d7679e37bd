/* SPDX-License-Identifier: MIT */
/* Capture: a stream's work becomes a graph. Other streams join the capture when they wait for an event that was recorded in
 * it, and its origin must wait for them before it ends. */
#include <stdlib.h>

#include "cuda/runtime/since.h"
#include "cuda/runtime/contexts.h"
#include "cuda/runtime/graph.h"
#include "cuda/runtime/deferred.h"

enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED }; /* cudaStreamCaptureStatus */
enum { ADD_DEPENDENCIES, SET_DEPENDENCIES };		     /* of cudaStreamUpdateCaptureDependencies */

bool gt_stream_captured(void *handle)
{
	const struct gt_stream *stream = gt_stream_of(handle);

	return stream && stream->capture;
}

int gt_stream_uncaptured(void *handle)
{
	if (!gt_stream_captured(handle))
		return CUDA_SUCCESS;
	gt_stream_of(handle)->capture->invalid = true;
	return CUDA_STREAM_CAPTURE_UNSUPPORTED;
}

bool gt_cudart_capture_refuses(void *handle, const char *call)
{
	gt_cudart_enter();
	bool captured = gt_stream_captured(handle);
	if (captured) {
		gt_stream_of(handle)->capture->invalid = true;
		gt_cudart_refuse(call);
	}
	gt_cudart_leave(captured ? CUDA_NOT_SUPPORTED : CUDA_SUCCESS);
	return captured;
}

/* An event may still refer to a graph that was destroyed. */
bool gt_event_captured(const struct gt_cuda_event *event)
{
	for (const struct gt_stream *stream = gt_streams(); event->capture && stream; stream = stream->next)
		if (stream->capture == event->capture)
			return true;
	return false;
}

int gt_stream_ask(void *handle, const struct gt_work *work)
{
	struct gt_stream *stream = gt_stream_of(handle);
	struct gt_node *node;

	if (stream && work->kind == GT_WORK_KERNEL && stream->device >= 0 && stream->device != gt_cudart_device())
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (!stream || !stream->capture)
		return gt_deferred_ask(handle, work);
	if (stream->capture->invalid)
		return CUDA_STREAM_CAPTURE_INVALIDATED;
	int code = gt_graph_add(stream->capture, stream->last.of, stream->last.n, work, &node);
	if (code != CUDA_SUCCESS)
		return code;
	stream->last.n = 0;
	return gt_nodes_join(&stream->last, &node, 1);
}

static int begin(void *handle, struct gt_graph *graph, struct gt_node *const *after, size_t n)
{
	struct gt_stream *stream = gt_stream_of(handle);

	if (!stream)
		return CUDA_STREAM_CAPTURE_UNSUPPORTED; /* the default stream cannot be captured */
	if (stream->capture)
		return CUDA_ILLEGAL_STATE;
	if (!graph)
		return CUDA_MEMORY_ALLOCATION;
	for (size_t i = 0; i < n; i++)
		if (!after || !after[i] || after[i]->graph != graph)
			return CUDA_INVALID_VALUE;
	stream->capture = graph;
	stream->origin = true;
	return gt_nodes_join(&stream->last, after, n);
}

API int cudaStreamBeginCapture(void *stream, int mode)
{
	(void)mode;
	gt_cudart_enter();
	struct gt_graph *graph = gt_graph_new();
	int code = begin(stream, graph, NULL, 0);
	if (code != CUDA_SUCCESS)
		gt_graph_free(graph);
	return gt_cudart_leave(code);
}

API int cudaStreamBeginCaptureToGraph(void *stream, struct gt_graph *graph, struct gt_node *const *after,
				      const void *edges, size_t n, int mode)
{
	(void)edges, (void)mode;
	gt_cudart_enter();
	int code = graph ? begin(stream, graph, after, n) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		gt_stream_of(stream)->given = true;
	return gt_cudart_leave(code);
}

static void mark_before(const struct gt_nodes *nodes)
{
	for (size_t i = 0; i < nodes->n; i++)
		if (!nodes->of[i]->done) {
			nodes->of[i]->done = true;
			mark_before(&nodes->of[i]->after);
		}
}

/* Whether the origin has waited for all work of the streams that joined. */
static bool joined(const struct gt_stream *origin)
{
	const struct gt_graph *graph = origin->capture;

	for (size_t i = 0; i < graph->nodes.n; i++)
		graph->nodes.of[i]->done = false;
	mark_before(&origin->last);
	for (const struct gt_stream *stream = gt_streams(); stream; stream = stream->next)
		for (size_t i = 0; stream->capture == graph && i < stream->last.n; i++)
			if (!stream->last.of[i]->done)
				return false;
	return true;
}

static void release(const struct gt_graph *graph)
{
	for (struct gt_stream *stream = gt_streams(); stream; stream = stream->next)
		if (stream->capture == graph) {
			stream->capture = NULL;
			stream->origin = stream->given = false;
			gt_nodes_clear(&stream->last);
		}
}

API int cudaStreamEndCapture(void *handle, struct gt_graph **to)
{
	gt_cudart_enter();
	struct gt_stream *stream = gt_stream_of(handle);
	/* Who gave the graph need not ask for it. */
	if (!to && !(stream && stream->given))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (to)
		*to = NULL;
	if (!stream || !stream->capture)
		return gt_cudart_leave(CUDA_ILLEGAL_STATE);
	if (!stream->origin)
		return gt_cudart_leave(CUDA_STREAM_CAPTURE_UNMATCHED);
	struct gt_graph *graph = stream->capture;
	int code = graph->invalid ? CUDA_STREAM_CAPTURE_INVALIDATED
		   : joined(stream) ? CUDA_SUCCESS : CUDA_STREAM_CAPTURE_UNJOINED;
	release(graph);
	if (code == CUDA_SUCCESS && to)
		*to = graph;
	return gt_cudart_leave(code);
}

static int status_of(const struct gt_stream *stream)
{
	if (!stream || !stream->capture)
		return CAPTURE_NONE;
	return stream->capture->invalid ? CAPTURE_INVALIDATED : CAPTURE_ACTIVE;
}

API int cudaStreamIsCapturing(void *stream, int *status)
{
	gt_cudart_enter();
	if (status)
		*status = status_of(gt_stream_of(stream));
	return gt_cudart_leave(status ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaStreamGetCaptureInfo(void *handle, int *status, unsigned long long *id, struct gt_graph **graph,
				 struct gt_node *const **after, const void **edges, size_t *n)
{
	gt_cudart_enter();
	const struct gt_stream *stream = gt_stream_of(handle);
	if (!status)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*status = status_of(stream);
	if (*status != CAPTURE_ACTIVE)
		return gt_cudart_leave(CUDA_SUCCESS);
	if (id)
		*id = (uintptr_t)stream->capture;
	if (graph)
		*graph = stream->capture;
	if (after)
		*after = stream->last.of;
	if (edges)
		*edges = NULL;
	if (n)
		*n = stream->last.n;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamUpdateCaptureDependencies(void *handle, struct gt_node *const *after, const void *edges, size_t n,
					    unsigned flags)
{
	(void)edges;
	gt_cudart_enter();
	struct gt_stream *stream = gt_stream_of(handle);
	if (!stream || !stream->capture)
		return gt_cudart_leave(CUDA_ILLEGAL_STATE);
	if (flags > SET_DEPENDENCIES)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		if (!after || !after[i] || after[i]->graph != stream->capture)
			return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (flags == SET_DEPENDENCIES)
		stream->last.n = 0;
	return gt_cudart_leave(gt_nodes_join(&stream->last, after, n));
}

/* All modes are the same: every call is allowed while a stream is captured. */
API int cudaThreadExchangeStreamCaptureMode(int *mode)
{
	static _Thread_local int current;
	int before = current;

	gt_cudart_enter();
	if (!mode)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	current = *mode;
	*mode = before;
	return gt_cudart_leave(CUDA_SUCCESS);
}

ALSO(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz);
ALSO(cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz);
ALSO(cudaStreamEndCapture, cudaStreamEndCapture_ptsz);
ALSO(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);
ALSO(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz);
ALSO(cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz);

SINCE_13(cudaStreamGetCaptureInfo);
SINCE_13(cudaStreamGetCaptureInfo_ptsz);
SINCE_13(cudaStreamUpdateCaptureDependencies);
SINCE_13(cudaStreamUpdateCaptureDependencies_ptsz);
