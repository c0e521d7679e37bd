/* SPDX-License-Identifier: MIT */
/* The text of a source file, for what shows a program's lines. */
#ifndef GT_REPORT_SOURCE_TEXT_H
#define GT_REPORT_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

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
