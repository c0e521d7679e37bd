/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/volume.h"

#include "cuda/runtime/arrays.h"
#include "cuda/runtime/graph.h"

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

API int cudaMemcpy3DAsync(const struct gt_volume_copy *volume, void *stream)
{
	struct gt_work work = {.kind = GT_WORK_COPY};

	gt_cudart_enter();
	int code = gt_cudart_volume(&work.u.copy, volume);
	return gt_cudart_leave(code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code);
}

API int cudaMemcpy3D(const struct gt_volume_copy *volume)
{
	return cudaMemcpy3DAsync(volume, NULL);
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
	return gt_cudart_leave(gt_cudart_allocate_rows(&to->at, &to->pitch, extent.width, extent.height * extent.depth,
							"cudaMalloc3D"));
}

ALSO(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz);
ALSO(cudaMemcpy3D, cudaMemcpy3D_ptds);
ALSO(cudaMemset3DAsync, cudaMemset3DAsync_ptsz);
ALSO(cudaMemset3D, cudaMemset3D_ptds);
