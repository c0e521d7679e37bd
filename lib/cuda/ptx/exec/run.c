/* SPDX-License-Identifier: MIT */
/* A launch: its blocks one after the other in the order of their numbers, as far as they do not wait
 * for later ones. */

#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/cluster.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/stray.h"

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
		return gt_ptx_run_beside(like, NULL, &block, &left, ran);
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
			result = gt_ptx_run_beside(like, core, &block, &left, ran);
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
