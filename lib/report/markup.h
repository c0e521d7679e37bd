/* SPDX-License-Identifier: MIT */
/* Text in HTML and SVG. */
#ifndef GT_REPORT_MARKUP_H
#define GT_REPORT_MARKUP_H

#include <stdio.h>

/* Writes a text so that it is nothing but text, between tags and in quoted attributes. What a page
 * cannot hold becomes '?' (utf8.h). */
void gt_markup_text(const char *text, FILE *to);

#endif
