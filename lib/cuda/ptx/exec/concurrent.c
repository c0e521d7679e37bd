/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/paths.h"

/* ---- beside ---- */

/* Blocks that run concurrently, in turns. When all of them wait, as many more are started. Accesses are passed on for the first
 * unfinished block only; those of later blocks are held until the earlier ones are done. */

#define RESIDENT_MAX 4096 /* concurrent blocks, at most: more than any GPU holds */
#define RESIDENT_WARPS 16384 /* their warps, likewise */
#define HELD_ROWS    256  /* in a batch */

struct resident {
	struct gt_ptx_core *core; /* NULL: it is done */
	uint64_t block;
	struct gt_sink sink; /* of all but the first: to `held` */
	struct gt_ptx_held held;
	struct beside *beside;
};

struct beside {
	const struct gt_ptx_core *like;
	struct resident **blocks; /* in the order of their numbers */
	size_t n, capacity, under_way;
	uint64_t turn; /* the block whose accesses are passed on */
	struct gt_ptx_held_store store; /* of their held accesses */
	uint64_t *next, *left;
	struct gt_ptx_ran *ran;
	uint64_t quiet; /* warp instructions since all wait and none can be started */
	uint64_t state; /* a hash of memory, taken after half of GT_PTX_PATIENCE */
};

static int hold_batch(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct resident *resident = context;
	int result = 0;

	for (size_t i = 0; result == 0 && i < rows->n; i++)
		result = gt_ptx_held_add(&resident->held, &resident->beside->store, rows, i, error);
	rows->n = rows->n_lanes = 0;
	rows->has_hints = false;
	return result;
}

/* Passes on the accesses of a block that has become the first. */
static int pass_held(struct resident *resident)
{
	const struct gt_ptx_core *like = resident->beside->like;
	struct gt_ptx_held_store *store = &resident->beside->store;

	if (!resident->sink.rows)
		return 0;
	if (like->launch->ended)
		*like->launch->ended = 0; /* until all accesses of ended warps have been passed on */
	if (hold_batch(resident, resident->sink.rows, like->error) != 0)
		return -1;
	while (gt_ptx_held_first(&resident->held))
		if (gt_ptx_held_pass(&resident->held, store, (uint32_t)resident->block, like->sink, like->error) != 0)
			return -1;
	gt_rows_free(resident->sink.rows);
	resident->sink.rows = NULL;
	if (resident->core) {
		resident->core->sink = like->sink;
		gt_ptx_block_ended(resident->core);
	}
	return 0;
}

static void close_resident(struct resident *resident)
{
	gt_ptx_held_clear(&resident->held, &resident->beside->store);
	gt_rows_free(resident->sink.rows);
	gt_ptx_core_close(resident->core);
	free(resident);
}

/* Adds a block where its number belongs; the one whose turn it is writes to the launch's sink. */
static int add_resident(struct beside *beside, struct gt_ptx_core *core, uint64_t block)
{
	struct gt_error *error = beside->like->error;
	void *grown = gt_grown(beside->blocks, beside->n, &beside->capacity, sizeof *beside->blocks);
	struct resident *resident = grown ? calloc(1, sizeof *resident) : NULL;
	size_t at = beside->n;

	if (grown)
		beside->blocks = grown;
	if (!resident) {
		gt_ptx_core_close(core);
		return gt_fail_memory(error, "blocks");
	}
	resident->core = core;
	resident->block = block;
	resident->beside = beside;
	for (; at > 0 && beside->blocks[at - 1]->block > block; at--)
		beside->blocks[at] = beside->blocks[at - 1];
	beside->blocks[at] = resident;
	beside->n++;
	beside->under_way++;
	if (block == beside->turn || !core->sink)
		return 0;
	resident->sink = (struct gt_sink){gt_rows_new(HELD_ROWS, error), hold_batch, resident};
	core->sink = &resident->sink;
	return resident->sink.rows ? gt_sink_begin(core->sink, GT_ACCESSES, false, error) : -1;
}

