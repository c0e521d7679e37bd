/* SPDX-License-Identifier: MIT */
/* The degree of coalescing of each instruction of a kernel, from the addresses in a trace. */
#ifndef GT_COALESCE_DEGREES_H
#define GT_COALESCE_DEGREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "stream/degree.h"
#include "stream/rows.h"

/* Successive accesses of affine addresses that differ in nothing but the sector at which they begin: each counts the same. */
struct gt_degrees_run {
	int64_t stride;
	uint32_t mask; /* 0: there is none */
	uint32_t offset; /* in its sector */
	uint64_t times;
	struct gt_degree once;
};

/* The accesses of one kernel, pc, op and size. */
struct gt_degrees_instruction {
	uint64_t key; /* orders by kernel, then pc, then op, then size */
	struct gt_degree degree;   /* of those before the run */
	struct gt_degrees_run run; /* the last ones */
};

struct gt_degrees {
	struct gt_names kernels;
	uint64_t kernel; /* the number of the current one */
	struct gt_degrees_instruction *instructions;
	size_t n, capacity;
	struct gt_map index; /* key to instruction */
};

/* A zeroed struct can be closed. Returns 0, or -1 when memory is short. */
int gt_degrees_open(struct gt_degrees *degrees, struct gt_error *error);
void gt_degrees_close(struct gt_degrees *degrees);

/* A kernel begins: one of a name that was there before adds to its counts. Returns 0, or -1 when memory is short or there are
 * more than 65535 names. */
int gt_degrees_begin(struct gt_degrees *degrees, const char *kernel, struct gt_error *error);

/* Counts the accesses of a batch. Requests have no addresses of lanes: -1. Shared memory and rows that access no data are
 * left out. */
int gt_degrees_add(struct gt_degrees *degrees, const struct gt_rows *accesses, struct gt_error *error);

/* Writes a table: a line for each instruction, and for each kernel one for the loads of global memory together; with `graph`,
 * each followed by its graph. Nothing can be added after it. */
void gt_degrees_write(struct gt_degrees *degrees, bool graph, FILE *to);

#endif
