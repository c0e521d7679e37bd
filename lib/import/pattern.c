/* SPDX-License-Identifier: MIT */
/* Any text trace with one access a line, described by a regular expression whose named groups are the fields. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/regex.h"
#include "base/scan.h"
#include "import/import.h"
#include "import/opcode.h"
#include "stream/op.h"

enum group { BLOCK, THREAD, WARP, AN, OP, ADDRESS, HEXADDRESS, SIZE, PC, GROUPS };

static const char *const names[GROUPS] = {
	"block", "thread", "warp", "an", "op", "address", "hexaddress", "size", "pc",
};
static const char expected[] =
	"expected named groups of block, thread, warp, an, op, address, hexaddress, size and pc";

struct gt_pattern {
	struct gt_regex *regex;
	int groups[GROUPS]; /* numbers in the expression, -1: absent */
};

/* A matched group, and a copy of it to scan: groups end anywhere in a line. */
struct text {
	const char *start;
	size_t length;
	char copy[64 + GT_SCAN_SLACK];
};

static const struct {
	const char *word;
	enum gt_action action;
} words[] = {
	{"R", GT_LOAD},	      {"W", GT_STORE},	     {"0", GT_LOAD},	   {"1", GT_STORE},
	{"L", GT_LOAD},	      {"S", GT_STORE},	     {"LD", GT_LOAD},	   {"ST", GT_STORE},
	{"READ", GT_LOAD},    {"WRITE", GT_STORE},   {"LOAD", GT_LOAD},	   {"STORE", GT_STORE},
	{"ATOMIC", GT_ATOMIC}, {"REDUCTION", GT_REDUCTION},
};

static int check_groups(struct gt_pattern *pattern, const char *regex, struct gt_error *error)
{
	const char *name;

	for (unsigned i = 0; (name = gt_regex_group_name(pattern->regex, i)) != NULL; i++) {
		size_t known = 0;
		while (known < GROUPS && strcmp(names[known], name) != 0)
			known++;
		if (known == GROUPS)
			return gt_fail(error, "'%s': group '%s': %s", regex, name, expected);
	}
	for (size_t i = 0; i < GROUPS; i++)
		pattern->groups[i] = gt_regex_group(pattern->regex, names[i]);
	if ((pattern->groups[ADDRESS] < 0) == (pattern->groups[HEXADDRESS] < 0))
		return gt_fail(error, "'%s': expected one group 'address' or 'hexaddress', "
			       "as in (?<address>0x\\w+)", regex);
	if (pattern->groups[THREAD] >= 0 && pattern->groups[WARP] >= 0)
		return gt_fail(error, "'%s': expected a group 'thread' or 'warp', not both", regex);
	return 0;
}

struct gt_pattern *gt_pattern_open(const char *regex, struct gt_error *error)
{
	struct gt_pattern *pattern = calloc(1, sizeof *pattern);

	if (!pattern) {
		gt_fail_memory(error, "a format");
		return NULL;
	}
	pattern->regex = gt_regex_open(regex, error);
	if (pattern->regex && check_groups(pattern, regex, error) == 0)
		return pattern;
	gt_pattern_close(pattern);
	return NULL;
}

void gt_pattern_close(struct gt_pattern *pattern)
{
	if (!pattern)
		return;
	gt_regex_close(pattern->regex);
	free(pattern);
}

/* The text of a group in the last match; false if it is absent. */
static bool group_text(const struct gt_pattern *pattern, enum group group, const char *line,
		       struct text *text)
{
	text->start = gt_regex_matched(pattern->regex, pattern->groups[group], line, &text->length);
	if (!text->start)
		return false;
	size_t kept = text->length < 64 ? text->length : 63;
	memset(text->copy, 0, sizeof text->copy);
	memcpy(text->copy, text->start, kept);
	return true;
}

/* A decimal number, or a hexadecimal one if `hex` is set or it begins with 0x. */
static bool scan_number(const char **at, bool hex, uint64_t *value)
{
	if (hex || ((*at)[0] == '0' && ((*at)[1] | 0x20) == 'x'))
		return gt_scan_hex(at, value);
	return gt_scan_decimal(at, value);
}

/* The number in a group, `value` unchanged if the group is absent. */
static int group_number(const struct gt_pattern *pattern, enum group group, const char *line, uint64_t max,
			uint64_t *value, struct gt_error *error)
{
	struct text text;

	if (!group_text(pattern, group, line, &text))
		return 0;
	const char *at = text.copy;
	if (text.length >= 64 || !scan_number(&at, group == PC, value) || *at != '\0' || *value > max)
		return gt_fail(error, "'%.40s' in group '%s': expected a number of at most %" PRIu64,
			       text.copy,
			       names[group], max);
	return 0;
}

