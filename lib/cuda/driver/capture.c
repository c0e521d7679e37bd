/* SPDX-License-Identifier: MIT */
/* Capture of streams into graphs, and attributes of streams. Variants of before CUDA 12.3 have no data of edges, which has no
 * effect here. */
#include "cuda/runtime/calls.h"
#include "cuda/driver/driver.h"
#include "cuda/runtime/launches.h"

extern int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, struct gt_graph **graph,
				    struct gt_node *const **after, const void **edges, size_t *n);
extern int cudaStreamUpdateCaptureDependencies(void *stream, struct gt_node *const *after, const void *edges, size_t n,
					       unsigned flags);
extern int cudaStreamBeginCaptureToGraph(void *stream, struct gt_graph *graph, struct gt_node *const *after,
					 const void *edges, size_t n, int mode);
extern int cudaStreamSetAttribute(void *stream, unsigned id, const union gt_launch_value *value);
extern int cudaStreamGetAttribute(void *stream, unsigned id, union gt_launch_value *value);

DRIVER(cuStreamBeginCapture_v2, (void *stream, int mode), cudaStreamBeginCapture(stream, mode))
DRIVER(cuStreamBeginCapture, (void *stream), cudaStreamBeginCapture(stream, 0))
DRIVER(cuStreamBeginCaptureToGraph, (void *stream, struct gt_graph *graph, struct gt_node *const *after, const void *edges,
				     size_t n, int mode),
       cudaStreamBeginCaptureToGraph(stream, graph, after, edges, n, mode))
DRIVER(cuStreamEndCapture, (void *stream, struct gt_graph **graph), cudaStreamEndCapture(stream, graph))
DRIVER(cuStreamIsCapturing, (void *stream, int *status), cudaStreamIsCapturing(stream, status))
DRIVER(cuThreadExchangeStreamCaptureMode, (int *mode), cudaThreadExchangeStreamCaptureMode(mode))

#define INFO void *stream, int *status, unsigned long long *id
#define GRAPH struct gt_graph **graph, struct gt_node *const **after
DRIVER(cuStreamGetCaptureInfo, (INFO), cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL))
DRIVER(cuStreamGetCaptureInfo_v2, (INFO, GRAPH, size_t *n),
       cudaStreamGetCaptureInfo(stream, status, id, graph, after, NULL, n))
DRIVER(cuStreamGetCaptureInfo_v3, (INFO, GRAPH, const void **edges, size_t *n),
       cudaStreamGetCaptureInfo(stream, status, id, graph, after, edges, n))
DRIVER(cuStreamUpdateCaptureDependencies, (void *stream, struct gt_node *const *after, size_t n, unsigned flags),
       cudaStreamUpdateCaptureDependencies(stream, after, NULL, n, flags))
DRIVER(cuStreamUpdateCaptureDependencies_v2,
       (void *stream, struct gt_node *const *after, const void *edges, size_t n, unsigned flags),
       cudaStreamUpdateCaptureDependencies(stream, after, edges, n, flags))

DRIVER(cuStreamCopyAttributes, (void *to, void *from), cudaStreamCopyAttributes(to, from))
DRIVER(cuStreamSetAttribute, (void *stream, unsigned id, const union gt_launch_value *value),
       cudaStreamSetAttribute(stream, id, value))
DRIVER(cuStreamGetAttribute, (void *stream, unsigned id, union gt_launch_value *value),
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
