/* SPDX-License-Identifier: MIT */
/* CUDA arrays, and the channels of their texels. */
#ifndef GT_CUDART_ARRAYS_H
#define GT_CUDART_ARRAYS_H

#include "cuda/runtime/volume.h"
#include "cuda/ptx/exec/image.h"

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

#define GT_LEVELS 18 /* at most: from 131072 texels to 1 */

struct gt_mipmapped {
	struct gt_array *levels[GT_LEVELS]; /* from the largest */
	unsigned n;
	struct gt_mipmapped *next;
};

/* The mipmapped array of a handle; NULL if there is none. */
struct gt_mipmapped *gt_cudart_mipmapped(const void *handle);

/* The array of a handle; NULL if there is none. */
struct gt_array *gt_cudart_array(const void *handle);

/* Forgets the arrays, and the texture and surface objects, whose memory was freed with all else. */
void gt_cudart_forget_arrays(void);
void gt_cudart_forget_objects(void);

/* Fills in the channels of an image. Returns a code; formats that are not supported are named. */
int gt_cudart_channels(struct gt_ptx_image *image, const struct gt_channels *channels);

#endif
