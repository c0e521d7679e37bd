/* SPDX-License-Identifier: MIT */
/* Maps the warp slots of the hardware to warps of a block.
 *
 * NVBit's mem_trace names a warp by its slot in the SM. A block of n warps is usually given n
 * adjacent slots, so slot modulo n distinguishes the warps of a block and, if blocks have the slots 0 to n-1, is
 * the warp itself. If another slot of the block has that number already, or if it is the number of a partial last
 * warp and the access has more lanes, the slot gets the lowest free number. In either case the mapping depends on
 * the trace alone. */
#ifndef GT_IMPORT_SLOTS_H
#define GT_IMPORT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

struct gt_slots {
	struct gt_map warps; /* block << 16 | slot, to the warp */
	struct gt_map taken; /* block, to a mask of its warps that have a slot */
	uint64_t last_key;   /* the slot looked up last, and its warp */
	uint16_t last_warp;
};

int gt_slots_open(struct gt_slots *slots, struct gt_error *error);
void gt_slots_close(struct gt_slots *slots);
/* Forgets all blocks. */
void gt_slots_clear(struct gt_slots *slots);

/* The warp of a slot in a block of n warps (1 to 32). not_last: the access has lanes that the last warp does not
 * have. Returns 0, or -1 if the block uses more than n slots or memory is short. */
int gt_slots_warp(struct gt_slots *slots, uint32_t block, uint16_t slot, unsigned n, bool not_last,
		  uint16_t *warp, struct gt_error *error);

#endif
