/* SPDX-License-Identifier: MIT */
/* A counter's properties, from its row (counter/tables.h): for reports, and for the code that writes counts. */
#ifndef GT_COUNTER_H
#define GT_COUNTER_H

#include <stdbool.h>
#include <stddef.h>

#include "counter/tables.h"

enum gt_counter_kind { GT_COUNTER_COUNT, GT_COUNTER_ARRAY, GT_COUNTER_SETTING, GT_COUNTER_LIST, GT_COUNTER_WORD };

enum gt_counter_print {
	GT_PRINT_NUMBER,
	GT_PRINT_SIZE,
	GT_PRINT_NOT, /* left out of gstats' table: numbers whose sum has no meaning */
};

struct gt_counter {
	const char *name;
	const char *unit; /* NULL: none */
	enum gt_counter_kind kind;
	enum gt_counter_print print;
	const char *definition; /* a sentence; NULL for a counter that is in no table */
};

struct gt_counters {
	const char *stage; /* NULL: of stages whose name the user chooses */
	const struct gt_counter *rows;
	size_t n;
};

extern const struct gt_counters gt_counters_order, gt_counters_ptx, gt_counters_allocations, gt_counters_shared, gt_counters_copies, gt_counters_idle,
	gt_counters_untraced, gt_counters_source, gt_counters_coalesce, gt_counters_unique, gt_counters_part, gt_counters_sample, gt_counters_schedule, gt_counters_level, gt_counters_hints, gt_counters_bypass, gt_counters_shape, gt_counters_timed,
	gt_counters_dram, gt_counters_reuse;
/* Of what stages count by site. */
extern const struct gt_counters gt_counters_site_access, gt_counters_site_level;
/* Of levels that do such things. */
extern const struct gt_counters gt_counters_fetch, gt_counters_pair, gt_counters_between, gt_counters_found_dirty, gt_counters_clean, gt_counters_constants, gt_counters_gpc_constants, gt_counters_launch_reads, gt_counters_coalescer, gt_counters_combine, gt_counters_l2_partitions, gt_counters_causes;

static inline bool gt_counter_is_number(const struct gt_counter *counter)
{
	return counter->kind == GT_COUNTER_COUNT || counter->kind == GT_COUNTER_SETTING;
}

/* A property of the model, not a count. */
static inline bool gt_counter_is_setting(const struct gt_counter *counter)
{
	return counter->kind == GT_COUNTER_SETTING || counter->kind == GT_COUNTER_LIST;
}

/* The row of a stage's counter. "load.global.references" has the row of "references". A counter in no table is a
 * count without a unit or a definition. */
const struct gt_counter *gt_counter_about(const char *stage, const char *name);

#endif
