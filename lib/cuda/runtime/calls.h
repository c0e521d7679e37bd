/* SPDX-License-Identifier: MIT */
/* The runtime's calls that the driver's are made of. */
#ifndef GT_CUDART_CALLS_H
#define GT_CUDART_CALLS_H

#include "cuda/runtime/work.h"

extern const char *cudaGetErrorString(int code), *cudaGetErrorName(int code);

extern int cudaDeviceGetAttribute(int *value, int attribute, int device);
extern int cudaDriverGetVersion(int *version);
extern int cudaDeviceReset(void);
extern int cudaDeviceSetLimit(unsigned limit, size_t value);
extern int cudaDeviceGetLimit(size_t *value, unsigned limit);
extern int cudaDeviceSetCacheConfig(int config);
extern int cudaDeviceGetCacheConfig(int *config);
extern int cudaDeviceSetSharedMemConfig(int config);
extern int cudaDeviceGetSharedMemConfig(int *config);
extern int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
extern int cudaCtxResetPersistingL2Cache(void);
extern int cudaDeviceGetP2PAttribute(int *value, int attribute, int device, int peer);
extern int cudaDeviceCanAccessPeer(int *can, int device, int peer);
extern int cudaDeviceGetPCIBusId(char *text, int bytes, int device);
extern int cudaDeviceGetByPCIBusId(int *device, const char *text);

extern int cudaMemGetInfo(size_t *left, size_t *total);
extern int cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
extern int cudaHostUnregister(void *pointer);
extern int cudaHostGetFlags(unsigned *flags, const void *pointer);
extern int cudaHostGetDevicePointer(void **device, void *host, unsigned flags);

extern int cudaStreamCreateWithPriority(struct gt_stream **stream, unsigned flags, int priority);
extern int cudaStreamDestroy(struct gt_stream *stream);
extern int cudaStreamGetFlags(void *stream, unsigned *flags);
extern int cudaStreamGetPriority(void *stream, int *priority);
extern int cudaStreamGetDevice(void *stream, int *device);
extern int cudaStreamGetId(void *stream, unsigned long long *id);
extern int cudaStreamSynchronize(struct gt_stream *stream);
extern int cudaStreamQuery(struct gt_stream *stream);
extern int cudaStreamWaitEvent(struct gt_stream *stream, const struct gt_cuda_event *event, unsigned flags);
extern int cudaStreamAddCallback(struct gt_stream *stream, void (*callback)(struct gt_stream *, int, void *), void *data,
				 unsigned flags);
extern int cudaStreamBeginCapture(void *stream, int mode);
extern int cudaStreamEndCapture(void *stream, struct gt_graph **to);
extern int cudaStreamIsCapturing(void *stream, int *status);
extern int cudaStreamCopyAttributes(void *to, void *from);
extern int cudaThreadExchangeStreamCaptureMode(int *mode);

extern int cudaEventCreateWithFlags(struct gt_cuda_event **event, unsigned flags);
extern int cudaEventDestroy(struct gt_cuda_event *event);
extern int cudaEventRecordWithFlags(struct gt_cuda_event *event, void *stream, unsigned flags);
extern int cudaEventSynchronize(const struct gt_cuda_event *event);
extern int cudaEventQuery(const struct gt_cuda_event *event);
extern int cudaEventElapsedTime(float *milliseconds, const struct gt_cuda_event *start, const struct gt_cuda_event *end);

extern int cudaFuncSetAttribute(const void *function, int attribute, int value);
extern int cudaFuncSetCacheConfig(const void *function, int config);
extern int cudaFuncSetSharedMemConfig(const void *function, int config);
extern int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t dynamic_shared);
extern int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_shared, const void *function, int blocks, int threads);

#endif
