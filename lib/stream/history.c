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
	{"gdram", NULL, "grd", NULL, GT_STAGES_MEANINGLESS, "gdram has taken all requests: put it after grd"},
	{"gdram", NULL, "gsample", NULL, GT_STAGES_MEANINGLESS, "gdram has taken all requests: put gsample behind gcoalesce"},
	{"gsample", NULL, "gsample", NULL, GT_STAGES_MEANINGLESS, "an earlier gsample has left out launches: give one of them the tolerance"},
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

/* The argument of an option among arguments, or NULL. */
static const char *own_argument(char *const argv[], const char *option)
{
	size_t n = strlen(option);

	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (strncmp(*argv, option, n) != 0)
			continue;
		if ((*argv)[n] == '=')
			return *argv + n + 1;
		if ((*argv)[n] == '\0')
			return argv[1];
	}
	return NULL;
}

/* What a tool has done for the GPU that it was given. */
static const char *done_by(const char *entry)
{
	static const struct {
		const char *tool, *done;
	} all[] = {
		{"gtrace-record", "ran the program"},
		{"gtrace-ptx", "ran the kernels"},
		{"gcoalesce", "made the requests"},
		{"gschedule", "scheduled the rows"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (is_tool(entry, all[i].tool))
			return all[i].done;
	return "came before";
}

/* Whether a second gcoalesce is asked for other requests than the first has made. */
static bool same_requests(const char *first, char *const argv[], struct gt_error *reason)
{
	static const char *const options[] = {"--gpu", "--rule", "--banks"};
	char earlier[256];

	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const char *own = own_argument(argv, options[i]);
		if (!own || (gt_history_argument(first, options[i], earlier, sizeof earlier) && strcmp(own, earlier) == 0))
			continue;
		gt_fail(reason, "an earlier gcoalesce has made the requests: %s %s changes nothing", options[i], own);
		return false;
	}
	return true;
}

bool gt_history_same_gpu(const char *const *history, const char *tool, char *const argv[], struct gt_error *reason)
{
	const char *own = own_argument(argv, "--gpu"), *coalesced = gt_history_find(history, "gcoalesce", NULL), *last = NULL;
	char earlier[256];

	if (coalesced && strcmp(tool, "gcoalesce") == 0)
		return same_requests(coalesced, argv, reason);
	for (; *history; history++)
		last = find_option(*history, "--gpu") ? *history : last;
	if (!own || !last)
		return true;
	gt_history_argument(last, "--gpu", earlier, sizeof earlier);
	if (strcmp(earlier, own) == 0)
		return true;
	gt_fail(reason, "%.*s --gpu %s %s: expected the same GPU here, not %s", (int)strcspn(last, "\t"), last, earlier, done_by(last), own);
	return false;
}
