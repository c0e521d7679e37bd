/* SPDX-License-Identifier: MIT */
/* Copies: between host and device by name, and of rectangles and boxes with arrays on either side; fills, and values that streams
 * write and wait for. */
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/runtime/work.h"

/* ---- bytes ---- */

static int ask(void *stream, uint64_t to, uint64_t from, size_t bytes, unsigned kind)
{
	struct gt_work work = gt_copy_of(gt_driver_pointer(to), gt_driver_pointer(from), bytes, kind);

	return gt_stream_ask(stream, &work);
}

#define AT(POINTER) gt_cudart_address(POINTER)
DRIVER(cuMemcpy, (uint64_t to, uint64_t from, size_t bytes), ask(NULL, to, from, bytes, BY_ADDRESS))
DRIVER_OF(stream, cuMemcpyAsync, (uint64_t to, uint64_t from, size_t bytes, void *stream), ask(stream, to, from, bytes, BY_ADDRESS))
DRIVER(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes), ask(NULL, to, AT(from), bytes, HOST_TO_DEVICE))
DRIVER_OF(stream, cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream),
	  ask(stream, to, AT(from), bytes, HOST_TO_DEVICE))
DRIVER(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes), ask(NULL, AT(to), from, bytes, DEVICE_TO_HOST))
DRIVER_OF(stream, cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, void *stream),
	  ask(stream, AT(to), from, bytes, DEVICE_TO_HOST))
DRIVER(cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t bytes), ask(NULL, to, from, bytes, DEVICE_TO_DEVICE))
DRIVER_OF(stream, cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t bytes, void *stream),
	  ask(stream, to, from, bytes, DEVICE_TO_DEVICE))

static int ask_peer(void *stream, uint64_t to, const struct gt_context *to_context, uint64_t from,
		    const struct gt_context *from_context, size_t bytes)
{
	if (!to_context || !from_context)
		return CU_INVALID_CONTEXT;
	return ask(stream, to, from, bytes, DEVICE_TO_DEVICE);
}

#define PEER uint64_t to, const struct gt_context *to_context, uint64_t from, const struct gt_context *from_context, size_t bytes
DRIVER(cuMemcpyPeer, (PEER), ask_peer(NULL, to, to_context, from, from_context, bytes))
DRIVER_OF(stream, cuMemcpyPeerAsync, (PEER, void *stream), ask_peer(stream, to, to_context, from, from_context, bytes))

/* ---- rectangles and boxes ---- */

/* One side of a CUDA_MEMCPY2D, and the CUDA_MEMCPY2D. */
struct side2 {
	size_t x, y; /* bytes, rows */
	enum gt_box_place place;
	void *host;
	uint64_t device;
	struct gt_array *array;
	size_t pitch;
};

struct copy2 {
	struct side2 from, to;
	size_t width, height;
};

/* Memory or an array, from a position on. */
struct spot {
	char *at;
	const struct gt_array *array;
	struct gt_position position;
	size_t pitch, slice;
};

static int spot_of(struct spot *spot, const struct gt_box_side *side, size_t width)
{
	size_t pitch = side->pitch ? side->pitch : width, slice;
	bool overflows = __builtin_mul_overflow(pitch, side->height, &slice) && side->place != GT_BOX_ARRAY;

	if (side->place < GT_BOX_HOST || side->place > GT_BOX_UNIFIED || side->level != 0 || overflows)
		return CUDA_INVALID_VALUE;
	*spot = (struct spot){.pitch = pitch, .slice = slice};
	if (side->place == GT_BOX_ARRAY) {
		spot->array = gt_cudart_array(side->array);
		spot->position = (struct gt_position){side->x, side->y, side->z};
		spot->pitch = SIZE_MAX;
		return spot->array ? CUDA_SUCCESS : CUDA_INVALID_RESOURCE_HANDLE;
	}
	spot->at = side->place == GT_BOX_HOST ? side->host : gt_driver_pointer(side->device);
	if (!spot->at)
		return CUDA_INVALID_VALUE;
	spot->at += side->x + side->y * pitch + side->z * spot->slice;
	return CUDA_SUCCESS;
}

/* Unified and array sides are found by their addresses. */
static unsigned kind_of(enum gt_box_place to, enum gt_box_place from)
{
	if (to == GT_BOX_DEVICE && from == GT_BOX_DEVICE)
		return DEVICE_TO_DEVICE;
	if (to == GT_BOX_DEVICE && from == GT_BOX_HOST)
		return HOST_TO_DEVICE;
	return to == GT_BOX_HOST && from == GT_BOX_DEVICE ? DEVICE_TO_HOST : BY_ADDRESS;
}