/* Whether a GPU could hold one more cluster. */
static bool has_room(const struct beside *beside)
{
	const struct gt_ptx_launch *launch = beside->like->launch;
	const uint32_t *block = launch->block;
	uint64_t warps = ((uint64_t)block[0] * block[1] * block[2] + GT_WARP_SIZE - 1) / GT_WARP_SIZE;
	uint64_t then = beside->under_way + gt_ptx_cluster_size(launch);

	return then <= RESIDENT_MAX && then * warps <= RESIDENT_WARPS;
}

/* Starts the blocks of a cluster, or one block where there are none. */
static int begin_cluster(struct beside *beside, uint64_t number)
{
	const struct gt_ptx_launch *launch = beside->like->launch;
	const uint32_t n = gt_ptx_cluster_size(launch);
	struct gt_ptx_core *cores[GT_PTX_CLUSTER_BLOCKS];
	struct gt_ptx_cluster *cluster = n > 1 ? calloc(1, sizeof *cluster) : NULL;
	int result = 0;

	if (n > 1 && !cluster)
		return gt_fail_memory(beside->like->error, "a cluster");
	for (uint32_t rank = 0; rank < n; rank++) {
		if (!(cores[rank] = gt_ptx_core_open(beside->like))) {
			if (rank == 0)
				free(cluster);
			return -1;
		}
		if (cluster) {
			cluster->n = n;
			gt_ptx_cluster_join(cluster, cores[rank], rank);
		}
		if (add_resident(beside, cores[rank], n > 1 ? gt_ptx_cluster_block(launch, number, rank) : number) != 0)
			return -1;
	}
	for (uint32_t rank = 0; result == 0 && rank < n; rank++)
		result = gt_ptx_block_begin(cores[rank], n > 1 ? gt_ptx_cluster_block(launch, number, rank) : number);
	return result;
}

/* Starts as many further blocks as there are now, if that many are left; a cluster if there are none. */
static int begin_more(struct beside *beside)
{
	const struct gt_ptx_launch *launch = beside->like->launch;
	const uint64_t clusters = gt_ptx_clusters(launch);
	const uint32_t n = gt_ptx_cluster_size(launch);

	for (size_t more = beside->under_way ? beside->under_way : 1; more > 0 && *beside->next < clusters && has_room(beside);
	     ++*beside->next) {
		if (!gt_ptx_is_executed(launch, *beside->next))
			continue;
		if (begin_cluster(beside, *beside->next) != 0)
			return -1;
		more -= more < n ? more : n;
	}
	return 0;
}

/* Runs a turn of each; sets *wait if all of them wait, *spin if all wait or spin, and *ahead if a warp is ahead of its turns. */
static int run_round(struct beside *beside, bool *wait, bool *spin, bool *ahead)
{
	*wait = *spin = true;
	*ahead = false;
	for (size_t i = 0; i < beside->n; i++) {
		struct resident *resident = beside->blocks[i];
		if (!resident->core)
			continue;
		if (gt_ptx_block_round(resident->core, beside->left) != 0)
			return -1;
		bool waits = gt_ptx_block_waits(resident->core);
		*wait = *wait && waits;
		*spin = *spin && (waits || resident->core->spin.spins);
		*ahead |= resident->core->ahead;
		if (resident->core->running > 0)
			continue;
		gt_ptx_block_count(resident->core, beside->ran);
		gt_ptx_core_close(resident->core);
		resident->core = NULL;
		beside->under_way--;
	}
	return 0;
}

/* The first block from `block` on that is executed. */
static uint64_t executed_from(const struct gt_ptx_launch *launch, uint64_t block)
{
	const uint64_t blocks = gt_ptx_blocks(launch);
	const bool clusters = gt_ptx_cluster_size(launch) > 1;

	while (block < blocks && !gt_ptx_is_executed(launch, clusters ? gt_ptx_cluster_of(launch, block) : block))
		block++;
	return block;
}

