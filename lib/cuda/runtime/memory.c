/* SPDX-License-Identifier: MIT */
/* The calls about memory: allocation, copies, filling, variables. */
#include "cuda/runtime/since.h"
#include "cuda/runtime/contexts.h"
#include "cuda/runtime/graph.h"
#include "cuda/runtime/pointers.h"

struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	int64_t reserved[8];
};

/* ---- allocation ---- */

API int cudaMalloc(void **pointer, size_t bytes)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_cudart_allocate(pointer, bytes, "cudaMalloc"));
}

API int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	return gt_cudart_leave(bytes == 0 ? CUDA_INVALID_VALUE : gt_cudart_allocate_shared(pointer, bytes, GT_PTX_MANAGED, "cudaMallocManaged"));
}

API int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	return gt_cudart_leave(gt_cudart_allocate_shared(pointer, bytes, GT_PTX_OF_HOST, "cudaHostAlloc"));
}

API int cudaMallocHost(void **pointer, size_t bytes)
{
	return cudaHostAlloc(pointer, bytes, 0);
}

API int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
	gt_cudart_enter();
	return gt_cudart_leave(pitch ? gt_cudart_allocate_rows(pointer, pitch, width, height, "cudaMallocPitch")
				     : CUDA_INVALID_VALUE);
}

API int cudaFree(void *pointer)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_cudart_release(pointer));
}

API int cudaFreeHost(void *pointer)
{
	return cudaFree(pointer);
}

API int cudaMemGetInfo(size_t *left, size_t *total)
{
	gt_cudart_enter();
	if (!left || !total)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*total = gt_cudart.record.tracing.device_memory;
	*left = *total - gt_cudart_used_bytes(gt_cudart_device());
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	void *registered = gt_cudart_registered(host);
	if (!device || (!registered && !gt_ptx_at(&gt_cudart.memory, gt_cudart_address(host), 1)))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*device = registered ? registered : host;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaPointerGetAttributes(struct pointer_attributes *attributes, const void *pointer)
{
	gt_cudart_enter();
	if (!attributes)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	struct gt_pointer about = gt_cudart_pointer(pointer);
	*attributes = (struct pointer_attributes){.type = (int)about.type, .device = about.device,
						  .device_pointer = about.device_pointer, .host_pointer = about.host_pointer};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaMemAdvise(const void *pointer, size_t bytes)
{
	(void)pointer, (void)bytes;
	return CUDA_SUCCESS;
}

API int cudaMemPrefetchAsync(const void *pointer, size_t bytes)
{
	(void)pointer, (void)bytes;
	return CUDA_SUCCESS;
}

/* ---- copies ---- */

static int ask_copy(void *stream, struct gt_work work)
{
	gt_cudart_enter_beside();
	return gt_cudart_leave(gt_stream_ask(stream, &work));
}

API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, unsigned kind, void *stream)
{
	return ask_copy(stream, gt_copy_of(to, from, bytes, kind));
}

API int cudaMemcpy(void *to, const void *from, size_t bytes, unsigned kind)
{
	return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

API int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream)
{
	struct gt_work work = gt_copy_of(to, from, bytes, DEVICE_TO_DEVICE);

	gt_cudart_enter();
	if (!gt_cudart_is_device(to_device) || !gt_cudart_is_device(from_device))
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	return gt_cudart_leave(gt_stream_ask(stream, &work));
}

API int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
	return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
			  unsigned kind, void *stream)
{
	struct gt_work work = gt_copy_of(to, from, width, kind);

	work.u.copy.to_pitch = to_pitch;
	work.u.copy.from_pitch = from_pitch;
	work.u.copy.height = height;
	return ask_copy(stream, work);
}

API int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
		     unsigned kind)
{
	return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

/* ---- filling ---- */

API int cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
	struct gt_work work = {GT_WORK_FILL, {.fill = {to, pitch, (unsigned)value, 1, width, height}}};

	gt_cudart_enter_beside();
	return gt_cudart_leave(width > pitch ? CUDA_INVALID_PITCH_VALUE : gt_stream_ask(stream, &work));
}

API int cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	return cudaMemset2DAsync(to, pitch, value, width, height, NULL);
}

API int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
	return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}

API int cudaMemset(void *to, int value, size_t bytes)
{
	return cudaMemsetAsync(to, value, bytes, NULL);
}

/* ---- variables ---- */

API int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, unsigned kind,
				void *stream)
{
	void *to = NULL;

	gt_cudart_enter();
	int code = gt_cudart_part_of_symbol(symbol, bytes, offset, &to);
	if (code == CUDA_SUCCESS && (kind == DEVICE_TO_HOST || kind == HOST_TO_HOST))
		code = CUDA_INVALID_MEMCPY_DIRECTION;
	struct gt_work work = gt_copy_of(to, from, bytes, kind);
	return gt_cudart_leave(code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code);
}

API int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, unsigned kind)
{
	return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, NULL);
}

API int cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, unsigned kind,
				  void *stream)
{
	void *from = NULL;

	gt_cudart_enter();
	int code = gt_cudart_part_of_symbol(symbol, bytes, offset, &from);
	if (code == CUDA_SUCCESS && (kind == HOST_TO_DEVICE || kind == HOST_TO_HOST))
		code = CUDA_INVALID_MEMCPY_DIRECTION;
	struct gt_work work = gt_copy_of(to, from, bytes, kind);
	return gt_cudart_leave(code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code);
}

API int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, unsigned kind)
{
	return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, NULL);
}

API int cudaGetSymbolAddress(void **pointer, const void *symbol)
{
	gt_cudart_enter();
	return gt_cudart_leave(pointer ? gt_cudart_part_of_symbol(symbol, 0, 0, pointer) : CUDA_INVALID_VALUE);
}

API int cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	uint64_t address, size = 0;

	gt_cudart_enter();
	int code = bytes ? gt_cudart_symbol(symbol, &address, &size) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		*bytes = size;
	return gt_cudart_leave(code);
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);
ALSO(cudaMemcpy, cudaMemcpy_ptds);
ALSO(cudaMemcpyAsync, cudaMemcpyAsync_ptsz);
ALSO(cudaMemcpy2D, cudaMemcpy2D_ptds);
ALSO(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz);
ALSO(cudaMemset, cudaMemset_ptds);
ALSO(cudaMemsetAsync, cudaMemsetAsync_ptsz);
ALSO(cudaMemset2D, cudaMemset2D_ptds);
ALSO(cudaMemset2DAsync, cudaMemset2DAsync_ptsz);
ALSO(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds);
ALSO(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz);
ALSO(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds);
ALSO(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz);

SINCE_13(cudaPointerGetAttributes);
