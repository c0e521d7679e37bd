/* SPDX-License-Identifier: MIT */
/* Streams and events: what a stream has, work that is deferred, capture, and waiting. */
#include <stdlib.h>

#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

#define PER_THREAD_HANDLE 2U /* of the default stream of threads that have one each */

static struct gt_stream per_thread = {.device = -1};
static struct gt_stream *streams = &per_thread;

/* The program was compiled for default streams of threads, and has captured one by the handle 0, which stands for it there. */
static bool default_is_per_thread;

/* The stream of a handle; NULL if the handle is that of the default stream of all threads, or none. */
static struct gt_stream *stream_of(void *handle)
{
	if ((uintptr_t)handle == PER_THREAD_HANDLE || (!handle && default_is_per_thread))
		return &per_thread;
	return gt_is(GT_STREAM, handle) ? handle : NULL;
}

int gt_stream_check(const void *stream)
{
	return (uintptr_t)stream <= PER_THREAD_HANDLE || gt_is(GT_STREAM, stream) ? CUDA_SUCCESS : CUDA_INVALID_RESOURCE_HANDLE;
}

#define STREAM_NON_BLOCKING 1U

static int new_stream(struct gt_stream **stream, unsigned flags, int priority)
{
	gt_cudart_enter();
	if (!stream || flags > STREAM_NON_BLOCKING)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*stream = gt_handle_made(GT_STREAM, calloc(1, sizeof **stream));
	if (!*stream)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	**stream = (struct gt_stream){.flags = flags, .priority = priority, .device = gt_cudart_device(), .next = streams};
	streams = *stream;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamCreate(struct gt_stream **stream)
{
	return new_stream(stream, 0, 0);
}

API int cudaStreamCreateWithFlags(struct gt_stream **stream, unsigned flags)
{
	return new_stream(stream, flags, 0);
}

API int cudaStreamCreateWithPriority(struct gt_stream **stream, unsigned flags, int priority)
{
	return new_stream(stream, flags, priority > PRIORITY_LEAST ? PRIORITY_LEAST : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST : priority);
}

struct gt_window *gt_cudart_stream_window(void *handle)
{
	static struct gt_window of_default;
	struct gt_stream *stream = stream_of(handle);

	return stream ? &stream->window : &of_default;
}

API int cudaStreamGetDevice(void *handle, int *device)
{
	gt_cudart_enter();
	const struct gt_stream *stream = stream_of(handle);
	if (device)
		*device = stream && stream->device >= 0 ? stream->device : gt_cudart_device();
	return gt_cudart_leave(device ? gt_stream_check(handle) : CUDA_INVALID_VALUE);
}

API int cudaStreamGetId(void *handle, unsigned long long *id)
{
	gt_cudart_enter();
	if (id)
		*id = (uintptr_t)handle;
	return gt_cudart_leave(id ? gt_stream_check(handle) : CUDA_INVALID_VALUE);
}

API int cudaStreamDestroy(struct gt_stream *stream)
{
	gt_cudart_enter();
	struct gt_stream **link = &streams;
	while (*link && *link != stream)
		link = &(*link)->next;
	if (!*link || stream == &per_thread)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	*link = stream->next;
	gt_nodes_clear(&stream->last);
	gt_handle_free(stream);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamGetFlags(void *handle, unsigned *flags)
{
	gt_cudart_enter_beside();
	const struct gt_stream *stream = stream_of(handle);
	if (flags)
		*flags = stream ? stream->flags : 0;
	return gt_cudart_leave(flags ? gt_stream_check(handle) : CUDA_INVALID_VALUE);
}

API int cudaStreamGetPriority(void *handle, int *priority)
{
	gt_cudart_enter_beside();
	const struct gt_stream *stream = stream_of(handle);
	if (priority)
		*priority = stream ? stream->priority : 0;
	return gt_cudart_leave(priority ? gt_stream_check(handle) : CUDA_INVALID_VALUE);
}

API int cudaStreamAttachMemAsync(void *stream, void *pointer, size_t bytes, unsigned flags)
{
	(void)pointer, (void)bytes, (void)flags;
	gt_cudart_enter_beside();
	return gt_cudart_leave(gt_stream_uncaptured(stream));
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaStreamGetDevice, cudaStreamGetDevice_ptsz);
ALSO(cudaStreamGetId, cudaStreamGetId_ptsz);
ALSO(cudaStreamGetFlags, cudaStreamGetFlags_ptsz);
ALSO(cudaStreamGetPriority, cudaStreamGetPriority_ptsz);
ALSO(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz);

/* ---- deferred work ---- */

/* Work that waits for the host. All work is executed in the order of the calls, at once; but where a kernel that changes nothing
 * (ptx/launch/gate.h) waits for what the host does after its launch, the launch and all work behind it are deferred until the
 * host makes a call that needs them done (gt_cudart.finish). */

struct deferred {
	struct gt_work work;
	struct deferred *next;
};

static struct deferred *first_deferred, **deferred_end = &first_deferred;
static bool under_way; /* the first is being executed */

static bool deferred_try(void);

static void finish_deferred(void)
{
	if (!deferred_try())
		gt_cudart_stop_closed();
}

static int defer(const struct gt_work *work)
{
	struct deferred *one = calloc(1, sizeof *one);
	int code = one ? gt_work_keep(&one->work, work) : CUDA_MEMORY_ALLOCATION;

	if (code != CUDA_SUCCESS) {
		free(one);
		return code;
	}
	*deferred_end = one;
	deferred_end = &one->next;
	gt_cudart.finish = finish_deferred;
	return CUDA_SUCCESS;
}

/* Executes the deferred work, as far as it does not wait. True: none is left. */
static bool deferred_try(void)
{
	while (first_deferred && !under_way) {
		struct deferred *one = first_deferred;
		under_way = true;
		int code = gt_cudart_do(&one->work);
		under_way = false;
		if (code == GT_CUDART_CLOSED)
			return false;
		if (code != CUDA_SUCCESS)
			gt_cudart.failing = code;
		first_deferred = one->next;
		deferred_end = first_deferred ? deferred_end : &first_deferred;
		gt_cudart.finish = first_deferred ? finish_deferred : NULL;
		gt_work_free(&one->work);
		free(one);
	}
	return true;
}

/* A copy from or to memory that the device does not know is done when the call returns; so is all that has a form
 * without a stream, but launches. */
static bool must_be_done(const void *stream, const struct gt_work *work)
{
	const struct gt_copy_work *copy = &work->u.copy;

	if (work->kind != GT_WORK_COPY)
		return !stream && work->kind == GT_WORK_FILL;
	return !stream || (!copy->to_array && gt_cudart_pointer(copy->to).type == GT_POINTER_UNREGISTERED) ||
	       (!copy->from_array && gt_cudart_pointer(copy->from).type == GT_POINTER_UNREGISTERED);
}

/* Executes work, or defers it. Returns a code. */
static int deferred_ask(void *stream, const struct gt_work *work)
{
	if (first_deferred && must_be_done(stream, work))
		finish_deferred();
	int code = first_deferred && !under_way ? GT_CUDART_CLOSED : gt_cudart_do(work);
	return code == GT_CUDART_CLOSED ? defer(work) : code;
}

/* ---- capture ---- */

/* A stream's work becomes a graph. Other streams join the capture when they wait for an event that was recorded in
 * it, and its origin must wait for them before it ends. */

enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED }; /* cudaStreamCaptureStatus */
enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };	     /* cudaStreamCaptureMode */
enum { ADD_DEPENDENCIES, SET_DEPENDENCIES };		     /* of cudaStreamUpdateCaptureDependencies */

