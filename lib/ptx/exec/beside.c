/* SPDX-License-Identifier: MIT */
/* Blocks that run beside each other. They take turns; when all of them wait, as many more are begun.
 * Accesses of all but the first that is not done are held until those before it are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "ptx/exec/blocks.h"
#include "ptx/exec/paths.h"

#define RESIDENT_MAX 4096 /* blocks under way: more than any GPU holds */
#define HELD_ROWS    256  /* in a batch */
#define PATIENCE     (UINT64_C(1) << 22) /* warp instructions in which nothing may change */

struct resident {
	struct gt_ptx_core *core; /* NULL: it is done */
	struct gt_sink held;
	struct gt_rows **batches;
	size_t n_batches, capacity;
	struct beside *beside;
};

struct beside {
	const struct gt_ptx_core *like;
	struct resident **blocks; /* in the order of their numbers */
	size_t n, capacity, under_way;
	uint64_t *next, *left;
	struct gt_ptx_ran *ran;
	uint64_t held_bytes;
	uint64_t quiet; /* warp instructions since all wait and none can be begun */
	uint64_t state; /* a hash of memory, after half of them */
};

/* A held batch is full: its rows are kept, and the sink's batch, whose address writers hold, is empty again. */
static int take_batch(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct resident *resident = context;
	uint64_t limit = resident->beside->like->launch->memory;

	void *grown = gt_grown(resident->batches, resident->n_batches, &resident->capacity, sizeof *resident->batches);
	if (!grown)
		return gt_fail_memory(error, "the accesses of a block");
	resident->batches = grown;
	struct gt_rows *kept = gt_rows_new(HELD_ROWS, error);
	if (!kept)
		return -1;
	gt_rows_shape(kept, rows);
	struct gt_rows empty = *kept;
	*kept = *rows;
	*rows = empty;
	resident->batches[resident->n_batches++] = kept;
	resident->beside->held_bytes += kept->n * 64 + kept->n_lanes * sizeof *kept->lanes;
	if (limit && resident->beside->held_bytes > limit)
		return gt_fail(error,
			       "blocks that run beside each other make more accesses than %" PRIu64
			       " bytes of memory can put in order",
			       limit);
	return 0;
}

static int pass_rows(struct gt_sink *sink, struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (gt_sink_room(sink, error) != 0 || gt_rows_copy(sink->rows, rows, i, error) != 0)
			return -1;
	}
	rows->n = rows->n_lanes = 0;
	return 0;
}

/* Passes on what a block has made, when it is the first. */
static int pass_held(struct resident *resident)
{
	const struct gt_ptx_core *like = resident->beside->like;
	int result = 0;

	for (size_t i = 0; i < resident->n_batches; i++) {
		struct gt_rows *rows = resident->batches[i];
		resident->beside->held_bytes -= rows->n * 64 + rows->n_lanes * sizeof *rows->lanes;
		if (result == 0)
			result = pass_rows(like->sink, rows, like->error);
		gt_rows_free(rows);
	}
	resident->n_batches = 0;
	if (result == 0 && resident->held.rows)
		result = pass_rows(like->sink, resident->held.rows, like->error);
	if (resident->core)
		resident->core->sink = like->sink;
	return result;
}

static void close_resident(struct resident *resident)
{
	for (size_t i = 0; i < resident->n_batches; i++)
		gt_rows_free(resident->batches[i]);
	free(resident->batches);
	gt_rows_free(resident->held.rows);
	gt_ptx_core_close(resident->core);
	free(resident);
}

/* Adds a block; the first writes to the launch's sink. */
static int add_resident(struct beside *beside, struct gt_ptx_core *core)
{
	struct gt_error *error = beside->like->error;
	void *grown = gt_grown(beside->blocks, beside->n, &beside->capacity, sizeof *beside->blocks);
	struct resident *resident = grown ? calloc(1, sizeof *resident) : NULL;

	if (grown)
		beside->blocks = grown;
	if (!resident) {
		gt_ptx_core_close(core);
		return gt_fail_memory(error, "blocks");
	}
	resident->core = core;
	resident->beside = beside;
	beside->blocks[beside->n++] = resident;
	beside->under_way++;
	if (beside->n == 1 || !core->sink)
		return 0;
	resident->held = (struct gt_sink){gt_rows_new(HELD_ROWS, error), take_batch, resident};
	core->sink = &resident->held;
	return resident->held.rows ? gt_sink_begin(core->sink, GT_ACCESSES, false, error) : -1;
}

