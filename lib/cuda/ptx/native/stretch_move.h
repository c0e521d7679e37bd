/* SPDX-License-Identifier: MIT */
/* A load or store of a stretch while it is written: what the files that do so share. */
#ifndef GT_PTX_NATIVE_STRETCH_MOVE_H
#define GT_PTX_NATIVE_STRETCH_MOVE_H

#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"

struct gt_stretch_move {
	struct gt_stretch *stretch;
	struct gt_stretch_point *point;
	struct gt_native_code *code;
	const struct gt_ptx_access *access;
	unsigned bytes;	 /* of a lane */
	struct gt_native_operand lanes[8]; /* the addresses, */
	unsigned n_lanes; /* and how many registers they fill */
	struct gt_native_operand data[4][8]; /* the elements, */
	unsigned n_data;  /* and how many registers each fills */
};

/* What r15 points to. How far lane i is from lane 0 where they are 1, 4 and 8 bytes apart, as addresses of 64 and of 32 bits; and the
 * bits that distances from the begin of a memory do not have, of elements of 4 and 8 bytes: they would be negative, or odd. */
enum gt_stretch_apart { GT_STRETCH_APART1, GT_STRETCH_APART4, GT_STRETCH_APART8, GT_STRETCH_APARTS };
struct gt_stretch_constants {
	uint64_t wide[GT_STRETCH_APARTS][GT_WARP_SIZE];
	uint32_t narrow[GT_STRETCH_APARTS][GT_WARP_SIZE];
	uint64_t outside[2][8];
	uint32_t outside_narrow[2][16];
};

/* Where the host has the memory that an access is in: r13 is the core, and memory begins at address 0; or rdx is the access. */
struct gt_stretch_window {
	unsigned base;
	size_t host, bytes;
};
struct gt_stretch_window gt_stretch_window_of(const struct gt_ptx_access *access);

static inline void gt_stretch_vector(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	move->stretch->segment.isa->vector(&move->stretch->segment, op, d, a, b);
}

/* OP d, a, a constant that is `at` bytes into those that r15 points to. */
static inline void gt_stretch_constant(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned a, size_t at)
{
	move->stretch->segment.isa->memory(&move->stretch->segment, op, d, a, GT_R15, (uint32_t)at);
}

/* Where the constants of addresses in register i are. */
static inline size_t gt_stretch_apart(const struct gt_stretch_move *move, enum gt_stretch_apart apart, unsigned i)
{
	const size_t from = move->access->narrow ? offsetof(struct gt_stretch_constants, narrow[apart]) : offsetof(struct gt_stretch_constants, wide[apart]);

	return from + i * move->stretch->segment.isa->bytes;
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

#endif
