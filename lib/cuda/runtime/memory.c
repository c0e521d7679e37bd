/* SPDX-License-Identifier: MIT */
/* The calls about memory: allocation, copies of bytes, boxes and rectangles, filling, variables. */
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	int64_t reserved[8];
};

/* ---- allocation ---- */

enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, HOST_FLAGS = 7 }; /* cudaMemAttach..., all of cudaHostAlloc... */

/* The code of a call that captures forbid, or whose arguments are wrong; 0: it may be done. */
static int refusal(bool wrong)
{
	const int forbidden = gt_stream_outside_captures();

	return forbidden ? forbidden : wrong ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

API int cudaMalloc(void **pointer, size_t bytes)
{
	gt_cudart_enter();
	const int forbidden = gt_stream_outside_captures();
	return gt_cudart_leave(forbidden ? forbidden : gt_cudart_allocate(pointer, bytes, "cudaMalloc"));
}

API int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
	gt_cudart_enter();
	const int refused = refusal(flags != ATTACH_GLOBAL && flags != ATTACH_HOST);
	return gt_cudart_leave(refused ? refused : gt_cudart_allocate_shared(pointer, bytes, GT_PTX_MANAGED, "cudaMallocManaged"));
}

API int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	gt_cudart_enter();
	int code = refusal(flags > HOST_FLAGS);
	gt_cudart.memory.flags = flags;
	if (code == CUDA_SUCCESS)
		code = gt_cudart_allocate_shared(pointer, bytes, GT_PTX_OF_HOST, "cudaHostAlloc");
	gt_cudart.memory.flags = 0;
	return gt_cudart_leave(code);
}

API int cudaMallocHost(void **pointer, size_t bytes)
{
	return cudaHostAlloc(pointer, bytes, 0);
}

static int allocate_rows(void **pointer, size_t *pitch, size_t width, size_t rows, const char *call)
{
	const int forbidden = gt_stream_outside_captures();

	return forbidden ? forbidden : gt_cudart_allocate_rows(pointer, pitch, width, rows, call);
}

API int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
	gt_cudart_enter();
	return gt_cudart_leave(pitch ? allocate_rows(pointer, pitch, width, height, "cudaMallocPitch")
				     : CUDA_INVALID_VALUE);
}

API int cudaFree(void *pointer)
{
	gt_cudart_enter();
	const int refused = refusal(gt_cudart_pointer(pointer).type == GT_POINTER_HOST);
	return gt_cudart_leave(refused ? refused : gt_cudart_release(pointer));
}

API int cudaFreeHost(void *pointer)
{
	gt_cudart_enter();
	const int refused = refusal(pointer && gt_cudart_pointer(pointer).type != GT_POINTER_HOST);
	return gt_cudart_leave(refused ? refused : gt_cudart_release(pointer));
}

API int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	gt_cudart_enter();
	void *registered = gt_cudart_registered(host);
	if (!device || flags != 0 || (!registered && !gt_ptx_at(&gt_cudart.memory, gt_cudart_address(host), 1)))
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

/* ---- batches of copies, and of hints ---- */

/* Whether there is a stream, and each copy has attributes: entry k is for the copies from first[k] up to those of the next entry. */
static bool is_batch(const void *stream, size_t copies, const void *attributes, const size_t *first, size_t n)
{
	if (!stream || copies == 0 || !attributes || !first || n == 0 || n > copies || first[0] != 0)
		return false;
	for (size_t k = 1; k < n; k++)
		if (first[k] <= first[k - 1])
			return false;
	return first[n - 1] < copies;
}

/* The attributes say when a copy may read, and where managed memory lies. Work is done in the order of the calls, and managed memory has one
 * place, so neither has an effect. */
API int cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t n, const void *attributes,
			     const size_t *first, size_t n_attributes, void *stream)
{
	int code = to && from && bytes && is_batch(stream, n, attributes, first, n_attributes) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;

	gt_cudart_enter_beside();
	for (size_t i = 0; i < n && code == CUDA_SUCCESS; i++) {
		struct gt_work work = gt_copy_of(to[i], from[i], bytes[i], BY_ADDRESS);
		code = gt_stream_ask(stream, &work);
	}
	return gt_cudart_leave(code);
}

/* Hints are for managed memory, and for the host's own. */
static bool takes_hints(void *const *pointers, size_t n)
{
	for (size_t i = 0; pointers && i < n; i++)
		if (gt_cudart_pointer(pointers[i]).type == GT_POINTER_DEVICE)
			return false;
	return pointers;
}

