/* SPDX-License-Identifier: MIT */
/* What is said of a kernel that is at fault, and of paths that wait. */
#include <stdarg.h>
#include <stdio.h>

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/forms.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/paths.h"

static void thread_of(const struct gt_ptx_warp *warp, unsigned lane, uint32_t thread[3])
{
	for (unsigned k = 0; k < 3; k++)
		thread[k] = warp->tid[k][lane];
}

const struct gt_ptx_op *gt_ptx_fault(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
				     const char *format, ...)
{
	struct gt_ptx_core *core = warp->core;
	const uint32_t *block = core->ctaid;
	uint32_t thread[3];
	unsigned line = op ? op->line : core->launch->kernel->line, source_line;
	const char *file;
	char text[512], place[128] = "";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	thread_of(warp, lane, thread);
	core->failed = core->ran->fault = true;
	if (gt_ptx_source_place(core->machine->module, line, &file, &source_line))
		snprintf(place, sizeof place, " (%.100s:%u)", file, source_line);
	gt_fail(core->error, "kernel %.128s, PTX line %u, pc 0x%x%s: block (%u,%u,%u) thread (%u,%u,%u): %s",
		core->launch->kernel->name, line, line, place, block[0], block[1], block[2], thread[0], thread[1], thread[2],
		text);
	return NULL;
}

const struct gt_ptx_form *gt_ptx_sync_form(const struct gt_ptx_op *op)
{
	for (size_t i = 0; i < gt_ptx_lane_forms.n; i++)
		if (gt_ptx_form_step(&gt_ptx_lane_forms.rows[i]) == op->with.inner)
			return &gt_ptx_lane_forms.rows[i];
	return NULL;
}

const char *gt_ptx_sync_name(const struct gt_ptx_op *op)
{
	const struct gt_ptx_form *form = gt_ptx_sync_form(op);

	return form ? form->name : "bar.warp.sync";
}

void gt_ptx_path_describe(const struct gt_ptx_path *path, char *text, size_t size)
{
	if (path->state == GT_PTX_PATH_AT_BARRIER && path->waits_at == GT_PTX_CLUSTER_BARRIER)
		snprintf(text, size, "at barrier.cluster.wait (line %u)", (path->next - 1)->line);
	else if (path->state == GT_PTX_PATH_AT_BARRIER && path->waits_at == GT_PTX_GROUP_BARRIER)
		snprintf(text, size, "at wgmma.wait_group (line %u)", (path->next - 1)->line);
	else if (path->state == GT_PTX_PATH_AT_BARRIER)
		snprintf(text, size, "at barrier %u (line %u)", path->waits_at, (path->next - 1)->line);
	else
		snprintf(text, size, "at %s (line %u)", gt_ptx_sync_name(path->next), path->next->line);
}

const struct gt_ptx_op *gt_ptx_sync_fault(struct gt_ptx_warp *warp, const struct gt_ptx_path *path)
{
	return gt_ptx_fault(warp, path->next, gt_ptx_lowest(path->mask),
			    "%s waits for ever: lanes 0x%08x of its member mask 0x%08x do not come to it",
			    gt_ptx_sync_name(path->next), path->waits_at & warp->live & ~path->mask, path->waits_at);
}
