/* SPDX-License-Identifier: MIT */
/* Makes what getopt_long reads of the rows of a tool. */
#include "common/parts.h"

#include <stdlib.h>
#include <string.h>

const struct tool_row tool_common_rows[] = {
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

struct tool_parser *tool_parser_new(struct tool *tool, const struct tool_row *rows)
{
	const struct tool_row verbose = {TOOL_VERBOSE, 'v', tool->about.verbose};
	struct tool_parser *parser = calloc(1, sizeof *parser);
	size_t n = 1, bytes = sizeof TOOL_VERBOSE;

	for (const struct tool_row *row = rows; !tool_row_ends(row); row++, n++)
		bytes += row->option ? strlen(row->option) + 1 : 0;
	for (const struct tool_row *row = tool_common_rows; !tool_row_ends(row); row++, n++)
		bytes += strlen(row->option) + 1;
	if (parser) {
		parser->options = calloc(n + 1, sizeof *parser->options);
		parser->names = calloc(bytes, 1);
	}
	if (!parser || !parser->options || !parser->names)
		tool_must(tool, gt_fail_memory(&tool->error, "options"));
	snprintf(parser->letters, TOOL_LETTERS, "%s", tool->takes_program ? "+" : "");
	char *room = parser->names;
	for (const struct tool_row *row = rows; !tool_row_ends(row); row++)
		add_row(parser, row, &room);
	add_row(parser, &verbose, &room);
	for (const struct tool_row *row = tool_common_rows; !tool_row_ends(row); row++)
		add_row(parser, row, &room);
	return parser;
}

void tool_parser_free(struct tool *tool)
{
	free(tool->parser->options);
	free(tool->parser->names);
	free(tool->parser);
	tool->parser = NULL;
}