int gt_driver_box(struct gt_work *work, const struct gt_box_copy *copy)
{
	struct spot to, from;

	if (!copy)
		return CUDA_INVALID_VALUE;
	int code = spot_of(&to, &copy->to, copy->width);
	if (code == CUDA_SUCCESS)
		code = spot_of(&from, &copy->from, copy->width);
	if (code != CUDA_SUCCESS)
		return code;
	*work = (struct gt_work){GT_WORK_COPY, {.copy = {
		.to = to.at, .from = from.at, .to_pitch = to.pitch, .from_pitch = from.pitch, .to_slice = to.slice,
		.from_slice = from.slice, .width = copy->width, .height = copy->height, .depth = copy->depth,
		.kind = kind_of(copy->to.place, copy->from.place), .to_array = to.array, .from_array = from.array,
		.to_position = to.position, .from_position = from.position,
	}}};
	return CUDA_SUCCESS;
}

static int ask_box(void *stream, const struct gt_box_copy *copy)
{
	struct gt_work work;
	int code = gt_driver_box(&work, copy);

	return code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code;
}

static struct gt_box_side as_slice(const struct side2 *side, size_t rows)
{
	return (struct gt_box_side){.x = side->x, .y = side->y, .place = side->place, .host = side->host, .device = side->device,
			      .array = side->array, .pitch = side->pitch, .height = side->y + rows};
}

static int ask_rectangle(void *stream, const struct copy2 *copy)
{
	if (!copy)
		return CUDA_INVALID_VALUE;
	const struct gt_box_copy box = {as_slice(&copy->from, copy->height), as_slice(&copy->to, copy->height), copy->width,
				  copy->height, 1};
	return ask_box(stream, &box);
}

DRIVER(cuMemcpy2D_v2, (const struct copy2 *copy), ask_rectangle(NULL, copy))
DRIVER(cuMemcpy2DUnaligned_v2, (const struct copy2 *copy), ask_rectangle(NULL, copy))
DRIVER_OF(stream, cuMemcpy2DAsync_v2, (const struct copy2 *copy, void *stream), ask_rectangle(stream, copy))
DRIVER(cuMemcpy3D_v2, (const struct gt_box_copy *copy), ask_box(NULL, copy))
DRIVER_OF(stream, cuMemcpy3DAsync_v2, (const struct gt_box_copy *copy, void *stream), ask_box(stream, copy))
/* A CUDA_MEMCPY3D_PEER has the same places, with contexts in the reserved ones. */
DRIVER(cuMemcpy3DPeer, (const struct gt_box_copy *copy), ask_box(NULL, copy))
DRIVER_OF(stream, cuMemcpy3DPeerAsync, (const struct gt_box_copy *copy, void *stream), ask_box(stream, copy))

/* ---- rows of arrays ---- */

/* Bytes of the first row of an array, from x on. */
static int ask_row(void *stream, struct side2 to, struct side2 from, size_t bytes)
{
	const struct copy2 copy = {from, to, bytes, 1};

	return ask_rectangle(stream, &copy);
}

#define ROW_OF(ARRAY, X) ((struct side2){.x = (X), .place = GT_BOX_ARRAY, .array = (ARRAY)})
#define HOST_ROW(POINTER) ((struct side2){.place = GT_BOX_HOST, .host = (void *)(uintptr_t)(POINTER)})
#define DEVICE_ROW(ADDRESS) ((struct side2){.place = GT_BOX_DEVICE, .device = (ADDRESS)})
DRIVER(cuMemcpyHtoA_v2, (struct gt_array *to, size_t x, const void *from, size_t bytes),
       ask_row(NULL, ROW_OF(to, x), HOST_ROW(from), bytes))
DRIVER_OF(stream, cuMemcpyHtoAAsync_v2, (struct gt_array *to, size_t x, const void *from, size_t bytes, void *stream),
	  ask_row(stream, ROW_OF(to, x), HOST_ROW(from), bytes))
DRIVER(cuMemcpyAtoH_v2, (void *to, struct gt_array *from, size_t x, size_t bytes),
       ask_row(NULL, HOST_ROW(to), ROW_OF(from, x), bytes))
DRIVER_OF(stream, cuMemcpyAtoHAsync_v2, (void *to, struct gt_array *from, size_t x, size_t bytes, void *stream),
	  ask_row(stream, HOST_ROW(to), ROW_OF(from, x), bytes))
DRIVER(cuMemcpyDtoA_v2, (struct gt_array *to, size_t x, uint64_t from, size_t bytes),
       ask_row(NULL, ROW_OF(to, x), DEVICE_ROW(from), bytes))
DRIVER(cuMemcpyAtoD_v2, (uint64_t to, struct gt_array *from, size_t x, size_t bytes),
       ask_row(NULL, DEVICE_ROW(to), ROW_OF(from, x), bytes))
