/* SPDX-License-Identifier: MIT */
/* Copies and fills are done when they are asked for, asynchronous ones too: a stream's order is kept by doing everything
 * in the order of the calls. */
#include <string.h>

#include "cuda/runtime/arrays.h"
#include "cuda/runtime/work.h"
#include "cuda/ptx/exec/heap.h"

static bool is_device(uint64_t address)
{
	return address - GT_PTX_GLOBAL_BASE < GT_PTX_WINDOW;
}

/* Where [pointer, pointer + bytes) lies in this process; NULL if the device has no such bytes, or has them in its heap. A host
 * pointer is the program's own affair. */
static void *place(const void *pointer, size_t bytes, bool on_device)
{
	if (gt_ptx_in_heap(&gt_cudart.memory, gt_cudart_address(pointer)))
		return NULL;
	if (on_device || is_device(gt_cudart_address(pointer)))
		return gt_ptx_at(&gt_cudart.memory, gt_cudart_address(pointer), bytes);
	return (void *)(uintptr_t)pointer;
}

/* The recorder is told what comes into device memory from outside of kernels. */
static void note_copy(const void *to, size_t bytes)
{
	if (gt_cudart.recorder && is_device(gt_cudart_address(to)))
		gt_copies_add(gt_ptx_recorder_copies(gt_cudart.recorder), gt_cudart_address(to), bytes);
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

/* ---- arrays ---- */

static bool fits(const struct gt_array *handle, const struct gt_position *at, const struct gt_copy_work *work)
{
	const struct gt_array *array = gt_cudart_array(handle);
	const struct gt_ptx_image *image = array ? &array->image : NULL;
	size_t row = image ? (size_t)image->width * gt_ptx_texel_bytes(image) : 0;

	return image && at->x <= row && work->width <= row - at->x && at->y <= image->height &&
	       work->height <= image->height - at->y && at->z <= image->depth && work->depth <= image->depth - at->z;
}

/* Where byte `x` of a copied row lies; *left: bytes from there on that lie side by side. */
static unsigned char *place_in(const struct gt_array *array, const struct gt_position *at, size_t x, size_t row,
			       size_t slice, size_t *left)
{
	const struct gt_ptx_image *image = &array->image;
	size_t piece = GT_PTX_GOB_PIECE - (at->x + x) % GT_PTX_GOB_PIECE;
	uint64_t address = image->address + gt_ptx_image_offset(image, at->x + x, at->y + row, at->z + slice);

	*left = *left < piece ? *left : piece;
	return gt_ptx_at(&gt_cudart.memory, address, *left);
}

static int copy_array_row(const struct gt_copy_work *work, size_t row, size_t slice)
{
	unsigned char *to = NULL, *from = NULL;

	if (!work->to_array)
		to = place((char *)work->to + slice * work->to_slice + row * work->to_pitch, work->width,
			   work->kind == DEVICE_TO_DEVICE);
	if (!work->from_array)
		from = place((const char *)work->from + slice * work->from_slice + row * work->from_pitch, work->width,
			     work->kind == DEVICE_TO_DEVICE);
	for (size_t x = 0, bytes; x < work->width; x += bytes) {
		bytes = work->width - x;
		unsigned char *target = work->to_array ? place_in(work->to_array, &work->to_position, x, row, slice, &bytes)
						       : to ? to + x : NULL;
		const unsigned char *source =
			work->from_array ? place_in(work->from_array, &work->from_position, x, row, slice, &bytes)
					 : from ? from + x : NULL;
		if (!target || !source)
			return CUDA_INVALID_VALUE;
		memmove(target, source, bytes);
	}
	if (!work->to_array)
		note_copy((char *)work->to + slice * work->to_slice + row * work->to_pitch, work->width);
	return CUDA_SUCCESS;
}

/* What was written of a slice of an array: its rows, or whole GOBs. */
static void note_array_slice(const struct gt_copy_work *work, size_t slice)
{
	const struct gt_ptx_image *image = &work->to_array->image;
	const struct gt_position *at = &work->to_position;
	bool rows = !image->blocks;
	size_t wide = rows ? work->width : GT_PTX_GOB_WIDTH, high = rows ? 1 : GT_PTX_GOB_ROWS;
	size_t left = rows ? at->x : at->x / wide * wide;

	for (size_t x = left; x < at->x + work->width; x += wide)
		for (size_t y = at->y / high * high; y < at->y + work->height; y += high)
			note_copy((void *)(uintptr_t)(image->address + gt_ptx_image_offset(image, x, y, at->z + slice)),
				  rows ? wide : GT_PTX_GOB_BYTES);
}

static int copy_arrays(const struct gt_copy_work *work)
{
	int code = CUDA_SUCCESS;

	if ((work->to_array && !fits(work->to_array, &work->to_position, work)) ||
	    (work->from_array && !fits(work->from_array, &work->from_position, work)))
		return CUDA_INVALID_VALUE;
	if (work->width == 0)
		return CUDA_SUCCESS;
	for (size_t slice = 0; slice < work->depth && code == CUDA_SUCCESS; slice++) {
		for (size_t row = 0; row < work->height && code == CUDA_SUCCESS; row++)
			code = copy_array_row(work, row, slice);
		if (work->to_array && code == CUDA_SUCCESS)
			note_array_slice(work, slice);
	}
	return code;
}

int gt_cudart_copy(const struct gt_copy_work *work)
{
	int code = CUDA_SUCCESS;

	if (work->kind > BY_ADDRESS)
		return CUDA_INVALID_MEMCPY_DIRECTION;
	if (work->width > work->to_pitch || work->width > work->from_pitch)
		return CUDA_INVALID_PITCH_VALUE;
	if (work->to_array || work->from_array)
		return copy_arrays(work);
	for (size_t slice = 0; slice < work->depth; slice++)
		for (size_t row = 0; row < work->height && code == CUDA_SUCCESS; row++)
			code = copy((char *)work->to + slice * work->to_slice + row * work->to_pitch,
				    (const char *)work->from + slice * work->from_slice + row * work->from_pitch,
				    work->width, work->kind);
	return code;
}

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
