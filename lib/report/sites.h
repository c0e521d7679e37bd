/* SPDX-License-Identifier: MIT */
/* What stages counted by site, an instruction and an array that it accesses (gcoalesce and gcache --by site): one row for each site of a
 * kernel, and the same added up by source line. Findings, the source view and the page's tables are made of these rows. */
#ifndef GT_REPORT_SITES_H
#define GT_REPORT_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counter/tables.h"
#include "report/gather.h"
#include "stream/program.h"

/* Of the stage coalesce. */
struct gt_site_access {
	GT_SITE_ACCESS_COUNTERS(GT_COUNTER_FIELD)
};

/* Of a level. */
struct gt_site_level {
	GT_SITE_LEVEL_COUNTERS(GT_COUNTER_FIELD)
	const uint64_t *distance; /* the report's; NULL: not counted */
	size_t distances;
};

enum gt_site_levels { GT_SITE_L1, GT_SITE_L2, GT_SITE_LEVELS };

struct gt_site_row {
	char name[GT_SITE_NAME]; /* the class: "0x1a0 in a.cu:7" */
	uint64_t pc;
	const char *array;	  /* within `name`; "-": none */
	const char *file;	  /* as the compiler was given it; NULL: the line is not known */
	uint64_t line;		  /* in the file */
	char place[GT_SOURCE_TEXT]; /* "a.cu:17", or the instruction, "0x1a0" */
	const char *op;		  /* "load.global"; NULL: not told, or launches differ */
	const char *stride;	  /* bytes from lane to lane, "several", or NULL */
	struct gt_site_access access;
	struct gt_site_level level[GT_SITE_LEVELS];
};

struct gt_site_rows {
	const struct gt_report_kernel *kernel;
	struct gt_sources sources; /* `file` points into it */
	struct gt_site_row *rows;  /* in the order in which stages name them; owned */
	size_t n, capacity;
	struct gt_map index;	   /* hash of a name to its row */
};

/* Whether a counter is one of a site, "0x1a0 in.reads"; then *length is that of the class. */
bool gt_report_site(const char *counter, size_t *length);

/* The rows of a kernel; none if nothing was counted by site. To be cleared in either case. Returns 0, or -1: out of memory, or a
 * malformed record of source lines. */
int gt_site_rows_gather(struct gt_site_rows *rows, const struct gt_report_kernel *kernel, struct gt_error *error);
void gt_site_rows_clear(struct gt_site_rows *rows);

#endif
