/* SPDX-License-Identifier: MIT */
/* Tensor maps: what cuTensorMapEncodeTiled makes, and cp.async.bulk.tensor reads. CUDA leaves their 128 bytes opaque; this
 * is what they are here. */
#ifndef GT_PTX_TENSOR_H
#define GT_PTX_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/ptx/text/module.h"

#define GT_TENSOR_RANK_MAX 5
#define GT_TENSOR_MAGIC	   UINT32_C(0x70616d74)

/* CUtensorMapDataType, as far as it is modelled. */
enum gt_tensor_type {
	GT_TENSOR_U8,
	GT_TENSOR_U16,
	GT_TENSOR_U32,
	GT_TENSOR_S32,
	GT_TENSOR_U64,
	GT_TENSOR_S64,
	GT_TENSOR_F16,
	GT_TENSOR_F32,
	GT_TENSOR_F64,
	GT_TENSOR_BF16,
	GT_TENSOR_F32_FTZ,
	GT_TENSOR_TF32,
	GT_TENSOR_TF32_FTZ,
	GT_TENSOR_TYPES
};

/* CUtensorMapSwizzle: pieces of 16 bytes of shared memory change places within rows of so many bytes. */
enum gt_tensor_swizzle { GT_SWIZZLE_NONE, GT_SWIZZLE_32, GT_SWIZZLE_64, GT_SWIZZLE_128, GT_SWIZZLES };

struct gt_tensor_map {
	uint64_t address;
	uint64_t strides[GT_TENSOR_RANK_MAX - 1]; /* bytes, of the dimensions from the second on */
	uint32_t magic;
	uint32_t last[GT_TENSOR_RANK_MAX]; /* the largest coordinate of each dimension */
	uint16_t box[GT_TENSOR_RANK_MAX];
	uint8_t steps[GT_TENSOR_RANK_MAX]; /* every so manieth element of a box is copied */
	uint8_t rank, type, swizzle, promotion, fills_nan;
	uint32_t rest[11];
};
_Static_assert(sizeof(struct gt_tensor_map) == 128, "as CUtensorMap");

/* Bytes of an element; its type in PTX. */
unsigned gt_tensor_bytes(const struct gt_tensor_map *map);
enum gt_ptx_type gt_tensor_ptx_type(const struct gt_tensor_map *map);

/* Whether what it says fits together, as cuTensorMapEncodeTiled asks. */
bool gt_tensor_is_sound(const struct gt_tensor_map *map);

/* Elements of a box along a dimension that are copied. */
static inline uint32_t gt_tensor_extent(const struct gt_tensor_map *map, unsigned d)
{
	return d == 0 ? map->box[0] : (map->box[d] + map->steps[d] - 1U) / map->steps[d];
}

/* Where a byte of shared memory goes: its address with bits 4 to 6 changed by bits 7 to 9, as far as the swizzle has them. */
static inline uint64_t gt_swizzled(uint64_t address, enum gt_tensor_swizzle swizzle)
{
	return address ^ ((address >> 7 & ((1U << swizzle) - 1U)) << 4);
}

#endif
