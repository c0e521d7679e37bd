/* SPDX-License-Identifier: MIT */
/* Copies and fills are done when they are asked for, asynchronous ones too: a stream's order is kept by doing everything
 * in the order of the calls. */
#include <string.h>

#include "cudart/work.h"

static bool is_device(uint64_t address)
{
	return address - GT_PTX_GLOBAL_BASE < GT_PTX_WINDOW;
}

/* Where [pointer, pointer + bytes) lies in this process; NULL if the device has no such bytes. A
 * host pointer is the program's own affair. */
static void *place(const void *pointer, size_t bytes, bool on_device)
{
	if (on_device || is_device(gt_cudart_address(pointer)))
		return gt_ptx_at(&gt_cudart.memory, gt_cudart_address(pointer), bytes);
	return (void *)(uintptr_t)pointer;
}

/* The recorder is told what comes into device memory from outside of kernels. */
static void note_copy(const void *to, size_t bytes)
{
	if (gt_cudart.recorder && is_device(gt_cudart_address(to)))
		gt_ptx_copies_add(gt_ptx_recorder_copies(gt_cudart.recorder), gt_cudart_address(to), bytes);
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
