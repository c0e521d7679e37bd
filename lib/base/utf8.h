/* SPDX-License-Identifier: MIT */
/* Valid UTF-8 for reports and pictures, whatever bytes the names in a trace have. */
#ifndef GT_BASE_UTF8_H
#define GT_BASE_UTF8_H

#include <stddef.h>

/* The bytes of the UTF-8 sequence at `text`, or 0 if it is invalid, as overlong forms, surrogates and values
 * above U+10FFFF are. */
size_t gt_utf8_length(const unsigned char *text);

/* The characters of a text; a byte that is not UTF-8 counts as one. */
size_t gt_utf8_characters(const char *text);

/* The text as one line that a page or a picture can hold: control characters, noncharacters and
 * bytes that are not UTF-8 become '?', and a text of more than `most` characters (at least 8) loses
 * its middle to an ellipsis. `buffer` has 4 * most + 1 bytes. Returns it. */
const char *gt_utf8_tidy(const char *text, size_t most, char *buffer);

#endif
