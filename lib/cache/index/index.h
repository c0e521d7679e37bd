/* SPDX-License-Identifier: MIT */
/* The set of a line, and its bank: tables of functions and of schemes, one row each. The number of a line is its address divided by the line size. */
#ifndef GT_CACHE_INDEX_INDEX_H
#define GT_CACHE_INDEX_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* ---- polynomials over GF(2): bit i is the coefficient of x^i ---- */

/* The smallest irreducible polynomial, read as a number, of a degree up to 32. Degree 0 gives 1. */
uint64_t gt_polynomial_irreducible(unsigned degree);

/* value * x modulo a polynomial of that degree; value is below that degree. */
static inline uint64_t gt_polynomial_times_x(uint64_t value, uint64_t polynomial, unsigned degree)
{
	value <<= 1;
	return value >> degree & 1 ? value ^ polynomial : value;
}

/* ---- the set of a line ---- */

#define GT_INDEX_BITS_MAX 26 /* log2 of the most sets that a function can have */

#define GT_INDEX_TEXT 1024   /* bytes an argument may have, with its final 0 */

struct gt_index;

/* The argument in NAME:ARGUMENT. */
struct gt_index_argument {
	unsigned number;
	char text[GT_INDEX_TEXT];
};

struct gt_index_function {
	const char *name;
	unsigned argument_max; /* N of NAME:N may be 0 to this; 0: takes no number */
	/* Whether a text is a valid argument. NULL: takes none. */
	int (*check_text)(const char *text, struct gt_error *error);
	/* Whether it supports this number of sets and line size. NULL: all. */
	int (*check)(const struct gt_index_argument *argument, uint32_t sets, uint64_t line_bytes, struct gt_error *error);
	/* Computes the tables that set_of needs. NULL: none. */
	int (*prepare)(struct gt_index *index, struct gt_error *error);
	uint32_t (*set_of)(const struct gt_index *index, uint64_t line);
	/* It maps lines evenly to any number of sets, so it also works with unequal sets. */
	int any_sets;
};

/* Address bits whose AND flips bits of the set. */
struct gt_index_product {
	uint64_t mask;
	uint32_t flips;
};

struct gt_index {
	const struct gt_index_function *function;
	struct gt_index_argument argument;
	uint32_t sets;	     /* 1 or more */
	unsigned bits;	     /* log2(sets) if that is whole, else rounded down */
	unsigned line_shift; /* log2 of the line size in bytes */
	uint32_t prime;	     /* the largest prime up to sets; 1 for one set */
	uint32_t (*linear)[256]; /* ipoly, bits: the contribution of each byte of the line number */
	struct gt_index_product *products; /* bits: terms of more than one bit */
	size_t products_n;
	uint32_t *table; /* of each line, modulo `lines` */
	size_t lines;
};

extern const struct gt_index_function gt_index_bits, gt_index_table;
extern const struct gt_index_function *const gt_index_functions[];
extern const size_t gt_index_functions_n;

/* Finds a function by "NAME" or "NAME:ARGUMENT". Returns 0, or -1 with what is accepted. */
int gt_index_parse(const char *text, const struct gt_index_function **function, struct gt_index_argument *argument,
		   struct gt_error *error);

/* Prepares `index` for this number of sets; checks that the function supports it. Freed by close. */
int gt_index_open(struct gt_index *index, const struct gt_index_function *function,
		  const struct gt_index_argument *argument, uint32_t sets, uint64_t line_bytes, struct gt_error *error);
void gt_index_close(struct gt_index *index);

static inline uint32_t gt_index_set(const struct gt_index *index, uint64_t line)
{
	return index->function->set_of(index, line);
}

/* ---- the partition and bank of a line ----
 *
 * A scheme is a bijection between lines and pairs of a bank and a line within that bank. The index function chooses the set from the line
 * within the bank, which is also the tag. Without a scheme the index function chooses among the sets of all banks ([000] figure 1 b and
 * 4.4). */

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
