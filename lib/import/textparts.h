/* SPDX-License-Identifier: MIT */
/* The text of an input read in several threads: each reads a part, and the parts are passed on in their order, so that nothing
 * depends on the threads. */
#ifndef GT_IMPORT_TEXTPARTS_H
#define GT_IMPORT_TEXTPARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/input.h"

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
