/* SPDX-License-Identifier: MIT */
/* The rows of a block: loose while memory lasts, else packed; and in issue order when it has become resident. */
#ifndef GT_SCHEDULE_BLOCK_H
#define GT_SCHEDULE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strand.h"
#include "schedule/loose.h"
#include "schedule/packed.h"
#include "schedule/kept.h"
#include "stream/rows.h"

/* The rows of a warp that is resident: unpacked when their turn comes. */

#define GT_WINDOW_ROWS 256 /* and what belongs to the last access */

struct source {
	struct unpacker unpacker;
	struct gt_strand strand;
	uint16_t warp;
	/* By warp: rows that are unpacked, whole accesses, and those of them that are still to be issued. */
	struct window window;
	struct kept *row, *end;
};
void gt_source_close(struct source *source, struct gt_strands *strands);

/* By warp: the next rows, when all before have been issued; none at the end. Returns 0, or -1. */
int gt_source_fill(struct source *source, struct gt_strands *strands, struct gt_error *error);

/* The end of the next access in its window, of which there is one. */
static inline struct kept *gt_source_access(const struct source *source)
{
	struct kept *row = source->row;

	do
		row++;
	while (row < source->end && row->an == source->row->an);
	return row;
}

#define GT_WARPS_PAGE 8

/* The packed rows of a warp. */
struct packed_warp {
	struct gt_strand strand;
	uint32_t an; /* of its last row */
	bool unsorted; /* rows did not come by access number */
};

struct block {
	/* What an issue touches, together. */
	struct kept *row, *end; /* rr: spans, or rows of the window, still to be issued; all have been if there are none */
	uint64_t start;	 /* rr: the round at which its access 0 issues */
	size_t position; /* in the SM's array of resident blocks */
	uint64_t begin;	 /* the step of its first issue */
	uint32_t number;
	uint16_t done;	 /* rr: rows of the first of these spans that have been issued */
	bool begun;	 /* it has issued a row */
	bool skipped;	 /* not modelled: its rows are dropped */
	bool open;	 /* more rows may come */

	uint32_t sm;
	uint64_t id;	/* no other block of the kernel has it */
	uint64_t index; /* among the blocks of its SM */
	uint16_t highest_warp;
	bool packed;	    /* its rows are in `pages`; else in `loose` */
	struct loose loose;
	struct packed_warp **pages; /* GT_WARPS_PAGE warps each; NULL: none of them has rows */
	size_t n_pages;
	struct block *next; /* in the queue of the same SM */

	/* While resident. */
	struct source *sources; /* its warps that have rows */
	size_t n_sources;
	struct window window; /* rr, packed: rows by access number and warp, whole accesses */
	uint64_t slot;	      /* its number among the blocks that an SM can hold */
	size_t warps_left;    /* gto, latency: warps that have rows left */
	struct runner *runners; /* latency: its warps */
	size_t n_runners;
};

/* Packs the rows of the block that has this id and come from one warp. */
struct warp_packer {
	struct packer packer;
	struct packed_warp *warp;
	uint64_t id;
};

/* Where the rows of a kernel are kept. */
struct keep {
	struct loose_memory loose;
	struct gt_strands strands;
	struct shapes shapes;
	size_t expected; /* words of a block that is loose: as many as the last one had */
	struct warp_packer *packers; /* by warp */
	size_t n_packers;
	uint64_t blocks; /* made so far */
};

/* Of the memory, one half is for loose rows and one for packed rows; more of these go to a file. Blocks will be
 * arranged so. */
int gt_keep_open(struct keep *keep, size_t memory, const char *directory, enum arrangement arrangement, struct gt_error *error);
void gt_keep_close(struct keep *keep);

struct block *gt_block_new(uint32_t number, struct keep *keep, struct gt_error *error);
/* Releases the rows and frees the block. */
void gt_block_free(struct block *block, struct keep *keep);

/* Keeps rows [first, last) of a batch, all of this block. Returns 0, or -1. */
int gt_block_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t last,
		 struct gt_error *error);

/* No more rows will come. Returns 0, or -1. */
int gt_block_close(struct block *block, struct keep *keep, struct gt_error *error);

/* Makes sources of the warps of a block that becomes resident. By access, its first rows are then in its window. */
int gt_block_arrange(struct block *block, struct keep *keep, enum arrangement arrangement, struct gt_error *error);

/* By access: the next rows, when all before have been issued. */
int gt_block_fill(struct block *block, struct keep *keep, struct gt_error *error);

#endif
