/* SPDX-License-Identifier: MIT */
/* The options of a tool: what getopt_long reads is made of the tool's rows; how a tool begins, and reads its options. */
#include "common/parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/file.h"
#include "base/installed.h"
#include "base/options.h"
#include "base/pipeline.h"

/* ---- the parser ---- */

/* The options that all tools have. */
enum { TOOL_QUIET = 0x10000, TOOL_HELP, TOOL_VERSION };

static bool row_ends(const struct tool_row *row)
{
	return !row->text;
}

#define TOOL_LETTERS 64 /* bytes of getopt's list of letters */

/* What getopt_long reads, made of the rows of a tool. */
struct tool_parser {
	char letters[TOOL_LETTERS];
	struct option *options; /* n, and an empty one */
	char *names;		/* of options */
	size_t n;
};

/* The text of the first is the tool's own. */
static struct tool_row common[] = {
	{"-v, --verbose", 'v', ""},
	{"--quiet", TOOL_QUIET, "no warnings"},
	{"--help", TOOL_HELP, "this text"},
	{"--version", TOOL_VERSION, "the version"},
	TOOL_END,
};

static bool has_letter(const struct tool_row *row)
{
	return row->option[0] == '-' && row->option[1] != '-';
}

/* The long name of an option without its dashes; NULL if it has a letter alone. */
static const char *long_name(const struct tool_row *row, size_t *length)
{
	const char *dashes = strstr(row->option, "--");

	*length = dashes ? strcspn(dashes + 2, " ") : 0;
	return dashes ? dashes + 2 : NULL;
}

/* "FILE" of "-o, --output FILE": what follows the last name. */
static bool has_argument(const struct tool_row *row)
{
	const char *name = strstr(row->option, "--");

	return strchr(name ? name : row->option, ' ') != NULL;
}

void tool_warn_behind(const struct tool *tool, const struct tool_row *rows, char *const *program)
{
	size_t length;

	for (; !row_ends(rows); rows++) {
		const char *name = rows->option ? long_name(rows, &length) : NULL;
		for (char *const *word = program + 1; name && *program && *word; word++)
			if (strncmp(*word, "--", 2) == 0 && strncmp(*word + 2, name, length) == 0 && strchr("=", (*word)[2 + length]))
				tool_warn(tool, "%s stands behind %s, which gets it: an option of %s stands before the program", *word, *program,
					  tool->name);
	}
}

static void add_row(struct tool_parser *parser, const struct tool_row *row, char **room)
{
	size_t length;
	const char *name = row->option ? long_name(row, &length) : NULL;
	size_t letters = strlen(parser->letters);

	if (row->option && has_letter(row))
		snprintf(parser->letters + letters, TOOL_LETTERS - letters, "%c%s", row->option[1], has_argument(row) ? ":" : "");
	if (!name)
		return;
	memcpy(*room, name, length); /* zeros follow */
	parser->options[parser->n++] =
		(struct option){*room, has_argument(row) ? required_argument : no_argument, NULL, row->value};
	*room += length + 1;
}

static struct tool_parser *open_parser(struct tool *tool, const struct tool_row *rows)
{
	struct tool_parser *parser = calloc(1, sizeof *parser);
	size_t n = 0, bytes = 0;

	for (const struct tool_row *row = rows; !row_ends(row); row++, n++)
		bytes += row->option ? strlen(row->option) + 1 : 0;
	for (const struct tool_row *row = common; !row_ends(row); row++, n++)
		bytes += strlen(row->option) + 1;
	if (parser) {
		parser->options = calloc(n + 1, sizeof *parser->options);
		parser->names = calloc(bytes, 1);
	}
	if (!parser || !parser->options || !parser->names)
		tool_must(tool, gt_fail_memory(&tool->error, "options"));
	snprintf(parser->letters, TOOL_LETTERS, "%s:", tool->takes_program ? "+" : "");
	char *room = parser->names;
	for (const struct tool_row *row = rows; !row_ends(row); row++)
		add_row(parser, row, &room);
	for (const struct tool_row *row = common; !row_ends(row); row++)
		add_row(parser, row, &room);
	return parser;
}

static void close_parser(struct tool *tool)
{
	free(tool->parser->options);
	free(tool->parser->names);
	free(tool->parser);
	tool->parser = NULL;
}

/* ---- reading options ---- */

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

