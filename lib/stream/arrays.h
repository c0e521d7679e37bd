/* SPDX-License-Identifier: MIT */
/* Which array an address lies in, by those that a trace names: a count of the stage `allocations`, or `shared` for shared memory, with
 * the arrays `addresses` and `bytes` and the text `names`, separated by commas. */
#ifndef GT_STREAM_ARRAYS_H
#define GT_STREAM_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/names.h"
#include "stream/count.h"

#define GT_ARRAYS_STAGE	       "allocations"
#define GT_SHARED_ARRAYS_STAGE "shared"
#define GT_ARRAY_NAME 32 /* bytes a name may have, with its final 0; longer ones are cut */

struct gt_array {
	uint64_t address, bytes, name;
};

struct gt_arrays {
	const char *stage;
	struct gt_array *arrays; /* live ones, by address */
	size_t n;
	struct gt_names names; /* all names seen; 0 is "-": no array */
};

/* Takes the counts of that stage. */
int gt_arrays_open(struct gt_arrays *arrays, const char *stage, struct gt_error *error);
void gt_arrays_close(struct gt_arrays *arrays);

/* If the count is of that stage, its arrays become the live ones. Returns 0, or -1: out of memory, lists of
 * different lengths, or arrays that overlap. */
int gt_arrays_take(struct gt_arrays *arrays, const struct gt_count *count, struct gt_error *error);

/* The number of the name of the array that holds the address; 0 if none does. */
uint64_t gt_arrays_find(const struct gt_arrays *arrays, uint64_t address);

#endif