bool gt_stream_captured(void *handle)
{
	const struct gt_stream *stream = stream_of(handle);

	return stream && stream->capture;
}

static _Thread_local int thread_mode; /* its address is the thread's name, too */

/* Of the thread's own captures those that are not relaxed, and of another thread's those that are global. */
static bool forbids(const struct gt_stream *stream)
{
	if (!stream->capture || !stream->origin || thread_mode == MODE_RELAXED)
		return false;
	return stream->thread == &thread_mode ? stream->mode != MODE_RELAXED
					      : stream->mode == MODE_GLOBAL && thread_mode == MODE_GLOBAL;
}

static int outside(bool (*of)(const struct gt_stream *))
{
	int code = CUDA_SUCCESS;

	for (struct gt_stream *stream = streams; stream; stream = stream->next)
		if (of(stream)) {
			stream->capture->invalid = true;
			code = CUDA_STREAM_CAPTURE_UNSUPPORTED;
		}
	return code;
}

int gt_stream_outside_captures(void)
{
	return outside(forbids);
}

static bool is_captured(const struct gt_stream *stream)
{
	return stream->capture;
}

int gt_stream_outside_all_captures(void)
{
	return outside(is_captured);
}

int gt_stream_uncaptured(void *handle)
{
	if (!gt_stream_captured(handle))
		return gt_stream_check(handle);
	stream_of(handle)->capture->invalid = true;
	return CUDA_STREAM_CAPTURE_UNSUPPORTED;
}

