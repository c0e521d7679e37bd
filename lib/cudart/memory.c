/* SPDX-License-Identifier: MIT */
/* Memory: allocation, copies, filling. Copies are done when they are asked for, asynchronous ones
 * too: a stream's order is kept by doing everything in the order of the calls. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cudart/graph.h"

#define PITCH 512 /* bytes that rows of cudaMallocPitch are a multiple of */

enum copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

enum pointer_type { UNREGISTERED, HOST_MEMORY, DEVICE_MEMORY, MANAGED_MEMORY };

struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	int64_t reserved[8];
};

static bool is_device(uint64_t address)
{
	return address - GT_PTX_GLOBAL_BASE < GT_PTX_WINDOW;
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* ---- allocation ---- */

int gt_cudart_allocate(void **pointer, size_t bytes, const char *call)
{
	struct gt_error error;
	char name[64];
	uint64_t address;

	if (!pointer)
		return CUDA_INVALID_VALUE;
	*pointer = NULL;
	if (bytes == 0)
		return CUDA_SUCCESS;
	snprintf(name, sizeof name, "%s %" PRIu64, call, ++gt_cudart.allocations);
	if (gt_ptx_allocate(&gt_cudart.memory, bytes, name, &address, &error) != 0) {
		gt_cudart_note("%s", error.text);
		return CUDA_MEMORY_ALLOCATION;
	}
	*pointer = (void *)(uintptr_t)address;
	return CUDA_SUCCESS;
}

/* Memory that host and device use by one pointer. */
int gt_cudart_allocate_shared(void **pointer, size_t bytes, const char *call)
{
	if (address_of(gt_cudart.memory.host) != GT_PTX_GLOBAL_BASE) {
		gt_cudart_say("%s: device memory could not be mapped at its own address in this process", call);
		gt_cudart.omissions++;
		return CUDA_NOT_SUPPORTED;
	}
	return gt_cudart_allocate(pointer, bytes, call);
}

int gt_cudart_release(void *pointer)
{
	struct gt_error error;

	if (!pointer)
		return CUDA_SUCCESS;
	return gt_ptx_free(&gt_cudart.memory, address_of(pointer), &error) == 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

/* Allocations of the program are named after calls, "cudaMalloc 3"; variables have no blank. */
void gt_cudart_free_all(void)
{
	const struct gt_ptx_memory *memory = &gt_cudart.memory;

	for (size_t i = memory->n; i-- > 0;)
		if (strchr(memory->allocations[i].name, ' '))
			gt_cudart_release((void *)(uintptr_t)memory->allocations[i].address);
}

API int cudaMalloc(void **pointer, size_t bytes)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_cudart_allocate(pointer, bytes, "cudaMalloc"));
}

API int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	return gt_cudart_leave(bytes == 0 ? CUDA_INVALID_VALUE : gt_cudart_allocate_shared(pointer, bytes, "cudaMallocManaged"));
}

API int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	return gt_cudart_leave(gt_cudart_allocate_shared(pointer, bytes, "cudaHostAlloc"));
}

API int cudaMallocHost(void **pointer, size_t bytes)
{
	return cudaHostAlloc(pointer, bytes, 0);
}