/* Removes finished blocks whose turn it is to write; the next one then writes to the launch's sink. */
static int end_blocks(struct beside *beside)
{
	size_t done = 0;
	int result = 0;

	while (result == 0 && done < beside->n && beside->blocks[done]->block == beside->turn && !beside->blocks[done]->core) {
		result = pass_held(beside->blocks[done]);
		beside->turn = executed_from(beside->like->launch, beside->turn + 1);
		close_resident(beside->blocks[done++]);
	}
	if (done == 0)
		return result;
	beside->n -= done;
	memmove(beside->blocks, beside->blocks + done, beside->n * sizeof *beside->blocks);
	return result == 0 && beside->n > 0 && beside->blocks[0]->block == beside->turn ? pass_held(beside->blocks[0]) : result;
}

static uint64_t memory_state(const struct beside *beside)
{
	const struct gt_ptx_memory *memory = beside->like->memory;
	uint64_t state = 0;

	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); one; one = gt_ptx_live(one->after))
		state = XXH3_64bits_withSeed(memory->host + (one->address - GT_PTX_GLOBAL_BASE), one->bytes, state);
	for (size_t i = 0; i < beside->n; i++)
		if (beside->blocks[i]->core)
			state = XXH3_64bits_withSeed(beside->blocks[i]->core->shared,
						     beside->blocks[i]->core->shared_bytes, state);
	return state;
}

static int fail_runaway(const struct beside *beside)
{
	beside->ran->runs_away = true;
	for (size_t i = 0; i < beside->n; i++) {
		const struct gt_ptx_core *core = beside->blocks[i]->core;
		for (uint32_t w = 0; core && w < core->n_warps; w++) {
			const struct gt_ptx_warp *warp = &core->warps[w];
			if (warp->state != GT_PTX_RUNS)
				continue;
			gt_ptx_fault(core->warps + w, warp->poll.op ? warp->poll.op : warp->at, gt_ptx_lowest(warp->mask),
				     "it runs away: in %" PRIu64
				     " warp instructions nothing has changed that its loop could wait for;"
				     " what the host does meanwhile comes after the launch",
				     GT_PTX_PATIENCE);
			return -1;
		}
	}
	return -1;
}

/* All blocks wait and none can be started: the launch hangs if memory does not change. */
static int check_runaway(struct beside *beside, uint64_t issued)
{
	uint64_t before = beside->quiet;

	beside->quiet += issued;
	if (before < GT_PTX_PATIENCE / 2 && beside->quiet >= GT_PTX_PATIENCE / 2)
		beside->state = memory_state(beside);
	if (beside->quiet < GT_PTX_PATIENCE)
		return 0;
	if (beside->state == memory_state(beside))
		return fail_runaway(beside);
	beside->quiet = 0;
	return 0;
}

/* No warp of any block can go on. */
static int fail_deadlock(const struct beside *beside)
{
	for (size_t i = 0; i < beside->n; i++)
		if (beside->blocks[i]->core)
			return gt_ptx_block_deadlock(beside->blocks[i]->core);
	return 0;
}

/* Starts what can be started, and runs a turn of all. */
static int run_some(struct beside *beside, bool *wait, bool *spin)
{
	const size_t under_way = beside->under_way;
	const uint64_t before = *beside->left;
	bool ahead;

	if (*spin && begin_more(beside) != 0)
		return -1;
	if (run_round(beside, wait, spin, &ahead) != 0)
		return -1;
	if (beside->under_way > 0 && *beside->left == before && !ahead)
		return fail_deadlock(beside);
	if (*wait && beside->under_way == under_way)
		return check_runaway(beside, before - *beside->left);
	beside->quiet = 0;
	return 0;
}

