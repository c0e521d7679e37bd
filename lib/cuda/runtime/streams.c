/* SPDX-License-Identifier: MIT */
/* Streams, and the calls about them. */
#include <stdlib.h>

#include "cuda/runtime/contexts.h"
#include "cuda/runtime/graph.h"

#define PER_THREAD_HANDLE 2U /* of the default stream of threads that have one each */

static struct gt_stream per_thread = {.device = -1};
static struct gt_stream *streams = &per_thread;

struct gt_stream *gt_streams(void)
{
	return streams;
}

struct gt_stream *gt_stream_of(void *handle)
{
	if ((uintptr_t)handle == PER_THREAD_HANDLE)
		return &per_thread;
	return (uintptr_t)handle > PER_THREAD_HANDLE ? handle : NULL;
}

static int new_stream(struct gt_stream **stream, unsigned flags, int priority)
{
	gt_cudart_enter();
	if (!stream)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*stream = calloc(1, sizeof **stream);
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
	return new_stream(stream, flags, priority);
}

/* The handles of the default streams are small numbers. */
static bool is_created(const struct gt_stream *stream)
{
	return (uintptr_t)stream > PER_THREAD_HANDLE;
}

struct gt_window *gt_cudart_stream_window(void *handle)
{
	static struct gt_window of_default;
	struct gt_stream *stream = gt_stream_of(handle);

	return stream ? &stream->window : &of_default;
}

API int cudaStreamGetDevice(void *handle, int *device)
{
	gt_cudart_enter();
	const struct gt_stream *stream = gt_stream_of(handle);
	if (device)
		*device = stream && stream->device >= 0 ? stream->device : gt_cudart_device();
	return gt_cudart_leave(device ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
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
	free(stream);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamGetFlags(const struct gt_stream *stream, unsigned *flags)
{
	*flags = is_created(stream) ? stream->flags : 0;
	return CUDA_SUCCESS;
}

API int cudaStreamGetPriority(const struct gt_stream *stream, int *priority)
{
	*priority = is_created(stream) ? stream->priority : 0;
	return CUDA_SUCCESS;
}

API int cudaStreamAttachMemAsync(const struct gt_stream *stream, void *pointer, size_t bytes, unsigned flags)
{
	(void)stream, (void)pointer, (void)bytes, (void)flags;
	return CUDA_SUCCESS;
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaStreamGetDevice, cudaStreamGetDevice_ptsz);
ALSO(cudaStreamGetFlags, cudaStreamGetFlags_ptsz);
ALSO(cudaStreamGetPriority, cudaStreamGetPriority_ptsz);
ALSO(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz);
