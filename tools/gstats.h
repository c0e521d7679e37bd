/* SPDX-License-Identifier: MIT */
/* The options of gstats. */
#ifndef GSTATS_H
#define GSTATS_H

#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: gstats [--csv | --json] [--names gtrace|ncu|nvprof|accelsim | --reference FILE [--as A,B]] [--by WHAT] "
		 "[--kernel RE] [--scale] [--output FILE] [--tee] [STREAM]\n"
		 "       gstats --findings [--all] [--json] [--program TEXT] [--color WHEN] [--by WHAT] [--kernel RE] [--scale] [--output FILE] [--tee] [STREAM]\n"
		 "       gstats --lines [--csv] [--color WHEN] [--kernel RE] [--scale] [--output FILE] [--tee] [STREAM]\n"
		 "       gstats --report DIR [--force] [--reference FILE [--as A,B]] [--by WHAT] [--kernel RE] [--scale] [--tee] [STREAM]\n"
		 "       gstats --kernels [--csv] [--kernel RE] [--output FILE] [--tee] [STREAM]\n"
		 "       gstats --callgrind FILE [--kernel RE] [--scale] [--tee] [STREAM]\n"
		 "       gstats --merge [OPTION...] PART...\n"
		 "       gstats --errors [--csv | --json] [--output FILE] FILE...\n"
		 "Prints the counters of all stages, for each kernel and in total, after the whole stream "
		 "is read and its checksum verified.\n",
	.verbose = TOOL_PROGRESS,
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | gcoalesce | gstats --csv",
};

struct options {
	const char *form, *names, *kernel, *output, *reference, *report, *callgrind, *sides[2];
	const char *program, *color;
	bool tee, errors, form_chosen, by_chosen, by_name, scale, findings, lines, all, force, kernels, merge;
};

enum { CSV = 1, JSON, BY, CALLGRIND, NAMES, KERNEL, OUTPUT, TEE, REFERENCE, ERRORS, REPORT, FORCE, SCALE, AS, FINDINGS, LINES, ALL, PROGRAM, COLOR, KERNELS, MERGE };
static const struct tool_row option_rows[] = {
	{"--csv", CSV, "kernel,stage,counter,value"},
	{"--json", JSON, "JSON; gstats(1) has the schema"},
	{"--findings", FINDINGS, "what the counters say, in words: the accesses that cost most, their line, array, cause and gain"},
	{"--lines", LINES, "the source with what each line accesses, hits and misses; with --csv as a table"},
	{"--all", ALL, "with --findings: all kernels, findings of any gain, and the counters"},
	{"--program TEXT", PROGRAM, "with --findings or --report: the program and its arguments, for the commands that show more"},
	{"--color WHEN", COLOR, "with --findings or --lines: auto (default: on a terminal, unless NO_COLOR is set), always or never"},
	{"--kernels", KERNELS, "the launches by name and shape: grid, block, registers, shared memory"},
	{"--names NAMES", NAMES, "gtrace: our counters (default); ncu, nvprof: the metrics of NVIDIA's profilers; accelsim: a log of Accel-Sim"},
	{"--reference FILE", REFERENCE, "compare with hardware counters, a CSV of ncu or a table: hardware, ours, difference, and the "
					"errors by metric; or with another run, what gstats --csv wrote"},
	{"--as A,B", AS, "with --reference: what the two sides are called, such as before,after"},
	{"--errors", ERRORS, "read rows of --reference --csv instead of a stream: errors by metric"},
	{"--report DIR", REPORT, "write DIR/index.html, a page with tables and plots, and print nothing; with --reference, hardware "
				 "beside the model too"},
	{"--force", FORCE, "with --report: replace an index.html that is no page of gtrace"},
	{"--by WHAT", BY, "launch: each launch by itself; kernel: the launches of a name together, with their least, mean and largest "
			  "values (kernel; launch with --csv, --json)"},
	{"--callgrind FILE", CALLGRIND, "write what stages counted by instruction (grd, gcache --by pc) by source line, for cg_annotate and "
					"KCachegrind, and print nothing"},
	{"--kernel RE", KERNEL, "only kernels whose name matches this Perl-compatible regular expression"},
	{"--scale", SCALE, "counts behind gschedule times blocks / modelled_blocks (a part of a grid)"},
	{"--output FILE", OUTPUT, "write the report to FILE, not to standard output"},
	{"--merge", MERGE, "read all parts of a stream, which gtrace-cat divided, and report on the whole"},
	{"--tee", TEE, "pass the stream on to standard output, unchanged; the report goes to standard error or to --output"},
	TOOL_END,
};

#endif