/* Runs a block that waits, and later ones beside it, until all of them are done. *next is the next
 * block to begin. The core is closed then. Without a core, runs all clusters of the launch from *next on, each of which
 * has its blocks beside each other. Accesses reach the sink block by block all the same. */
static int run_concurrently(const struct gt_ptx_core *like, struct gt_ptx_core *core, uint64_t *next, uint64_t *left,
		      struct gt_ptx_ran *ran)
{
	struct beside beside = {.like = like, .next = next, .left = left, .ran = ran};
	const uint64_t clusters = core ? 0 : gt_ptx_clusters(like->launch);
	bool wait = true, spin = true;
	int result = 0;

	gt_ptx_held_store_open(&beside.store, like->launch->memory);
	beside.turn = core ? core->block : executed_from(like->launch, 0);
	if (core) {
		core->hold = NULL; /* from now on its accesses are not the only ones */
		result = add_resident(&beside, core, core->block);
	}
	while (result == 0 && (beside.under_way > 0 || *next < clusters)) {
		result = run_some(&beside, &wait, &spin);
		if (result == 0)
			result = end_blocks(&beside);
	}
	for (size_t i = 0; i < beside.n; i++)
		close_resident(beside.blocks[i]);
	free(beside.blocks);
	gt_ptx_held_store_close(&beside.store);
	return result;
}

/* ---- run ---- */

/* A launch: its blocks one after the other in the order of their numbers, as far as they do not wait
 * for later ones. */

/* Runs a block until it is done, or waits for others: *waits. */
static int run_block(struct gt_ptx_core *core, uint64_t block, uint64_t *left, bool *waits)
{
	*waits = false;
	core->hold = core->launch->hold;
	if (gt_ptx_block_begin(core, block) != 0)
		return -1;
	while (core->running > 0 && !*waits) {
		if (gt_ptx_block_round(core, left) != 0)
			return -1;
		*waits = core->spin.spins || (core->repeats && gt_ptx_block_waits(core));
	}
	return 0;
}

/* All blocks, one after the other as far as they can. */
static int run_blocks(const struct gt_ptx_core *like, struct gt_ptx_ran *ran)
{
	const struct gt_ptx_launch *launch = like->launch;
	struct gt_ptx_core *core = NULL;
	uint64_t blocks = gt_ptx_blocks(launch), block = 0;
	uint64_t left = launch->max_instructions ? launch->max_instructions : UINT64_MAX;
	int result = 0;
	bool waits;

	if (gt_ptx_cluster_size(launch) > 1)
		return run_concurrently(like, NULL, &block, &left, ran);
	while (result == 0 && block < blocks) {
		if (!gt_ptx_is_executed(launch, block)) {
			block++;
			continue;
		}
		if (!core && !(core = gt_ptx_core_open(like)))
			return -1;
		result = run_block(core, block++, &left, &waits);
		if (!waits) {
			gt_ptx_block_count(core, ran);
		} else if (result == 0) {
			result = run_concurrently(like, core, &block, &left, ran);
			core = NULL;
		}
	}
	gt_ptx_core_close(core);
	return result;
}

int gt_ptx_execute(struct gt_ptx_machine *machine, const struct gt_ptx_program *program,
		   const struct gt_ptx_launch *launch, struct gt_ptx_ran *ran, struct gt_error *error)
{
	const struct gt_ptx_core core = {
		.machine = machine,
		.launch = launch,
		.program = program,
		.memory = machine->memory,
		.sink = launch->sink,
		.error = error,
		.ran = ran,
		.launches = ++machine->launches,
	};

	if (launch->sink && gt_sink_begin(launch->sink, GT_ACCESSES, false, error) != 0)
		return -1;
	gt_ptx_forget_allocations(program, machine->module->n_functions);
	int result = run_blocks(&core, ran);
	gt_ptx_strays_tell(machine, program, launch->check);
	return result;
}
