/* SPDX-License-Identifier: MIT */
/* Which source line an instruction comes from, as a count of the stage `source` says: the arrays `pcs`, `lines` and
 * `files`, with one element per instruction, and the text `names`, the files' names with commas between. */
#ifndef GT_STREAM_SOURCES_H
#define GT_STREAM_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/count.h"

#define GT_SOURCES_STAGE "source"

struct gt_source {
	uint64_t pc, line;
	const char *file; /* as the compiler was given it; the struct gt_sources' */
	uint64_t place;	  /* the caller's */
};

struct gt_sources {
	struct gt_source *sources; /* by pc */
	size_t n;
	char *names; /* owned */
};

/* Takes the arrays of a count of that stage, in the place of earlier ones. A zeroed struct can be cleared. Returns 0, or
 * -1: out of memory, arrays of different lengths, or a file that has no name. */
int gt_sources_set(struct gt_sources *sources, const struct gt_count_entry *pcs, const struct gt_count_entry *lines,
		   const struct gt_count_entry *files, const struct gt_count_entry *names, struct gt_error *error);
void gt_sources_clear(struct gt_sources *sources);

/* The source line of an instruction, or NULL. */
const struct gt_source *gt_sources_find(const struct gt_sources *sources, uint64_t pc);

/* "gemm.cu:38", the file without its folders: into a buffer of GT_SOURCE_TEXT bytes, in which the beginning of a long
 * name is cut. Returns it. */
#define GT_SOURCE_TEXT 32
const char *gt_source_format(const struct gt_source *source, char buffer[GT_SOURCE_TEXT]);

#endif
