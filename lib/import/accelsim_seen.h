/* SPDX-License-Identifier: MIT */
/* Lines of instructions that have been read. A loop repeats them, all but the addresses, so most lines need no more than a
 * comparison. */
#ifndef GT_IMPORT_ACCELSIM_SEEN_H
#define GT_IMPORT_ACCELSIM_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/opcode.h"

#define GT_SEEN_TEXT 120  /* bytes; lines that are longer, or shorter than a word, are not kept */
#define GT_SEEN_LINES 256 /* a power of two */

/* A line from its PC on: up to its width if addresses follow, else whole. */
struct gt_seen {
	char text[GT_SEEN_TEXT]; /* not 0-terminated */
	size_t length;		 /* 0: none */
	uint64_t version;	 /* of the tracer that wrote it */
	uint32_t pc, mask;
	bool addresses; /* follow */
	struct gt_opcode opcode;
};

struct gt_seen_lines {
	struct gt_seen lines[GT_SEEN_LINES]; /* by hash; begin with all zero */
};

/* The line of that tracer's version as which this text begins, which has GT_SCAN_SLACK readable bytes behind it; NULL if none
 * is known. Whether the text goes on as the line does is for the caller to see. */
const struct gt_seen *gt_seen_find(const struct gt_seen_lines *lines, const char *text, uint64_t version);

/* Keeps a line whose text ends before `end`, unless it is too long; the rest of `line` is filled in but for the text. */
void gt_seen_add(struct gt_seen_lines *lines, const char *text, const char *end, const struct gt_seen *line);

#endif