bool gt_cudart_capture_refuses(void *handle, const char *call)
{
	gt_cudart_enter();
	bool captured = gt_stream_captured(handle);
	if (captured) {
		stream_of(handle)->capture->invalid = true;
		gt_cudart_refuse(call);
	}
	gt_cudart_leave(captured ? CUDA_NOT_SUPPORTED : CUDA_SUCCESS);
	return captured;
}

/* An event may still refer to a graph that was destroyed. */
static bool event_captured(const struct gt_cuda_event *event)
{
	for (const struct gt_stream *stream = streams; event->capture && stream; stream = stream->next)
		if (stream->capture == event->capture)
			return true;
	return false;
}

int gt_stream_ask(void *handle, const struct gt_work *work)
{
	struct gt_stream *stream = stream_of(handle);
	struct gt_node *node;

	if (gt_stream_check(handle) != CUDA_SUCCESS)
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (stream && work->kind == GT_WORK_KERNEL && stream->device >= 0 && stream->device != gt_cudart_device())
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (!stream || !stream->capture)
		return deferred_ask(handle, work);
	if (stream->capture->invalid)
		return CUDA_STREAM_CAPTURE_INVALIDATED;
	if (work->kind == GT_WORK_GRAPH)
		return gt_stream_uncaptured(handle);
	const int wrong = gt_cudart_check_launch(work);
	if (wrong != CUDA_SUCCESS) {
		stream->capture->invalid = true;
		return wrong;
	}
	int code = gt_graph_add(stream->capture, stream->last.list, stream->last.n, work, &node);
	if (code != CUDA_SUCCESS)
		return code;
	stream->last.n = 0;
	return gt_nodes_join(&stream->last, &node, 1);
}

static int begin(void *handle, struct gt_graph *graph, struct gt_node *const *after, size_t n, int mode)
{
	struct gt_stream *stream = stream_of(handle);

	if (gt_stream_check(handle) != CUDA_SUCCESS)
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (!stream)
		return CUDA_STREAM_CAPTURE_UNSUPPORTED; /* the default stream cannot be captured */
	if (stream->capture)
		return CUDA_ILLEGAL_STATE;
	if (mode < MODE_GLOBAL || mode > MODE_RELAXED)
		return CUDA_INVALID_VALUE;
	if (!graph)
		return CUDA_MEMORY_ALLOCATION;
	for (size_t i = 0; i < n; i++)
		if (!after || !gt_is(GT_NODE, after[i]) || after[i]->graph != graph)
			return CUDA_INVALID_VALUE;
	stream->capture = graph;
	stream->origin = true;
	stream->mode = mode;
	stream->thread = &thread_mode;
	return gt_nodes_join(&stream->last, after, n);
}

