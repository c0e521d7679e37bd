/* SPDX-License-Identifier: MIT */
/* All blocks of a launch: one after the other, or concurrently if one waits for a later one. */
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

/* ---- concurrent blocks ---- */

/* Blocks that run concurrently, in turns. When all of them wait, as many more are started. Accesses are passed on for the first
 * unfinished block only; those of later blocks are held until the earlier ones are done. */

#define RESIDENT_MAX 4096 /* concurrent blocks, at most: more than any GPU holds */
#define RESIDENT_WARPS 16384 /* their warps, likewise */
#define ROUNDS 16 /* of a block before the next one's, while it does not wait: what its warps have stays in the processor's cache */
#define HELD_ROWS    32   /* in a batch */
#define STUCK (UINT64_C(1) << 16) /* warp instructions from a look at blocks that all wait to the next, */
#define STUCK_WARP 512 /* and as many more for each of their warps */
#define LOOKS 4 /* at which nothing has changed: the launch is taken to hang */
#define SPUN_SHARE   400  /* the part of --max-instructions that blocks may spin before the launch is taken to hang, */
#define SPUN_MIN     (UINT64_C(1) << 20) /* if it is so many instructions */

struct resident {
	struct gt_ptx_core *core; /* NULL: it is done */
	uint64_t block;
	struct gt_sink sink; /* of all but the first: to `held` */
	struct gt_ptx_held held;
	struct concurrent *concurrent;
};

struct concurrent {
	const struct gt_ptx_core *like;
	struct resident **blocks; /* in the order of their numbers */
	size_t n, capacity, under_way;
	uint64_t turn; /* the block whose accesses are passed on */
	struct gt_ptx_held_store store; /* of their held accesses */
	uint64_t *next, *left;
	struct gt_ptx_ran *ran;
	uint64_t quiet; /* warp instructions since all wait and none can be started, */
	uint64_t look;	/* and at the next look */
	unsigned looks; /* since then */
	uint64_t state; /* a hash of memory at the last */
	uint64_t spun;	/* warp instructions since all wait or spin and none can be started */
};

static uint64_t clusters_of(const struct gt_ptx_launch *launch)
{
	const uint32_t n = gt_ptx_cluster_size(launch);

	return n > 1 ? gt_ptx_blocks(launch) / n : gt_ptx_executed_end(launch);
}

static uint64_t cluster_of(const struct gt_ptx_launch *launch, uint64_t block)
{
	uint64_t cluster = 0, step = 1;

	for (unsigned k = 0; k < 3; k++) {
		cluster += block % launch->grid[k] / gt_ptx_cluster_extent(launch, k) * step;
		block /= launch->grid[k];
		step *= launch->grid[k] / gt_ptx_cluster_extent(launch, k);
	}
	return cluster;
}

static void join_cluster(struct gt_ptx_cluster *cluster, struct gt_ptx_core *core, uint32_t rank)
{
	core->cluster = cluster;
	core->rank = rank;
	cluster->blocks[rank] = core;
	cluster->open++;
}

static int hold_batch(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct resident *resident = context;
	int result = 0;

	for (size_t i = 0; result == 0 && i < rows->n; i++)
		result = gt_ptx_held_add(&resident->held, &resident->concurrent->store, rows, i, error);
	rows->n = rows->n_lanes = 0;
	rows->has_hints = false;
	return result;
}

/* Passes on the accesses of a block that has become the first. */
static int pass_held(struct resident *resident)
{
	const struct gt_ptx_core *like = resident->concurrent->like;
	struct gt_ptx_held_store *store = &resident->concurrent->store;

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
	gt_ptx_held_clear(&resident->held, &resident->concurrent->store);
	gt_rows_free(resident->sink.rows);
	gt_ptx_core_close(resident->core);
	free(resident);
}

