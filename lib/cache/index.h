/* SPDX-License-Identifier: MIT */
/* Which set a line belongs to: a table of functions, one row each. Lines are numbered by their
 * address divided by the line size. */
#ifndef GT_CACHE_INDEX_H
#define GT_CACHE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define GT_INDEX_BITS_MAX 26 /* sets a function can tell apart, as a power of two */

struct gt_index;

struct gt_index_function {
	const char *name;
	const char *summary;  /* for --help */
	unsigned argument_max; /* N of NAME:N may be 0 to this; 0: takes no argument */
	/* Which numbers of sets and line sizes it works with. NULL: all. */
	int (*check)(uint32_t sets, uint64_t line_bytes, struct gt_error *error);
	/* Derives what set_of needs. NULL: nothing. */
	int (*prepare)(struct gt_index *index, struct gt_error *error);
	uint32_t (*set_of)(const struct gt_index *index, uint64_t line);
	/* It maps any number of sets evenly, so it can also deal lines to unequal sets. */
	int any_sets;
};

struct gt_index {
	const struct gt_index_function *function;
	unsigned argument;   /* N of smod:N */
	uint32_t sets;	     /* 1 or more */
	unsigned bits;	     /* log2(sets) if that is whole, else rounded down */
	unsigned line_shift; /* log2 of the line size in bytes */
	uint32_t prime;	     /* the largest prime that is not above sets; 1 for one set */
	uint32_t (*remainder)[256]; /* ipoly: what each byte of the line number contributes */
};

extern const struct gt_index_function *const gt_index_functions[];
extern const size_t gt_index_functions_n;

/* Finds a function by "NAME" or "NAME:N". Returns 0, or -1 with what is accepted. */
int gt_index_parse(const char *text, const struct gt_index_function **function, unsigned *argument,
		   struct gt_error *error);

/* Makes `index` ready for that many sets; checks that the function fits. Freed by close. */
int gt_index_open(struct gt_index *index, const struct gt_index_function *function, unsigned argument,
		  uint32_t sets, uint64_t line_bytes, struct gt_error *error);
void gt_index_close(struct gt_index *index);

static inline uint32_t gt_index_set(const struct gt_index *index, uint64_t line)
{
	return index->function->set_of(index, line);
}

#endif
