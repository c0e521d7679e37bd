/* SPDX-License-Identifier: MIT */
/* A load or store of a stretch while it is written: what the files that do so share. */
#ifndef GT_PTX_STRETCH_LANES_H
#define GT_PTX_STRETCH_LANES_H

#include "ptx/native/avx512.h"
#include "ptx/native/stretch.h"

struct gt_stretch_move {
	struct gt_stretch *stretch;
	struct gt_stretch_point *point;
	struct gt_native_code *code;
	const struct gt_ptx_access *access;
	unsigned bytes;	 /* of a lane */
	unsigned lanes[4]; /* registers of the addresses, */
	unsigned n_lanes; /* and how many */
	unsigned data[4][4]; /* registers of the elements: 2 each, or 4 */
};

/* What r15 points to. How far lane i is from lane 0 where elements have 4 and 8 bytes, as addresses of 64 and of 32 bits; and the
 * bits that addresses of such elements do not have. */
struct gt_stretch_constants {
	uint64_t wide[2][GT_WARP_SIZE];
	uint32_t narrow[2][GT_WARP_SIZE];
	uint64_t odd[2][8];
	uint32_t odd_narrow[2][16];
};

/* Where the host has the memory that an access is in: r13 is the core, and memory begins at address 0; or rdx is the access. */
struct gt_stretch_window {
	unsigned base;
	size_t host, bytes;
};
struct gt_stretch_window gt_stretch_window_of(const struct gt_ptx_access *access);

static inline void gt_stretch_vector(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	gt_native_vector(move->code, op, d, 0, a, b);
}

/* The access is left to the C code by a jump. */
static inline void gt_stretch_slow(const struct gt_stretch_move *move, size_t jump)
{
	move->point->slow[move->point->n_slow++] = jump;
}

static inline void gt_stretch_slow_if(const struct gt_stretch_move *move, enum gt_jump when)
{
	gt_stretch_slow(move, gt_general_jump(move->code, when));
}

/* A load of lanes anywhere in the memory of lane 0, one element each: registers are as the tests of lane 0's place leave them. */
void gt_stretch_write_gather(const struct gt_stretch_move *move);

#endif
