/* SPDX-License-Identifier: MIT */
/* What the common parts of tools use of each other. */
#ifndef TOOLS_COMMON_PARTS_H
#define TOOLS_COMMON_PARTS_H

#include "tool.h"

/* Makes SIGUSR1 ask for progress. */
void tool_hear_progress(void);
/* The next stage of a pipe is told of a failure by the stream, so that it does not report the missing end as a second
 * one. */
void tool_end_failed(const struct tool *tool, const char *text);
/* Prints the text of --help: the tool's rows, then those of all tools. */
void tool_print_help(const struct tool *tool, const struct tool_row *rows, const struct tool_row *common);
bool tool_is_pipe(int descriptor);

#endif
