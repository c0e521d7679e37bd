/* SPDX-License-Identifier: MIT */
/* What a launch reads by itself, which no trace has: each GPC that gets a block fetches the kernel's code, and the launch
 * its constants. */
#ifndef GT_CACHE_LAUNCH_H
#define GT_CACHE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct gt_launch_reads {
	uint64_t code;	/* bytes that each GPC with a block reads */
	uint64_t reads; /* sectors that the launch reads, whatever its blocks */
	uint64_t bytes; /* which these sectors are out of */
	uint64_t gpcs;	/* of the GPU */
};

/* "CODE,READS,BYTES" or "none"; the GPCs are left as they are. */
int gt_launch_reads_parse(const char *text, struct gt_launch_reads *launch, struct gt_error *error);

static inline bool gt_launch_reads_any(const struct gt_launch_reads *launch)
{
	return launch->code > 0 || launch->reads > 0;
}

#endif
