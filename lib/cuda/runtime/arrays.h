/* SPDX-License-Identifier: MIT */
/* CUDA arrays, and the channels of their texels; and what texture and surface objects are made of. */
#ifndef GT_RUNTIME_ARRAYS_H
#define GT_RUNTIME_ARRAYS_H

#include "cuda/ptx/exec/texture.h"
#include "cuda/runtime/work.h"

/* cudaChannelFormatDesc */
struct gt_channels {
	int bits[4]; /* 0: there is none */
	unsigned kind;
};

struct gt_array {
	struct gt_ptx_image image;
	struct gt_channels channels;
	struct gt_extent extent; /* as it was asked for */
	unsigned flags;
	bool level; /* of a mipmapped array, with which it is freed */
	struct gt_array *next;
};

#define GT_MIP_LEVELS 18 /* at most: from 131072 texels to 1 */

struct gt_mipmapped {
	struct gt_array *levels[GT_MIP_LEVELS]; /* from the largest */
	unsigned n;
	struct gt_mipmapped *next;
};

/* The array of a handle; NULL if there is none. */
struct gt_array *gt_cudart_array(const void *handle);

/* Forgets the arrays, and the texture and surface objects, whose memory was freed with all else. */
void gt_cudart_forget_arrays(void);
void gt_cudart_forget_objects(void);

/* ---- texture and surface objects ---- */

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
