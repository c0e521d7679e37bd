/* SPDX-License-Identifier: MIT */
/* Which bank of which partition holds a line: a table of schemes, one row each. A scheme is a bijection
 * between lines and pairs of a bank and a line of that bank, so that nothing is lost: the index function
 * chooses the set from the line of the bank, which is also the tag. Where there is no scheme the index
 * function chooses among the sets of all banks ([000] figure 1 b and 4.4). */
#ifndef GT_CACHE_INTERLEAVE_H
#define GT_CACHE_INTERLEAVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct gt_interleave;

/* Where a line is. Bank b of all is bank b / partitions of partition b modulo partitions. */
struct gt_bank_line {
	uint32_t bank;
	uint64_t line;
};

struct gt_interleave_scheme {
	const char *name;
	uint64_t chunk; /* bytes that stay together where the text gives none; 0: a line */
	/* Which numbers of banks it works with. NULL: any. */
	int (*check)(uint32_t banks, struct gt_error *error);
	/* NULL: no scheme. */
	struct gt_bank_line (*place)(const struct gt_interleave *interleave, uint64_t line);
};

struct gt_interleave {
	const struct gt_interleave_scheme *scheme;
	uint64_t chunk_bytes; /* a power of two; as given, or 0 */
	uint32_t partitions;
	uint32_t banks;	      /* of all partitions */
	unsigned chunk_shift; /* log2 of the lines of a chunk */
	unsigned bits;	      /* log2 of the banks, rounded down */
};

/* Reads "NAME" or "NAME:BYTES". Returns 0, or -1 with what is accepted. */
int gt_interleave_parse(const char *text, struct gt_interleave *interleave, struct gt_error *error);

/* Makes a parsed one ready for so many partitions, banks of each, and bytes of a line. Returns 0, or -1
 * with what does not fit. */
int gt_interleave_open(struct gt_interleave *interleave, uint32_t partitions, uint32_t banks, uint64_t line_bytes,
		       struct gt_error *error);

#endif
