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

/* The different names that an expression has not matched, as long as it has matched none. Zeroed: it was asked for none. */
struct gt_unmatched {
	bool any; /* a name matched */
	char **names; /* owned */
	size_t n, capacity;
};

/* Looks for a match in a name and, unless that is NULL, in `other`. Returns as gt_regex_match does, and notes the name. */
int gt_unmatched_match(struct gt_unmatched *unmatched, struct gt_regex *regex, const char *name, const char *other,
		       struct gt_error *error);
/* Fails with these names if there are any. Returns 0 or -1. */
int gt_unmatched_check(const struct gt_unmatched *unmatched, const struct gt_regex *regex, struct gt_error *error);
void gt_unmatched_clear(struct gt_unmatched *unmatched);

GT_PUBLIC_END

#endif
