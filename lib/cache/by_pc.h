/* SPDX-License-Identifier: MIT */
/* Reads of a level and their hits by instruction. */
#ifndef GT_CACHE_BY_PC_H
#define GT_CACHE_BY_PC_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "stream/count.h"

struct gt_pc_reads {
	uint64_t pc, reads, hits;
};

/* A zeroed one counts nothing, and can be closed. */
struct gt_by_pc {
	struct gt_map index; /* pc to its place in `pcs` */
	struct gt_pc_reads *pcs;
	size_t n, capacity;
	uint64_t reads, hits; /* of the level when it was last looked at */
};

int gt_by_pc_open(struct gt_by_pc *by, struct gt_error *error);
void gt_by_pc_close(struct gt_by_pc *by);
/* A kernel begins: the counts are zero, and so are the level's. */
void gt_by_pc_begin(struct gt_by_pc *by);

/* The level has these counts now: what they have grown by since the last look is the instruction's. Returns 0, or -1 when memory is short. */
int gt_by_pc_add(struct gt_by_pc *by, uint32_t pc, uint64_t reads, uint64_t hits, struct gt_error *error);

/* Appends PC.reads and PC.read_hits of each instruction that read, in the order of the instructions. Returns 0, or -1 when memory is
 * short. */
int gt_by_pc_count(const struct gt_by_pc *by, struct gt_count *count, struct gt_error *error);

#endif