/* The known option that a word most likely means: of a long one at most every third letter is wrong. */
static const char *meant_by(const char *word, const struct option *options)
{
	const char *meant = NULL;
	char name[64];
	unsigned best;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	best = (unsigned)strlen(name) / 3 + 1;
	for (; options->name; options++) {
		unsigned distance = strcasecmp(name, options->name) == 0 ? 0 : gt_edit_distance(name, options->name);
		if (distance < best) {
			best = distance;
			meant = options->name;
		}
	}
	return meant;
}

static bool is_beginning(const char *word, const struct option *options)
{
	for (; options->name; options++)
		if (strncmp(options->name, word, strcspn(word, "=")) == 0)
			return true;
	return false;
}

/* The word that getopt_long has read, or reads: of -l1, which has the unknown letter l, the 1 is left. */
static const char *word_of(const struct tool *tool)
{
	const char *last = tool->argv[optind - 1], *next = optind < tool->argc ? tool->argv[optind] : NULL;

	if (optopt != 0 && next && next[0] == '-' && next[1] == optopt && next[2])
		return next;
	return last;
}

static _Noreturn void fail_unknown(const struct tool *tool)
{
	const struct tool_parser *parser = tool->parser;
	const char *word = word_of(tool), *name = word + strspn(word, "-");
	const char *meant = meant_by(name, parser->options);

	for (const struct option *option = parser->options; optopt != 0 && option->name; option++)
		if (option->val == optopt)
			tool_usage(tool, "--%s: expected no argument", option->name);
	if (word[0] == '-' && word[1] == '-' && is_beginning(name, parser->options))
		tool_usage(tool, "'%s': several options begin so ('%s --help' lists all)", word, tool->name);
	if (meant && name[0] && name[1])
		tool_usage(tool, "unknown option '%s': did you mean '--%s'?", word, meant);
	tool_usage(tool, "unknown option '%s'%s ('%s --help' lists all)", word,
		   strncmp(name, "gpu", 3) == 0	     ? ": gschedule takes the GPU"
		   : strncmp(name, "halves", 6) == 0 ? ": it is --spread far:CYCLES now"
						     : "", tool->name);
}

static _Noreturn void fail_argument(const struct tool *tool, const struct tool_row *rows)
{
	while (!row_ends(rows) && (!rows->option || rows->value != optopt))
		rows++;
	tool_usage(tool, "%s: expected an argument: %s", tool->argv[optind - 1], row_ends(rows) ? "a value" : rows->option);
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

/* An option that stands alone. */
static void leave_out_flag(struct tool *tool, const char *name, const char *other)
{
	char **word = &tool->argv[optind - 1];

	if (strcmp(*word, name) == 0 || strcmp(*word, other) == 0)
		*word = left_out;
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

const char *tool_folder(struct tool *tool, const char *folder)
{
	struct gt_error error;

	if (gt_folder_check(folder, &error) == 0)
		return folder;
	gt_fail(&tool->error, "%s: %s", tool->option, error.text);
	tool_fail(tool);
}

const char *tool_date(struct tool *tool, char date[32])
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	struct tm day;
	uint64_t seconds;

	if (!epoch || !*epoch)
		return NULL;
	if (gt_parse_count(epoch, 0, INT32_MAX * UINT64_C(100), &seconds, &tool->error) != 0)
		tool_usage_error(tool, "SOURCE_DATE_EPOCH");
	const time_t time = (time_t)seconds;
	return gmtime_r(&time, &day) && strftime(date, 32, "%Y-%m-%d", &day) > 0 ? date : NULL;
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
	common[0].text = tool->about.verbose;
	opterr = 0;
	if (!tool->parser)
		tool->parser = open_parser(tool, rows);
	for (;;) {
		int at = -1;
		int value = getopt_long(tool->argc, tool->argv, tool->parser->letters, tool->parser->options, &at);
		switch (value) {
		case -1:
			close_parser(tool);
			leave_out(tool);
			return -1;
		case TOOL_HELP:
			tool_print_help(tool, rows, common);
			end_print(tool);
		case TOOL_VERSION:
			printf("%s %s\n", tool->name, gt_version);
			end_print(tool);
		case 'v':
			tool->verbose = true;
			leave_out_flag(tool, "-v", "--verbose");
			break;
		case TOOL_QUIET:
			tool->quiet = true;
			leave_out_flag(tool, "--quiet", "--quiet");
			break;
		case 'j':
			set_jobs(tool, optarg);
			break;
		case '?':
			fail_unknown(tool);
		case ':':
			fail_argument(tool, rows);
		default:
			name_option(tool, value, at);
			return value;
		}
	}
}