API int cudaStreamBeginCapture(void *stream, int mode)
{
	gt_cudart_enter();
	struct gt_graph *graph = gt_graph_new();
	int code = begin(stream, graph, NULL, 0, mode);
	if (code != CUDA_SUCCESS)
		gt_graph_free(graph);
	return gt_cudart_leave(code);
}

API int cudaStreamBeginCaptureToGraph(void *stream, struct gt_graph *graph, struct gt_node *const *after,
				      const void *edges, size_t n, int mode)
{
	(void)edges;
	gt_cudart_enter();
	int code = gt_is(GT_GRAPH, graph) ? begin(stream, graph, after, n, mode) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		stream_of(stream)->given = true;
	return gt_cudart_leave(code);
}

static void mark_before(const struct gt_nodes *nodes)
{
	for (size_t i = 0; i < nodes->n; i++)
		if (!nodes->list[i]->done) {
			nodes->list[i]->done = true;
			mark_before(&nodes->list[i]->after);
		}
}

/* Whether the origin has waited for all work of the streams that joined. */
static bool joined(const struct gt_stream *origin)
{
	const struct gt_graph *graph = origin->capture;

	for (size_t i = 0; i < graph->nodes.n; i++)
		graph->nodes.list[i]->done = false;
	mark_before(&origin->last);
	for (const struct gt_stream *stream = streams; stream; stream = stream->next)
		for (size_t i = 0; stream->capture == graph && i < stream->last.n; i++)
			if (!stream->last.list[i]->done)
				return false;
	return true;
}

static void release(const struct gt_graph *graph)
{
	for (struct gt_stream *stream = streams; stream; stream = stream->next)
		if (stream->capture == graph) {
			stream->capture = NULL;
			stream->origin = stream->given = false;
			gt_nodes_clear(&stream->last);
		}
}

API int cudaStreamEndCapture(void *handle, struct gt_graph **to)
{
	gt_cudart_enter();
	struct gt_stream *stream = stream_of(handle);
	if (to)
		*to = NULL;
	if (!stream || !stream->capture)
		return gt_cudart_leave(gt_stream_check(handle) ? CUDA_INVALID_RESOURCE_HANDLE : CUDA_ILLEGAL_STATE);
	/* Who gave the graph need not ask for it. */
	if (!to && !stream->given)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
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
		*status = status_of(stream_of(stream));
	return gt_cudart_leave(status ? gt_stream_check(stream) : CUDA_INVALID_VALUE);
}

API int cudaStreamGetCaptureInfo(void *handle, int *status, unsigned long long *id, struct gt_graph **graph,
				 struct gt_node *const **after, const void **edges, size_t *n)
{
	gt_cudart_enter();
	const struct gt_stream *stream = stream_of(handle);
	if (!status)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*status = status_of(stream);
	if (*status != CAPTURE_ACTIVE)
		return gt_cudart_leave(gt_stream_check(handle));
	if (id)
		*id = (uintptr_t)stream->capture;
	if (graph)
		*graph = stream->capture;
	if (after)
		*after = stream->last.list;
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
	struct gt_stream *stream = stream_of(handle);
	if (!stream || !stream->capture)
		return gt_cudart_leave(gt_stream_check(handle) ? CUDA_INVALID_RESOURCE_HANDLE : CUDA_ILLEGAL_STATE);
	if (flags > SET_DEPENDENCIES)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		if (!after || !gt_is(GT_NODE, after[i]) || after[i]->graph != stream->capture)
			return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (flags == SET_DEPENDENCIES)
		stream->last.n = 0;
	return gt_cudart_leave(gt_nodes_join(&stream->last, after, n));
}

