/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/group.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/ptx/exec/blocks.h"

#define GROUPS 128 /* at least, if there are as many blocks: 16 for each of 8 threads, so that none waits long for the last */

uint64_t gt_ptx_group_blocks(const struct gt_ptx_launch *launch)
{
	uint64_t blocks = gt_ptx_blocks(launch) / GROUPS;

	return blocks < 1 ? 1 : blocks > GT_PTX_GROUP_BLOCKS ? GT_PTX_GROUP_BLOCKS : blocks;
}

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

int gt_ptx_group_pass(struct gt_ptx_group *group, struct gt_ptx_notes *notes, struct gt_writer *to, struct gt_error *error)
{
	pass_notes(group, notes);
	return gt_ptx_group_rows_pass(&group->rows, to, error);
}

int gt_ptx_group_open(struct gt_ptx_group *group, uint64_t memory, struct gt_error *error)
{
	*group = (struct gt_ptx_group){.notes = {.say = keep_note, .context = group}};
	return gt_ptx_group_rows_open(&group->rows, NULL, memory, error);
}

void gt_ptx_group_close(struct gt_ptx_group *group)
{
	gt_ptx_group_rows_close(&group->rows);
	free(group->strays.counts);
}

void gt_ptx_group_drop(struct gt_ptx_group *group)
{
	group->notes.n = 0;
	gt_ptx_group_rows_drop(&group->rows);
}
