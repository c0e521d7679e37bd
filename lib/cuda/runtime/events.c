/* SPDX-License-Identifier: MIT */
/* Waiting, events, and host functions. All work is executed in the order of the calls, so nothing has to wait. The clock of
 * events is the number of executed warp instructions, one per nanosecond, so that times are the same in every run, and not 0
 * if a kernel ran in between. */
#include <stdlib.h>

#include "cuda/runtime/graph.h"
#include "cuda/runtime/deferred.h"

#define INSTRUCTIONS_A_MILLISECOND 1e6f

API int cudaStreamSynchronize(struct gt_stream *stream)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_stream_uncaptured(stream));
}

API int cudaStreamQuery(struct gt_stream *stream)
{
	gt_cudart_enter_beside();
	const int code = gt_deferred_try() ? CUDA_SUCCESS : CUDA_NOT_READY;
	return gt_cudart_leave(gt_stream_captured(stream) ? gt_stream_uncaptured(stream) : code);
}

/* Outside of captures, recorded work is already complete. */
API int cudaStreamWaitEvent(struct gt_stream *handle, const struct gt_cuda_event *event, unsigned flags)
{
	struct gt_stream *stream = gt_stream_of(handle);

	(void)flags;
	gt_cudart_enter_beside();
	if (!event)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	if (!gt_event_captured(event))
		return gt_cudart_leave(gt_stream_captured(handle) ? CUDA_STREAM_CAPTURE_ISOLATION : CUDA_SUCCESS);
	if (!stream || (stream->capture && stream->capture != event->capture))
		return gt_cudart_leave(stream ? CUDA_STREAM_CAPTURE_MERGE : CUDA_STREAM_CAPTURE_IMPLICIT);
	stream->capture = event->capture;
	return gt_cudart_leave(gt_nodes_join(&stream->last, event->last.of, event->last.n));
}

API int cudaStreamAddCallback(struct gt_stream *stream, void (*callback)(struct gt_stream *, int, void *), void *data,
			      unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	int code = gt_cudart_leave(gt_stream_uncaptured(stream));
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
	*event = calloc(1, sizeof **event);
	return gt_cudart_leave(*event ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION);
}

API int cudaEventCreateWithFlags(struct gt_cuda_event **event, unsigned flags)
{
	(void)flags;
	return cudaEventCreate(event);
}

API int cudaEventDestroy(struct gt_cuda_event *event)
{
	gt_cudart_enter();
	if (!event)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	gt_nodes_clear(&event->last);
	free(event);
	return gt_cudart_leave(CUDA_SUCCESS);
}

#define EVENT_RECORD_EXTERNAL 1U /* makes a node of the graph; without it a capture only records the position */

API int cudaEventRecordWithFlags(struct gt_cuda_event *event, void *handle, unsigned flags)
{
	struct gt_stream *stream = gt_stream_of(handle);
	struct gt_work work = {GT_WORK_RECORD, {.event = event}};

	gt_cudart_enter_beside();
	if (!event)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	gt_nodes_clear(&event->last);
	event->capture = NULL;
	if (!gt_stream_captured(handle) || flags == EVENT_RECORD_EXTERNAL)
		return gt_cudart_leave(gt_stream_ask(handle, &work));
	event->capture = stream->capture;
	return gt_cudart_leave(gt_nodes_join(&event->last, stream->last.of, stream->last.n));
}

API int cudaEventRecord(struct gt_cuda_event *event, void *stream)
{
	return cudaEventRecordWithFlags(event, stream, 0);
}

API int cudaEventSynchronize(const struct gt_cuda_event *event)
{
	gt_cudart_enter();
	return gt_cudart_leave(event ? CUDA_SUCCESS : CUDA_INVALID_RESOURCE_HANDLE);
}

API int cudaEventQuery(const struct gt_cuda_event *event)
{
	gt_cudart_enter_beside();
	const int code = gt_deferred_try() ? CUDA_SUCCESS : CUDA_NOT_READY;
	return gt_cudart_leave(event ? code : CUDA_INVALID_RESOURCE_HANDLE);
}

API int cudaEventElapsedTime(float *milliseconds, const struct gt_cuda_event *start, const struct gt_cuda_event *end)
{
	gt_cudart_enter();
	if (!milliseconds || !start || !end)
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
