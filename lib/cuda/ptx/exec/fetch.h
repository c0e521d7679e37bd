/* SPDX-License-Identifier: MIT */
/* Operations on textures and surfaces, as the decoder makes them. */
#ifndef GT_PTX_FETCH_H
#define GT_PTX_FETCH_H

#include <stdbool.h>
#include <stdint.h>

/* How textures and surfaces of one kind are addressed. */
struct gt_ptx_geometry {
	const char *name; /* "a2d" */
	uint8_t dimensions;
	bool layered, cube;
	uint8_t coordinates; /* without the layer */
};

/* What a surface does with coordinates beyond its ends. */
enum gt_ptx_beyond { GT_PTX_BEYOND_TRAP, GT_PTX_BEYOND_CLAMP, GT_PTX_BEYOND_ZERO };

enum gt_ptx_image_figure {
	GT_PTX_FIGURE_WIDTH,
	GT_PTX_FIGURE_HEIGHT,
	GT_PTX_FIGURE_DEPTH,
	GT_PTX_FIGURE_LAYERS,
	GT_PTX_FIGURES
};

#define GT_PTX_NO_GATHER 4

/* Of slots, each of 32 lanes. */
struct gt_ptx_fetch {
	const struct gt_ptx_geometry *geometry; /* NULL: of a query */
	uint32_t handle, layer, coordinates[3]; /* handle: 64 bits; layer 0: there is none */
	uint32_t level;				 /* of tex.level: a float, or an integer with whole texels; 0: not said */
	uint32_t gradients[2][3];		 /* of tex.grad; 0: not said */
	uint32_t values[4];			 /* results, or what is stored; 0: not wanted */
	uint32_t resident;			 /* of textures: a predicate that becomes true; 0: not wanted */
	uint8_t n, size;			 /* of surfaces: elements, and bytes of each */
	bool texels;				 /* coordinates are whole texels, not floats */
	uint8_t gather;				 /* the channel that tld4 gathers; GT_PTX_NO_GATHER: a plain fetch */
	enum gt_ptx_beyond beyond;
	enum gt_ptx_image_figure figure; /* of a query */
};

#endif
