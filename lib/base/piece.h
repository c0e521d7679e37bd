/* SPDX-License-Identifier: MIT */
/* Pieces of an input's text, so that several threads can read it: each is an input of its own, which has the name of the
 * whole. */
#ifndef GT_BASE_PIECE_H
#define GT_BASE_PIECE_H

#include <stdbool.h>

#include "base/input.h"

/* An empty piece; NULL on error. It is closed as any input. */
struct gt_input *gt_piece_open(const struct gt_input *of, struct gt_error *error);

/* Whether what is to be read next certainly begins so: as far as it is buffered. */
bool gt_piece_begins(const struct gt_input *of, const char *text);

/* Moves the next text into a piece: about `least` bytes or more, up to a line that begins with `mark` (NULL: to the end of any),
 * or to the end. Lines of the piece are numbered from 1. Returns 1; 0 if there is no text; -1 on error: the piece has the whole lines before it. */
int gt_piece_cut(struct gt_input *piece, struct gt_input *of, const char *mark, size_t least, struct gt_error *error);

/* Reads a piece again, from its first line, which follows line `before`. */
void gt_piece_again(struct gt_input *piece, uint64_t before);

/* Says which line of an input was the last one. */
void gt_piece_note_line(struct gt_input *input, uint64_t line);

#endif
