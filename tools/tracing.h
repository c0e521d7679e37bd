/* SPDX-License-Identifier: MIT */
/* The tracing options of a tool, for getopt_long. */
#ifndef TRACING_H
#define TRACING_H

#include <getopt.h>

#include "ptx/record/tracing.h"

enum { TRACING = 0x2000 }; /* getopt_long returns TRACING + the row of the table, or the letter */

/* Copies the tracing options of the tool, and after them the `n` of `rest`. */
static inline void tracing_options(enum gt_tracing_tool tool, const struct option *rest, size_t n, struct option *options)
{
	for (size_t i = 0; i < gt_tracing_options_n; i++)
		if (gt_tracing_options[i].tools & tool)
			*options++ = (struct option){gt_tracing_options[i].name,
						     gt_tracing_options[i].form ? required_argument : no_argument, NULL,
						     gt_tracing_options[i].letter ? gt_tracing_options[i].letter : TRACING + (int)i};
	for (size_t i = 0; i < n; i++)
		options[i] = rest[i];
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
