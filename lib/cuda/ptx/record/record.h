/* SPDX-License-Identifier: MIT */
/* The settings that gtrace-record passes to the CUDA runtime inside the recorded program, in environment variables: each
 * option of the table in tracing.h as GTRACE_RECORD_<OPTION>, and two descriptors. One is the stream's. The other is an end of
 * a socket with one byte in it: the first process that uses the runtime takes the byte, so that only one of a script's
 * programs writes. It puts back GT_RECORD_WHOLE when the stream has its end record, or GT_RECORD_CUT when it has reported why
 * there is none. */
#ifndef GT_PTX_RECORD_RECORD_H
#define GT_PTX_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/record/tracing.h"

#define GT_RECORD_WHOLE 'w'
#define GT_RECORD_CUT 'c'
/* In the folder of the stand-in runtime: a folder for each plug-in, with the libraries that stand in for those of the same names. */
#define GT_RECORD_STUBS "stub"
#define GT_RECORD_ARGUMENTS 256 /* words of gtrace-record's command line that are kept */

struct gt_recording {
	struct gt_ptx_tracing tracing;
	struct gt_gpu gpu; /* the program's device if `tracing` has none */
	int stream;	   /* descriptors; -1: there is none, the program runs untraced */
	int token;
	bool verbose, quiet;
	char gpus[GT_TRACING_PATH]; /* the directory of descriptions, for messages; "": unknown */
	char *arguments[GT_RECORD_ARGUMENTS + 1]; /* of gtrace-record, up to a NULL */
	char *argument_text;			  /* owned when imported */
};

/* The defaults; removes the variables of an outer gtrace-record from the environment. */
void gt_record_begin(struct gt_recording *record);
void gt_record_clear(struct gt_recording *record);

/* Checks an option and its value, which is NULL if it takes none, and puts it into the environment. */
int gt_record_set(struct gt_recording *record, const struct gt_tracing_option *option, const char *value,
		  struct gt_error *error);
/* Takes the options that the user's environment has: GTRACE_DEVICES. */
int gt_record_environment(struct gt_recording *record, struct gt_error *error);
/* Checks what several options say together. */
int gt_record_check(const struct gt_recording *record, struct gt_error *error);
/* The program's device if --gpu names none. */
int gt_record_default_gpu(struct gt_recording *record, struct gt_error *error);

/* Sets the other variables, and those by which a program finds the stand-in runtime: the one in $GTRACE_CUDART, else one
 * beside the running program's folder, else the one in gt_libdir. */
int gt_record_export(const struct gt_recording *record, struct gt_error *error);
/* Reads and checks all of it. */
int gt_record_import(struct gt_recording *record, struct gt_error *error);

/* Why a program, found as execvp finds it, may have registered no device code with the stand-in runtime: from the libraries
 * that its file needs. One line without a newline, cut to `bytes`. */
void gt_record_explain(const char *program, char *line, size_t bytes);
/* True if the file is a library that runs kernels without the program's CUDA runtime. */
bool gt_record_runs_kernels(const char *file);

#endif
