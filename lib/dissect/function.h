/* SPDX-License-Identifier: MIT */
/* Which function of the address the sets found are: known ones by name, or any XOR of address bits. */
#ifndef GT_DISSECT_FUNCTION_H
#define GT_DISSECT_FUNCTION_H

#include "dissect/sweep.h"

#define GT_FUNCTION_BITS 48

struct gt_function {
	const char *name;    /* as gcache's --index has it; "" for XOR sums without a name; NULL: none was found */
	unsigned argument;   /* of smod */
	int bits;	     /* log2 of the sets, of XOR sums; else 0 */
	uint64_t sum[32];    /* bits of the line's number that make up each bit of the set */
	unsigned low, high;  /* address bits that the series can show: low to high - 1 */

	/* To give any unit its set: gt_function_set. */
	const struct gt_sweep *sweep;
	const struct gt_candidate *candidate;
	uint64_t base;
	uint64_t factor;   /* units of a line */
	unsigned shift;	   /* log2 of the line */
	uint32_t *deal;	   /* unequal sets: which set each place of a deal belongs to */
	uint64_t places;
	uint32_t named[GT_SETS_MAX]; /* the set that a value of the function stands for */
};

/* Finds the simplest function that gives each line its set; base is the array's address, line a multiple of the unit. The sweep must outlive it.
 * Returns 0, or -1 when memory is short. */
int gt_find_function(const struct gt_sweep *sweep, uint64_t base, uint64_t line, struct gt_function *function,
		     struct gt_error *error);

/* The set of a unit, from the function, or where there is none from the sweep; 0: not known. */
uint32_t gt_function_set(const struct gt_function *function, uint64_t unit);
void gt_function_clear(struct gt_function *function);

/* "7^13 8^14": the address bits of each bit of the set. */
const char *gt_function_sums(const struct gt_function *function, char *buffer, size_t bytes);

#endif
