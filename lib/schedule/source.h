/* SPDX-License-Identifier: MIT */
/* The rows of a warp that is resident: unpacked when their turn comes. */
#ifndef GT_SCHEDULE_SOURCE_H
#define GT_SCHEDULE_SOURCE_H

#include <stdint.h>

#include "schedule/packed.h"

#define GT_WINDOW_ROWS 256 /* and what belongs to the last access */

struct source {
	struct unpacker unpacker;
	struct gt_strand strand;
	uint16_t warp;
	/* By warp: rows that are unpacked, whole accesses, and those of them that are still to be issued. */
	struct window window;
	struct kept *row, *end;
};

/* Takes over a strand of rows of a warp, which are put in order first if they are not; there are some. Returns 0, or -1. */
int gt_source_open(struct source *source, struct gt_strands *strands, struct gt_strand *strand, uint16_t warp, bool unsorted,
		   struct gt_error *error);
void gt_source_close(struct source *source, struct gt_strands *strands);

/* By warp: the next rows, when all before have been issued; none at the end. Returns 0, or -1. */
int gt_source_fill(struct source *source, struct gt_strands *strands, struct gt_error *error);

/* The end of the next access in its window, of which there is one. */
static inline struct kept *gt_source_access(const struct source *source)
{
	struct kept *row = source->row;

	do
		row++;
	while (row < source->end && row->an == source->row->an);
	return row;
}

#endif
