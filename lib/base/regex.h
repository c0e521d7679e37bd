/* SPDX-License-Identifier: MIT */
/* A regular expression (PCRE2, compiled to machine code where that is possible). */
#ifndef GT_BASE_REGEX_H
#define GT_BASE_REGEX_H

#include <stddef.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

struct gt_regex;

/* NULL if the expression is wrong; the error says where. */
struct gt_regex *gt_regex_open(const char *pattern, struct gt_error *error);
void gt_regex_close(struct gt_regex *regex);

/* Looks for a match anywhere in the text. Returns 1, 0 if there is none, or -1 with PCRE2's error, such as
 * an exceeded match limit. */
int gt_regex_match(struct gt_regex *regex, const char *text, size_t length, struct gt_error *error);

/* The number of the group of that name, or -1 if the expression has none. */
int gt_regex_group(const struct gt_regex *regex, const char *name);
/* Names of groups, in alphabetical order: the i-th, or NULL. */
const char *gt_regex_group_name(const struct gt_regex *regex, unsigned i);

/* Where group `number` matched in the last text: its beginning, or NULL if the group did not match. */
const char *gt_regex_matched(const struct gt_regex *regex, int number, const char *text, size_t *length);

GT_PUBLIC_END

#endif
