/* SPDX-License-Identifier: MIT */
/* Copies of boxes between memory and arrays. */
#ifndef GT_CUDART_DRIVER_BOXES_H
#define GT_CUDART_DRIVER_BOXES_H

#include "cuda/runtime/work.h"

/* CUmemorytype */
enum gt_box_place { GT_BOX_HOST = 1, GT_BOX_DEVICE, GT_BOX_ARRAY, GT_BOX_UNIFIED };

/* One side of a CUDA_MEMCPY3D. */
struct gt_box_side {
	size_t x, y, z, level; /* bytes, rows, slices; of a mipmap */
	enum gt_box_place place;
	void *host;
	uint64_t device;
	struct gt_array *array;
	void *reserved; /* of a CUDA_MEMCPY3D_PEER: the context */
	size_t pitch, height;
};

/* CUDA_MEMCPY3D */
struct gt_box_copy {
	struct gt_box_side from, to;
	size_t width, height, depth;
};

/* The work that a copy is. Returns a code. */
int gt_driver_box(struct gt_work *work, const struct gt_box_copy *copy);

#endif
