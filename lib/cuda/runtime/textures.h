/* SPDX-License-Identifier: MIT */
/* What texture and surface objects are made of. */
#ifndef GT_CUDART_TEXTURES_H
#define GT_CUDART_TEXTURES_H

#include "cuda/runtime/arrays.h"

enum gt_resource_type { GT_RESOURCE_ARRAY, GT_RESOURCE_MIPMAPPED_ARRAY, GT_RESOURCE_LINEAR, GT_RESOURCE_PITCH_2D };

/* cudaResourceDesc */
struct gt_resource {
	enum gt_resource_type type;
	union {
		struct gt_array *array;
		struct gt_mipmapped *mipmapped;
		struct {
			void *at;
			struct gt_channels channels;
			size_t bytes;
		} linear;
		struct {
			void *at;
			struct gt_channels channels;
			size_t width, height, pitch; /* texels, rows, bytes */
		} pitched;
		int reserved[32];
	} of;
	unsigned flags;
};

/* cudaTextureDesc */
struct gt_sampling {
	unsigned modes[3], filter, read_mode;
	int srgb;
	float border[4];
	int normalized;
	unsigned anisotropy, mipmap_filter;
	float mipmap_bias, mipmap_least, mipmap_most;
	int no_trilinear_optimization, seamless_cube;
};

#endif