/* Begins as many blocks as are under way, as far as there are more. */
static int begin_more(struct beside *beside)
{
	const struct gt_ptx_launch *launch = beside->like->launch;
	uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];

	for (size_t more = beside->under_way;
	     more > 0 && *beside->next < blocks && beside->under_way < RESIDENT_MAX; ++*beside->next) {
		if (launch->skip_untraced && !gt_ptx_is_traced(launch, *beside->next))
			continue;
		struct gt_ptx_core *core = gt_ptx_core_open(beside->like);
		if (!core || add_resident(beside, core) != 0 ||
		    gt_ptx_block_begin(core, *beside->next) != 0)
			return -1;
		more--;
	}
	return 0;
}

/* A round of all; *wait if each of them waits. */
static int run_round(struct beside *beside, bool *wait)
{
	*wait = true;
	for (size_t i = 0; i < beside->n; i++) {
		struct resident *resident = beside->blocks[i];
		if (!resident->core)
			continue;
		if (gt_ptx_block_round(resident->core, beside->left) != 0)
			return -1;
		*wait = *wait && gt_ptx_block_waits(resident->core);
		if (resident->core->running > 0)
			continue;
		gt_ptx_block_count(resident->core, beside->ran);
		gt_ptx_core_close(resident->core);
		resident->core = NULL;
		beside->under_way--;
	}
	return 0;
}

/* Those at the front that are done go; the first that is not writes to the launch's sink. */
static int end_blocks(struct beside *beside)
{
	size_t done = 0;
	int result = 0;

	while (result == 0 && done < beside->n && !beside->blocks[done]->core) {
		result = pass_held(beside->blocks[done]);
		close_resident(beside->blocks[done++]);
	}
	if (done == 0)
		return result;
	beside->n -= done;
	memmove(beside->blocks, beside->blocks + done, beside->n * sizeof *beside->blocks);
	return result == 0 && beside->n > 0 ? pass_held(beside->blocks[0]) : result;
}

static uint64_t memory_state(const struct beside *beside)
{
	const struct gt_ptx_memory *memory = beside->like->memory;
	uint64_t state = 0;

	for (size_t i = 0; i < memory->n; i++)
		state = XXH3_64bits_withSeed(memory->host + (memory->allocations[i].address - GT_PTX_GLOBAL_BASE),
					     memory->allocations[i].bytes, state);
	for (size_t i = 0; i < beside->n; i++)
		if (beside->blocks[i]->core)
			state = XXH3_64bits_withSeed(beside->blocks[i]->core->shared,
						     beside->blocks[i]->core->shared_bytes, state);
	return state;
}

static int fail_runaway(const struct beside *beside)
{
	for (size_t i = 0; i < beside->n; i++) {
		const struct gt_ptx_core *core = beside->blocks[i]->core;
		for (uint32_t w = 0; core && w < core->n_warps; w++) {
			const struct gt_ptx_warp *warp = &core->warps[w];
			if (warp->state != GT_PTX_RUNS)
				continue;
			gt_ptx_fault(core->warps + w, warp->at, gt_ptx_lowest(warp->mask),
				     "it runs away: in %" PRIu64
				     " warp instructions nothing has changed that its loop could wait for",
				     PATIENCE);
			return -1;
		}
	}
	return -1;
}

/* All wait and no block can be begun: for ever, if memory stays as it is. */
static int check_runaway(struct beside *beside, uint64_t issued)
{
	uint64_t before = beside->quiet;

	beside->quiet += issued;
	if (before < PATIENCE / 2 && beside->quiet >= PATIENCE / 2)
		beside->state = memory_state(beside);
	if (beside->quiet < PATIENCE)
		return 0;
	if (beside->state == memory_state(beside))
		return fail_runaway(beside);
	beside->quiet = 0;
	return 0;
}

int gt_ptx_run_beside(const struct gt_ptx_core *like, struct gt_ptx_core *core, uint64_t *next, uint64_t *left,
		      struct gt_ptx_ran *ran)
{
	struct beside beside = {.like = like, .next = next, .left = left, .ran = ran};
	int result = add_resident(&beside, core);
	bool wait = true;

	while (result == 0 && beside.n > 0) {
		size_t under_way = beside.under_way;
		uint64_t before = *left;
		if (wait)
			result = begin_more(&beside);
		if (result == 0)
			result = run_round(&beside, &wait);
		if (result == 0 && wait && beside.under_way == under_way)
			result = check_runaway(&beside, before - *left);
		else
			beside.quiet = 0;
		if (result == 0)
			result = end_blocks(&beside);
	}
	for (size_t i = 0; i < beside.n; i++)
		close_resident(beside.blocks[i]);
	free(beside.blocks);
	return result;
}
