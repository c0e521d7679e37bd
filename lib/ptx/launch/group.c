/* SPDX-License-Identifier: MIT */
#include "ptx/launch/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ptx/exec/blocks.h"

#define GROUPS 128 /* at least, if there are as many blocks: 16 for each of 8 threads, so that none waits long for the last */

/* ---- notes ---- */

/* The notes that a group takes; gt_ptx_note_ignored has counted this one. */
static void keep_note(void *context, const char *text)
{
	struct gt_ptx_group *group = context;

	snprintf(group->said[group->notes.n - 1], sizeof group->said[0], "%s", text);
}

static void pass_notes(struct gt_ptx_group *group, struct gt_ptx_notes *to)
{
	for (size_t i = 0; to && i < group->notes.n; i++)
		gt_ptx_note_text(to, group->notes.said[i], group->said[i]);
	group->notes.n = 0;
}

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

static int open_core(struct gt_ptx_group *group)
{
	const struct gt_ptx_core like = {
		.machine = &group->machine,
		.launch = &group->launch,
		.program = group->program,
		.memory = group->machine.memory,
		.sink = group->launch.sink,
		.error = &group->error,
		.ran = &group->ran,
		.launches = group->machine.launches,
	};

	if (!group->core)
		group->core = gt_ptx_core_open(&like);
	return group->core ? 0 : -1;
}

static int run_blocks(struct gt_ptx_group *group)
{
	const uint64_t most = group->launch.max_instructions ? group->launch.max_instructions : UINT64_MAX;

	if (open_core(group) != 0)
		return -1;
	for (uint64_t block = group->first; block < group->end; block++) {
		uint64_t left = most;
		group->issued[block - group->first] = 0;
		if (!gt_ptx_is_executed(&group->launch, block))
			continue;
		if (run_block(group->core, block, &left) != 0)
			return -1;
		group->issued[block - group->first] = most - left;
		gt_ptx_block_count(group->core, &group->ran);
	}
	return 0;
}

void gt_ptx_group_run(struct gt_ptx_group *group)
{
	struct gt_error second;

	group->ran = (struct gt_ptx_ran){0};
	group->result = run_blocks(group);
	/* Those before a fault, too. */
	struct gt_error *error = group->result == 0 ? &group->error : &second;
	if (group->launch.sink &&
	    (gt_ptx_blockorder_finish(group->order, error) != 0 || gt_ptx_group_rows_end(&group->rows, error) != 0))
		group->result = -1;
}

int gt_ptx_group_pass(struct gt_ptx_group *group, struct gt_ptx_notes *notes, struct gt_writer *to, struct gt_error *error)
{
	pass_notes(group, notes);
	return group->launch.sink ? gt_ptx_group_rows_pass(&group->rows, to, error) : 0;
}

/* ---- a launch ---- */

uint64_t gt_ptx_group_blocks(const struct gt_ptx_launch *launch)
{
	uint64_t blocks = gt_ptx_blocks(launch) / GROUPS;

	return blocks < 1 ? 1 : blocks > GT_PTX_GROUP_BLOCKS ? GT_PTX_GROUP_BLOCKS : blocks;
}

int gt_ptx_group_open(struct gt_ptx_group *group, uint64_t memory, struct gt_error *error)
{
	*group = (struct gt_ptx_group){.notes = {.say = keep_note, .context = group}};
	if (gt_ptx_group_rows_open(&group->rows, NULL, memory / 2, error) != 0)
		return -1;
	group->order = gt_ptx_blockorder_open(&group->rows.sink, memory / 2, error);
	return group->order ? 0 : -1;
}

void gt_ptx_group_close(struct gt_ptx_group *group)
{
	gt_ptx_blockorder_close(group->order);
	gt_ptx_group_rows_close(&group->rows);
}

void gt_ptx_group_begin(struct gt_ptx_group *group, struct gt_ptx_machine *machine, struct gt_ptx_program *program,
			const struct gt_ptx_launch *launch)
{
	group->machine = *machine;
	group->machine.notes = &group->notes;
	group->program = program;
	group->launch = *launch;
	group->launch.team = NULL;
	if (!launch->sink)
		return;
	group->launch.sink = gt_ptx_blockorder_sink(group->order);
	group->launch.hold = gt_ptx_blockorder_hold(group->order);
	group->launch.ended = &group->launch.hold->ended;
}

void gt_ptx_group_end(struct gt_ptx_group *group)
{
	gt_ptx_core_close(group->core);
	group->core = NULL;
	group->notes.n = 0;
	gt_ptx_group_rows_drop(&group->rows);
}
