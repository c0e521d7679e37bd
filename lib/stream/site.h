/* SPDX-License-Identifier: MIT */
/* Sites: an instruction and an array that it accesses. What stages count by site are classes of their counters, "0x1a0 in a.cu:7.reads":
 * the instruction in hexadecimal, a blank, the name of the array, or "-" where the trace names none there. */
#ifndef GT_STREAM_SITE_H
#define GT_STREAM_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "stream/program.h"

#define GT_SITE_NAME (GT_ARRAY_NAME + 16) /* bytes of a site's name, with its final 0 */

struct gt_site {
	uint32_t pc;
	bool shared;	/* the array is of shared memory */
	uint64_t array; /* its number among the names of the arrays */
};

/* The sites of a kernel, numbered in the order in which they are first met. A zeroed one can be closed. */
struct gt_sites {
	struct gt_arrays arrays[2]; /* in global memory; in shared memory */
	struct gt_map index;
	struct gt_site *sites; /* n of them, owned */
	size_t n, capacity;
	bool short_of_memory; /* gt_sites_number has returned GT_SITE_NONE */
};

#define GT_SITE_NONE SIZE_MAX

/* Returns 0, or -1 when memory is short. */
int gt_sites_open(struct gt_sites *sites, struct gt_error *error);
void gt_sites_close(struct gt_sites *sites);

/* A kernel begins: there are no sites. The arrays stay as they were last named. */
void gt_sites_begin(struct gt_sites *sites);

/* Takes the names of arrays, if the count has them. Returns 0, or -1: it is malformed, or memory is short. */
int gt_sites_note(struct gt_sites *sites, const struct gt_count *count, struct gt_error *error);

/* The number of a site, which is added if it is new; GT_SITE_NONE when memory is short. */
size_t gt_sites_number(struct gt_sites *sites, uint32_t pc, bool shared, uint64_t address);

/* Writes "0x1a0 in a.cu:7" and returns it. */
const char *gt_site_format(const struct gt_sites *sites, size_t site, char name[GT_SITE_NAME]);

#endif
