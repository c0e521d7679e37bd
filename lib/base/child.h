/* SPDX-License-Identifier: MIT */
/* Programs that this one runs. */
#ifndef GT_BASE_CHILD_H
#define GT_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define GT_CHILD_COMPLAINT 256

#define GT_CHILD_STREAMS 3

/* Whether execvp would find a program of that name; `path` gets its file. */
bool gt_child_find(const char *name, char *path, size_t size);

/* Why a program could not be started, by its errno: if it is not there, the package that has it. */
const char *gt_child_reason(const char *name, int reason);

/* Starts argv[0], found as execvp finds it, with these descriptors as its standard streams (-1: /dev/null) and with
 * the default action of SIGPIPE. Returns 0 or an errno. */
int gt_child_start(char *const argv[], const int streams[GT_CHILD_STREAMS], pid_t *process);

/* The same; it is killed when this process ends in whatever way (on Linux), which the thread that calls this outlives. If `apart`, it leads a process group of its
 * own, which kill(-process, ...) reaches with all that it starts. */
int gt_child_start_tied(char *const argv[], const int streams[GT_CHILD_STREAMS], bool apart, pid_t *process);

/* For a child between fork and exec: has it killed when its parent, which is given, ends. */
void gt_child_tie(pid_t parent);

/* Waits for its end. Returns its status, as waitpid gives it, or -1. */
int gt_child_wait(pid_t process);

/* What a program wrote. */
struct gt_child_output {
	char *text; /* owned by the caller; a 0 follows the last byte */
	size_t bytes;
	char complaint[GT_CHILD_COMPLAINT]; /* last line of its standard error, cut; "" if there is none */
	int status;			    /* as waitpid gives it */
};

/* Runs argv[0], found as execvp finds it, with `input` as its standard input, and gathers what it
 * writes, at most `most` bytes. No file is involved, so none can be cut by a full disk. The program
 * may end without reading all of its input. `text` is NULL on error. */
int gt_child_run(char *const argv[], const char *input, size_t input_bytes, size_t most, struct gt_child_output *output,
		 struct gt_error *error);

#endif