API int cudaThreadExchangeStreamCaptureMode(int *mode)
{
	int before = thread_mode;

	gt_cudart_enter();
	if (!mode || *mode < MODE_GLOBAL || *mode > MODE_RELAXED)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	thread_mode = *mode;
	*mode = before;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamBeginCapture_ptsz(void *stream, int mode)
{
	default_is_per_thread = default_is_per_thread || !stream;
	return cudaStreamBeginCapture(stream, mode);
}

API int cudaStreamBeginCaptureToGraph_ptsz(void *stream, struct gt_graph *graph, struct gt_node *const *after, const void *edges, size_t n, int mode)
{
	default_is_per_thread = default_is_per_thread || !stream;
	return cudaStreamBeginCaptureToGraph(stream, graph, after, edges, n, mode);
}

ALSO(cudaStreamEndCapture, cudaStreamEndCapture_ptsz);
ALSO(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);
ALSO(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz);
ALSO(cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz);

SINCE_13(cudaStreamGetCaptureInfo);
SINCE_13(cudaStreamGetCaptureInfo_ptsz);
SINCE_13(cudaStreamUpdateCaptureDependencies);
SINCE_13(cudaStreamUpdateCaptureDependencies_ptsz);

/* ---- waiting, events, and host functions ---- */

/* All work is executed in the order of the calls, so nothing has to wait. The clock of events counts instructions (work.c), one per
 * nanosecond, so that times are the same in every run. */

#define INSTRUCTIONS_A_MILLISECOND 1e6f

API int cudaStreamSynchronize(struct gt_stream *stream)
{
	gt_cudart_enter();
	const int code = gt_stream_uncaptured(stream);
	return gt_cudart_leave(code ? code : gt_stream_outside_captures());
}

API int cudaStreamQuery(struct gt_stream *stream)
{
	gt_cudart_enter_beside();
	const int code = deferred_try() ? CUDA_SUCCESS : CUDA_NOT_READY;
	const int refused = gt_stream_uncaptured(stream);
	return gt_cudart_leave(refused ? refused : code);
}

#define EVENT_EXTERNAL 1U /* makes a node of the graph; without it a capture only records the position, or waits for one */

/* Outside of captures, recorded work is already complete. */
API int cudaStreamWaitEvent(struct gt_stream *handle, const struct gt_cuda_event *event, unsigned flags)
{
	gt_cudart_enter_beside();
	struct gt_stream *stream = stream_of(handle);
	if (!gt_is(GT_EVENT, event) || gt_stream_check(handle) != CUDA_SUCCESS)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	if (gt_stream_captured(handle) && flags == EVENT_EXTERNAL) {
		const struct gt_work work = {GT_WORK_WAIT, {.event = (struct gt_cuda_event *)(uintptr_t)event}};
		return gt_cudart_leave(gt_stream_ask(handle, &work));
	}
	if (!event_captured(event) && gt_stream_captured(handle)) {
		stream->capture->invalid = true;
		return gt_cudart_leave(event->capture ? CUDA_INVALID_VALUE : CUDA_STREAM_CAPTURE_ISOLATION);
	}
	if (!event_captured(event))
		return gt_cudart_leave(CUDA_SUCCESS);
	if (!stream || (stream->capture && stream->capture != event->capture))
		return gt_cudart_leave(stream ? CUDA_STREAM_CAPTURE_MERGE : CUDA_STREAM_CAPTURE_IMPLICIT);
	stream->capture = event->capture;
	return gt_cudart_leave(gt_nodes_join(&stream->last, event->last.list, event->last.n));
}

API int cudaStreamAddCallback(struct gt_stream *stream, void (*callback)(struct gt_stream *, int, void *), void *data,
			      unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	int code = gt_cudart_leave(callback ? gt_stream_uncaptured(stream) : CUDA_INVALID_VALUE);
	if (code == CUDA_SUCCESS)
		callback(stream, CUDA_SUCCESS, data);
	return code;
}

API int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	struct gt_work work = {GT_WORK_HOST, {.host = {function, data}}};

	gt_cudart_enter_beside();
	return gt_cudart_leave(function ? gt_stream_ask(stream, &work) : CUDA_INVALID_VALUE);
}

