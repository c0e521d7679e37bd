/* SPDX-License-Identifier: MIT */
/* Accesses that touch one line each, a run of them at once. In most kernels most are of this kind. */
#ifndef GT_COALESCE_SINGLE_H
#define GT_COALESCE_SINGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coalesce/rules.h"
#include "stream/rows.h"

#define GT_SINGLE_ROWS 256 /* accesses at once */

/* Data accesses to other memory than shared, by enum gt_action, and the sectors that they touch. */
struct gt_single_counts {
	uint64_t accesses[4], sectors[4];
};

/* Whether all lanes of a warp are coalesced together, into sectors, as on Volta and later: then requests of a single line are those
 * of gt_single_lines. */
bool gt_rule_whole_warps(const struct gt_coalescing_rule *rule);

/* Appends a request for each of the accesses [first, first + n), at most GT_SINGLE_ROWS, to `requests`, which has room and carries their columns,
 * and adds to the counts. Returns false, having changed neither, unless each is of data in other memory than shared by
 * neighbouring lanes at most a sector apart, in one line, none of them at a lower address than the one before. */
bool gt_single_lines(const struct gt_rows *accesses, size_t first, size_t n, struct gt_rows *requests,
		     struct gt_single_counts *counts);

#endif
