/* SPDX-License-Identifier: MIT */
/* Commands that are run as one pipe, and shown as a user would type them. */
#ifndef GT_COMPOSE_PIPE_H
#define GT_COMPOSE_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

#define GT_PIPE_CLOSED 141 /* status of a stage whose reader has gone: 128 + SIGPIPE, as a shell has it */

struct gt_pipe {
	char **words; /* owned; a NULL ends each command */
	size_t n, capacity, commands;
	const char *from, *into; /* shown as the files of its ends; NULL: none */
	bool apart; /* what its commands start ends with them: they do not read a terminal */
};

/* Begins a command with these words, which single spaces separate. A zeroed pipe has none. Returns 0 or -1. */
int gt_pipe_command(struct gt_pipe *pipe, const char *words, struct gt_error *error);
/* Adds a word to the last command, whatever it contains. */
int gt_pipe_word(struct gt_pipe *pipe, const char *word, struct gt_error *error);
/* Adds an option and its argument, if that is not NULL. */
int gt_pipe_option(struct gt_pipe *pipe, const char *option, const char *argument, struct gt_error *error);
void gt_pipe_clear(struct gt_pipe *pipe);

/* Writes it as a line of shell without its end: words that the shell would change are quoted. */
void gt_pipe_write(const struct gt_pipe *pipe, FILE *to);
/* The same in memory, which the caller frees; NULL when that is short. */
char *gt_pipe_text(const struct gt_pipe *pipe, struct gt_error *error);

/* The processes of a pipe that was started. */
struct gt_pipe_running {
	pid_t *processes; /* owned */
	size_t n;
	const char *last; /* the name of the last command */
};

/* Starts it: the first command reads `input`, and what the last writes is read from *from, which the caller closes. gt_pipe_wait follows, also
 * on error. Returns 0, or -1 if a command cannot be started. */
int gt_pipe_start(const struct gt_pipe *pipe, int input, int *from, struct gt_pipe_running *running, struct gt_error *error);
/* Waits for its end. Returns the status as gt_pipe_run sets it. If the last command was ended by a signal, which nobody else reports, the text of
 * `killed` says so; else it is empty. */
int gt_pipe_wait(struct gt_pipe_running *running, struct gt_error *killed);

/* While a pipe runs, SIGHUP, SIGINT, SIGQUIT and SIGTERM are passed on to its commands. Those that are left after half a second get SIGKILL. Then a line says
 * that the pipe was stopped, and this process ends by the same signal. Before it ends, `clean` is called, within the signal handler. */
void gt_pipe_clean_at_signal(void (*clean)(void));

/* Runs it: the first command reads `input` and the last writes `output`. Sets the status of the first command that failed, as a shell has it; a
 * command that failed only because its reader had gone counts if no other failed. If *status is not 0, the text of `error` is that of gt_pipe_wait's
 * `killed`. Returns 0, or -1 if a command cannot be started. */
int gt_pipe_run(const struct gt_pipe *pipe, int input, int output, int *status, struct gt_error *error);

#endif
