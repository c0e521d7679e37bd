/* SPDX-License-Identifier: MIT */
/* Text in HTML and SVG. */
#ifndef GT_REPORT_MARKUP_H
#define GT_REPORT_MARKUP_H

#include <stdio.h>

/* Writes a text escaped, for use between tags and in quoted attributes. Characters that a page cannot hold become '?'
 * (utf8.h). */
void gt_markup_text(const char *text, FILE *to);

#endif
