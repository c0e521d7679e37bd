/* SPDX-License-Identifier: MIT */
/* Copies of boxes of memory, as cudaMemcpy3D and the nodes of graphs describe them. */
#ifndef GT_RUNTIME_MEMORY_H
#define GT_RUNTIME_MEMORY_H

#include "cuda/runtime/work.h"

struct gt_pitched {
	void *at;
	size_t pitch, width, height; /* bytes, bytes, rows of a slice */
};

struct gt_extent {
	size_t width, height, depth;
};

/* cudaMemcpy3DParms */
struct gt_volume_copy {
	struct gt_array *from_array;
	struct gt_position from_position;
	struct gt_pitched from;
	struct gt_array *to_array;
	struct gt_position to_position;
	struct gt_pitched to;
	struct gt_extent extent;
	unsigned kind;
};

/* Returns a code. */
int gt_cudart_volume(struct gt_copy_work *copy, const struct gt_volume_copy *volume);

#endif
