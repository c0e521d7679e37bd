/* SPDX-License-Identifier: MIT */
/* The usual pipe: from a source through coalescing, schedule, L1, L2 and device memory to a report. Of a stream, the stages
 * that it has not passed. And the same with caches of other sizes. */
#ifndef GT_COMPOSE_USUAL_H
#define GT_COMPOSE_USUAL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "compose/pipe.h"
#include "gpu/gpu.h"
#include "report/gather.h"
#include "stream/stream.h"

/* ---- what a pipe begins with: a program to record, a trace to order, or a stream, which has passed some stages ---- */

enum gt_origin_kind { GT_ORIGIN_PROGRAM, GT_ORIGIN_TRACE, GT_ORIGIN_STREAM };

struct gt_origin {
	enum gt_origin_kind kind;
	char path[4096];	  /* "./a.out" for a.out, as the shell wants it */
	struct gt_reader *reader; /* of a stream, at its first record; else NULL */
	int descriptor;		  /* that it reads; -1: none */
	bool compiled;		  /* the program is one of a source, in a folder that is removed */
};

/* Finds out what a name is: a file, a folder, or a program that is searched for as a shell does. A source is compiled, by
 * gt_origin_compile. Cleared by gt_origin_close. Returns 0, or -1 with what to do instead. */
int gt_origin_open(struct gt_origin *origin, const char *name, bool dry, void (*show)(const struct gt_pipe *pipe), struct gt_error *error);
void gt_origin_close(struct gt_origin *origin);

/* Makes the origin the program of a source of CUDA: compiled by nvcc into a folder that is removed when this process ends, unless `dry`.
 * The command is shown before it is run. */
int gt_origin_compile(struct gt_origin *origin, const char *source, bool dry, void (*show)(const struct gt_pipe *pipe), struct gt_error *error);

/* ---- the usual pipe ---- */

/* Stages of the usual pipe. */
enum gt_usual_stage { GT_USUAL_COALESCE, GT_USUAL_SCHEDULE, GT_USUAL_L1, GT_USUAL_L2, GT_USUAL_DRAM, GT_USUAL_STAGES };

#define GT_USUAL_GPU "a100" /* where nobody names one; also what gtrace-record shows a program */

#define GT_USUAL_STUBS 8 /* plug-ins that a program may be given */

struct gt_usual {
	const char *gpu;       /* NULL: that of the stream, or the default */
	char *const *operands; /* the program and its arguments, traces, or the stream; up to a NULL */
	bool launches_only;    /* a program's accesses are not traced */
	bool sites;	       /* count by instruction and array, with the causes of misses: for findings and the page */
	const char *kernel;    /* only the launches of kernels whose names this expression matches; NULL: all */
	const char *stubs[GT_USUAL_STUBS + 1]; /* plug-ins that do the work of a program's libraries; up to a NULL */
	const char *sample;    /* the tolerance of gsample, which leaves out launches that are alike; NULL: all are modelled */
	bool keep_l2;	       /* L2 keeps its lines from launch to launch */
	bool quiet, verbose;   /* --quiet for every stage, --verbose for the first */
	unsigned jobs;	       /* processors that are divided among the stages; 0: each stage runs in one thread */
};

/* The first stage that a source has not passed. */
enum gt_usual_stage gt_usual_next(const struct gt_origin *origin);

/* Appends the command of a source, unless it is a stream, and the stages from `first` to the one before `end`. */
int gt_usual_origin(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual, struct gt_error *error);
int gt_usual_stages(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual,
		    enum gt_usual_stage first, enum gt_usual_stage end, struct gt_error *error);

/* The expression that is left for the report: the source of a pipe keeps the launches, where later ones do not depend on earlier
 * ones. NULL: none. */
const char *gt_usual_kernel(const struct gt_origin *origin, const struct gt_usual *usual);
/* Appends a command, with --quiet if that is wanted. */
int gt_usual_command(struct gt_pipe *pipe, const struct gt_usual *usual, const char *words, struct gt_error *error);
/* Appends the command of a stage, with what is wanted of it. */
int gt_usual_stage_command(struct gt_pipe *pipe, const struct gt_usual *usual, enum gt_usual_stage stage, struct gt_error *error);

/* Gives the stages of a pipe that run in threads their shares of its processors, as -j, by what each stage costs. Returns 0, or -1. */
int gt_usual_divide(struct gt_pipe *pipe, const struct gt_usual *usual, struct gt_error *error);

/* ---- the counts of a source alone: counts.c ---- */

/* Runs the usual pipe of a source, after `show`, and gathers what its stages counted into a report that was begun, and the GPU, which the caller
 * clears. Only counters are kept. Sets *status to that of the first command that failed, which has said why. With `dry` runs nothing. Returns 0, or -1. */
int gt_usual_gather(const struct gt_origin *origin, const struct gt_usual *usual, bool dry, void (*show)(const struct gt_pipe *pipe),
		    struct gt_report *report, struct gt_gpu *gpu, int *status, struct gt_error *error);

/* What an operand means together with more arguments, as gt_usual has them, up to a NULL: a name that is no file is divided at blanks, "./blur 20". Freed by
 * gt_usual_words_free. Returns 0, or -1. */
int gt_usual_words(const char *operand, char *const *more, char *const **words, struct gt_error *error);
void gt_usual_words_free(char *const *words);
/* Operands as a shell takes them, cut if they do not fit. Returns 0, or -1 when memory is short. */
int gt_usual_text(char *const *operands, char *text, size_t bytes, struct gt_error *error);

/* ---- a sweep ---- */

/* Makes the pipe that runs sweep files: make, with pipelines/sweep.mk of this build or of where it is installed. Operands of the form
 * NAME=VALUE, of a variable that it has, are given to it; all others are files. Returns 0, or -1. */
int gt_sweep_pipe(struct gt_pipe *pipe, char *const *operands, struct gt_error *error);

/* ---- other sizes: sizes.c ---- */

/* What if L1 or L2 had another size: the model of one source with caches of several sizes, each by a pipe of its own behind a
 * schedule that is made once. */
struct gt_sizes {
	const struct gt_origin *origin;
	const struct gt_usual *usual;
	bool csv;
	/* Called once, with a pipe that stands for all and a comment on it; of a verbose `usual`, with each pipe before it is run. */
	void (*show)(const struct gt_pipe *pipe, const char *comment);
};

/* Writes what the sizes show, and their table. Sets *status to that of the first pipe that failed, and then writes nothing. Returns 0, or -1. */
int gt_sizes_write(const struct gt_sizes *sizes, FILE *to, int *status, struct gt_error *error);

#endif