/* Adds a block where its number belongs; the one whose turn it is writes to the launch's sink. */
static int add_resident(struct concurrent *concurrent, struct gt_ptx_core *core, uint64_t block)
{
	struct gt_error *error = concurrent->like->error;
	void *grown = gt_grown(concurrent->blocks, concurrent->n, &concurrent->capacity, sizeof *concurrent->blocks);
	struct resident *resident = grown ? calloc(1, sizeof *resident) : NULL;
	size_t at = concurrent->n;

	if (grown)
		concurrent->blocks = grown;
	if (!resident) {
		gt_ptx_core_close(core);
		return gt_fail_memory(error, "blocks");
	}
	resident->core = core;
	resident->block = block;
	resident->concurrent = concurrent;
	for (; at > 0 && concurrent->blocks[at - 1]->block > block; at--)
		concurrent->blocks[at] = concurrent->blocks[at - 1];
	concurrent->blocks[at] = resident;
	concurrent->n++;
	concurrent->under_way++;
	if (block == concurrent->turn || !core->sink)
		return 0;
	resident->sink = (struct gt_sink){gt_rows_new(HELD_ROWS, error), hold_batch, resident};
	core->sink = &resident->sink;
	return resident->sink.rows ? gt_sink_begin(core->sink, GT_ACCESSES, false, error) : -1;
}

/* Whether a GPU could hold one more cluster. */
static bool has_room(const struct concurrent *concurrent)
{
	const struct gt_ptx_launch *launch = concurrent->like->launch;
	const uint32_t *block = launch->block;
	uint64_t warps = ((uint64_t)block[0] * block[1] * block[2] + GT_WARP_SIZE - 1) / GT_WARP_SIZE;
	uint64_t then = concurrent->under_way + gt_ptx_cluster_size(launch);

	return then <= RESIDENT_MAX && then * warps <= RESIDENT_WARPS;
}

/* Starts the blocks of a cluster, or one block where there are none. */
static int begin_cluster(struct concurrent *concurrent, uint64_t number)
{
	const struct gt_ptx_launch *launch = concurrent->like->launch;
	const uint32_t n = gt_ptx_cluster_size(launch);
	struct gt_ptx_core *cores[GT_PTX_CLUSTER_BLOCKS];
	struct gt_ptx_cluster *cluster = n > 1 ? calloc(1, sizeof *cluster) : NULL;
	int result = 0;

	if (n > 1 && !cluster)
		return gt_fail_memory(concurrent->like->error, "a cluster");
	for (uint32_t rank = 0; rank < n; rank++) {
		if (!(cores[rank] = gt_ptx_core_open(concurrent->like))) {
			if (rank == 0)
				free(cluster);
			return -1;
		}
		if (cluster) {
			cluster->n = n;
			join_cluster(cluster, cores[rank], rank);
		}
		if (add_resident(concurrent, cores[rank], n > 1 ? gt_ptx_cluster_block(launch, number, rank) : number) != 0)
			return -1;
	}
	for (uint32_t rank = 0; result == 0 && rank < n; rank++)
		result = gt_ptx_block_begin(cores[rank], n > 1 ? gt_ptx_cluster_block(launch, number, rank) : number);
	return result;
}

/* Starts as many further blocks as there are now, if that many are left; a cluster if there are none. */
static int begin_more(struct concurrent *concurrent)
{
	const struct gt_ptx_launch *launch = concurrent->like->launch;
	const uint64_t clusters = clusters_of(launch);
	const uint32_t n = gt_ptx_cluster_size(launch);

	for (size_t more = concurrent->under_way ? concurrent->under_way : 1; more > 0 && *concurrent->next < clusters && has_room(concurrent);
	     ++*concurrent->next) {
		if (!gt_ptx_is_executed(launch, *concurrent->next))
			continue;
		if (begin_cluster(concurrent, *concurrent->next) != 0)
			return -1;
		more -= more < n ? more : n;
	}
	return 0;
}

/* Some turns of a block, until it waits or a warp of it has come back to what it was. */
static int run_rounds(struct gt_ptx_core *core, uint64_t *left, bool *waits)
{
	uint64_t before;
	unsigned rounds = 0;

	do {
		before = *left;
		if (gt_ptx_block_round(core, left) != 0)
			return -1;
		*waits = gt_ptx_block_waits(core);
	} while (!*waits && !core->repeats && !core->spin.spins && *left < before && core->running > 0 && ++rounds < ROUNDS);
	return 0;
}

/* Runs turns of each; sets *wait if all of them wait, *spin if all wait or spin, and *ahead if a warp is ahead of its turns. */
static int run_round(struct concurrent *concurrent, bool *wait, bool *spin, bool *ahead)
{
	*wait = *spin = true;
	*ahead = false;
	for (size_t i = 0; i < concurrent->n; i++) {
		struct resident *resident = concurrent->blocks[i];
		if (!resident->core)
			continue;
		bool waits;
		if (run_rounds(resident->core, concurrent->left, &waits) != 0)
			return -1;
		*wait = *wait && waits;
		*spin = *spin && (waits || resident->core->spin.spins);
		*ahead |= resident->core->ahead;
		if (resident->core->running > 0)
			continue;
		gt_ptx_block_count(resident->core, concurrent->ran);
		gt_ptx_core_keep(resident->core);
		resident->core = NULL;
		concurrent->under_way--;
	}
	return 0;
}

