/* SPDX-License-Identifier: MIT */
/* The usual pipe: from a source through coalescing, schedule, L1, L2 and device memory to a report. Of a stream, the stages
 * that it has not passed. */
#ifndef GT_COMPOSE_USUAL_H
#define GT_COMPOSE_USUAL_H

#include <stdbool.h>

#include "compose/pipe.h"
#include "compose/origin.h"

/* Stages of the usual pipe. */
enum gt_usual_stage { GT_USUAL_COALESCE, GT_USUAL_SCHEDULE, GT_USUAL_L1, GT_USUAL_L2, GT_USUAL_DRAM, GT_USUAL_STAGES };

#define GT_USUAL_GPU "a100" /* where nobody names one; also what gtrace-record shows a program */

struct gt_usual {
	const char *gpu;       /* NULL: that of the stream, or the default */
	char *const *operands; /* the program and its arguments, traces, or the stream; up to a NULL */
	bool classes;	       /* measure which instructions and arrays miss */
	bool keep_l2;	       /* L2 keeps its lines from launch to launch */
	bool quiet, verbose;   /* --quiet for every stage, --verbose for the first */
};

/* The first stage that a source has not passed. */
enum gt_usual_stage gt_usual_next(const struct gt_origin *origin);

/* Appends the command of a source, unless it is a stream, and the stages from `first` to the one before `end`. */
int gt_usual_origin(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual, struct gt_error *error);
int gt_usual_stages(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual,
		    enum gt_usual_stage first, enum gt_usual_stage end, struct gt_error *error);

/* Appends a command, with --quiet if that is wanted. */
int gt_usual_command(struct gt_pipe *pipe, const struct gt_usual *usual, const char *words, struct gt_error *error);
/* Appends the command of a stage, with what is wanted of it. */
int gt_usual_stage_command(struct gt_pipe *pipe, const struct gt_usual *usual, enum gt_usual_stage stage, struct gt_error *error);

#endif
