/* SPDX-License-Identifier: MIT */
/* The source lines of a launch's instructions, gathered while its trace is read. */
#ifndef GT_ORDER_LINES_H
#define GT_ORDER_LINES_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "stream/output.h"

struct gt_order_lines {
	struct gt_map by_pc; /* not open until there is one */
};

/* An instruction's line; the first that is said of a pc counts. Returns 0, or -1 when memory is short. */
int gt_order_lines_add(struct gt_order_lines *lines, uint32_t pc, uint64_t line, struct gt_error *error);
void gt_order_lines_clear(struct gt_order_lines *lines);

/* Sends them, of one source file, as the count `source` of a launch (stream/sources.h), if there are any. */
int gt_order_lines_send(const struct gt_order_lines *lines, uint64_t launch, const char *file,
			const struct gt_output *output, struct gt_error *error);

#endif
