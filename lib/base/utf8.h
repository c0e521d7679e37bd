/* SPDX-License-Identifier: MIT */
/* UTF-8 text for reports, pictures, messages and terminals, whatever bytes the names in a trace have. */
#ifndef GT_BASE_UTF8_H
#define GT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the UTF-8 sequence at `text`, or 0 if it is invalid, as overlong forms, surrogates and values
 * above U+10FFFF are. */
size_t gt_utf8_length(const unsigned char *text);

/* The characters of a text; a byte that is not UTF-8 counts as one. */
size_t gt_utf8_characters(const char *text);

/* Whether a terminal, a page or a picture may show the character at `text`. Not control characters (C0, DEL, C1),
 * which a terminal may obey; not those that override the direction of text; not noncharacters, nor bytes that
 * are not UTF-8. */
bool gt_utf8_shown(const char *text);

/* Makes each character that may not be shown a '?', in place. Returns the text. */
char *gt_utf8_printable(char *text);

/* The next character as it may be shown, and how many bytes of the text it takes: the character itself, or "?". */
const char *gt_utf8_next(const char *text, size_t *taken, size_t *shown);

/* The text as one line that a page or a picture can hold: what may not be shown becomes '?',
 * and a text of more than `most` characters (at least 8) loses its middle to an ellipsis. `buffer` has
 * 4 * most + 1 bytes. Returns it. */
const char *gt_utf8_tidy(const char *text, size_t most, char *buffer);

#endif
