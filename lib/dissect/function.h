/* SPDX-License-Identifier: MIT */
/* The index function of the sets that were found: a known one by name, sums of address bits and of their
 * products, or a table. */
#ifndef GT_DISSECT_FUNCTION_H
#define GT_DISSECT_FUNCTION_H

#include "dissect/evidence.h"

#define GT_SUMS_MAX 12		/* bits of a set */
#define GT_MONOMIALS_MAX 256	/* bits of a line's number, and products of two */
#define GT_FUNCTION_TEXT 1100

/* A sum over GF(2): the XOR of a set of monomials. */
struct gt_sum {
	uint64_t has[GT_MONOMIALS_MAX / 64];
};

struct gt_function {
	const char *name;    /* the text of gcache's --index; NULL: gcache has no such function */
	unsigned argument;   /* of smod */
	unsigned degree;     /* of bits: 1 or 2 */
	int bits;	     /* of bits: how many sums */
	struct gt_sum sum[GT_SUMS_MAX];
	uint64_t monomial[GT_MONOMIALS_MAX]; /* masks of bits of the line's number */
	size_t monomials;
	int unique;	     /* no other function of its kind agrees with all observations */
	unsigned low, high;  /* address bits that the series shows: low to high - 1 */

	uint32_t sets;			/* including those that did not overflow, as few as possible */
	uint32_t ways[GT_SETS_MAX + 1]; /* lines */
	uint32_t *set_of;    /* of each line of the array: 1 and up; 0: not known */
	uint64_t lines;
	uint64_t seen_lines; /* the sets of further lines are extrapolated */
	uint64_t origin;     /* number of the array's first line */
	unsigned shift;	     /* log2 of the line */
};

/* Finds the simplest function that gives each line its set. `base` is the array's address, `line` a multiple of the
 * unit of sweeps[0], and `bytes` the largest N. Returns 0, or -1 when memory is short. Freed by gt_function_clear. */
int gt_find_function(const struct gt_sweep *sweeps, size_t n, uint64_t base, uint64_t line, uint64_t bytes,
		     struct gt_function *function, struct gt_error *error);
void gt_function_clear(struct gt_function *function);

/* The set of the line at this offset, from 1; 0: not known. */
static inline uint32_t gt_function_set(const struct gt_function *function, uint64_t offset)
{
	uint64_t line = offset >> function->shift;

	return line < function->lines ? function->set_of[line] : 0;
}

/* As gcache's --index takes it: "mod", "bits:7^13,8^14", "table:0121"; "" if it is too long. */
const char *gt_function_text(const struct gt_function *function, char buffer[GT_FUNCTION_TEXT]);

/* ---- its parts ---- */

/* Tries the functions with names, the simplest first. Returns 1 if one fits, else 0; -1: out of memory. */
int gt_fit_named(const struct gt_evidence *evidence, uint32_t sets, struct gt_function *function);
uint32_t gt_named_value(const struct gt_evidence *evidence, const struct gt_function *function, uint32_t sets,
			uint64_t number);
/* Sums of bits (degree 1), or of bits and products of two (degree 2). */
int gt_fit_sums(const struct gt_evidence *evidence, uint32_t sets, unsigned degree, struct gt_function *function);
uint32_t gt_sums_value(const struct gt_function *function, uint64_t number);

#endif