DRIVER(cuMemcpyAtoA_v2, (struct gt_array *to, size_t to_x, struct gt_array *from, size_t x, size_t bytes),
       ask_row(NULL, ROW_OF(to, to_x), ROW_OF(from, x), bytes))

/* ---- batches: CUdeviceptr and pointers have the same bytes ---- */

extern int cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t n, const void *attributes,
				const size_t *first, size_t n_attributes, void *stream);

#define BATCH void *const *to, const void *const *from, const size_t *bytes, size_t n, const void *attributes, const size_t *first, \
	      size_t n_attributes
DRIVER_OF(stream, cuMemcpyBatchAsync_v2, (BATCH, void *stream), cudaMemcpyBatchAsync(to, from, bytes, n, attributes, first, n_attributes, stream))
DRIVER_OF(stream, cuMemcpyBatchAsync, (BATCH, size_t *failed, void *stream),
	  (failed ? (void)(*failed = SIZE_MAX) : (void)0,
	cudaMemcpyBatchAsync(to, from, bytes, n, attributes, first, n_attributes, stream)))
ALSO(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz);
ALSO(cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz);

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cuMemcpy, cuMemcpy_ptds);
ALSO(cuMemcpyAsync, cuMemcpyAsync_ptsz);
ALSO(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds);
ALSO(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz);
ALSO(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds);
ALSO(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz);
ALSO(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds);
ALSO(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz);
ALSO(cuMemcpyPeer, cuMemcpyPeer_ptds);
ALSO(cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz);
ALSO(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds);
ALSO(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds);
ALSO(cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz);
ALSO(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds);
ALSO(cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz);
ALSO(cuMemcpy3DPeer, cuMemcpy3DPeer_ptds);
ALSO(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz);
ALSO(cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds);
ALSO(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz);
ALSO(cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds);
ALSO(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz);
ALSO(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds);
ALSO(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds);
ALSO(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds);

/* ---- fills ---- */

/* cuMemset: elements of 8, 16 and 32 bits, in a row or a rectangle. */

static int fill(void *stream, uint64_t to, size_t pitch, uint64_t value, uint32_t element, size_t width, size_t height)
{
	struct gt_work work = {GT_WORK_FILL, {.fill = {gt_driver_pointer(to), pitch, value, element, width, height}}};

	if (to % element != 0 || (height > 1 && pitch % element != 0))
		return CUDA_INVALID_VALUE;
	return gt_stream_ask(stream, &work);
}

