/* SPDX-License-Identifier: MIT */
/* What a stream says of the program that was traced besides its accesses, in counts: its arrays, what it copied before a launch, and the
 * source lines of its instructions. */
#ifndef GT_STREAM_PROGRAM_H
#define GT_STREAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "stream/count.h"
#include "stream/stream.h"

/* Arrays: which one an address lies in. They are a count of the stage `allocations`, or `shared` for shared memory, with the arrays `addresses` and
 * `bytes` and the text `names`, separated by commas. */

#define GT_ARRAYS_STAGE	       "allocations"
#define GT_SHARED_ARRAYS_STAGE "shared"
#define GT_ARRAY_NAME 32 /* bytes a name may have, with its final 0; longer ones are cut */

struct gt_named_array {
	uint64_t address, bytes, name;
};

struct gt_arrays {
	const char *stage;
	struct gt_named_array *arrays; /* live ones, by address */
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

/* Blocks of a kernel that access nothing, or shared memory alone, and how many instructions the warps of each have issued: counts of this
 * stage with the arrays `blocks` and `instructions`, if work is noted (gtrace(5)). Each stands before the rows of later groups of blocks. */

#define GT_IDLE_STAGE "idle"

struct gt_idle_blocks {
	uint64_t *blocks, *instructions; /* owned */
	size_t n, capacity;
	bool lost; /* memory was short */
};

/* Adds a block. If memory is short it is lost, and gt_idle_blocks_pass() fails. */
void gt_idle_blocks_add(struct gt_idle_blocks *idle, uint64_t block, uint64_t instructions);
/* Writes the first ones, below a block, as counts of a kernel, one for each group of `together` blocks. Keeps the others.
 * Returns 0, or -1. */
int gt_idle_blocks_pass(struct gt_idle_blocks *idle, uint64_t below, uint64_t together, uint64_t kernel, struct gt_writer *writer,
			struct gt_error *error);
void gt_idle_blocks_clear(struct gt_idle_blocks *idle);

/* Copies: the ranges of device memory that a program has written outside of kernels since its last traced launch, by copies and fills: L2 may
 * hold them when a kernel begins. They go into the stream as the count "copies" of the kernel. */

#define GT_COPIES 65536 /* ranges that are kept; when there are more the older half is dropped */

struct gt_copies {
	uint64_t *addresses, *bytes; /* in the order of the calls; owned */
	size_t n, capacity;
	bool lost; /* memory was short */
};

/* Records a range; one that begins where the last ended is joined to it. If memory is short the range is lost,
 * which gt_copies_count() reports. */
void gt_copies_add(struct gt_copies *copies, uint64_t address, uint64_t bytes);
/* Appends them to a count that has begun. Returns 0, or -1 when memory is or was short. */
int gt_copies_count(const struct gt_copies *copies, struct gt_count *count, struct gt_error *error);
void gt_copies_clear(struct gt_copies *copies);

/* Source lines: which one an instruction comes from. They are a count of the stage `source`, with the arrays `pcs`, `lines` and `files`, one element
 * per instruction, and the text `names`, the files' names with commas between. */

#define GT_SOURCES_STAGE "source"

struct gt_source {
	uint64_t pc, line;
	const char *file; /* as the compiler was given it; the struct gt_sources' */
	uint64_t place;	  /* the caller's */
};

struct gt_sources {
	struct gt_source *sources; /* by pc */
	size_t n;
	char *names; /* owned */
};

/* Takes the arrays of a count of that stage, in the place of earlier ones. A zeroed struct can be cleared. Returns 0, or
 * -1: out of memory, arrays of different lengths, or a file that has no name. */
int gt_sources_set(struct gt_sources *sources, const struct gt_count_entry *pcs, const struct gt_count_entry *lines,
		   const struct gt_count_entry *files, const struct gt_count_entry *names, struct gt_error *error);
void gt_sources_clear(struct gt_sources *sources);

/* The source line of an instruction, or NULL. */
const struct gt_source *gt_sources_find(const struct gt_sources *sources, uint64_t pc);

/* "gemm.cu:38", the file without its folders: into a buffer of GT_SOURCE_TEXT bytes, in which the beginning of a long
 * name is cut. Returns it. */
#define GT_SOURCE_TEXT 32
const char *gt_source_format(const struct gt_source *source, char buffer[GT_SOURCE_TEXT]);

/* Sites: an instruction and an array that it accesses. What stages count by site are classes of their counters, "0x1a0 in a.cu:7.reads":
 * the instruction in hexadecimal, a blank, the name of the array, or "-" where the trace names none there. */

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
