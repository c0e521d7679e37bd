/* SPDX-License-Identifier: MIT */
/* The tracing options of gtrace-ptx and gtrace-record, as rows of the tools. */
#ifndef TRACING_H
#define TRACING_H

#include <string.h>

#include "cuda/ptx/record/record.h"
#include "tool.h"

enum { TRACING = 0x2000 }; /* tool_option returns TRACING + the row of the table, or the letter */
#define TRACING_OPTIONS_MAX 64

/* Appends the tracing options of a tool to its rows. Returns how many. */
static inline size_t tracing_rows(enum gt_tracing_tool mask, struct tool_row *rows)
{
	static char options[TRACING_OPTIONS_MAX][GT_TRACING_HELP];
	size_t n = 0;

	for (size_t i = 0; i < gt_tracing_options_n && n < TRACING_OPTIONS_MAX; i++) {
		const struct gt_tracing_option *option = &gt_tracing_options[i];
		if (!(option->tools & mask))
			continue;
		gt_tracing_help(option, options[n]);
		rows[n] = (struct tool_row){options[n], option->letter ? option->letter : TRACING + (int)i, option->help};
		n++;
	}
	return n;
}

/* The row for a value that tool_option returned. */
static inline const struct gt_tracing_option *tracing_option(int value)
{
	const struct gt_tracing_option *option = gt_tracing_options;

	if (value >= TRACING)
		return &gt_tracing_options[value - TRACING];
	while (option->letter != value)
		option++;
	return option;
}

#endif
