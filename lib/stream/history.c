/* SPDX-License-Identifier: MIT */
#include "stream/history.h"

#include <stdio.h>
#include <string.h>

/* Where the next word of an entry begins; NULL after the last. */
static const char *next_word(const char *word)
{
	const char *tab = strchr(word, '\t');

	return tab ? tab + 1 : NULL;
}

/* What follows an option in a word: "" if it has no "=argument". NULL: the word is something else. */
static const char *after_option(const char *word, const char *option)
{
	size_t n = strlen(option);

	/* strchr finds the end of the entry too. */
	if (strncmp(word, option, n) != 0 || !strchr("\t=", word[n]))
		return NULL;
	return word[n] == '=' ? word + n + 1 : "";
}

static const char *find_option(const char *entry, const char *option)
{
	for (const char *word = next_word(entry); word; word = next_word(word))
		if (after_option(word, option))
			return word;
	return NULL;
}

static bool is_tool(const char *entry, const char *tool)
{
	size_t n = strlen(tool);

	return strncmp(entry, tool, n) == 0 && (entry[n] == '\t' || entry[n] == '\0');
}

const char *gt_history_find(const char *const *history, const char *tool, const char *option)
{
	const char *found = NULL;

	for (; *history; history++)
		if (is_tool(*history, tool) && (!option || find_option(*history, option)))
			found = *history;
	return found;
}

bool gt_history_argument(const char *entry, const char *option, char *text, size_t size)
{
	const char *word = find_option(entry, option);

	if (!word)
		return false;
	const char *argument = after_option(word, option);
	if (*argument == '\0')
		argument = next_word(word);
	snprintf(text, size, "%.*s", argument ? (int)strcspn(argument, "\t") : 0, argument ? argument : "");
	return true;
}

/* Pairs of stages of which the later one, with its option, must not follow the earlier one. */
static const struct {
	const char *earlier, *earlier_option, *later, *later_option;
	enum gt_order_of_stages order;
	const char *reason;
} pairs[] = {
	{"gdram", NULL, "gcoalesce", NULL, GT_STAGES_MEANINGLESS, "gdram has taken all requests: put it last, before gstats"},
	{"gdram", NULL, "gschedule", NULL, GT_STAGES_MEANINGLESS, "gdram has taken all requests: put it last, before gstats"},
	{"gdram", NULL, "gcache", NULL, GT_STAGES_MEANINGLESS, "gdram has taken all requests: put it after the last gcache"},
	{"gdram", NULL, "gdram", NULL, GT_STAGES_MEANINGLESS, "an earlier gdram has taken all requests"},
	{"gcache", "--l2", "gcache", "--l1", GT_STAGES_DOUBTFUL, "--l1 gets what --l2 has missed: put --l1 first"},
	{"gcache", "--l2", "gcache", "--texture", GT_STAGES_DOUBTFUL, "--texture gets what --l2 has missed: put --texture first"},
	{"gcache", "--l2", "gcache", "--readonly", GT_STAGES_DOUBTFUL, "--readonly gets what --l2 has missed: put --readonly first"},
	{"gcache", NULL, "gschedule", NULL, GT_STAGES_MEANINGLESS, "gcache has served the requests in another order: put gschedule before it"},
};

static bool has_option(char *const argv[], const char *option)
{
	for (; *argv; argv++)
		if (strcmp(*argv, option) == 0)
			return true;
	return false;
}

enum gt_order_of_stages gt_history_order(const char *const *history, const char *tool, char *const argv[],
					 struct gt_error *reason)
{
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		if (strcmp(pairs[i].later, tool) != 0 || (pairs[i].later_option && !has_option(argv, pairs[i].later_option)))
			continue;
		if (gt_history_find(history, pairs[i].earlier, pairs[i].earlier_option)) {
			gt_fail(reason, "%s", pairs[i].reason);
			return pairs[i].order;
		}
	}
	return GT_STAGES_IN_ORDER;
}
