/* SPDX-License-Identifier: MIT */
/* The calls that copy rectangles from and to CUDA arrays. Boxes: volume.c. */
#include "cuda/runtime/arrays.h"
#include "cuda/runtime/graph.h"

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

ALSO(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds);
ALSO(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz);
ALSO(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds);
ALSO(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz);
ALSO(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds);
ALSO(cudaMemcpyToArray, cudaMemcpyToArray_ptds);
ALSO(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz);
ALSO(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds);
ALSO(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz);
