/* SPDX-License-Identifier: MIT */
/* The tracing options of gtrace-ptx and gtrace-record, for getopt_long. */
#ifndef TRACING_H
#define TRACING_H

#include <string.h>

#include "ptx/record/tracing.h"
#include "tool.h"

enum { TRACING = 0x2000 }; /* getopt_long returns TRACING + the row of the table, or the letter */

/* The tracing options of a tool, and after them the `n` of `rest`; the caller frees them. */
static inline struct option *tracing_options(struct tool *tool, enum gt_tracing_tool mask, const struct option *rest, size_t n)
{
	size_t own = 0;

	for (size_t i = 0; i < gt_tracing_options_n; i++)
		own += (gt_tracing_options[i].tools & mask) != 0;
	struct option *options = tool_option_rows(tool, own + n), *to = options;
	for (size_t i = 0; i < gt_tracing_options_n; i++)
		if (gt_tracing_options[i].tools & mask)
			*to++ = (struct option){gt_tracing_options[i].name,
						gt_tracing_options[i].form ? required_argument : no_argument, NULL,
						gt_tracing_options[i].letter ? gt_tracing_options[i].letter : TRACING + (int)i};
	memcpy(to, rest, n * sizeof *to);
	return options;
}

/* The row for a value that getopt_long returned. */
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
