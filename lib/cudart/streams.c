/* SPDX-License-Identifier: MIT */
/* Streams and events. Everything is done in the order of the calls, so there is nothing to wait
 * for. The clock of events is the number of warp instructions executed: one a nanosecond, so that
 * times are the same in every run, and never 0 where a kernel ran between. */
#include <stdlib.h>

#include "cudart/runtime.h"

#define INSTRUCTIONS_A_MILLISECOND 1e6f

struct event {
	uint64_t instructions; /* executed before it was recorded */
};

struct stream {
	unsigned flags;
	int priority;
};

static int new_stream(struct stream **stream, unsigned flags, int priority)
{
	gt_cudart_enter();
	if (!stream)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*stream = calloc(1, sizeof **stream);
	if (!*stream)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	**stream = (struct stream){flags, priority};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamCreate(struct stream **stream)
{
	return new_stream(stream, 0, 0);
}

API int cudaStreamCreateWithFlags(struct stream **stream, unsigned flags)
{
	return new_stream(stream, flags, 0);
}

API int cudaStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority)
{
	return new_stream(stream, flags, priority);
}

/* The default streams have small numbers for handles. */
static bool is_created(const struct stream *stream)
{
	return (uintptr_t)stream > 2;
}

API int cudaStreamDestroy(struct stream *stream)
{
	gt_cudart_enter();
	if (!is_created(stream))
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	free(stream);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamGetFlags(const struct stream *stream, unsigned *flags)
{
	*flags = is_created(stream) ? stream->flags : 0;
	return CUDA_SUCCESS;
}

API int cudaStreamGetPriority(const struct stream *stream, int *priority)
{
	*priority = is_created(stream) ? stream->priority : 0;
	return CUDA_SUCCESS;
}

API int cudaStreamSynchronize(const struct stream *stream)
{
	(void)stream;
	return CUDA_SUCCESS;
}

API int cudaStreamQuery(const struct stream *stream)
{
	(void)stream;
	return CUDA_SUCCESS;
}

API int cudaStreamIsCapturing(const struct stream *stream, int *status)
{
	(void)stream;
	*status = 0;
	return CUDA_SUCCESS;
}

API int cudaStreamWaitEvent(const struct stream *stream, const struct event *event, unsigned flags)
{
	(void)stream, (void)event, (void)flags;
	return CUDA_SUCCESS;
}

API int cudaStreamAttachMemAsync(const struct stream *stream, void *pointer, size_t bytes, unsigned flags)
{
	(void)stream, (void)pointer, (void)bytes, (void)flags;
	return CUDA_SUCCESS;
}

API int cudaStreamAddCallback(struct stream *stream, void (*callback)(struct stream *, int, void *), void *data,
			      unsigned flags)
{
	(void)flags;
	callback(stream, CUDA_SUCCESS, data);
	return CUDA_SUCCESS;
}

API int cudaLaunchHostFunc(const struct stream *stream, void (*function)(void *), void *data)
{
	(void)stream;
	function(data);
	return CUDA_SUCCESS;
}

API int cudaEventCreate(struct event **event)
{
	gt_cudart_enter();
	if (!event)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*event = calloc(1, sizeof **event);
	return gt_cudart_leave(*event ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION);
}

API int cudaEventCreateWithFlags(struct event **event, unsigned flags)
{
	(void)flags;
	return cudaEventCreate(event);
}

API int cudaEventDestroy(struct event *event)
{
	gt_cudart_enter();
	free(event);
	return gt_cudart_leave(event ? CUDA_SUCCESS : CUDA_INVALID_RESOURCE_HANDLE);
}

API int cudaEventRecord(struct event *event, const struct stream *stream)
{
	(void)stream;
	gt_cudart_enter();
	if (!event)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	event->instructions = gt_cudart.instructions;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaEventRecordWithFlags(struct event *event, const struct stream *stream, unsigned flags)
{
	(void)flags;
	return cudaEventRecord(event, stream);
}

API int cudaEventSynchronize(const struct event *event)
{
	gt_cudart_enter();
	return gt_cudart_leave(event ? CUDA_SUCCESS : CUDA_INVALID_RESOURCE_HANDLE);
}

API int cudaEventQuery(const struct event *event)
{
	return cudaEventSynchronize(event);
}

API int cudaEventElapsedTime(float *milliseconds, const struct event *start, const struct event *end)
{
	gt_cudart_enter();
	if (!milliseconds || !start || !end)
		return gt_cudart_leave(milliseconds ? CUDA_INVALID_RESOURCE_HANDLE : CUDA_INVALID_VALUE);
	*milliseconds = (float)(int64_t)(end->instructions - start->instructions) / INSTRUCTIONS_A_MILLISECOND;
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* ---- per-thread default streams: the order of the calls holds for them too ---- */

ALSO(cudaStreamGetFlags, cudaStreamGetFlags_ptsz);
ALSO(cudaStreamGetPriority, cudaStreamGetPriority_ptsz);
ALSO(cudaStreamSynchronize, cudaStreamSynchronize_ptsz);
ALSO(cudaStreamQuery, cudaStreamQuery_ptsz);
ALSO(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);
ALSO(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz);
ALSO(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz);
ALSO(cudaStreamAddCallback, cudaStreamAddCallback_ptsz);
ALSO(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz);
ALSO(cudaEventRecord, cudaEventRecord_ptsz);
ALSO(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz);
