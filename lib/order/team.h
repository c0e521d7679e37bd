/* SPDX-License-Identifier: MIT */
/* Rows in memory (order/kept.h) put in order, folded and packed in several threads, some blocks in each; the same batches as a
 * sink makes of them in one. */
#ifndef GT_ORDER_TEAM_H
#define GT_ORDER_TEAM_H

#include "order/fold.h"
#include "order/ordered.h"
#include "stream/writer.h"

struct gt_order_team;

/* For rows that stay as they are. Returns 1 with a team, 0 if there are too few rows for it, or a block has too many to be
 * divided, or -1. */
int gt_order_team_open(struct gt_order_team **team, const struct gt_kept *kept, unsigned jobs, struct gt_writer *writer,
		       struct gt_error *error);
void gt_order_team_close(struct gt_order_team *team);

/* Writes the rows of a launch, after those of the launches before it, with the columns of `shape`; and counts what was folded into
 * them. */
int gt_order_team_write(struct gt_order_team *team, uint32_t kernel, const struct gt_rows *shape, struct gt_fold_counts *counts,
			struct gt_error *error);

#endif
