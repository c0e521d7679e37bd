/* SPDX-License-Identifier: MIT */
/* Streams and events, and capture. */
#include "cuda/driver/driver.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/work.h"

/* ---- streams ---- */

DRIVER(cuStreamCreate, (struct gt_stream **stream, unsigned flags), cudaStreamCreateWithPriority(stream, flags, 0))
DRIVER(cuStreamCreateWithPriority, (struct gt_stream **stream, unsigned flags, int priority),
       cudaStreamCreateWithPriority(stream, flags, priority))
DRIVER_OF(stream, cuStreamDestroy_v2, (struct gt_stream *stream), cudaStreamDestroy(stream))
DRIVER_OF(stream, cuStreamDestroy, (struct gt_stream *stream), cudaStreamDestroy(stream))
DRIVER_OF(stream, cuStreamGetFlags, (void *stream, unsigned *flags), cudaStreamGetFlags(stream, flags))
DRIVER_OF(stream, cuStreamGetPriority, (void *stream, int *priority), cudaStreamGetPriority(stream, priority))
DRIVER_OF(stream, cuStreamSynchronize, (struct gt_stream *stream), cudaStreamSynchronize(stream))
DRIVER_OF(stream, cuStreamQuery, (struct gt_stream *stream), cudaStreamQuery(stream))
DRIVER_OF(stream, cuStreamWaitEvent, (struct gt_stream *stream, const struct gt_cuda_event *event, unsigned flags),
	  cudaStreamWaitEvent(stream, event, flags))
DRIVER_OF(stream, cuStreamGetId, (void *stream, unsigned long long *id), cudaStreamGetId(stream, id))
DRIVER_OF(stream, cuStreamGetDevice, (void *stream, int *device), cudaStreamGetDevice(stream, device))

/* The context of the thread, if it has the stream's device; else the primary one of that. */
static int context_of(void *stream, struct gt_context **to)
{
	int device = 0, code = to ? cudaStreamGetDevice(stream, &device) : CUDA_INVALID_VALUE;
	struct gt_context *own = gt_driver_context();

	if (code == CUDA_SUCCESS)
		*to = own && own->device == device ? own : gt_context_primary(device);
	return code;
}

DRIVER_OF(stream, cuStreamGetCtx, (void *stream, struct gt_context **context), context_of(stream, context))
DRIVER_OF(stream, cuStreamGetCtx_v2, (void *stream, struct gt_context **context, void **part),
	  (part ? (void)(*part = NULL) : (void)0, context_of(stream, context)))
DRIVER_OF(stream, cuStreamAttachMemAsync, (const struct gt_stream *stream, uint64_t address, size_t bytes, unsigned flags),
       ((void)address, (void)bytes, (void)flags, gt_stream_check(stream)))

/* The callback runs without the lock, since it may wait for other threads. */
API int cuStreamAddCallback(struct gt_stream *stream, void (*callback)(struct gt_stream *, int, void *), void *data,
			    unsigned flags)
{
	int code = gt_driver_begin_of(stream);

	code = gt_driver_end(code == CUDA_SUCCESS && !callback ? CUDA_INVALID_VALUE : code);
	return code == CUDA_SUCCESS ? cudaStreamAddCallback(stream, callback, data, flags) : code;
}

/* ---- events ---- */

DRIVER(cuEventCreate, (struct gt_cuda_event **event, unsigned flags), cudaEventCreateWithFlags(event, flags))
DRIVER_OF(event, cuEventDestroy_v2, (struct gt_cuda_event *event), cudaEventDestroy(event))
DRIVER_OF(event, cuEventDestroy, (struct gt_cuda_event *event), cudaEventDestroy(event))
DRIVER_OF(event, cuEventRecord, (struct gt_cuda_event *event, void *stream), cudaEventRecordWithFlags(event, stream, 0))
DRIVER_OF(event, cuEventRecordWithFlags, (struct gt_cuda_event *event, void *stream, unsigned flags),
	  cudaEventRecordWithFlags(event, stream, flags))
DRIVER_OF(event, cuEventSynchronize, (const struct gt_cuda_event *event), cudaEventSynchronize(event))
DRIVER_OF(event, cuEventQuery, (const struct gt_cuda_event *event), cudaEventQuery(event))
DRIVER_OF(start, cuEventElapsedTime, (float *milliseconds, const struct gt_cuda_event *start, const struct gt_cuda_event *end),
	  cudaEventElapsedTime(milliseconds, start, end))
DRIVER_OF(start, cuEventElapsedTime_v2, (float *milliseconds, const struct gt_cuda_event *start, const struct gt_cuda_event *end),
	  cudaEventElapsedTime(milliseconds, start, end))

/* ---- profiling: there is nothing to switch on ---- */

DRIVER_ANYWHERE(cuProfilerStart, (void), CUDA_SUCCESS)
DRIVER_ANYWHERE(cuProfilerStop, (void), CUDA_SUCCESS)

