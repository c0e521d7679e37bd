/* SPDX-License-Identifier: MIT */
#include "gpu/occupancy.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/options.h"

#define NO_LIMIT UINT64_MAX
#define WARP_THREADS 32
#define LARGEST_BLOCK_WARPS 32

static uint64_t round_up(uint64_t number, uint64_t unit)
{
	return unit > 1 ? (number + unit - 1) / unit * unit : number;
}

static uint64_t round_down(uint64_t number, uint64_t unit)
{
	return unit > 1 ? number / unit * unit : number;
}

/* ---- reading the limits ---- */

/* The fields of struct gt_limits that each have a key in a description. */
static const struct {
	const char *key;
	size_t offset;
	int (*get)(const struct gt_gpu *gpu, const char *key, uint64_t otherwise, uint64_t *value,
		   struct gt_error *error);
} figures[] = {
	{"max_blocks", offsetof(struct gt_limits, blocks), gt_gpu_count},
	{"max_warps", offsetof(struct gt_limits, warps), gt_gpu_count},
	{"registers", offsetof(struct gt_limits, registers), gt_gpu_count},
	{"register_unit", offsetof(struct gt_limits, register_unit), gt_gpu_count},
	{"warp_unit", offsetof(struct gt_limits, warp_unit), gt_gpu_count},
	{"max_registers_thread", offsetof(struct gt_limits, registers_thread), gt_gpu_count},
	{"shared", offsetof(struct gt_limits, shared), gt_gpu_size},
	{"shared_block", offsetof(struct gt_limits, shared_block), gt_gpu_size},
	{"shared_unit", offsetof(struct gt_limits, shared_unit), gt_gpu_size},
	{"shared_reserved", offsetof(struct gt_limits, shared_reserved), gt_gpu_size},
	{"shared_least", offsetof(struct gt_limits, shared_least), gt_gpu_size},
	{"shared_warps", offsetof(struct gt_limits, shared_warps), gt_gpu_count},
	{"shared_room", offsetof(struct gt_limits, shared_room), gt_gpu_count},
	{"shared_room_none", offsetof(struct gt_limits, shared_room_none), gt_gpu_count},
	{"unified", offsetof(struct gt_limits, unified), gt_gpu_size},
	{"l1_reserved", offsetof(struct gt_limits, l1_reserved), gt_gpu_size},
};

/* "0,8K,16K" into the carve-outs. */
static int load_carveouts(struct gt_limits *limits, const char *text, struct gt_error *error)
{
	char item[GT_GPU_TEXT];

	for (;;) {
		size_t length = strcspn(text, ",");
		if (limits->n_carveouts == GT_CARVEOUTS_MAX || length >= sizeof item)
			return gt_fail(error, "gpu: shared_options: expected at most %d sizes", GT_CARVEOUTS_MAX);
		memcpy(item, text, length);
		item[length] = '\0';
		if (gt_parse_size(item, 0, UINT64_C(1) << 48, &limits->carveouts[limits->n_carveouts++], error) != 0)
			return -1;
		if (text[length] == '\0')
			return 0;
		text += length + 1;
	}
}

/* The largest carve-out and what holds no lines leave some of the unified memory to L1. */
static int check_reserved(const struct gt_limits *limits, struct gt_error *error)
{
	if (limits->n_carveouts == 0 || limits->unified == 0)
		return limits->l1_reserved == 0 ? 0 : gt_fail(error, "gpu: l1_reserved: expected unified and shared_options too");
	if (limits->shared < limits->unified && limits->l1_reserved < limits->unified - limits->shared)
		return 0;
	return gt_fail(error, "gpu: shared and l1_reserved: expected less than unified together, so that L1 has lines");
}

int gt_limits_load(struct gt_limits *limits, const struct gt_gpu *gpu, struct gt_error *error)
{
	const char *options = gt_gpu_get(gpu, "shared_options");

	*limits = (struct gt_limits){0};
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
		uint64_t *figure = (uint64_t *)(void *)((char *)limits + figures[i].offset);
		if (figures[i].get(gpu, figures[i].key, 0, figure, error) != 0)
			return -1;
	}
	if (options && load_carveouts(limits, options, error) != 0)
		return -1;
	return check_reserved(limits, error);
}

uint32_t gt_limits_full_registers(const struct gt_limits *limits)
{
	if (!limits->registers || !limits->warps)
		return 0;
	uint64_t each = round_down(limits->registers / limits->warps, limits->register_unit) / WARP_THREADS;
	return each < UINT32_MAX ? (uint32_t)each : UINT32_MAX;
}

/* ---- the limits, one by one: blocks that fit an SM ---- */

static uint64_t by_blocks(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t shared)
{
	(void)needs;
	(void)shared;
	return limits->blocks ? limits->blocks : NO_LIMIT;
}

/* [000] algorithm 3, [004] eq. (4). */
static uint64_t by_warps(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t shared)
{
	(void)shared;
	return limits->warps && needs->warps ? limits->warps / needs->warps : NO_LIMIT;
}

/* [004] eq. (5): registers are allocated to warps in units, and to `warp_unit` warps at a time. */
static uint64_t by_registers(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t shared)
{
	uint64_t of_warp = round_up((uint64_t)needs->registers * WARP_THREADS, limits->register_unit);

	(void)shared;
	if (limits->registers_thread && needs->registers > limits->registers_thread)
		return 0;
	if (!limits->registers || !of_warp || !needs->warps)
		return NO_LIMIT;
	return round_down(limits->registers / of_warp, limits->warp_unit) / needs->warps;
}

