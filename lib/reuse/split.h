/* SPDX-License-Identifier: MIT */
/* Ways to divide references into classes: by instruction, by op ... */
#ifndef GT_REUSE_SPLIT_H
#define GT_REUSE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/arrays.h"
#include "base/names.h"
#include "stream/count.h"
#include "stream/rows.h"
#include "stream/sources.h"

#define GT_CLASS_TEXT 1024 /* bytes that hold any class's name */

/* The launch whose rows are read. */
struct gt_launch {
	struct gt_arrays arrays;
	struct gt_sources sources; /* of this launch */
	struct gt_names places;	   /* source lines of all launches; 0 is "-": none is known */
	struct gt_names kernels;   /* names of all kernels launched */
	uint64_t kernel;	 /* the number of this one's name */
};

int gt_launch_open(struct gt_launch *launch, struct gt_error *error);
void gt_launch_close(struct gt_launch *launch);
/* A launch of the kernel of that name begins. */
int gt_launch_begin(struct gt_launch *launch, const char *kernel, struct gt_error *error);

/* A count of the launch: the arrays and source lines that the trace names. Returns 0, or -1: out of memory, or they are
 * malformed. */
int gt_launch_count(struct gt_launch *launch, const struct gt_count *count, struct gt_error *error);

/* A reference of row i to the unit that begins at an address. */
struct gt_referrer {
	const struct gt_rows *rows;
	size_t i;
	uint64_t address;
};

struct gt_split {
	const char *name;
	uint64_t (*key)(const struct gt_launch *launch, const struct gt_referrer *referrer);
	/* Into a buffer of GT_CLASS_TEXT bytes; returns it. */
	const char *(*format)(const struct gt_launch *launch, uint64_t key, char *buffer);
	bool tells; /* a class is also told by its op, source line and kernel */
};

/* The number of a reference's source line in the launch's `places`. */
uint64_t gt_launch_place(const struct gt_launch *launch, const struct gt_referrer *referrer);

/* The split of that name, or NULL. */
const struct gt_split *gt_split_find(const char *name);
/* The names, for messages: "pc, op, ... or kernel". */
extern const char gt_split_names[];

#endif
