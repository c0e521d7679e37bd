/* SPDX-License-Identifier: MIT */
/* The address that one thread accesses. */
#ifndef GT_PTX_STATIC_VALUE_H
#define GT_PTX_STATIC_VALUE_H

#include "cuda/ptx/static/parts.h"

#define GT_STATIC_WARP	32
#define GT_STATIC_PIECE 16 /* bytes that a lane copies, of a copy in bulk */
#define GT_STATIC_LOOPS 8

/* One thread, in one iteration of each loop. */
struct gt_static_place {
	const struct gt_static *analysis;
	const struct gt_static_launch *launch;
	uint32_t thread[3], block[3];
	uint32_t loops[GT_STATIC_LOOPS]; /* the blocks that begin them */
	uint32_t turns[GT_STATIC_LOOPS], period[GT_STATIC_LOOPS];
	uint32_t n_loops;
	enum gt_static_basis basis; /* the worst that was met */
};

/* The value of a polynomial, of an atom; what is not known counts as 0 and lowers the basis. */
int64_t gt_static_evaluate(struct gt_static_place *place, const struct gt_static_poly *poly);
int64_t gt_static_atom_value(struct gt_static_place *place, const struct gt_static_atom *atom);

#endif