ALSO(cuStreamGetFlags, cuStreamGetFlags_ptsz);
ALSO(cuStreamGetPriority, cuStreamGetPriority_ptsz);
ALSO(cuStreamSynchronize, cuStreamSynchronize_ptsz);
ALSO(cuStreamQuery, cuStreamQuery_ptsz);
ALSO(cuStreamWaitEvent, cuStreamWaitEvent_ptsz);
ALSO(cuStreamGetId, cuStreamGetId_ptsz);
ALSO(cuStreamGetDevice, cuStreamGetDevice_ptsz);
ALSO(cuStreamGetCtx, cuStreamGetCtx_ptsz);
ALSO(cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz);
ALSO(cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz);
ALSO(cuStreamAddCallback, cuStreamAddCallback_ptsz);
ALSO(cuEventRecord, cuEventRecord_ptsz);
ALSO(cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz);

/* ---- capture of streams into graphs, and attributes of streams ---- */

/* Variants of before CUDA 12.3 have no data of edges, which has no
 * effect here. */

extern int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, struct gt_graph **graph,
				    struct gt_node *const **after, const void **edges, size_t *n);
extern int cudaStreamUpdateCaptureDependencies(void *stream, struct gt_node *const *after, const void *edges, size_t n,
					       unsigned flags);
extern int cudaStreamBeginCaptureToGraph(void *stream, struct gt_graph *graph, struct gt_node *const *after,
					 const void *edges, size_t n, int mode);
extern int cudaStreamSetAttribute(void *stream, unsigned id, const union gt_launch_value *value);
extern int cudaStreamGetAttribute(void *stream, unsigned id, union gt_launch_value *value);

DRIVER_OF(stream, cuStreamBeginCapture_v2, (void *stream, int mode), cudaStreamBeginCapture(stream, mode))
DRIVER_OF(stream, cuStreamBeginCapture, (void *stream), cudaStreamBeginCapture(stream, 0))
DRIVER_OF(stream, cuStreamBeginCaptureToGraph, (void *stream, struct gt_graph *graph, struct gt_node *const *after, const void *edges,
				     size_t n, int mode),
       cudaStreamBeginCaptureToGraph(stream, graph, after, edges, n, mode))
DRIVER_OF(stream, cuStreamEndCapture, (void *stream, struct gt_graph **graph), cudaStreamEndCapture(stream, graph))
DRIVER_OF(stream, cuStreamIsCapturing, (void *stream, int *status), cudaStreamIsCapturing(stream, status))
DRIVER(cuThreadExchangeStreamCaptureMode, (int *mode), cudaThreadExchangeStreamCaptureMode(mode))

#define INFO void *stream, int *status, unsigned long long *id
#define GRAPH struct gt_graph **graph, struct gt_node *const **after
DRIVER_OF(stream, cuStreamGetCaptureInfo, (INFO), cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL))
DRIVER_OF(stream, cuStreamGetCaptureInfo_v2, (INFO, GRAPH, size_t *n),
       cudaStreamGetCaptureInfo(stream, status, id, graph, after, NULL, n))
DRIVER_OF(stream, cuStreamGetCaptureInfo_v3, (INFO, GRAPH, const void **edges, size_t *n),
       cudaStreamGetCaptureInfo(stream, status, id, graph, after, edges, n))
DRIVER_OF(stream, cuStreamUpdateCaptureDependencies, (void *stream, struct gt_node *const *after, size_t n, unsigned flags),
       cudaStreamUpdateCaptureDependencies(stream, after, NULL, n, flags))
DRIVER_OF(stream, cuStreamUpdateCaptureDependencies_v2,
       (void *stream, struct gt_node *const *after, const void *edges, size_t n, unsigned flags),
       cudaStreamUpdateCaptureDependencies(stream, after, edges, n, flags))

DRIVER_OF(to, cuStreamCopyAttributes, (void *to, void *from), cudaStreamCopyAttributes(to, from))
DRIVER_OF(stream, cuStreamSetAttribute, (void *stream, unsigned id, const union gt_launch_value *value),
       cudaStreamSetAttribute(stream, id, value))
DRIVER_OF(stream, cuStreamGetAttribute, (void *stream, unsigned id, union gt_launch_value *value),
       cudaStreamGetAttribute(stream, id, value))

ALSO(cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz);
ALSO(cuStreamBeginCapture, cuStreamBeginCapture_ptsz);
ALSO(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz);
ALSO(cuStreamEndCapture, cuStreamEndCapture_ptsz);
ALSO(cuStreamIsCapturing, cuStreamIsCapturing_ptsz);
ALSO(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz);
ALSO(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz);
ALSO(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz);
ALSO(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_ptsz);
ALSO(cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2_ptsz);
ALSO(cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz);
ALSO(cuStreamSetAttribute, cuStreamSetAttribute_ptsz);
ALSO(cuStreamGetAttribute, cuStreamGetAttribute_ptsz);
