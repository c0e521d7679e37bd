/* SPDX-License-Identifier: MIT */
/* What an importer reports of a part of a trace, kept in memory, so that several parts can be read at a time and reported in
 * their order. */
#ifndef GT_IMPORT_RECORDED_H
#define GT_IMPORT_RECORDED_H

#include <stdbool.h>

#include "import/import.h"

struct gt_recorded {
	struct gt_trace trace;	/* that importers report to */
	const struct gt_input *input; /* that is being read */
	unsigned char *bytes;	/* records, each aligned to 8 bytes */
	size_t n, capacity;
	bool full; /* the part reports more than is kept: it failed for that reason alone */
};

/* Begins anew: what follows is read from this input, for a trace like `to`. */
void gt_recorded_begin(struct gt_recorded *recorded, const struct gt_input *input, const struct gt_trace *to);
void gt_recorded_close(struct gt_recorded *recorded);

/* Reports everything. Line 1 of the input is the line after `before`: errors of the receiver name lines by that count. */
int gt_recorded_report(const struct gt_recorded *recorded, struct gt_input *input, uint64_t before, const struct gt_trace *to,
		       struct gt_error *error);

#endif