/* The first block from `block` on that is executed. */
static uint64_t executed_from(const struct gt_ptx_launch *launch, uint64_t block)
{
	const bool clusters = gt_ptx_cluster_size(launch) > 1;
	const uint64_t blocks = clusters ? gt_ptx_blocks(launch) : gt_ptx_executed_end(launch);

	while (block < blocks && !gt_ptx_is_executed(launch, clusters ? cluster_of(launch, block) : block))
		block++;
	return block;
}

/* Removes finished blocks whose turn it is to write; the next one then writes to the launch's sink. */
static int end_blocks(struct concurrent *concurrent)
{
	size_t done = 0;
	int result = 0;

	while (result == 0 && done < concurrent->n && concurrent->blocks[done]->block == concurrent->turn && !concurrent->blocks[done]->core) {
		result = pass_held(concurrent->blocks[done]);
		concurrent->turn = executed_from(concurrent->like->launch, concurrent->turn + 1);
		close_resident(concurrent->blocks[done++]);
	}
	if (done == 0)
		return result;
	concurrent->n -= done;
	memmove(concurrent->blocks, concurrent->blocks + done, concurrent->n * sizeof *concurrent->blocks);
	return result == 0 && concurrent->n > 0 && concurrent->blocks[0]->block == concurrent->turn ? pass_held(concurrent->blocks[0]) : result;
}

static uint64_t memory_state(const struct concurrent *concurrent)
{
	const struct gt_ptx_memory *memory = concurrent->like->memory;
	uint64_t state = 0;

	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); one; one = gt_ptx_live(one->after))
		state = XXH3_64bits_withSeed(memory->host + (one->address - GT_PTX_GLOBAL_BASE), one->bytes, state);
	for (size_t i = 0; i < concurrent->n; i++)
		if (concurrent->blocks[i]->core)
			state = XXH3_64bits_withSeed(concurrent->blocks[i]->core->shared,
						     concurrent->blocks[i]->core->shared_bytes, state);
	return state;
}

static int fail_runaway(const struct concurrent *concurrent, uint64_t instructions, const char *why)
{
	concurrent->ran->runs_away = true;
	for (size_t i = 0; i < concurrent->n; i++) {
		const struct gt_ptx_core *core = concurrent->blocks[i]->core;
		for (uint32_t w = 0; core && w < core->n_warps; w++) {
			const struct gt_ptx_warp *warp = &core->warps[w];
			if (warp->state != GT_PTX_RUNS)
				continue;
			gt_ptx_fault(core->warps + w, warp->poll.op ? warp->poll.op : warp->at, gt_ptx_lowest(warp->mask),
				     "it runs away: in %" PRIu64 " warp instructions %s", instructions, why);
			return -1;
		}
	}
	return -1;
}

/* Whether a warp has been in the state that is kept since the last look, and was in no other that had to be kept. */
static bool has_repeated(struct gt_ptx_watch *watch)
{
	const bool same = watch->keeps == watch->keeps_then && watch->repeated > watch->repeated_then;

	watch->keeps_then = watch->keeps;
	watch->repeated_then = watch->repeated;
	return same;
}

/* Whether no warp has done anything since the last look but what it had done before. That it waits by block.c is no proof: in a loop
 * with a barrier of the grid, a warp waits in each round, and the others are at a barrier whenever they are asked. */
static bool nothing_new(const struct concurrent *concurrent)
{
	bool same = true;

	for (size_t i = 0; i < concurrent->n; i++) {
		const struct gt_ptx_core *core = concurrent->blocks[i]->core;
		for (uint32_t w = 0; core && w < core->n_warps; w++) {
			struct gt_ptx_warp *warp = &core->warps[w];
			const bool polls = has_repeated(&warp->poll), returns = has_repeated(&warp->watch);
			same = same && (warp->state == GT_PTX_RUNS ? polls || returns : warp->issued == warp->issued_then);
			warp->issued_then = warp->issued;
		}
	}
	return same;
}

static uint64_t warps_of(const struct concurrent *concurrent)
{
	uint64_t warps = 0;

	for (size_t i = 0; i < concurrent->n; i++)
		warps += concurrent->blocks[i]->core ? concurrent->blocks[i]->core->n_warps : 0;
	return warps;
}

