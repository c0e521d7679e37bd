/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/worker.h"

#include "cuda/ptx/exec/blocks.h"

/* ---- blocks ---- */

/* A block that waits for another has no end here: that one may not have begun. */
static int fail_waiting(const struct gt_ptx_core *core)
{
	return gt_fail(core->error, "kernel %.128s: block (%u,%u,%u) waits for another block; --jobs 1 runs such kernels",
		       core->launch->kernel->name, core->ctaid[0], core->ctaid[1], core->ctaid[2]);
}

static int run_block(struct gt_ptx_core *core, uint64_t block, uint64_t *left)
{
	uint64_t waited = 0;

	core->hold = core->launch->hold;
	if (gt_ptx_block_begin(core, block) != 0)
		return -1;
	while (core->running > 0) {
		const uint64_t before = *left;
		if (gt_ptx_block_round(core, left) != 0)
			return -1;
		if (waited > 0 || core->repeats)
			waited = gt_ptx_block_waits(core) ? waited + (before - *left) + 1 : 0;
		if (waited > GT_PTX_PATIENCE)
			return fail_waiting(core);
	}
	return 0;
}

static int open_core(struct gt_ptx_worker *worker)
{
	const struct gt_ptx_core like = {
		.machine = &worker->machine,
		.launch = &worker->launch,
		.program = worker->program,
		.memory = worker->machine.memory,
		.sink = worker->launch.sink,
		.error = &worker->error,
		.ran = &worker->ran,
		.launches = worker->machine.launches,
	};

	if (!worker->core)
		worker->core = gt_ptx_core_open(&like);
	return worker->core ? 0 : -1;
}

static void close_core(struct gt_ptx_worker *worker)
{
	gt_ptx_core_close(worker->core);
	worker->core = NULL;
}

static int run_blocks(struct gt_ptx_worker *worker, struct gt_ptx_group *group)
{
	const uint64_t most = worker->launch.max_instructions ? worker->launch.max_instructions : UINT64_MAX;

	if (open_core(worker) != 0)
		return -1;
	for (uint64_t block = group->first; block < group->end; block++) {
		uint64_t left = most;
		group->issued[block - group->first] = 0;
		if (!gt_ptx_is_executed(&worker->launch, block))
			continue;
		if (run_block(worker->core, block, &left) != 0)
			return -1;
		group->issued[block - group->first] = most - left;
		gt_ptx_block_count(worker->core, &worker->ran);
	}
	return 0;
}

/* The group's rows are complete. */
static int end_rows(struct gt_ptx_worker *worker, struct gt_ptx_group *group, struct gt_error *error)
{
	return gt_ptx_blockorder_finish(worker->order, error) != 0 ? -1 : gt_ptx_group_rows_end(&group->rows, error);
}

void gt_ptx_worker_run(struct gt_ptx_worker *worker, struct gt_ptx_group *group)
{
	struct gt_error second;

	worker->machine.notes = &group->notes;
	worker->ran = (struct gt_ptx_ran){0};
	gt_ptx_blockorder_to(worker->order, &group->rows.sink);
	group->result = run_blocks(worker, group);
	group->error = worker->error;
	if (group->result != 0)
		close_core(worker); /* no other block can begin where one was left */
	/* Those before a fault, too. */
	struct gt_error *error = group->result == 0 ? &group->error : &second;
	if (worker->launch.sink && end_rows(worker, group, error) != 0)
		group->result = -1;
	if (worker->ran.strayed && gt_ptx_strays_take(&group->strays, worker->program, worker->machine.module->n_functions, error) != 0)
		group->result = -1;
	group->ran = worker->ran;
}

/* ---- a launch ---- */

int gt_ptx_worker_open(struct gt_ptx_worker *worker, uint64_t memory, struct gt_error *error)
{
	*worker = (struct gt_ptx_worker){.order = gt_ptx_blockorder_open(NULL, memory, error)};
	return worker->order ? 0 : -1;
}

void gt_ptx_worker_close(struct gt_ptx_worker *worker)
{
	gt_ptx_blockorder_close(worker->order);
}

void gt_ptx_worker_begin(struct gt_ptx_worker *worker, const struct gt_ptx_machine *machine, struct gt_ptx_program *program,
			 const struct gt_ptx_launch *launch)
{
	worker->machine = *machine;
	worker->program = program;
	worker->launch = *launch;
	worker->launch.team = NULL;
	if (!launch->sink)
		return;
	worker->launch.sink = gt_ptx_blockorder_sink(worker->order);
	worker->launch.hold = gt_ptx_blockorder_hold(worker->order);
	worker->launch.ended = &worker->launch.hold->ended;
}

void gt_ptx_worker_end(struct gt_ptx_worker *worker)
{
	close_core(worker);
}
