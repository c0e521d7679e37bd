/* SPDX-License-Identifier: MIT */
/* The common parts of all tools: options, help, diagnostics, streams, progress. Functions here may print and exit,
 * so they are not in lib/. */
#ifndef TOOL_H
#define TOOL_H

#include <getopt.h> /* optarg and optind */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/progress.h"
#include "stream/relay.h"
#include "stream/stream.h"

/* Seconds of the monotonic clock. */
static inline double tool_now(void)
{
	return gt_progress_now();
}

/* An option of a tool. One table of these is what the parser and --help read. */
struct tool_row {
	const char *option; /* as --help shows it: "--csv", "--row SIZE", "-o, --output FILE", "-k ROUNDS"; NULL: a heading */
	int value;	    /* that tool_option returns; of an option with a letter, the letter */
	const char *text;   /* what the option does; NULL: the end of the table */
};

/* A tool that runs in several threads has this row, which tool_option handles, as it does those that all tools have. */
#define TOOL_JOBS {"-j, --jobs N", 'j', "run in N threads (1; 0: all processors); the output is the same"}
#define TOOL_HEADING(TEXT) {NULL, 0, TEXT} /* above the options that follow */
#define TOOL_GENERAL TOOL_HEADING("General:") /* above those that all tools have, where a table has headings */
#define TOOL_END {NULL, 0, NULL}

#define TOOL_PROGRESS "progress on standard error" /* what -v shows, of most tools */

/* What --help shows besides the options. A text has a line for each paragraph, which is broken where it is printed. */
struct tool_about {
	const char *usage;   /* lines of usage, and what the tool does; above the options */
	const char *verbose; /* what -v shows */
	const char *notes;   /* below the options; or NULL */
	const char *example; /* a command, below all */
};

struct tool {
	const char *name;
	struct tool_about about;
	int argc;
	char **argv;
	bool verbose;
	bool quiet; /* no warnings */
	unsigned jobs; /* threads */
	bool is_filter; /* its output is always a stream */
	bool takes_program; /* what follows the first operand are that program's own arguments */
	char option[32]; /* the last option that was read, such as "--csv" or "-k", for messages */
	struct tool_parser *parser; /* while options are read */
	struct gt_error error; /* of library calls */

	struct gt_reader *in;
	bool reads_pipe; /* and not a file */
	struct gt_writer *out;
	struct gt_relay *relay; /* NULL: one thread */
	uint64_t input_bytes; /* size of the input if it is a file, else 0 */
	double started;	      /* seconds of the monotonic clock, when reading began */
};

void tool_begin(struct tool *tool, const char *name, const struct tool_about *about, int argc, char **argv);

/* The value of the next option of argv; its argument is in optarg. Handles the options that all tools have, and wrong ones. Returns
 * -1 after the last. The rows must be the same in all calls. */
int tool_option(struct tool *tool, const struct tool_row *rows);

/* Prints a text within 80 columns. Four blanks begin a command; two begin a name, and behind two more what it means. */
void tool_print(const char *text);

/* A warning if a long option of the rows is among the arguments of the program that a tool runs, which gets it. */
void tool_warn_behind(const struct tool *tool, const struct tool_row *rows, char *const *program);

/* "NAME: message" on stderr and exit 2; tool_usage_error prints tool->error, of an option or its value. */
_Noreturn void tool_usage(const struct tool *tool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void tool_usage_error(const struct tool *tool, const char *option);
/* "NAME: error" on stderr and exit 1. */
_Noreturn void tool_fail(const struct tool *tool);
/* "NAME: message" on stderr; "NAME: warning: message" only if the tool is not quiet. */
void tool_say(const struct tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_warn(const struct tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The day of $SOURCE_DATE_EPOCH, or NULL: a page of the same run has the same bytes. */
const char *tool_date(struct tool *tool, char date[32]);

/* The folder that an option names, in which files can be made; else the tool fails. */
const char *tool_folder(struct tool *tool, const char *folder);
/* Whether text is written with colours: `when` is "always", "never" or "auto" (NULL too), on a terminal unless NO_COLOR is set; others are wrong usage. */
bool tool_is_coloured(const struct tool *tool, const char *when, FILE *to);

/* Calls that must succeed: fails the tool if the result is not 0. */
static inline void tool_must(const struct tool *tool, int result)
{
	if (result != 0)
		tool_fail(tool);
}

/* Opens the input stream: the one operand left in argv, or standard input. More operands are a
 * usage error. */
void tool_read(struct tool *tool);
/* Opens standard output as a stream with the input's history. A terminal is refused. */
void tool_write(struct tool *tool);

/* Of a stage that writes no stream: warns or fails as tool_write does if it stands in a wrong place of the pipe. */
void tool_check_order(const struct tool *tool);

/* The next event; false after GT_END. Fails the tool if the stream fails. Shows progress. */
bool tool_next(struct tool *tool, enum gt_event *event);
/* The same, but a batch is left in its record (gt_read_record). */
bool tool_next_record(struct tool *tool, enum gt_event *event);
/* Shows progress as tool_next does, with --verbose; without it, one line that is erased at the end, on a terminal, by the first tool
 * of a pipe. For a tool that does not read a stream: rows so far, and bytes of the
 * tool->input_bytes. */
void tool_progress(const struct tool *tool, uint64_t rows, uint64_t bytes, bool last);
/* Passes the last event on unchanged. */
void tool_pass(struct tool *tool);

/* The functions of a filter for the events of its input. Each returns whether its event is passed on, if there is an
 * output; NULL passes all. They fail by tool_must. */
struct tool_filter {
	bool (*kernel)(void *context, const struct gt_kernel *kernel); /* a launch begins */
	bool (*rows)(void *context, struct gt_rows *rows);
	bool (*count)(void *context, const struct gt_count *count);
	bool (*gpu)(void *context, const struct gt_gpu *gpu);
	/* The launch of that id has ended: another begins, or the stream ends. May be NULL. */
	void (*end)(void *context, uint64_t kernel);
	/* How batches go through several threads, and whether those of that kind do, of the kernel that has begun; else they
	 * go to `rows`. The other functions are called when none is under way. NULL: they never do. */
	const struct gt_relay_stage *relay;
	bool (*relays)(void *context, enum gt_rows_kind kind);
	void *context;
};
/* Reads the whole input. */
void tool_run(struct tool *tool, const struct tool_filter *filter);

/* Writes a count, and clears it. */
void tool_count(struct tool *tool, struct gt_count *count);

/* Finishes the output stream, closes standard output and checks that all was written. A tool that prints text calls it
 * too. */
void tool_end(struct tool *tool);

#endif
