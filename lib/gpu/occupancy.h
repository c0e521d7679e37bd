/* SPDX-License-Identifier: MIT */
/* The number of blocks that are resident on an SM, and the size of L1 beside their shared memory.
 * [000] algorithm 3 (blocks and warps), [004] eq. (3)-(6) (warps, registers, shared memory) with
 * the allocation granularities of NVIDIA's occupancy calculator, [004] eq. (7) (adaptive L1). */
#ifndef GT_GPU_OCCUPANCY_H
#define GT_GPU_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"

GT_PUBLIC_BEGIN

#define GT_CARVEOUTS_MAX 32

/* The resources of a block. An unknown one is 0, and limits nothing. */
struct gt_block_needs {
	uint64_t warps;
	uint32_t registers;    /* of a thread */
	uint32_t shared_bytes; /* static and dynamic */
	uint32_t carveout;     /* 1 + percent of shared memory that it prefers; 0: no preference */
};

/* The resources of an SM. An unknown one is 0, and limits nothing. */
struct gt_limits {
	bool all; /* all blocks of an SM are resident at once: no limit holds */
	uint64_t blocks;
	uint64_t warps;
	uint64_t registers;	   /* 32-bit registers */
	uint64_t register_unit;	   /* a warp's allocation is a multiple of this */
	uint64_t warp_unit;	   /* registers are allocated to this many warps at a time */
	uint64_t registers_thread; /* the most a thread may have */
	uint64_t shared;	   /* bytes */
	uint64_t shared_block;	   /* bytes, the most a block may have */
	uint64_t shared_unit;	   /* bytes; a block's allocation is a multiple of this */
	uint64_t shared_reserved;  /* bytes that the system reserves for each block */
	uint64_t shared_least;	   /* bytes, the smallest carve-out of a kernel that prefers none */
	uint64_t shared_warps;	   /* warps whose blocks the carve-out has room for, resident or not; 0: the resident blocks */
	uint64_t shared_room;	   /* times the resident blocks that it has room for, if more than one is; 0: as shared_warps says */
	uint64_t shared_room_none; /* the same, times the blocks that the warps allow, for a kernel without shared memory */
	uint64_t unified;	   /* bytes that L1 and shared memory share */
	uint64_t l1_reserved;	   /* of them, bytes that hold neither shared memory nor lines */
	uint64_t carveouts[GT_CARVEOUTS_MAX]; /* bytes that shared memory may have, ascending */
	unsigned n_carveouts;
};

struct gt_occupancy {
	uint64_t blocks;	/* resident on an SM; UINT64_MAX if nothing limits it */
	const char *limited_by; /* blocks, warps, registers or shared; NULL if nothing does */
	uint64_t carveout;	/* bytes given to shared memory; 0 if the GPU has no choice */
	uint64_t l1_bytes;	/* the rest but l1_reserved, which are lines of L1; 0: not adaptive */
};

/* The limits in a description (NULL: none are known). Returns 0, or -1 naming the key. */
int gt_limits_load(struct gt_limits *limits, const struct gt_gpu *gpu, struct gt_error *error);

/* The registers of a thread that an SM with its most warps has for each; 0 if the limits do not say. */
uint32_t gt_limits_full_registers(const struct gt_limits *limits);

/* The occupancy of a kernel whose blocks have these needs. Returns 0, or -1 naming the limit if no block fits. */
int gt_occupancy_find(struct gt_occupancy *occupancy, const struct gt_limits *limits, const struct gt_block_needs *needs,
		 struct gt_error *error);

GT_PUBLIC_END

#endif
