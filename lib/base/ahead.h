/* SPDX-License-Identifier: MIT */
/* The text of an input that is in memory, for readers that know their lines without their ends being looked for first. */
#ifndef GT_BASE_AHEAD_H
#define GT_BASE_AHEAD_H

#include "base/input_state.h"

/* What follows the last line, as far as it has been read: lines with their newlines, the last perhaps without its end, then a
 * 0, and GT_SCAN_SLACK readable bytes. Valid until a line is read otherwise. */
static inline const char *gt_input_ahead(struct gt_input *input)
{
	input->buffer[input->end] = '\0';
	return input->buffer + input->start;
}

/* Takes the next line, of so many bytes with its newline. */
static inline void gt_input_take_line(struct gt_input *input, size_t bytes)
{
	input->start += bytes;
	input->line++;
}

#endif
