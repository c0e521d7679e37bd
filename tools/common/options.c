/* SPDX-License-Identifier: MIT */
/* How a tool begins, and reads its options. */
#include "common/parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/installed.h"
#include "base/options.h"
#include "base/pipeline.h"

void tool_begin(struct tool *tool, const char *name, const struct tool_about *about, int argc, char **argv)
{
	*tool = (struct tool){.name = name, .about = *about, .argc = argc, .argv = argv, .jobs = 1, .started = tool_now()};
	tool_hear_progress();
	/* A file that may grow no further is an error of write(2), which has a message. */
	signal(SIGXFSZ, SIG_IGN);
}

/* Ends after a help text or a version. */
static _Noreturn void end_print(const struct tool *tool)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		exit(0);
	if (errno != EPIPE)
		perror(tool->name);
	exit(1);
}

/* For an unknown long option, suggests a known one of which at most every third letter is wrong. */
static void print_misspelt(const struct tool *tool, const struct option *options)
{
	const char *word = tool->argv[optind - 1], *meant = NULL;
	char name[64];
	unsigned best;

	if (optopt != 0 || strncmp(word, "--", 2) != 0)
		return;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
	best = (unsigned)strlen(name) / 3 + 1;
	for (; options->name; options++) {
		unsigned distance = gt_edit_distance(name, options->name);
		if (strncmp(options->name, name, strlen(name)) == 0) /* an ambiguous abbreviation */
			return;
		if (distance < best) {
			best = distance;
			meant = options->name;
		}
	}
	if (meant)
		fprintf(stderr, "%s: did you mean '--%s'?\n", tool->name, meant);
}

/* In the place of words of argv on which the output does not depend: a stream's history does not have them. */
static char left_out[] = "";

static void set_jobs(struct tool *tool, const char *text)
{
	if (tool->argv[optind - 1] == text)
		tool->argv[optind - 2] = left_out;
	tool->argv[optind - 1] = left_out;
	if (gt_parse_jobs(text, &tool->jobs, &tool->error) != 0)
		tool_usage_error(tool, "--jobs");
}

/* Takes those words out of argv, when all options are read and the operands are behind them. */
static void leave_out(struct tool *tool)
{
	int n = 0, options = optind;

	for (int i = 0; i < tool->argc; i++)
		if (tool->argv[i] != left_out)
			tool->argv[n++] = tool->argv[i];
		else
			optind -= i < options;
	tool->argv[n] = NULL;
	tool->argc = n;
}

/* Keeps the name of the option that was read, as it is in messages: that of the row `at` of getopt's table, or, if it was a letter
 * (-1), the long name beside it. */
static void name_option(struct tool *tool, int value, int at)
{
	const struct option *option = tool->parser->options + (at < 0 ? 0 : at);

	while (at < 0 && option->name && option->val != value)
		option++;
	if (option->name)
		snprintf(tool->option, sizeof tool->option, "--%s", option->name);
	else
		snprintf(tool->option, sizeof tool->option, "-%c", value);
}

int tool_option(struct tool *tool, const struct tool_row *rows)
{
	if (!tool->parser)
		tool->parser = tool_parser_new(tool, rows);
	for (;;) {
		int at = -1;
		int value = getopt_long(tool->argc, tool->argv, tool->parser->letters, tool->parser->options, &at);
		switch (value) {
		case -1:
			tool_parser_free(tool);
			leave_out(tool);
			return -1;
		case TOOL_HELP:
			tool_help_print(tool, rows);
			end_print(tool);
		case TOOL_VERSION:
			printf("%s %s\n", tool->name, gt_version);
			end_print(tool);
		case 'v':
			tool->verbose = true;
			break;
		case TOOL_QUIET:
			tool->quiet = true;
			break;
		case 'j':
			set_jobs(tool, optarg);
			break;
		case '?':
			print_misspelt(tool, tool->parser->options);
			fprintf(stderr, "%s: see '%s --help'\n", tool->name, tool->name);
			tool_end_failed(tool, "wrong options");
			exit(2);
		default:
			name_option(tool, value, at);
			return value;
		}
	}
}
