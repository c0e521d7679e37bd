/* SPDX-License-Identifier: MIT */
/* Which warp an access is of. W is a warp slot of the hardware (import/slots.h). LDGSTS gives two lines, one with the addresses in
 * global memory and one with those in shared memory. */
#include "import/nvbit.h"
#include "import/place.h"
#include "stream/rows.h"

/* The line of a warp's LDGSTS that is still to come. */
enum half { HALF_NONE, HALF_GLOBAL, HALF_SHARED };

/* The lanes that a warp of the block has. */
static uint32_t lanes_of(const struct gt_kernel *kernel, uint64_t warp)
{
	uint64_t left = gt_kernel_threads(kernel) - warp * GT_WARP_SIZE;

	return left >= GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

static uint64_t first_address(const struct gt_trace_access *access)
{
	return access->addresses ? access->addresses[0] : access->base;
}

static uint64_t address_of(const struct gt_trace_access *access, unsigned lane)
{
	if (access->addresses)
		return access->addresses[__builtin_popcount(access->mask & ((UINT32_C(1) << lane) - 1))];
	return access->base + (uint64_t)access->stride * (lane - (unsigned)__builtin_ctz(access->mask));
}

/* Removes lanes above those of `exist` that repeat the lowest lane's address, as lanes that do not exist may do.
 * False if others are left. */
static bool drop_repeats(const struct gt_trace_access *access, uint32_t exist, uint32_t *mask)
{
	uint32_t beyond = access->mask & ~exist;

	if (beyond == access->mask)
		return false;
	for (uint32_t rest = beyond; rest; rest &= rest - 1)
		if (address_of(access, (unsigned)__builtin_ctz(rest)) != first_address(access))
			return false;
	*mask = access->mask & exist;
	return true;
}

int gt_nvbit_find_warp(struct gt_nvbit *reader, const struct gt_nvbit_line *line, struct gt_trace_access *access)
{
	const struct gt_kernel *kernel = &reader->current->kernel;
	unsigned warps = (unsigned)gt_kernel_warps(kernel);
	uint32_t mask;
	bool not_last = warps > 1 && !drop_repeats(access, lanes_of(kernel, warps - 1), &mask);

	if (gt_slots_warp(&reader->current->slots, access->block, line->slot, warps, not_last, &access->warp,
			  reader->error) != 0)
		return gt_import_place(reader->input, reader->error);
	if (!drop_repeats(access, lanes_of(kernel, access->warp), &access->mask))
		return gt_input_fail(reader->input, reader->error,
				     "warp slot %u has lanes that warp %u, the last of the block, does not have: "
				     "expected no address there",
				     line->slot, access->warp);
	return 0;
}

/* Addresses in shared memory are small; if neither line has small ones, the first is taken as the global one. */
int gt_nvbit_pair_halves(struct gt_nvbit *reader, struct gt_trace_access *access)
{
	struct gt_map *halves = &reader->current->halves;
	int fresh = 0;

	if (!halves->slots && gt_map_open(halves, 0, reader->error) != 0)
		return -1;
	uint64_t *half = gt_map_put(halves, (uint64_t)access->block << 16 | access->warp, HALF_NONE, &fresh);

	if (!half)
		return gt_fail_memory(reader->error, "LDGSTS pairs");
	bool first = *half == HALF_NONE;
	bool shared = first ? first_address(access) < GT_WINDOW_BYTES : *half == HALF_SHARED;

	*half = !first ? HALF_NONE : shared ? HALF_GLOBAL : HALF_SHARED;
	if (shared)
		access->op = gt_opcode_shared_store();
	return 0;
}

void gt_nvbit_forget_warps(struct gt_nvbit_launch *launch)
{
	gt_slots_close(&launch->slots);
	gt_map_close(&launch->halves);
}
