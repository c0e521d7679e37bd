/* SPDX-License-Identifier: MIT */
/* What the common parts of tools use of each other. */
#ifndef TOOLS_COMMON_PARTS_H
#define TOOLS_COMMON_PARTS_H

#include <getopt.h>

#include "tool.h"

/* Makes SIGUSR1 ask for progress. */
void tool_hear_progress(void);
/* The next stage of a pipe is told of a failure by the stream, so that it does not report the missing end as a second
 * one. */
void tool_end_failed(const struct tool *tool, const char *text);
bool tool_is_pipe(int descriptor);

/* The options that all tools have: this one, whose text is the tool's own, and tool_common_rows. */
#define TOOL_VERBOSE "-v, --verbose"
enum { TOOL_QUIET = 0x10000, TOOL_HELP, TOOL_VERSION };
extern const struct tool_row tool_common_rows[];

static inline bool tool_row_ends(const struct tool_row *row)
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
struct tool_parser *tool_parser_new(struct tool *tool, const struct tool_row *rows);
void tool_parser_free(struct tool *tool);

void tool_help_print(const struct tool *tool, const struct tool_row *rows);

#endif
