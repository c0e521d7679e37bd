/* SPDX-License-Identifier: MIT */
/* The tracing options of gtrace-ptx and gtrace-record: which launches are traced, and how. One table serves the parsers of both
 * tools, their --help and the runtime in the recorded program. And how gtrace-record passes its settings on to the CUDA runtime inside the
 * recorded program. */
#ifndef GT_PTX_RECORD_RECORD_H
#define GT_PTX_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/regex.h"
#include "cuda/ptx/exec/machine.h"
#include "gpu/gpu.h"

/* ---- tracing options ---- */

#define GT_PTX_LAUNCHES 65536 /* the numbers in --launches are below this */
#define GT_TRACING_GPU "a100" /* the program's device by default */
#define GT_TRACING_DEVICES 16 /* that a program may see */
#define GT_TRACING_INSTRUCTIONS UINT64_C(100000000000) /* of a launch by default: half an hour or more */
#define GT_TRACING_NAME 31    /* bytes of an array's name */
/* What is said of a launch that takes long: as many blocks as have ended take as long as it has run; and of launches that do together. */
#define GT_TRACING_PART "--blocks %" PRIu64 " --skip-untraced runs a part"
#define GT_TRACING_LAUNCHES "--launches 1-%" PRIu64 " --skip-untraced runs no more, --kernel and --blocks trace less"
#define GT_TRACING_PATH 4096  /* bytes of a path, with its final 0 */

struct gt_ptx_tracing {
	uint32_t spaces;	/* bit (1 << enum gt_space) */
	struct gt_regex *kernel; /* names to match; NULL: all. Owned. */
	unsigned char *launches; /* of GT_PTX_LAUNCHES: those to trace, from 1; NULL: all. Owned. */
	uint64_t blocks;	 /* trace only this many of each launch */
	bool skip_untraced;	 /* untraced blocks are not executed */
	bool replay;		 /* each launch runs twice, as under a profiler: see recorder.c */
	bool work;		 /* rows have the column work */
	bool unordered;		 /* rows as the warps ran; else by block, an, warp */
	uint64_t memory;	 /* bytes for ordering accesses, half for a block, half for blocks that wait */
	unsigned jobs;		 /* threads */
	enum gt_ptx_check check;
	bool chooses_check; /* by name */
	uint64_t max_instructions; /* warp instructions of a launch; 0: no limit */
	struct gt_gpu gpu;	   /* chosen by the user and written into the stream. Owned. */
	struct gt_ptx_wish *places; /* of allocations. Owned. */
	uint64_t heap;		   /* bytes, of gtrace-ptx alone; 0: the default */
	/* of gtrace-record alone: */
	uint64_t device_memory; /* bytes of a device */
	uint64_t devices;	/* that the program sees */
	uint32_t traced_devices; /* bit d: launches on device d are traced; 0: all */
	char *ptx;		/* folder for the PTX texts; NULL: none. Owned. */
	char *names;		/* of allocations, in order, with commas between; NULL: none. Owned. */
	bool ptxas;		/* gives the number of registers */
	bool ignore_unsupported;
	char *stubs; /* plug-ins, with commas between, that do the work of libraries without PTX on the host; NULL: none. Owned. */
};

enum gt_tracing_tool { GT_TRACING_PTX = 1, GT_TRACING_RECORD = 2 };

struct gt_tracing_option {
	const char *name; /* without dashes */
	const char *form; /* of the value, in --help; NULL: there is no value, and `flag` is set */
	char letter;	  /* of the short form; 0: there is none */
	unsigned tools;	  /* that take it: bits of enum gt_tracing_tool */
	int (*set)(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error);
	size_t flag; /* without `set`: the offset of a bool, or of a text if there is a value */
	/* If the value names a file: makes its path absolute, since the program may change its folder. */
	int (*locate)(const char *value, char path[GT_TRACING_PATH], struct gt_error *error);
	const char *help;
};
/* A name occurs at most once for each tool. */
extern const struct gt_tracing_option gt_tracing_options[];
extern const size_t gt_tracing_options_n;

/* Global and local accesses of everything. */
void gt_ptx_tracing_begin(struct gt_ptx_tracing *tracing);
void gt_ptx_tracing_clear(struct gt_ptx_tracing *tracing);

/* Sets an option to a value, replacing an earlier one. The error names the value, not the option. */
int gt_ptx_tracing_set(struct gt_ptx_tracing *tracing, const struct gt_tracing_option *option, const char *value,
		       struct gt_error *error);

/* An option as --help shows it, such as "-S, --sort-memory SIZE". */
#define GT_TRACING_HELP 64 /* bytes */
void gt_tracing_help(const struct gt_tracing_option *option, char text[GT_TRACING_HELP]);

/* ---- settings in environment variables: each option of the table as GTRACE_RECORD_<OPTION>, and three descriptors: the stream's;
 * that of a pipe with one byte, which the first process that uses the runtime takes, so that only one of a script's programs writes; and that
 * of a pipe by which that process and those that it forks tell what becomes of the stream ---- */

enum gt_record_event {
	GT_RECORD_BEGUN = 1, /* this process writes it */
	GT_RECORD_LEFT,	     /* this process ends, and what it forked may still begin it */
	GT_RECORD_WHOLE,     /* it has its end record */
	GT_RECORD_CUT,	     /* it has been reported why there is none */
};

struct gt_record_word {
	int32_t event; /* enum gt_record_event */
	int32_t process;
};

/* In the folder of the stand-in runtime: a folder for each plug-in, with the libraries that stand in for those of the same names. */
#define GT_RECORD_STUBS "stub"
#define GT_RECORD_STREAM "GTRACE_RECORD_STREAM" /* the variable of the first descriptor */
#define GT_RECORD_ARGUMENTS 256 /* words of gtrace-record's command line that are kept */

struct gt_recording {
	struct gt_ptx_tracing tracing;
	struct gt_gpu gpu; /* the program's device if `tracing` has none */
	int stream;	   /* descriptors; -1: there is none, the program runs untraced */
	int token, words;
	int process; /* of gtrace-record, whose descriptors these are, too */
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
/* What to do about a program that did not start, if it needs a library whose kernels are machine code: a line as above, or "". */
void gt_record_explain_missing(const char *program, char *line, size_t bytes);
#define GT_RECORD_HINT 128 /* bytes that hold any hint */
/* " (--stub cublas does the work of libcublas on the host)" if a plug-in beside the runtime in that folder has a library of that name, whatever
 * the version; else "". */
void gt_record_hint(const char *folder, const char *library, char hint[GT_RECORD_HINT]);
/* True if the file is a library that runs kernels without the program's CUDA runtime. */
bool gt_record_runs_kernels(const char *file);

#endif
