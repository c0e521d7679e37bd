/* SPDX-License-Identifier: MIT */
/* Tensor maps: a tensor in device memory, and the box of it that cp.async.bulk.tensor copies. */
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/ptx/exec/tensor.h"

/* What cuTensorMapEncodeTiled has behind the shape, by its names there. */
struct wishes {
	unsigned interleave, swizzle, promotion, fill;
};

/* What is valid, but not modelled. */
static int refuse(unsigned type, const struct wishes *wishes)
{
	if (type >= GT_TENSOR_TYPES)
		return gt_cudart_refuse("cuTensorMapEncodeTiled of elements of 4 or 6 bits");
	if (wishes->interleave != 0)
		return gt_cudart_refuse("cuTensorMapEncodeTiled of interleaved layouts");
	if (wishes->swizzle >= GT_SWIZZLES)
		return gt_cudart_refuse("cuTensorMapEncodeTiled with a swizzle of other than 16 bytes");
	return CUDA_SUCCESS;
}

static int encode(struct gt_tensor_map *to, unsigned type, uint32_t rank, uint64_t address, const uint64_t *sizes,
		  const uint64_t *strides, const uint32_t *box, const uint32_t *steps, struct wishes wishes)
{
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = address, .rank = (uint8_t)rank, .type = (uint8_t)type,
				    .swizzle = (uint8_t)wishes.swizzle, .promotion = (uint8_t)wishes.promotion,
				    .fills_nan = wishes.fill == 1};

	if (!to || rank == 0 || rank > GT_TENSOR_RANK_MAX || !sizes || !box || !steps || (rank > 1 && !strides) || type > 15 ||
	    wishes.interleave > 2 || wishes.swizzle > 6 || wishes.promotion > 3 || wishes.fill > 1 ||
	    (wishes.fill == 1 && type < GT_TENSOR_F16))
		return CUDA_INVALID_VALUE;
	int code = refuse(type, &wishes);
	if (code != CUDA_SUCCESS)
		return code;
	for (uint32_t d = 0; d < rank; d++) {
		if (sizes[d] == 0 || sizes[d] > UINT64_C(1) << 32 || box[d] > 256 || steps[d] > 8)
			return CUDA_INVALID_VALUE;
		map.last[d] = (uint32_t)(sizes[d] - 1);
		map.box[d] = (uint16_t)box[d];
		map.steps[d] = (uint8_t)steps[d];
		if (d > 0)
			map.strides[d - 1] = strides[d - 1];
	}
	if (!gt_tensor_is_sound(&map))
		return CUDA_INVALID_VALUE;
	*to = map;
	return CUDA_SUCCESS;
}

static int replace(struct gt_tensor_map *map, uint64_t address)
{
	if (!map || map->magic != GT_TENSOR_MAGIC || address % 16 != 0)
		return CUDA_INVALID_VALUE;
	map->address = address;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuTensorMapEncodeTiled,
		(struct gt_tensor_map *to, unsigned type, uint32_t rank, void *address, const uint64_t *sizes,
		 const uint64_t *strides, const uint32_t *box, const uint32_t *steps, unsigned interleave, unsigned swizzle,
		 unsigned promotion, unsigned fill),
		encode(to, type, rank, (uint64_t)(uintptr_t)address, sizes, strides, box, steps,
		       (struct wishes){interleave, swizzle, promotion, fill}))
DRIVER_ANYWHERE(cuTensorMapReplaceAddress, (struct gt_tensor_map *map, void *address), replace(map, (uint64_t)(uintptr_t)address))
