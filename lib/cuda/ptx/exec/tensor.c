/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/tensor.h"

static const struct {
	uint8_t bytes;
	enum gt_ptx_type type;
} types[GT_TENSOR_TYPES] = {
	[GT_TENSOR_U8] = {1, GT_PTX_U8},   [GT_TENSOR_U16] = {2, GT_PTX_U16},	  [GT_TENSOR_U32] = {4, GT_PTX_U32},
	[GT_TENSOR_S32] = {4, GT_PTX_S32}, [GT_TENSOR_U64] = {8, GT_PTX_U64},	  [GT_TENSOR_S64] = {8, GT_PTX_S64},
	[GT_TENSOR_F16] = {2, GT_PTX_F16}, [GT_TENSOR_F32] = {4, GT_PTX_F32},	  [GT_TENSOR_F64] = {8, GT_PTX_F64},
	[GT_TENSOR_BF16] = {2, GT_PTX_BF16}, [GT_TENSOR_F32_FTZ] = {4, GT_PTX_F32}, [GT_TENSOR_TF32] = {4, GT_PTX_F32},
	[GT_TENSOR_TF32_FTZ] = {4, GT_PTX_F32},
};

unsigned gt_tensor_bytes(const struct gt_tensor_map *map)
{
	return types[map->type].bytes;
}

enum gt_ptx_type gt_tensor_ptx_type(const struct gt_tensor_map *map)
{
	return types[map->type].type;
}

bool gt_tensor_is_sound(const struct gt_tensor_map *map)
{
	static const unsigned spans[GT_SWIZZLES] = {UINT32_MAX, 32, 64, 128};

	if (map->rank == 0 || map->rank > GT_TENSOR_RANK_MAX || map->type >= GT_TENSOR_TYPES || map->swizzle >= GT_SWIZZLES)
		return false;
	for (unsigned d = 0; d < map->rank; d++)
		if (map->box[d] == 0 || map->box[d] > 256 || map->steps[d] == 0 || map->steps[d] > 8 ||
		    (d > 0 && (map->strides[d - 1] % 16 != 0 || map->strides[d - 1] >> 40 != 0)))
			return false;
	const unsigned row = map->box[0] * gt_tensor_bytes(map);
	return map->address % 16 == 0 && row % 16 == 0 && row <= spans[map->swizzle];
}
