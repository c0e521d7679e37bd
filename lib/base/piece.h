/* SPDX-License-Identifier: MIT */
/* An input (base/input.h) for readers that take more than a line at a time: its text in pieces, which several threads read, each an input
 * of its own that has the name of the whole; and ahead of its lines, for those that know lines without their ends being looked for
 * first. */
#ifndef GT_BASE_PIECE_H
#define GT_BASE_PIECE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/input.h"

/* ---- the state of an input ---- */

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

/* ---- ahead of the lines of an input in memory ---- */

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

/* ---- pieces ---- */

/* An empty piece; NULL on error. It is closed as any input. */
struct gt_input *gt_piece_open(const struct gt_input *whole, struct gt_error *error);

/* Whether what is to be read next certainly begins so: as far as it is buffered. */
bool gt_piece_begins(const struct gt_input *whole, const char *text);

/* Moves the next text into a piece: about `least` bytes or more, up to a line that begins with `mark` (NULL: to the end of any),
 * or to the end. Lines of the piece are numbered from 1. Returns 1; 0 if there is no text; -1 on error: the piece has the whole lines before it. */
int gt_piece_cut(struct gt_input *piece, struct gt_input *whole, const char *mark, size_t least, struct gt_error *error);

/* Reads a piece again, from its first line, which follows line `before`. */
void gt_piece_again(struct gt_input *piece, uint64_t before);

/* Says which line of an input was the last one. */
void gt_piece_note_line(struct gt_input *input, uint64_t line);

#endif
