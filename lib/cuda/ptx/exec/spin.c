/* SPDX-License-Identifier: MIT */
/* Detects blocks that wait in loops whose registers change, such as a back-off counter, from their accesses. All accesses are
 * sampled for a period from time to time; a block spins if the second half of the period has accesses to global memory, but none
 * that the first half does not have. One that stores, as a long computation does in the same places, must look so several times in a
 * row. A block whose kernel has no instruction by which blocks learn of each other (decode/decode.h) waits for none, and is sampled
 * only where lanes of a warp have parted, which may wait for each other. This is a heuristic, so it never causes an error: it only
 * lets other blocks run. */
#include <string.h>

#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/paths.h"

#define LOOK_MIN (UINT64_C(1) << 12) /* warp instructions of a sampling period */
#define LOOK_MAX (UINT64_C(1) << 16)
#define REST	 16 /* the time to the next period, in periods */
#define PATIENCE 16 /* periods in a row in which a block that stores looks as if it spun, before it is taken to */

enum { RESTS, GATHERS, COMPARES };

void gt_ptx_spin_begin(struct gt_ptx_core *core)
{
	struct gt_ptx_spin *spin = &core->spin;

	spin->spins = false;
	spin->phase = RESTS;
	spin->issued = 0;
	spin->look = LOOK_MIN;
	spin->patience = PATIENCE;
	spin->next = REST * LOOK_MIN;
}

/* Adds a key; true if it was present. When the table is full no key is added. */
static bool put(struct gt_ptx_spin *spin, uint64_t key)
{
	size_t at = (size_t)(key >> 40) % GT_PTX_SPIN_KEYS;

	while (spin->keys[at] && spin->keys[at] != key)
		at = (at + 1) % GT_PTX_SPIN_KEYS;
	if (spin->keys[at])
		return true;
	if (spin->n < GT_PTX_SPIN_KEYS * 3 / 4) {
		spin->keys[at] = key;
		spin->n++;
	}
	return false;
}

void gt_ptx_spin_note(struct gt_ptx_core *core, uint32_t line, uint64_t address, bool global, bool store)
{
	struct gt_ptx_spin *spin = &core->spin;
	bool known = put(spin, (address * UINT64_C(0x9e3779b97f4a7c15) ^ line * UINT64_C(0xc2b2ae3d27d4eb4f)) | 1);

	if (spin->phase != COMPARES)
		return;
	spin->polls |= known && global;
	spin->fresh |= !known;
	spin->stores |= store;
}

/* Decides at the end of a period. Once a block that stores was found to spin, it is known for that. */
static bool repeats_itself(struct gt_ptx_spin *spin)
{
	if (!spin->polls || spin->fresh) {
		spin->patience = spin->patience ? PATIENCE : 0;
		return false;
	}
	if (!spin->stores || spin->patience == 0)
		return true;
	spin->patience--;
	return false;
}

/* Whether lanes of some warp have parted, so that one may wait for another. */
static bool has_parted(const struct gt_ptx_core *core)
{
	for (uint32_t w = 0; w < core->n_warps; w++)
		if (core->warps[w].state == GT_PTX_RUNS && core->warps[w].top->below)
			return true;
	return false;
}

bool gt_ptx_spin_look(struct gt_ptx_core *core)
{
	struct gt_ptx_spin *spin = &core->spin;

	switch (spin->phase) {
	case RESTS:
		if (!core->program->joins_blocks && !has_parted(core)) {
			spin->next = spin->issued + REST * spin->look;
			return false;
		}
		memset(spin->keys, 0, sizeof spin->keys);
		spin->n = 0;
		spin->polls = spin->fresh = spin->stores = false;
		core->traced |= GT_PTX_NOTES_SPIN;
		spin->phase = GATHERS;
		spin->next = spin->issued + spin->look / 2;
		return false;
	case GATHERS:
		spin->phase = COMPARES;
		spin->next = spin->issued + spin->look / 2;
		return false;
	default:
		core->traced &= ~GT_PTX_NOTES_SPIN;
		spin->phase = RESTS;
		const bool repeats = repeats_itself(spin);
		spin->spins = repeats && core->program->joins_blocks;
		if (!repeats && spin->look < LOOK_MAX)
			spin->look *= 2;
		spin->next = spin->issued + (spin->spins ? spin->look : REST * spin->look);
		return repeats;
	}
}
