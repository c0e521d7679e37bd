/* SPDX-License-Identifier: MIT */
/* A trace in parts, which several threads read and which are passed on in their order, so that nothing depends on the threads. */
#ifndef GT_IMPORT_PARTS_H
#define GT_IMPORT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "import/import.h"

/* What an importer reports of a part of a trace, kept in memory. */
struct gt_recorded {
	struct gt_trace trace;	/* that importers report to */
	const struct gt_input *input; /* that is being read */
	unsigned char *bytes;	/* records, each aligned to 8 bytes */
	size_t n, capacity;
	bool full; /* the part reports more than is kept: it failed for that reason alone */
};

/* Begins anew: what follows is read from this input, for a trace like `to`. */
void gt_recorded_begin(struct gt_recorded *recorded, const struct gt_input *input, const struct gt_trace *to);
void gt_recorded_close(struct gt_recorded *recorded);

/* Reports everything. Line 1 of the input is the line after `before`: errors of the receiver name lines by that count. */
int gt_recorded_report(const struct gt_recorded *recorded, struct gt_input *input, uint64_t before, const struct gt_trace *to,
		       struct gt_error *error);

/* ---- the text of an input in parts ---- */

/* With what an importer keeps of a part, a struct begins with this. */
struct gt_textpart {
	struct gt_input *text;
};

struct gt_textparts {
	size_t part_bytes; /* of that struct, which is zero at first */
	const char *mark;  /* parts begin with lines that begin so; NULL: with any line */
	void *context;	   /* of the functions: */
	/* Before a part is read; NULL: nothing to do. */
	void (*begin)(void *context, void *part);
	/* Whether no further part is to be read; NULL: all are. */
	bool (*ended)(void *context);
	/* Reads a part, in any thread, in no order. */
	int (*read)(void *context, void *part, unsigned lane, struct gt_error *error);
	/* Passes it on. */
	int (*pass_on)(void *context, void *part, unsigned lane, struct gt_error *error);
	/* Frees all but the text of a part. */
	void (*close)(void *part);
};

/* Reads what follows in `whole` in so many threads. What was read before the input failed comes first, also if it has an error.
 * Returns 0, or -1. */
int gt_textparts_read(const struct gt_textparts *parts, struct gt_input *whole, unsigned jobs, struct gt_error *error);

#endif