/* [004] eq. (6), as a function of the bytes allocated to shared memory. */
static uint64_t by_shared(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t shared)
{
	uint64_t of_block = round_up(needs->shared_bytes + limits->shared_reserved, limits->shared_unit);

	if (limits->shared_block && needs->shared_bytes > limits->shared_block)
		return 0;
	return limits->shared && of_block ? shared / of_block : NO_LIMIT;
}

static const struct {
	const char *name;
	uint64_t (*blocks)(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t shared);
} bounds[] = {
	{"blocks", by_blocks},
	{"warps", by_warps},
	{"registers", by_registers},
	{"shared", by_shared},
};

/* [004] eq. (3): the smallest of the limits, and the first that has this value. */
static uint64_t active_blocks(const struct gt_limits *limits, const struct gt_block_needs *needs,
			      uint64_t shared, const char **limited_by)
{
	uint64_t least = NO_LIMIT;

	*limited_by = NULL;
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		uint64_t blocks = bounds[i].blocks(limits, needs, shared);
		if (blocks >= least)
			continue;
		least = blocks;
		*limited_by = bounds[i].name;
	}
	return least;
}

/* The blocks that the driver makes room for, which may be more than an SM holds, as Nsight Compute reports it (tests/reference/README.md). */
static uint64_t blocks_with_room(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t resident)
{
	uint64_t blocks = resident;

	if (limits->shared_room && resident > 1 && needs->warps < LARGEST_BLOCK_WARPS)
		blocks = limits->shared_room * resident;
	if (limits->shared_room_none && resident > 1 && !needs->shared_bytes && needs->warps)
		blocks = limits->shared_room_none * (limits->warps / needs->warps);
	if (limits->shared_warps && needs->warps)
		blocks = limits->shared_warps / needs->warps;
	return limits->blocks && blocks > limits->blocks ? limits->blocks : blocks;
}

/* What it makes room for: `bytes` for each of these blocks, as far as half of the unified memory goes. */
static uint64_t room_for(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t bytes, uint64_t resident)
{
	uint64_t blocks = blocks_with_room(limits, needs, resident);
	uint64_t each = round_up(bytes, limits->shared_unit), most = limits->unified / 2;

	return each > 0 && blocks > most / each ? most : blocks * each;
}

/* [004] eq. (7): the smallest carve-out with as many resident blocks as the largest has, from the least that the GPU takes and from what the
 * driver makes room for. */
static uint64_t adaptive_carveout(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t most)
{
	uint64_t carveout = limits->shared, least = room_for(limits, needs, needs->shared_bytes + limits->shared_reserved, most);
	const char *limited_by;

	if (least < limits->shared_least)
		least = limits->shared_least;
	for (unsigned i = limits->n_carveouts; i-- > 0;)
		if (limits->carveouts[i] <= limits->shared && limits->carveouts[i] >= least &&
		    active_blocks(limits, needs, limits->carveouts[i], &limited_by) == most)
			carveout = limits->carveouts[i];
	return carveout;
}

/* The smallest carve-out that holds a block's shared memory and is at least the launch's preference, a percentage
 * of the largest. What the system reserves for blocks without shared memory has its room, whatever the launch prefers. */
static uint64_t preferred_carveout(const struct gt_limits *limits, const struct gt_block_needs *needs, uint64_t most)
{
	uint64_t wanted = (limits->shared * (needs->carveout - 1) + 99) / 100, carveout = limits->shared;
	uint64_t reserved = needs->shared_bytes ? 0 : room_for(limits, needs, limits->shared_reserved, most);
	const char *limited_by;

	if (wanted < reserved)
		wanted = reserved;
	for (unsigned i = limits->n_carveouts; i-- > 0;)
		if (limits->carveouts[i] <= limits->shared && limits->carveouts[i] >= wanted &&
		    active_blocks(limits, needs, limits->carveouts[i], &limited_by) > 0)
			carveout = limits->carveouts[i];
	return carveout;
}

static void choose_carveout(struct gt_occupancy *occupancy, const struct gt_limits *limits,
			    const struct gt_block_needs *needs)
{
	if (!limits->n_carveouts)
		return;
	occupancy->carveout = needs->carveout ? preferred_carveout(limits, needs, occupancy->blocks)
					      : adaptive_carveout(limits, needs, occupancy->blocks);
	occupancy->blocks = active_blocks(limits, needs, occupancy->carveout, &occupancy->limited_by);
	if (limits->unified > occupancy->carveout + limits->l1_reserved)
		occupancy->l1_bytes = limits->unified - occupancy->carveout - limits->l1_reserved;
}

int gt_occupancy_find(struct gt_occupancy *occupancy, const struct gt_limits *limits,
		 const struct gt_block_needs *needs, struct gt_error *error)
{
	*occupancy = (struct gt_occupancy){0};
	occupancy->blocks = active_blocks(limits, needs, limits->shared, &occupancy->limited_by);
	if (occupancy->blocks == 0 && !limits->all)
		return gt_fail(error, "no block fits an SM, limited by %s: a block has %" PRIu64 " warps, %" PRIu32
				      " registers a thread and %" PRIu32 " bytes of shared memory",
			       occupancy->limited_by, needs->warps, needs->registers, needs->shared_bytes);
	choose_carveout(occupancy, limits, needs);
	if (limits->all) {
		occupancy->blocks = NO_LIMIT;
		occupancy->limited_by = NULL;
	}
	return 0;
}
