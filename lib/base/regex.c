/* SPDX-License-Identifier: MIT */
#include "base/regex.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcre2.h>

#include "base/grown.h"
#include "base/utf8.h"

struct gt_regex {
	pcre2_code *code;
	pcre2_match_data *match;
	PCRE2_SPTR names; /* of groups: entries of two bytes of number and a name */
	uint32_t n_names, name_bytes;
	int groups; /* of the last match */
	char *pattern; /* owned */
};

struct gt_regex *gt_regex_open(const char *pattern, struct gt_error *error)
{
	struct gt_regex *regex = calloc(1, sizeof *regex);
	PCRE2_UCHAR reason[128];
	PCRE2_SIZE offset = 0;
	int code = 0;

	if (regex)
		regex->code =
			pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &code, &offset, NULL);
	if (!regex || !regex->code) {
		pcre2_get_error_message(code, reason, sizeof reason);
		gt_fail(error, "'%s': %s, after %zu characters", pattern, (char *)reason, (size_t)offset);
		free(regex);
		return NULL;
	}
	pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE); /* if this fails, matching is slower */
	pcre2_pattern_info(regex->code, PCRE2_INFO_NAMETABLE, &regex->names);
	pcre2_pattern_info(regex->code, PCRE2_INFO_NAMECOUNT, &regex->n_names);
	pcre2_pattern_info(regex->code, PCRE2_INFO_NAMEENTRYSIZE, &regex->name_bytes);
	regex->match = pcre2_match_data_create_from_pattern(regex->code, NULL);
	regex->pattern = strdup(pattern);
	if (regex->match && regex->pattern)
		return regex;
	gt_regex_close(regex);
	gt_fail_memory(error, "a regular expression");
	return NULL;
}

void gt_regex_close(struct gt_regex *regex)
{
	if (!regex)
		return;
	pcre2_match_data_free(regex->match);
	pcre2_code_free(regex->code);
	free(regex->pattern);
	free(regex);
}

int gt_regex_match(struct gt_regex *regex, const char *text, size_t length, struct gt_error *error)
{
	PCRE2_UCHAR reason[128];

	regex->groups = pcre2_match(regex->code, (PCRE2_SPTR)text, length, 0, 0, regex->match, NULL);
	if (regex->groups > 0)
		return 1;
	if (regex->groups == PCRE2_ERROR_NOMATCH)
		return 0;
	pcre2_get_error_message(regex->groups, reason, sizeof reason);
	return gt_fail(error, "the regular expression: %s", (char *)reason);
}

const char *gt_regex_group_name(const struct gt_regex *regex, unsigned i)
{
	return i < regex->n_names ? (const char *)regex->names + (size_t)i * regex->name_bytes + 2 : NULL;
}

int gt_regex_group(const struct gt_regex *regex, const char *name)
{
	for (unsigned i = 0; i < regex->n_names; i++) {
		PCRE2_SPTR entry = regex->names + (size_t)i * regex->name_bytes;
		if (strcmp((const char *)entry + 2, name) == 0)
			return entry[0] << 8 | entry[1];
	}
	return -1;
}

const char *gt_regex_matched(const struct gt_regex *regex, int number, const char *text, size_t *length)
{
	const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(regex->match);

	if (number < 0 || number >= regex->groups || bounds[2 * number] == PCRE2_UNSET)
		return NULL;
	*length = bounds[2 * number + 1] - bounds[2 * number];
	return text + bounds[2 * number];
}

/* ---- names that it does not match ---- */

#define SHOWN 10 /* names in a message, each of so many characters at most: */
#define SHOWN_CHARACTERS 40

static int add_name(struct gt_unmatched *unmatched, const char *name, struct gt_error *error)
{
	for (size_t i = unmatched->n; i-- > 0;)
		if (strcmp(unmatched->names[i], name) == 0)
			return 0;
	char **names = gt_grown(unmatched->names, unmatched->n, &unmatched->capacity, sizeof *names);
	if (names)
		unmatched->names = names;
	if (!names || !(names[unmatched->n] = strdup(name)))
		return gt_fail_memory(error, "names of kernels");
	unmatched->n++;
	return 0;
}

int gt_unmatched_match(struct gt_unmatched *unmatched, struct gt_regex *regex, const char *name, const char *other,
		       struct gt_error *error)
{
	int matches = gt_regex_match(regex, name, strlen(name), error);

	if (matches == 0 && other)
		matches = gt_regex_match(regex, other, strlen(other), error);
	unmatched->any |= matches > 0;
	if (matches == 0 && !unmatched->any && add_name(unmatched, name, error) != 0)
		return -1;
	return matches;
}

int gt_unmatched_check(const struct gt_unmatched *unmatched, const struct gt_regex *regex, struct gt_error *error)
{
	char list[SHOWN * (4 * SHOWN_CHARACTERS + 3)] = "", tidy[4 * SHOWN_CHARACTERS + 1], more[40] = "";
	size_t length = 0;

	if (unmatched->any || unmatched->n == 0)
		return 0;
	for (size_t i = 0; i < unmatched->n && i < SHOWN; i++)
		length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
					   gt_utf8_tidy(unmatched->names[i], SHOWN_CHARACTERS, tidy));
	if (unmatched->n > SHOWN)
		snprintf(more, sizeof more, " and %zu others", unmatched->n - SHOWN);
	return gt_fail(error, "no kernel has a name that '%.100s' matches: there %s %s%s", regex->pattern, unmatched->n > 1 ? "are" : "is", list,
		       more);
}

void gt_unmatched_clear(struct gt_unmatched *unmatched)
{
	for (size_t i = 0; i < unmatched->n; i++)
		free(unmatched->names[i]);
	free(unmatched->names);
	*unmatched = (struct gt_unmatched){0};
}