API int cudaMemPrefetchBatchAsync(void *const *pointers, const size_t *bytes, size_t n, const void *places, const size_t *first,
				  size_t n_places, unsigned long long flags, const void *stream)
{
	bool is_valid = bytes && flags == 0 && is_batch(stream, n, places, first, n_places);

	gt_cudart_enter();
	return gt_cudart_leave(is_valid && takes_hints(pointers, n) ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

/* What memory holds is undefined from now on: so it may be what it held. */
API int cudaMemDiscardBatchAsync(void *const *pointers, const size_t *bytes, size_t n, unsigned long long flags, const void *stream)
{
	bool is_valid = bytes && n > 0 && flags == 0 && stream;

	gt_cudart_enter();
	return gt_cudart_leave(is_valid && takes_hints(pointers, n) ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaMemDiscardAndPrefetchBatchAsync(void *const *pointers, const size_t *bytes, size_t n, const void *places,
					    const size_t *first, size_t n_places, unsigned long long flags, const void *stream)
{
	return cudaMemPrefetchBatchAsync(pointers, bytes, n, places, first, n_places, flags, stream);
}

/* ---- filling ---- */

API int cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
	struct gt_work work = {GT_WORK_FILL, {.fill = {to, pitch, (unsigned)value, 1, width, height}}};

	gt_cudart_enter_beside();
	return gt_cudart_leave(width > pitch ? CUDA_INVALID_VALUE : gt_stream_ask(stream, &work));
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

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);
ALSO(cudaMemPrefetchBatchAsync, cudaMemPrefetchBatchAsync_ptsz);
ALSO(cudaMemDiscardBatchAsync, cudaMemDiscardBatchAsync_ptsz);
ALSO(cudaMemDiscardAndPrefetchBatchAsync, cudaMemDiscardAndPrefetchBatchAsync_ptsz);
ALSO(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz);
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
SINCE_13(cudaMemcpyBatchAsync);
SINCE_13(cudaMemcpyBatchAsync_ptsz);

/* ---- copies of boxes ---- */

/* Bytes of a unit of the extent: a texel of the arrays, which must agree; else 1. 0 if there is none. */
static size_t unit_of(const struct gt_volume_copy *volume)
{
	const struct gt_array *from = gt_cudart_array(volume->from_array), *to = gt_cudart_array(volume->to_array);

	if ((volume->from_array && !from) || (volume->to_array && !to) || (!from && !volume->from.at) || (!to && !volume->to.at))
		return 0;
	if (from && to && gt_ptx_texel_bytes(&from->image) != gt_ptx_texel_bytes(&to->image))
		return 0;
	return from ? gt_ptx_texel_bytes(&from->image) : to ? gt_ptx_texel_bytes(&to->image) : 1;
}

/* The bytes from a slice to the next; an array needs none. False if no number holds them. */
static bool slice_of(size_t *slice, const struct gt_pitched *memory, const struct gt_array *array)
{
	return !__builtin_mul_overflow(memory->pitch, memory->height, slice) || array;
}

int gt_cudart_volume(struct gt_copy_work *copy, const struct gt_volume_copy *volume)
{
	size_t unit = volume ? unit_of(volume) : 0, to_slice, from_slice;

	if (unit == 0 || volume->extent.width > SIZE_MAX / unit || !slice_of(&to_slice, &volume->to, volume->to_array) ||
	    !slice_of(&from_slice, &volume->from, volume->from_array))
		return CUDA_INVALID_VALUE;
	const struct gt_pitched *from = &volume->from, *to = &volume->to;
	*copy = (struct gt_copy_work){
		.to_array = volume->to_array,
		.from_array = volume->from_array,
		.to_position = {volume->to_position.x * unit, volume->to_position.y, volume->to_position.z},
		.from_position = {volume->from_position.x * unit, volume->from_position.y, volume->from_position.z},
		.to_pitch = volume->to_array ? SIZE_MAX : to->pitch,
		.from_pitch = volume->from_array ? SIZE_MAX : from->pitch,
		.to_slice = to_slice,
		.from_slice = from_slice,
		.width = volume->extent.width * unit,
		.height = volume->extent.height,
		.depth = volume->extent.depth,
		.kind = volume->kind,
	};
	if (!volume->to_array)
		copy->to = (char *)to->at + volume->to_position.x + volume->to_position.y * to->pitch +
			   volume->to_position.z * copy->to_slice;
	if (!volume->from_array)
		copy->from = (const char *)from->at + volume->from_position.x + volume->from_position.y * from->pitch +
			     volume->from_position.z * copy->from_slice;
	return CUDA_SUCCESS;
}

static int ask_volume(void *stream, const struct gt_volume_copy *volume)
{
	struct gt_work work = {.kind = GT_WORK_COPY};
	int code = gt_cudart_volume(&work.u.copy, volume);

	return code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code;
}

API int cudaMemcpy3DAsync(const struct gt_volume_copy *volume, void *stream)
{
	gt_cudart_enter();
	return gt_cudart_leave(ask_volume(stream, volume));
}

API int cudaMemcpy3D(const struct gt_volume_copy *volume)
{
	return cudaMemcpy3DAsync(volume, NULL);
}

/* cudaMemcpy3DPeerParms */
struct peer_copy {
	struct gt_array *from_array;
	struct gt_position from_position;
	struct gt_pitched from;
	int from_device;
	struct gt_array *to_array;
	struct gt_position to_position;
	struct gt_pitched to;
	int to_device;
	struct gt_extent extent;
};

API int cudaMemcpy3DPeerAsync(const struct peer_copy *copy, void *stream)
{
	gt_cudart_enter();
	if (!copy || !gt_cudart_is_device(copy->from_device) || !gt_cudart_is_device(copy->to_device))
		return gt_cudart_leave(copy ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	const struct gt_volume_copy volume = {copy->from_array, copy->from_position, copy->from, copy->to_array,
					      copy->to_position, copy->to, copy->extent, BY_ADDRESS};
	return gt_cudart_leave(ask_volume(stream, &volume));
}

API int cudaMemcpy3DPeer(const struct peer_copy *copy)
{
	return cudaMemcpy3DPeerAsync(copy, NULL);
}

API int cudaMemset3DAsync(struct gt_pitched to, int value, struct gt_extent extent, void *stream)
{
	int code = CUDA_SUCCESS;
	size_t bytes;

	gt_cudart_enter();
	if (!slice_of(&bytes, &to, NULL))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (size_t slice = 0; slice < extent.depth && code == CUDA_SUCCESS; slice++) {
		struct gt_work work = {GT_WORK_FILL, {.fill = {(char *)to.at + slice * bytes, to.pitch,
							       (unsigned)value, 1, extent.width, extent.height}}};
		code = gt_stream_ask(stream, &work);
	}
	return gt_cudart_leave(code);
}

API int cudaMemset3D(struct gt_pitched to, int value, struct gt_extent extent)
{
	return cudaMemset3DAsync(to, value, extent, NULL);
}

API int cudaMalloc3D(struct gt_pitched *to, struct gt_extent extent)
{
	gt_cudart_enter();
	if (!to || (extent.depth > 0 && extent.height > SIZE_MAX / extent.depth))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*to = (struct gt_pitched){.width = extent.width, .height = extent.height};
	return gt_cudart_leave(allocate_rows(&to->at, &to->pitch, extent.width, extent.height * extent.depth,
							"cudaMalloc3D"));
}

ALSO(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz);
ALSO(cudaMemcpy3D, cudaMemcpy3D_ptds);
ALSO(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz);
ALSO(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds);
ALSO(cudaMemset3DAsync, cudaMemset3DAsync_ptsz);
ALSO(cudaMemset3D, cudaMemset3D_ptds);

/* ---- copies of rectangles from and to CUDA arrays ---- */

struct spot {
	size_t x, y; /* bytes, rows */
};

/* Asks for a copy of rows between memory and an array, or two arrays; a handle that is none is an error. */
static int ask(void *stream, struct gt_copy_work copy, const struct gt_array *to, struct spot to_spot,
	       const struct gt_array *from, struct spot from_spot)
{
	struct gt_work work = {.kind = GT_WORK_COPY};

	gt_cudart_enter();
	if ((!copy.to && !gt_cudart_array(to)) || (!copy.from && !gt_cudart_array(from)))
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	copy.depth = 1;
	copy.to_array = to;
	copy.to_position = (struct gt_position){to_spot.x, to_spot.y, 0};
	copy.from_array = from;
	copy.from_position = (struct gt_position){from_spot.x, from_spot.y, 0};
	work.u.copy = copy;
	return gt_cudart_leave(gt_stream_ask(stream, &work));
}

/* The pitch of memory beside an array. One row may have none: CUDA's samples volumeRender and volumeFiltering copy so. */
static size_t pitch_of(size_t pitch, size_t width, size_t height)
{
	return pitch == 0 && height <= 1 ? width : pitch;
}

API int cudaMemcpy2DToArrayAsync(struct gt_array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
				 size_t height, unsigned kind, void *stream)
{
	struct gt_copy_work copy = {.from = from, .from_pitch = pitch_of(pitch, width, height), .to_pitch = width, .width = width,
				    .height = height, .kind = kind};

	return ask(stream, copy, to, (struct spot){x, y}, NULL, (struct spot){0, 0});
}

API int cudaMemcpy2DToArray(struct gt_array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
			    size_t height, unsigned kind)
{
	return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL);
}

API int cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const struct gt_array *from, size_t x, size_t y, size_t width,
				   size_t height, unsigned kind, void *stream)
{
	struct gt_copy_work copy = {.to = to, .to_pitch = pitch_of(pitch, width, height), .from_pitch = width, .width = width,
				    .height = height, .kind = kind};

	return ask(stream, copy, NULL, (struct spot){0, 0}, from, (struct spot){x, y});
}

API int cudaMemcpy2DFromArray(void *to, size_t pitch, const struct gt_array *from, size_t x, size_t y, size_t width,
			      size_t height, unsigned kind)
{
	return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL);
}

API int cudaMemcpy2DArrayToArray(struct gt_array *to, size_t to_x, size_t to_y, const struct gt_array *from, size_t from_x,
				 size_t from_y, size_t width, size_t height, unsigned kind)
{
	struct gt_copy_work copy = {.to_pitch = width, .from_pitch = width, .width = width, .height = height, .kind = kind};

	return ask(NULL, copy, to, (struct spot){to_x, to_y}, from, (struct spot){from_x, from_y});
}

/* ---- bytes that run on from row to row ---- */

/* Bytes of a row of the array; 0 if there is no such array. */
static size_t row_bytes(const struct gt_array *handle)
{
	gt_cudart_enter();
	const struct gt_array *array = gt_cudart_array(handle);
	size_t bytes = array ? (size_t)array->image.width * gt_ptx_texel_bytes(&array->image) : 0;
	gt_cudart_leave(CUDA_SUCCESS);
	return bytes;
}

/* Copies rows, the first and the last perhaps in part; of both, `memory` is what lies in a row. */
static int copy_running(void *stream, struct gt_array *to, const struct gt_array *from, size_t x, size_t y, char *memory,
			size_t bytes, unsigned kind)
{
	size_t row = row_bytes(to ? to : from);
	int code = CUDA_SUCCESS;

	if (row == 0)
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (x > row)
		return CUDA_INVALID_VALUE;
	while (bytes > 0 && code == CUDA_SUCCESS) {
		bool whole = x == 0 && bytes >= row;
		size_t height = whole ? bytes / row : 1, width = whole || bytes > row - x ? row - x : bytes;
		code = to ? cudaMemcpy2DToArrayAsync(to, x, y, memory, width, width, height, kind, stream)
			  : cudaMemcpy2DFromArrayAsync(memory, width, from, x, y, width, height, kind, stream);
		memory += width * height;
		bytes -= width * height;
		y += height;
		x = 0;
	}
	return code;
}

API int cudaMemcpyToArrayAsync(struct gt_array *to, size_t x, size_t y, const void *from, size_t bytes, unsigned kind,
			       void *stream)
{
	return copy_running(stream, to, NULL, x, y, (char *)(uintptr_t)from, bytes, kind);
}

API int cudaMemcpyToArray(struct gt_array *to, size_t x, size_t y, const void *from, size_t bytes, unsigned kind)
{
	return cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, NULL);
}