#define FILL(BITS, TYPE)                                                                                               \
	DRIVER(cuMemsetD##BITS##_v2, (uint64_t to, TYPE value, size_t n), fill(NULL, to, 0, value, (BITS) / 8, n, 1))  \
	DRIVER_OF(stream, cuMemsetD##BITS##Async, (uint64_t to, TYPE value, size_t n, void *stream),                              \
	       fill(stream, to, 0, value, (BITS) / 8, n, 1))                                                            \
	DRIVER(cuMemsetD2D##BITS##_v2, (uint64_t to, size_t pitch, TYPE value, size_t width, size_t height),           \
	       fill(NULL, to, pitch, value, (BITS) / 8, width, height))                                                 \
	DRIVER_OF(stream, cuMemsetD2D##BITS##Async,                                                                               \
	       (uint64_t to, size_t pitch, TYPE value, size_t width, size_t height, void *stream),                     \
	       fill(stream, to, pitch, value, (BITS) / 8, width, height))                                               \
	ALSO(cuMemsetD##BITS##_v2, cuMemsetD##BITS##_v2_ptds);                                                         \
	ALSO(cuMemsetD##BITS##Async, cuMemsetD##BITS##Async_ptsz);                                                     \
	ALSO(cuMemsetD2D##BITS##_v2, cuMemsetD2D##BITS##_v2_ptds);                                                     \
	ALSO(cuMemsetD2D##BITS##Async, cuMemsetD2D##BITS##Async_ptsz)

FILL(8, unsigned char);
FILL(16, unsigned short);
FILL(32, unsigned);

/* ---- values that a stream writes, and waits for ---- */

/* CUstreamWaitValue_flags. An H100 cannot flush writes from elsewhere. */
enum { VALUE_GEQ, VALUE_EQ, VALUE_AND, VALUE_NOR, VALUE_FLUSH = 1 << 30 };

static int write_value(void *stream, uint64_t to, uint64_t value, unsigned bytes, unsigned flags)
{
	return flags == 0 ? fill(stream, to, 0, value, bytes, 1, 1) : CUDA_INVALID_VALUE;
}

/* Whether what memory holds is what a wait is for; the sign of a difference is its highest bit. */
static bool is_met(uint64_t holds, uint64_t value, unsigned bytes, unsigned flags)
{
	const unsigned unused = 64 - 8 * bytes;

	switch (flags) {
	case VALUE_GEQ: return (holds - value) << unused >> 63 == 0;
	case VALUE_EQ: return holds == value;
	case VALUE_AND: return (holds & value) != 0;
	default: return ~(holds | value) << unused != 0;
	}
}

/* Work is done in the order of the calls: a value that is not there yet would come from a later one. */
static int wait_value(void *stream, uint64_t at, uint64_t value, unsigned bytes, unsigned flags)
{
	const void *memory = at % bytes == 0 ? gt_ptx_at(&gt_cudart.memory, at, bytes) : NULL;
	uint64_t holds = 0;
	int code = gt_stream_check(stream);

	if (flags & (unsigned)VALUE_FLUSH)
		return CUDA_NOT_SUPPORTED;
	if (code != CUDA_SUCCESS || !memory || flags > VALUE_NOR)
		return code != CUDA_SUCCESS ? code : CUDA_INVALID_VALUE;
	memcpy(&holds, memory, bytes);
	if (gt_stream_captured(stream) || !is_met(holds, value, bytes, flags))
		return gt_cudart_refuse("cuStreamWaitValue for a value that is not there when it is called");
	return CUDA_SUCCESS;
}

#define VALUE(BITS)                                                                                                             \
	DRIVER_OF(stream, cuStreamWriteValue##BITS##_v2, (void *stream, uint64_t to, uint##BITS##_t value, unsigned flags),                \
	       write_value(stream, to, value, (BITS) / 8, flags))                                                               \
	DRIVER_OF(stream, cuStreamWaitValue##BITS##_v2, (void *stream, uint64_t at, uint##BITS##_t value, unsigned flags),                 \
	       wait_value(stream, at, value, (BITS) / 8, flags))                                                                \
	ALSO(cuStreamWriteValue##BITS##_v2, cuStreamWriteValue##BITS##_v2_ptsz);                                                \
	ALSO(cuStreamWriteValue##BITS##_v2, cuStreamWriteValue##BITS);                                                          \
	ALSO(cuStreamWriteValue##BITS##_v2, cuStreamWriteValue##BITS##_ptsz);                                                   \
	ALSO(cuStreamWaitValue##BITS##_v2, cuStreamWaitValue##BITS##_v2_ptsz);                                                  \
	ALSO(cuStreamWaitValue##BITS##_v2, cuStreamWaitValue##BITS);                                                            \
	ALSO(cuStreamWaitValue##BITS##_v2, cuStreamWaitValue##BITS##_ptsz)

VALUE(32);
VALUE(64);

/* CUstreamBatchMemOpType, and CUstreamBatchMemOpParams; a barrier, and a flush of writes from elsewhere, have their flags first. */
enum { WAIT_32 = 1, WRITE_32 = 2, FLUSH = 3, WAIT_64 = 4, WRITE_64 = 5, BARRIER = 6 };
struct memory_operation {
	unsigned kind, first_flags;
	uint64_t address, value;
	unsigned flags;
	uint64_t rest[2];
};

static int do_operation(void *stream, const struct memory_operation *operation)
{
	const unsigned bytes = operation->kind == WAIT_64 || operation->kind == WRITE_64 ? 8 : 4;
	const uint64_t value = bytes == 8 ? operation->value : (uint32_t)operation->value;

	switch (operation->kind) {
	case WAIT_32:
	case WAIT_64: return wait_value(stream, operation->address, value, bytes, operation->flags);
	case WRITE_32:
	case WRITE_64: return write_value(stream, operation->address, value, bytes, operation->flags);
	case FLUSH: return CUDA_NOT_SUPPORTED;
	case BARRIER: return operation->first_flags <= 1 ? gt_stream_check(stream) : CUDA_INVALID_VALUE;
	default: return CUDA_INVALID_VALUE;
	}
}

/* One after the other, in the order in which they are given. */
static int do_operations(void *stream, unsigned n, const struct memory_operation *operations, unsigned flags)
{
	int code = !operations || n == 0 || n > 256 || flags != 0 ? CUDA_INVALID_VALUE : gt_stream_check(stream);

	for (unsigned i = 0; i < n && code == CUDA_SUCCESS; i++)
		code = do_operation(stream, &operations[i]);
	return code;
}

DRIVER_OF(stream, cuStreamBatchMemOp_v2, (void *stream, unsigned n, const struct memory_operation *operations, unsigned flags),
       do_operations(stream, n, operations, flags))
ALSO(cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz);
ALSO(cuStreamBatchMemOp_v2, cuStreamBatchMemOp);
ALSO(cuStreamBatchMemOp_v2, cuStreamBatchMemOp_ptsz);
