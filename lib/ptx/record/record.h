/* SPDX-License-Identifier: MIT */
/* What gtrace-record tells the CUDA runtime inside the program it runs: settings, carried by
 * environment variables, and two descriptors. One is the stream's. The other is one end of a
 * socket with one byte in it: the first process that uses the runtime takes the byte, so that of a
 * script's programs only one writes; it puts GT_RECORD_WHOLE back when the stream has its end, and
 * GT_RECORD_CUT when it has said why it gave it none. */
#ifndef GT_PTX_RECORD_H
#define GT_PTX_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ptx/record/recorder.h"

#define GT_RECORD_WHOLE 'w'
#define GT_RECORD_CUT 'c'
#define GT_RECORD_TEXT 4096	    /* bytes a setting may have, with its final 0 */
#define GT_RECORD_ARGUMENTS 256	    /* words of gtrace-record's command line that are kept */

struct gt_record {
	int stream; /* descriptors; -1: there is none, the program runs untraced */
	int token;
	char kernel[GT_RECORD_TEXT];   /* regular expression; "": every kernel */
	char launches[GT_RECORD_TEXT]; /* list of numbers; "": every launch */
	char spaces[GT_RECORD_TEXT];   /* list; "": those of gt_ptx_tracing_begin */
	char gpu[GT_RECORD_TEXT];      /* path of a description */
	char check[GT_RECORD_TEXT];    /* of accesses outside of every allocation; "": fault */
	char ptx[GT_RECORD_TEXT];      /* folder that gets the PTX texts; "": none */
	bool gpu_chosen;	       /* by the user: it goes into the stream */
	uint64_t blocks;	       /* of each launch that are traced; 0: all */
	uint64_t max_instructions;     /* of a launch; 0: no limit */
	uint64_t memory;	       /* bytes the device has */
	bool skip_untraced, replay, ignore_unsupported, ptxas, verbose;
	char *arguments[GT_RECORD_ARGUMENTS + 1]; /* of gtrace-record, up to a NULL */
	char *argument_text;			  /* owned when imported */
};

/* The settings nobody gave. */
void gt_record_defaults(struct gt_record *record);

/* What they say of tracing; -1 if they cannot be understood. Cleared by gt_ptx_tracing_clear in
 * either case. */
int gt_record_tracing(const struct gt_record *record, struct gt_ptx_tracing *tracing, struct gt_error *error);

/* Puts them into the environment, and with them what makes a program find our runtime: the one in
 * $GTRACE_CUDART, else one beside the running program's folder, else the one in gt_libdir. */
int gt_record_export(const struct gt_record *record, struct gt_error *error);
/* Reads them there. What is read is checked, and freed by gt_record_clear. */
int gt_record_import(struct gt_record *record, struct gt_error *error);
void gt_record_clear(struct gt_record *record);

/* Why a program, found as execvp finds it, may have brought no device code to our runtime: by the
 * libraries that its file needs. One line without an end, cut to `bytes`. */
void gt_record_explain(const char *program, char *line, size_t bytes);
/* True if the file is one of a library that runs kernels without the CUDA runtime of the program. */
bool gt_record_runs_kernels(const char *file);

#endif