API int cudaMemcpyFromArrayAsync(void *to, const struct gt_array *from, size_t x, size_t y, size_t bytes, unsigned kind,
				 void *stream)
{
	return copy_running(stream, NULL, from, x, y, to, bytes, kind);
}

API int cudaMemcpyFromArray(void *to, const struct gt_array *from, size_t x, size_t y, size_t bytes, unsigned kind)
{
	return cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, NULL);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Part by part, as far as a row of either array goes on. */
API int cudaMemcpyArrayToArray(struct gt_array *to, size_t to_x, size_t to_y, const struct gt_array *from, size_t from_x, size_t from_y, size_t bytes,
			       unsigned kind)
{
	const size_t to_row = row_bytes(to), from_row = row_bytes(from);
	int code = CUDA_SUCCESS;

	if (to_row == 0 || from_row == 0)
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (to_x > to_row || from_x > from_row)
		return CUDA_INVALID_VALUE;
	while (bytes > 0 && code == CUDA_SUCCESS) {
		size_t part = smaller(bytes, smaller(to_row - to_x, from_row - from_x));
		code = part == 0 ? CUDA_SUCCESS : cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, part, 1, kind);
		bytes -= part;
		to_x += part;
		from_x += part;
		to_y += to_x / to_row;
		from_y += from_x / from_row;
		to_x %= to_row;
		from_x %= from_row;
	}
	return code;
}

ALSO(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds);
ALSO(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz);
ALSO(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds);
ALSO(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz);
ALSO(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds);
ALSO(cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds);
ALSO(cudaMemcpyToArray, cudaMemcpyToArray_ptds);
ALSO(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz);
ALSO(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds);
ALSO(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz);
