/* SPDX-License-Identifier: MIT */
/* Numbers and sizes as users write them on a command line or in a GPU description. */
#ifndef GT_BASE_OPTIONS_H
#define GT_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

/* A decimal (or 0x) count in [min, max]. Returns 0, or -1 with what was expected. */
int gt_parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *value,
		   struct gt_error *error);

/* A size in bytes: a number, possibly with a fraction, and K, M, G or T for powers of 1024
 * ("128K", "4.5M"). A fraction must come to whole bytes. In [min, max]. */
int gt_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value,
		  struct gt_error *error);

/* A finite decimal number in [min, max]. */
int gt_parse_real(const char *text, double min, double max, double *value,
		  struct gt_error *error);

/* A list such as "0,3-5": sets chosen[i] for each number named, all of which must be below n.
 * Numbers not named are left as they are. */
int gt_parse_list(const char *text, unsigned char *chosen, size_t n, struct gt_error *error);

/* Writes a size the way people label it, "32K", "4.5M" or "96", into a buffer of at least 32
 * bytes, and returns the buffer. Exact: sizes that no short form gives are printed in bytes. */
char *gt_format_size(uint64_t size, char *buffer);

/* The edit distance of two words: insertions, deletions, replacements, and swaps of neighbouring letters. Of
 * longer words the first 63 letters are compared. */
unsigned gt_edit_distance(const char *a, const char *b);

GT_PUBLIC_END

#endif
