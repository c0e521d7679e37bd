/* SPDX-License-Identifier: MIT */
/* The partition and bank of a line: a table of schemes, one row each. A scheme is a bijection between lines and pairs of a
 * bank and a line within that bank. The index function chooses the set from the line within the bank, which is also the
 * tag. Without a scheme the index function chooses among the sets of all banks ([000] figure 1 b and 4.4). */
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
	uint64_t chunk; /* bytes of a chunk if the text gives none; 0: a line */
	/* Whether it supports this number of banks. NULL: all. */
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

/* Prepares a parsed scheme for these numbers of partitions, banks of each, and bytes of a line. Returns 0, or -1 with what
 * is not supported. */
int gt_interleave_open(struct gt_interleave *interleave, uint32_t partitions, uint32_t banks, uint64_t line_bytes,
		       struct gt_error *error);

#endif