static int group_op(const struct gt_pattern *pattern, const char *line, uint8_t *op, uint64_t *size,
		    uint16_t *hint, struct gt_error *error)
{
	struct text text;
	uint8_t bytes;

	*op = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	*hint = 0;
	if (!group_text(pattern, OP, line, &text))
		return 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcasecmp(text.copy, words[i].word) != 0)
			continue;
		*op = gt_op(words[i].action, GT_GLOBAL, GT_OPERATOR_NONE);
		return 0;
	}
	if (gt_op_parse(text.copy, op) == 0)
		return 0;
	if (gt_sass_access(text.start, text.length, op, &bytes, hint) != 0)
		return gt_fail(error, "'%.40s' in group 'op': expected R or W, 0 or 1, load or store, "
			       "load.global and so on, or a SASS opcode", text.copy);
	*size = bytes;
	return 0;
}

/* One address, or for a warp up to 32, separated by blanks or commas. */
static int group_addresses(const struct gt_pattern *pattern, const char *line, uint64_t *addresses,
			   unsigned *n, struct gt_error *error)
{
	bool hex = pattern->groups[HEXADDRESS] >= 0;
	unsigned most = pattern->groups[WARP] >= 0 ? GT_WARP_SIZE : 1;
	struct text text;

	*n = 0;
	if (!group_text(pattern, hex ? HEXADDRESS : ADDRESS, line, &text))
		return gt_fail(error, "expected an address");
	const char *at = text.start, *end = text.start + text.length;
	while (at < end && *n < most) {
		if (!scan_number(&at, hex, &addresses[(*n)++]) || at > end)
			return gt_fail(error, "'%.40s': expected %s", text.copy,
				       hex ? "a hexadecimal address"
					   : "a decimal address, or 0x and a hexadecimal one");
		while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
			at++;
	}
	if (at != end || *n == 0)
		return gt_fail(error, "'%.40s': expected 1 to %u addresses", text.copy, most);
	return 0;
}

static int fill_access(const struct gt_pattern *pattern, const char *line, struct gt_trace_access *access,
		       uint64_t *addresses, struct gt_error *error)
{
	uint64_t block = 0, thread = 0, warp = 0, an = 0, pc = 0, size = 4;
	unsigned n;

	if (group_op(pattern, line, &access->op, &size, &access->hint, error) != 0 ||
	    group_number(pattern, SIZE, line, UINT8_MAX, &size, error) != 0 ||
	    group_number(pattern, BLOCK, line, UINT32_MAX - 1, &block, error) != 0 ||
	    group_number(pattern, THREAD, line, GT_BLOCK_THREADS_MAX - 1, &thread, error) != 0 ||
	    group_number(pattern, WARP, line, GT_BLOCK_THREADS_MAX / GT_WARP_SIZE - 1, &warp, error) != 0 ||
	    group_number(pattern, AN, line, UINT32_MAX, &an, error) != 0 ||
	    group_number(pattern, PC, line, UINT64_MAX, &pc, error) != 0 ||
	    group_addresses(pattern, line, addresses, &n, error) != 0)
		return -1;
	bool whole_warp = pattern->groups[WARP] >= 0;
	access->numbering = whole_warp ? GT_AN_OF_WARP : GT_AN_OF_THREAD;
	if (pattern->groups[AN] >= 0)
		access->numbering = GT_AN_GIVEN;
	access->block = (uint32_t)block;
	access->warp = (uint16_t)(whole_warp ? warp : thread / GT_WARP_SIZE);
	access->mask = whole_warp ? UINT32_MAX >> (GT_WARP_SIZE - n) : UINT32_C(1) << thread % GT_WARP_SIZE;
	access->an = (uint32_t)an;
	access->pc = (uint32_t)pc;
	access->size = (uint8_t)size;
	access->addresses = addresses;
	return 0;
}

int gt_pattern_read(struct gt_pattern *pattern, struct gt_input *input, struct gt_trace *to,
		    struct gt_error *error)
{
	uint64_t addresses[GT_WARP_SIZE], matched = 0, unmatched = 0;
	struct gt_trace_access access = {0};
	struct gt_kernel kernel;
	size_t length;
	char *line;
	int got;

	gt_implicit_kernel(&kernel, input);
	if (to->kernel(to->context, &kernel, error) != 0)
		return -1;
	while ((got = gt_input_line(input, &line, &length, error)) > 0) {
		int match = gt_regex_match(pattern->regex, line, length, error);
		if (match < 0 || (match > 0 && (fill_access(pattern, line, &access, addresses, error) != 0 ||
						to->access(to->context, &access, error) != 0)))
			return gt_input_fail(input, error, "%s", error->text);
		matched += match > 0;
		unmatched += match == 0;
	}
	if (got == 0 && matched == 0 && unmatched > 0)
		return gt_fail(error, "%s: none of its %" PRIu64 " lines matches the regular expression",
			       gt_input_name(input), unmatched);
	if (got == 0 && unmatched > 0)
		got = to->passed_over(to->context, "lines that do not match", unmatched, error);
	return got;
}