/* All blocks wait and none can be started: the launch hangs if all warps come back to the state in which they were, and memory does. */
static int check_runaway(struct concurrent *concurrent, uint64_t issued)
{
	if (concurrent->quiet == 0) {
		concurrent->looks = 0;
		concurrent->look = STUCK + STUCK_WARP * warps_of(concurrent);
	}
	if ((concurrent->quiet += issued) < concurrent->look)
		return 0;
	concurrent->look += STUCK + STUCK_WARP * warps_of(concurrent);
	const uint64_t state = nothing_new(concurrent) ? memory_state(concurrent) : 0;
	concurrent->looks = state && (concurrent->looks == 0 || state == concurrent->state) ? concurrent->looks + 1 : 0;
	concurrent->state = state;
	if (concurrent->looks < LOOKS)
		return 0;
	return fail_runaway(concurrent, concurrent->quiet,
			    "nothing has changed that its loop could wait for; what the host does meanwhile comes after the launch");
}

/* All blocks wait or spin and none can be started: they may count down, so it takes long until the launch is taken to hang. */
static int check_spinning(struct concurrent *concurrent, uint64_t issued)
{
	const uint64_t share = concurrent->like->launch->max_instructions / SPUN_SHARE, most = share > SPUN_MIN ? share : SPUN_MIN;

	if ((concurrent->spun += issued) < most || share == 0)
		return 0;
	return fail_runaway(concurrent, most,
			    "all blocks have found what they had found before; --max-instructions allows 400 times as many");
}

/* No warp of any block can go on. */
static int fail_deadlock(const struct concurrent *concurrent)
{
	for (size_t i = 0; i < concurrent->n; i++)
		if (concurrent->blocks[i]->core)
			return gt_ptx_block_deadlock(concurrent->blocks[i]->core);
	return 0;
}

/* Starts what can be started, and runs a turn of all. */
static int run_some(struct concurrent *concurrent, bool *wait, bool *spin)
{
	const size_t under_way = concurrent->under_way;
	const uint64_t before = *concurrent->left;
	bool ahead;

	if (*spin && begin_more(concurrent) != 0)
		return -1;
	if (run_round(concurrent, wait, spin, &ahead) != 0)
		return -1;
	if (concurrent->under_way > 0 && *concurrent->left == before && !ahead)
		return fail_deadlock(concurrent);
	const uint64_t issued = before - *concurrent->left;
	const bool stuck = *spin && concurrent->under_way == under_way;
	concurrent->spun = stuck ? concurrent->spun : 0;
	if (stuck && *wait)
		return check_runaway(concurrent, issued);
	concurrent->quiet = 0;
	return stuck ? check_spinning(concurrent, issued) : 0;
}

/* Runs a block that waits, and later ones beside it, until all of them are done. *next is the next
 * block to begin. The core is closed then. Without a core, runs all clusters of the launch from *next on, each of which
 * has its blocks beside each other. Accesses reach the sink block by block all the same. */
static int run_concurrently(const struct gt_ptx_core *like, struct gt_ptx_core *core, uint64_t *next, uint64_t *left,
		      struct gt_ptx_ran *ran)
{
	struct concurrent concurrent = {.like = like, .next = next, .left = left, .ran = ran};
	const uint64_t clusters = core ? 0 : clusters_of(like->launch);
	bool wait = true, spin = true;
	int result = 0;

	gt_ptx_held_store_open(&concurrent.store, like->launch->memory);
	concurrent.turn = core ? core->block : executed_from(like->launch, 0);
	if (core) {
		core->hold = NULL; /* from now on its accesses are not the only ones */
		result = add_resident(&concurrent, core, core->block);
	}
	while (result == 0 && (concurrent.under_way > 0 || *next < clusters)) {
		result = run_some(&concurrent, &wait, &spin);
		if (result == 0)
			result = end_blocks(&concurrent);
	}
	for (size_t i = 0; i < concurrent.n; i++)
		close_resident(concurrent.blocks[i]);
	free(concurrent.blocks);
	gt_ptx_held_store_close(&concurrent.store);
	return result;
}

/* ---- the launch ---- */

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
	uint64_t blocks = gt_ptx_executed_end(launch), block = 0;
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
	gt_ptx_report_out_of_bounds(machine, program, launch->check);
	return result;
}
