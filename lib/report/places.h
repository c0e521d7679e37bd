/* SPDX-License-Identifier: MIT */
/* Where a program accesses memory, and what becomes of it: sites (report/sites.h) of all kernels, summed up to source lines, arrays or
 * kernels. Of levels that counted by instruction alone (gcache --by pc), instructions are the sites. */
#ifndef GT_REPORT_PLACES_H
#define GT_REPORT_PLACES_H

#include <stdbool.h>

#include "report/sites.h"

/* ---- the levels that requests pass ---- */

#define GT_CHAIN 4

/* The cache levels that the requests of a kernel pass one after another, in the order of the pipe, at most GT_CHAIN: not those whose
 * rows are no requests that they send on, nor the texture and read-only caches, which stand beside L1. Returns how many. */
size_t gt_report_chain(const struct gt_report_kernel *kernel, const struct gt_report_stage *chain[GT_CHAIN]);

/* ---- places ---- */

/* Operations of accesses that are counted apart; of shared memory, all are one. */
enum gt_place_op { GT_PLACE_LOADS, GT_PLACE_STORES, GT_PLACE_ATOMICS, GT_PLACE_SHARED, GT_PLACE_OPS };
#define GT_PLACE_NO_PC UINT64_MAX

struct gt_place {
	/* What several sites of one place do not agree on is NULL, or no pc. */
	const struct gt_report_kernel *kernel;
	uint64_t pc;
	const char *file; /* of the source, as the compiler was given it; "" if it is not known, and then the place has one kernel and pc */
	uint64_t line;
	const char *array; /* "-": none holds the address; "": it was not asked for */
	struct gt_site_access asked[GT_PLACE_OPS];
	uint64_t dram_reads[GT_PLACE_OPS]; /* sectors that L2 reads for them */
	bool several; /* its loads are accesses of several kinds, which a trace does not tell apart by instruction */
	struct gt_site_level levels[GT_SITE_LEVELS];
};

struct gt_places {
	struct gt_place *places; /* owned */
	size_t n, capacity;
	struct gt_place total;	 /* of all of them */
	struct gt_names names;	 /* of files and arrays */
	/* What was counted of any: by gcoalesce, by each level, misses by cause, and what L2 reads. */
	bool asked, arrays, lines, from_memory, level[GT_SITE_LEVELS], caused[GT_SITE_LEVELS];
};

/* The sites of all kernels of a finished report. Cleared by gt_places_clear, also on error. Returns 0, or -1: out of memory, or a
 * malformed record of source lines. */
int gt_places_gather(struct gt_places *places, const struct gt_report *report, struct gt_error *error);
void gt_places_clear(struct gt_places *places);

/* Whether a report has any place; and any of an array. */
bool gt_places_in(const struct gt_report *report);
bool gt_places_have_arrays(const struct gt_report *report);

/* What places are summed up to. The order is that of these keys. */
enum gt_place_key { GT_PLACE_BY_LINE, GT_PLACE_BY_LINE_AND_ARRAY, GT_PLACE_BY_ARRAY, GT_PLACE_BY_KERNEL };
void gt_places_sum(struct gt_places *places, enum gt_place_key key);

/* Sectors that the loads of a place did not find in a level. */
static inline uint64_t gt_place_misses(const struct gt_place *place, int level)
{
	const struct gt_site_level *counted = &place->levels[level];

	return counted->reads > counted->read_hits ? counted->reads - counted->read_hits : 0;
}

/* What orders places by what they cost: load misses of the first level; if none was counted, sectors of loads. */
uint64_t gt_place_weight(const struct gt_places *places, const struct gt_place *place);

/* ---- the text of a source file, for what shows a program's lines ---- */

struct gt_source_text {
	char *bytes;  /* owned; NULL: the file is not there */
	char **lines; /* n of them, in `bytes`; owned */
	size_t n;
};

/* Reads the file where the compiler was given it, or that of its last name in this folder; no other file than one of source. Without it there
 * are no lines. Cleared by gt_source_text_clear. */
struct gt_source_text gt_source_text_read(const char *name);
void gt_source_text_clear(struct gt_source_text *text);

/* A line, from 1, with a tab as blanks to the next column of 4, and an ellipsis for what is beyond 160 bytes; "" if there is none. */
#define GT_SOURCE_LETTERS 164
void gt_source_text_line(const struct gt_source_text *text, uint64_t line, char wide[GT_SOURCE_LETTERS]);

#endif
