/* SPDX-License-Identifier: MIT */
#include "import/slots.h"

#include <inttypes.h>
#include <string.h>

int gt_slots_open(struct gt_slots *slots, struct gt_error *error)
{
	memset(slots, 0, sizeof *slots);
	slots->last_key = GT_MAP_EMPTY;
	if (gt_map_open(&slots->warps, 0, error) != 0)
		return -1;
	if (gt_map_open(&slots->taken, 0, error) == 0)
		return 0;
	gt_map_close(&slots->warps);
	return -1;
}

void gt_slots_close(struct gt_slots *slots)
{
	gt_map_close(&slots->warps);
	gt_map_close(&slots->taken);
}

void gt_slots_clear(struct gt_slots *slots)
{
	gt_map_clear(&slots->warps);
	gt_map_clear(&slots->taken);
	slots->last_key = GT_MAP_EMPTY;
}

/* Chooses the warp of a slot that is new in its block; `taken` is a mask of the block's warps in use. */
static int choose(uint32_t block, uint16_t slot, unsigned n, bool not_last, uint64_t *taken,
		  uint64_t *warp, struct gt_error *error)
{
	unsigned number = slot % n;

	if (*taken >> number & 1 || (not_last && number == n - 1))
		for (number = 0; number < n && (*taken >> number & 1); number++)
			;
	if (number == n)
		return gt_fail(error,
			       "warp slot %u of block %" PRIu32 " is one too many: expected at most %u "
			       "slots for a block of %u warps",
			       slot, block, n, n);
	*taken |= UINT64_C(1) << number;
	*warp = number;
	return 0;
}

int gt_slots_warp(struct gt_slots *slots, uint32_t block, uint16_t slot, unsigned n, bool not_last,
		  uint16_t *warp, struct gt_error *error)
{
	uint64_t key = (uint64_t)block << 16 | slot;
	int fresh = 0, fresh_block = 0;

	if (key == slots->last_key) {
		*warp = slots->last_warp;
		return 0;
	}
	uint64_t *number = gt_map_put(&slots->warps, key, 0, &fresh);
	if (!number)
		return gt_fail_memory(error, "warp slots");
	if (fresh) {
		uint64_t *taken = gt_map_put(&slots->taken, block, 0, &fresh_block);

		if (!taken)
			return gt_fail_memory(error, "warp slots");
		if (choose(block, slot, n, not_last, taken, number, error) != 0)
			return -1;
	}
	slots->last_key = key;
	slots->last_warp = (uint16_t)*number;
	*warp = slots->last_warp;
	return 0;
}
