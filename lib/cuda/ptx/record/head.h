/* SPDX-License-Identifier: MIT */
/* What precedes the rows of a traced launch: the kernel, its arrays, its source lines, and what was done since the launch before. */
#ifndef GT_PTX_HEAD_H
#define GT_PTX_HEAD_H

#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/record/tracing.h"
#include "cuda/ptx/record/untraced.h"
#include "stream/copies.h"
#include "stream/stream.h"

struct gt_ptx_head {
	struct gt_writer *writer;
	const struct gt_ptx_tracing *tracing;
	uint64_t id; /* of the kernel */
	struct gt_copies copies; /* since the last traced launch */
	struct gt_ptx_untraced untraced; /* the same */
};

/* Writes it, and fills what is still to be known of the kernel. `count`: of what it needs, to which what it did is added, and which
 * the caller clears. Returns 0, or -1. */
int gt_ptx_head_write(struct gt_ptx_head *head, const struct gt_ptx_module *module, struct gt_ptx_machine *machine,
		      const struct gt_ptx_launch *launch, struct gt_kernel *kernel, uint32_t registers, struct gt_count *count,
		      struct gt_error *error);
/* After the last launch: writes what was done since then. */
int gt_ptx_head_write_after(struct gt_ptx_head *head, struct gt_error *error);
void gt_ptx_head_clear(struct gt_ptx_head *head);

#endif
