/* SPDX-License-Identifier: MIT */
/* UTF-8, as reports and pictures must have it whatever the names in a trace hold. */
#ifndef GT_BASE_UTF8_H
#define GT_BASE_UTF8_H

#include <stddef.h>

/* How many bytes the UTF-8 sequence at `text` has, or 0 if it is none: overlong forms, surrogates
 * and what lies past U+10FFFF are not. */
size_t gt_utf8_length(const unsigned char *text);

/* How many characters a text has; a byte that is not UTF-8 is one. */
size_t gt_utf8_characters(const char *text);

/* The text as one line that a page or a picture can hold: control characters, noncharacters and
 * bytes that are not UTF-8 become '?', and a text of more than `most` characters (at least 8) loses
 * its middle to an ellipsis. `buffer` has 4 * most + 1 bytes. Returns it. */
const char *gt_utf8_tidy(const char *text, size_t most, char *buffer);

#endif