API int cudaEventCreate(struct gt_cuda_event **event)
{
	gt_cudart_enter();
	if (!event)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*event = gt_handle_made(GT_EVENT, calloc(1, sizeof **event));
	return gt_cudart_leave(*event ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION);
}

#define EVENT_DISABLE_TIMING 2U

API int cudaEventCreateWithFlags(struct gt_cuda_event **event, unsigned flags)
{
	const int code = cudaEventCreate(event);

	if (code == CUDA_SUCCESS)
		(*event)->untimed = flags & EVENT_DISABLE_TIMING;
	return code;
}

API int cudaEventDestroy(struct gt_cuda_event *event)
{
	gt_cudart_enter();
	if (!gt_is(GT_EVENT, event))
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	gt_nodes_clear(&event->last);
	gt_handle_free(event);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaEventRecordWithFlags(struct gt_cuda_event *event, void *handle, unsigned flags)
{
	struct gt_work work = {GT_WORK_RECORD, {.event = event}};

	gt_cudart_enter_beside();
	const struct gt_stream *stream = stream_of(handle);
	if (!gt_is(GT_EVENT, event) || gt_stream_check(handle) != CUDA_SUCCESS)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	gt_nodes_clear(&event->last);
	event->capture = NULL;
	if (!gt_stream_captured(handle) || flags == EVENT_EXTERNAL)
		return gt_cudart_leave(gt_stream_ask(handle, &work));
	event->capture = stream->capture;
	return gt_cudart_leave(gt_nodes_join(&event->last, stream->last.list, stream->last.n));
}

API int cudaEventRecord(struct gt_cuda_event *event, void *stream)
{
	return cudaEventRecordWithFlags(event, stream, 0);
}

/* An event of a capture is no event to wait for: the capture becomes invalid. */
static int event_uncaptured(const struct gt_cuda_event *event)
{
	if (!gt_is(GT_EVENT, event))
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (!event_captured(event))
		return CUDA_SUCCESS;
	event->capture->invalid = true;
	return CUDA_CAPTURED_EVENT;
}

API int cudaEventSynchronize(const struct gt_cuda_event *event)
{
	gt_cudart_enter();
	return gt_cudart_leave(event_uncaptured(event));
}

API int cudaEventQuery(const struct gt_cuda_event *event)
{
	gt_cudart_enter_beside();
	const int code = deferred_try() ? CUDA_SUCCESS : CUDA_NOT_READY;
	const int wrong = event_uncaptured(event);
	return gt_cudart_leave(wrong ? wrong : code);
}

static bool is_timed(const struct gt_cuda_event *event) { return gt_is(GT_EVENT, event) && event->recorded && !event->untimed; }

API int cudaEventElapsedTime(float *milliseconds, const struct gt_cuda_event *start, const struct gt_cuda_event *end)
{
	gt_cudart_enter();
	if (gt_is(GT_EVENT, start) && gt_is(GT_EVENT, end) && (start->capture || end->capture))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (!milliseconds || !is_timed(start) || !is_timed(end))
		return gt_cudart_leave(milliseconds ? CUDA_INVALID_RESOURCE_HANDLE : CUDA_INVALID_VALUE);
	*milliseconds = (float)(int64_t)(end->instructions - start->instructions) / INSTRUCTIONS_A_MILLISECOND;
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaStreamSynchronize, cudaStreamSynchronize_ptsz);
ALSO(cudaStreamQuery, cudaStreamQuery_ptsz);
ALSO(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz);
ALSO(cudaStreamAddCallback, cudaStreamAddCallback_ptsz);
ALSO(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz);
ALSO(cudaEventRecord, cudaEventRecord_ptsz);
ALSO(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz);