int gt_cudart_allocate_rows(void **pointer, size_t *pitch, size_t width, size_t rows, const char *call)
{
	if (width > GT_PTX_WINDOW || (rows > 0 && width > GT_PTX_WINDOW / rows))
		return CUDA_INVALID_VALUE;
	*pitch = (width + PITCH - 1) / PITCH * PITCH;
	return gt_cudart_allocate(pointer, *pitch * rows, call);
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
	*total = gt_cudart.memory.limit;
	*left = gt_cudart.memory.limit - gt_cudart.memory.live_bytes;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	void *registered = gt_cudart_registered(host);
	if (!device || (!registered && !gt_ptx_at(&gt_cudart.memory, address_of(host), 1)))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*device = registered ? registered : host;
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* Allocations are named after the calls that made them. */
static enum pointer_type type_of(const void *pointer)
{
	if (!gt_ptx_at(&gt_cudart.memory, address_of(pointer), 1))
		return UNREGISTERED;
	const char *name = gt_ptx_nearest(&gt_cudart.memory, address_of(pointer))->name;
	if (strncmp(name, "cudaHostAlloc ", strlen("cudaHostAlloc ")) == 0)
		return HOST_MEMORY;
	return strncmp(name, "cudaMallocManaged ", strlen("cudaMallocManaged ")) == 0 ? MANAGED_MEMORY : DEVICE_MEMORY;
}

API int cudaPointerGetAttributes(struct pointer_attributes *attributes, const void *pointer)
{
	gt_cudart_enter();
	if (!attributes)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	void *registered = gt_cudart_registered(pointer);
	enum pointer_type type = registered ? HOST_MEMORY : type_of(pointer);
	*attributes = (struct pointer_attributes){.type = (int)type, .device = type == UNREGISTERED ? -2 : 0};
	attributes->host_pointer = type == DEVICE_MEMORY ? NULL : (void *)(uintptr_t)pointer;
	attributes->device_pointer = type == UNREGISTERED ? NULL : registered ? registered : (void *)(uintptr_t)pointer;
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

/* Where [pointer, pointer + bytes) lies in this process; NULL if the device has no such bytes. A
 * host pointer is the program's own affair. */
static void *place(const void *pointer, size_t bytes, bool on_device)
{
	if (on_device || is_device(address_of(pointer)))
		return gt_ptx_at(&gt_cudart.memory, address_of(pointer), bytes);
	return (void *)(uintptr_t)pointer;
}

/* The recorder is told what comes into device memory from outside of kernels. */
static void note_copy(const void *to, size_t bytes)
{
	if (gt_cudart.recorder && is_device(address_of(to)))
		gt_ptx_copies_add(gt_ptx_recorder_copies(gt_cudart.recorder), address_of(to), bytes);
}

static int copy(void *to, const void *from, size_t bytes, unsigned kind)
{
	if (bytes == 0)
		return CUDA_SUCCESS;
	void *target = place(to, bytes, kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE);
	const void *source = place(from, bytes, kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE);
	if (!target || !source)
		return CUDA_INVALID_VALUE;
	memmove(target, source, bytes);
	note_copy(to, bytes);
	return CUDA_SUCCESS;
}

int gt_cudart_copy(const struct gt_copy_work *work)
{
	int code = CUDA_SUCCESS;

	if (work->kind > BY_ADDRESS)
		return CUDA_INVALID_MEMCPY_DIRECTION;
	if (work->width > work->to_pitch || work->width > work->from_pitch)
		return CUDA_INVALID_PITCH_VALUE;
	for (size_t slice = 0; slice < work->depth; slice++)
		for (size_t row = 0; row < work->height && code == CUDA_SUCCESS; row++)
			code = copy((char *)work->to + slice * work->to_slice + row * work->to_pitch,
				    (const char *)work->from + slice * work->from_slice + row * work->from_pitch,
				    work->width, work->kind);
	return code;
}

static int ask_copy(void *stream, struct gt_work work)
{
	gt_cudart_enter();
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

API int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
	if (to_device != 0 || from_device != 0) {
		gt_cudart_enter();
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	}
	return cudaMemcpy(to, from, bytes, DEVICE_TO_DEVICE);
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

static int fill_row(void *to, const struct gt_fill_work *work)
{
	size_t bytes = work->width * work->element;
	char *target = bytes > 0 ? place(to, bytes, true) : NULL;

	if (!target)
		return bytes == 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	if (work->element == 1)
		memset(target, (int)(work->value & 0xff), bytes);
	else /* values are as this processor keeps them, and as the GPU does */
		for (size_t i = 0; i < bytes; i += work->element)
			memcpy(target + i, &work->value, work->element);
	note_copy(to, bytes);
	return CUDA_SUCCESS;
}

int gt_cudart_fill(const struct gt_fill_work *work)
{
	int code = CUDA_SUCCESS;

	if (work->height > 1 && work->width * work->element > work->pitch)
		return CUDA_INVALID_PITCH_VALUE;
	for (size_t row = 0; row < work->height && code == CUDA_SUCCESS; row++)
		code = fill_row((char *)work->to + row * work->pitch, work);
	return code;
}

API int cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
	struct gt_work work = {GT_WORK_FILL, {.fill = {to, pitch, (unsigned)value, 1, width, height}}};

	gt_cudart_enter();
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

/* `bytes` of a variable from `offset` on: their device address, or a code. */
int gt_cudart_part_of_symbol(const void *symbol, size_t bytes, size_t offset, void **pointer)
{
	uint64_t address, size;
	int code = gt_cudart_symbol(symbol, &address, &size);

	if (code != CUDA_SUCCESS)
		return code;
	if (offset > size || bytes > size - offset)
		return CUDA_INVALID_VALUE;
	*pointer = (void *)(uintptr_t)(address + offset);
	return CUDA_SUCCESS;
}

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

/* ---- per-thread default streams: the order of the calls holds for them too ---- */

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
