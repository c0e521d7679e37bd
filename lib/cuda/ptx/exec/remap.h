/* SPDX-License-Identifier: MIT */
/* Changes of tensor maps by kernels: tensormap.replace, and tensormap.cp_fenceproxy, which copies a map to global memory. */
#ifndef GT_PTX_REMAP_H
#define GT_PTX_REMAP_H

#include "cuda/ptx/exec/tensor.h"
#include "cuda/ptx/exec/warp.h"

/* The fields, by their names in PTX; those from GT_TENSOR_BOX to GT_TENSOR_STEP are of a dimension each. */
#define GT_TENSOR_FIELDS(ROW)                                                                                             \
	ROW(ADDRESS, "global_address") ROW(RANK, "rank") ROW(BOX, "box_dim") ROW(EXTENT, "global_dim")                    \
	ROW(STRIDE, "global_stride") ROW(STEP, "element_stride") ROW(TYPE, "elemtype") ROW(INTERLEAVE, "interleave_layout") \
	ROW(SWIZZLE, "swizzle_mode") ROW(ATOMICITY, "swizzle_atomicity") ROW(FILL, "fill_mode")
enum gt_tensor_field {
#define GT_TENSOR_FIELD(NAME, word) GT_TENSOR_FIELD_##NAME,
	GT_TENSOR_FIELDS(GT_TENSOR_FIELD)
#undef GT_TENSOR_FIELD
	GT_TENSOR_FIELD_COUNT
};

struct gt_ptx_remap {
	struct gt_ptx_access place; /* of the map; of cp_fenceproxy: where it goes */
	struct gt_ptx_access from;
	enum gt_tensor_field field;
	unsigned dimension;
	uint32_t value; /* slot */
	bool wide;	/* it has 64 bits */
};

/* op->with.access: `place` of a struct gt_ptx_remap. */
gt_ptx_step gt_ptx_replace_in_map, gt_ptx_copy_map;

#endif
