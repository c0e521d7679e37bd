/* SPDX-License-Identifier: MIT */
/* Trace formats: one file each, and a table. An importer reads text and reports launches and accesses in the
 * order of the file; lib/order folds and orders them. */
#ifndef GT_IMPORT_IMPORT_H
#define GT_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "base/map.h"
#include "stream/kernel.h"
#include "stream/rows.h"
#include "stream/trace.h"

struct gt_importer {
	const char *name;    /* --format NAME */
	const char *summary; /* one line for --help */
	/* The file of a folder that is read if the folder is named. NULL: there is none. */
	const char *folder_list;
	/* The endings of the names of traces, which are read in the order of the numbers in their names if a folder without the list is
	 * named: those with the first ending that there is. Ended by NULL. NULL: there are none. */
	const char *const *folder_endings;
	/* True if the first bytes look like this format. NULL: never detected. */
	bool (*detect)(const char *head, size_t bytes);
	/* Reads one file to its end. */
	int (*read)(struct gt_input *input, struct gt_trace *to, struct gt_error *error);
	/* For formats of many files: true if this path (a folder, a file's name) is of this format ... */
	bool (*owns_path)(const char *path);
	/* ... and reads all of them together. Both NULL for formats of one file. */
	int (*read_paths)(char *const paths[], size_t n, struct gt_trace *to, struct gt_error *error);
};

/* A trace format described by a regular expression with named groups (gtrace-order(1)). */
struct gt_pattern;
struct gt_pattern *gt_pattern_open(const char *regex, struct gt_error *error);
void gt_pattern_close(struct gt_pattern *pattern);
/* As an importer's read(). */
int gt_pattern_read(struct gt_pattern *pattern, struct gt_input *input, struct gt_trace *to,
		    struct gt_error *error);

/* The launch of accesses without a launch line: id GT_KERNEL_NEXT, named after the file. */
void gt_implicit_kernel(struct gt_kernel *kernel, const struct gt_input *input);

/* Reports rows of a stream, which must be accesses. */
int gt_trace_rows(struct gt_trace *to, const struct gt_rows *rows, struct gt_error *error);

/* Puts file and line before the text of an error that the receiver of a trace returned; returns -1. */
static inline int gt_import_place(const struct gt_input *input, struct gt_error *error)
{
	return gt_input_fail(input, error, "%s", error->text);
}

/* Pass a launch and an access on, with file and line in errors. */
static inline int gt_import_kernel(const struct gt_input *input, const struct gt_trace *to,
				   const struct gt_kernel *kernel, struct gt_error *error)
{
	if (gt_kernel_check(kernel, error) != 0 || to->kernel(to->context, kernel, error) != 0)
		return gt_import_place(input, error);
	return 0;
}

static inline int gt_import_access(const struct gt_input *input, const struct gt_trace *to,
				   const struct gt_trace_access *access, struct gt_error *error)
{
	return to->access(to->context, access, error) == 0 ? 0 : gt_import_place(input, error);
}

/* For detect(): copies the next line of the head, cut to `size` - 1 bytes, and moves the head
 * past it. False at the end. */
bool gt_head_line(const char **head, size_t *bytes, char *line, size_t size);

/* ---- warp slots ---- */

/* Maps the warp slots of the hardware to warps of a block.
 *
 * NVBit's mem_trace names a warp by its slot in the SM. A block of n warps is usually given n
 * adjacent slots, so slot modulo n distinguishes the warps of a block and, if blocks have the slots 0 to n-1, is
 * the warp itself. If another slot of the block has that number already, or if it is the number of a partial last
 * warp and the access has more lanes, the slot gets the lowest free number. In either case the mapping depends on
 * the trace alone. */
struct gt_slots {
	struct gt_map warps; /* block << 16 | slot, to the warp */
	struct gt_map taken; /* block, to a mask of its warps that have a slot */
	uint64_t last_key;   /* the slot looked up last, and its warp */
	uint16_t last_warp;
};

int gt_slots_open(struct gt_slots *slots, struct gt_error *error);
void gt_slots_close(struct gt_slots *slots);
/* Forgets all blocks. */
static inline void gt_slots_clear(struct gt_slots *slots)
{
	gt_map_clear(&slots->warps);
	gt_map_clear(&slots->taken);
	slots->last_key = GT_MAP_EMPTY;
}

/* The warp of a slot in a block of n warps (1 to 32). not_last: the access has lanes that the last warp does not
 * have. Returns 0, or -1 if the block uses more than n slots or memory is short. */
int gt_slots_warp(struct gt_slots *slots, uint32_t block, uint16_t slot, unsigned n, bool not_last,
		  uint16_t *warp, struct gt_error *error);

#endif
