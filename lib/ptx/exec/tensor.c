/* SPDX-License-Identifier: MIT */
#include "ptx/exec/tensor.h"

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
