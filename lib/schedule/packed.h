/* SPDX-License-Identifier: MIT */
/* The rows of a warp as bytes. A row that is what the rows before it let expect costs a 128th of a byte, another one what
 * differs: expected is that a shape is followed by the shape that followed it last, with its step of access numbers, and
 * that the bases of a shape have a common difference. */
#ifndef GT_SCHEDULE_PACKED_H
#define GT_SCHEDULE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strand.h"
#include "schedule/kept.h"

/* Rows in memory that live together. */
struct window {
	struct kept *rows;
	size_t n, capacity;
	uint64_t *words; /* of odd rows */
	size_t n_words, words_capacity;
};

#define PACKED_RECALLS 16

/* What is expected after a shape, and of it. Those of shapes whose numbers differ by PACKED_RECALLS are one. */
struct recall {
	uint64_t base;	/* of its last row */
	int32_t delta;	/* from the one before */
	uint16_t next;	/* the shape that followed */
	uint16_t step;	/* of the access number, to that */
};

/* What rows up to now let expect; the same for who packs and who unpacks. */
struct context {
	uint32_t an;
	uint16_t shape;
	struct recall recalls[PACKED_RECALLS];
};

/* Packs the rows of one warp. */
struct packer {
	struct context context;
	struct gt_strand *strand; /* to which the context belongs */
	unsigned char *run;	  /* its last byte if that counts expected rows; else NULL */
};

/* Unpacks them. */
struct unpacker {
	struct context context;
	struct gt_strand *strand;
	const unsigned char *at, *end;
	unsigned run;	  /* expected rows before `at` */
	bool more;	  /* there is another row */
	uint32_t next_an; /* its access number */
};

/* Begins, or goes on with, a strand into which others have packed. Returns 0, or -1. */
int gt_packer_begin(struct packer *packer, struct gt_strands *strands, struct gt_strand *strand, struct gt_error *error);

/* Packs a row; `odd` describes one of SHAPE_NONE, and `lanes` has its addresses if it has no common stride. Returns 0, or -1. */
int gt_packer_add(struct packer *packer, struct gt_strands *strands, const struct kept *row, const struct shape *odd,
	    const uint64_t *lanes, struct gt_error *error);

/* Reads up to the first row. Returns 0, or -1. */
int gt_unpacker_begin(struct unpacker *unpacker, struct gt_strands *strands, struct gt_strand *strand, struct gt_error *error);

/* Appends the rows of the next access, of warp `warp`, to a window; there is one. The bases of odd rows count words until
 * gt_window_settle. Returns 0, or -1. */
int gt_unpacker_access(struct unpacker *unpacker, struct gt_strands *strands, uint16_t warp, struct window *window,
		     struct gt_error *error);

/* Makes pointers of the bases of odd rows. */
void gt_window_settle(struct window *window);
void gt_window_free(struct window *window);

#endif
