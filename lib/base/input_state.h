/* SPDX-License-Identifier: MIT */
/* The state of an input (base/input.h), for the files that read it: line.c one line at a time, piece.c many. */
#ifndef GT_BASE_INPUT_STATE_H
#define GT_BASE_INPUT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/input.h"

struct gt_input {
	char *path;
	int file;	/* the file itself */
	int descriptor; /* to read from: the file, or the decompressor's pipe */
	uint64_t size, line;
	atomic_uint_least64_t taken; /* another thread may ask for it */

	const char *tool;      /* the decompressor, NULL for plain input */
	pid_t process, feeder; /* 0: none, or waited for */

	char *buffer; /* `capacity` bytes and GT_SCAN_SLACK more */
	size_t capacity, start, end;
	size_t first; /* where the text of a piece begins */
	char *terminated; /* where a 0 ends the last line, and what was there; NULL: none */
	char replaced;
	bool ended;	/* end of file was read from the descriptor */
	bool has_zero;	/* a 0 byte was read: each line is searched for one */
	bool handed_over;
};

/* Makes the text of the last line what it was. */
static inline void gt_input_mend(struct gt_input *input)
{
	if (input->terminated)
		*input->terminated = input->replaced;
	input->terminated = NULL;
}

/* Reads as much as fits in the buffer. Returns 1, 0 at the end, -1 on error. */
int gt_input_fill(struct gt_input *input, struct gt_error *error);
/* Makes room after the buffered bytes: moves them to the front, or enlarges the buffer. */
int gt_input_make_room(struct gt_input *input, struct gt_error *error);
/* Enlarges the buffer to so many bytes. */
int gt_input_resize(struct gt_input *input, size_t capacity, struct gt_error *error);

#endif
