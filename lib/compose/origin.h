/* SPDX-License-Identifier: MIT */
/* What a pipe begins with: a program to record, a trace to order, or a stream, which has passed some stages. */
#ifndef GT_COMPOSE_ORIGIN_H
#define GT_COMPOSE_ORIGIN_H

#include "base/error.h"
#include "stream/stream.h"

enum gt_origin_kind { GT_ORIGIN_PROGRAM, GT_ORIGIN_TRACE, GT_ORIGIN_STREAM };

struct gt_origin {
	enum gt_origin_kind kind;
	char path[4096];	  /* "./a.out" for a.out, as the shell wants it */
	struct gt_reader *reader; /* of a stream, at its first record; else NULL */
	int descriptor;		  /* that it reads; -1: none */
};

/* Finds out what a name is: a file, a folder, or a program that is searched for as a shell does. Cleared by
 * gt_origin_close. Returns 0, or -1 with what to do instead. */
int gt_origin_open(struct gt_origin *origin, const char *name, struct gt_error *error);
void gt_origin_close(struct gt_origin *origin);

#endif
