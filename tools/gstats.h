/* SPDX-License-Identifier: MIT */
/* The options of gstats. */
#ifndef GSTATS_H
#define GSTATS_H

#include "tool.h"

static const char help[] =
	"usage: gstats [--csv | --json] [--names gtrace|ncu|nvprof | --reference FILE] [--by WHAT] [--kernel RE]\n"
	"              [--scale] [--output FILE] [--tee] [STREAM]\n"
	"       gstats --report DIR [--reference FILE] [--by WHAT] [--kernel RE] [--scale] [--tee] [STREAM]\n"
	"       gstats --callgrind FILE [--kernel RE] [--scale] [--tee] [STREAM]\n"
	"       gstats --errors [--csv | --json] [--output FILE] FILE...\n"
	"Prints the counters of all stages, for each kernel and in total, after the whole stream\n"
	"is read and its checksum verified.\n"
	"\n"
	"  --csv            kernel,stage,counter,value\n"
	"  --json           JSON; gstats(1) has the schema\n"
	"  --names NAMES    gtrace: our counters (default); ncu, nvprof: the metrics of NVIDIA's profilers\n"
	"  --reference FILE compare with hardware counters, a CSV of ncu or a table: hardware, ours,\n"
	"                   difference, and the errors by metric\n"
	"  --errors         read rows of --reference --csv instead of a stream: errors by metric\n"
	"  --report DIR     write DIR/index.html, a page with tables and plots, and print nothing; with\n"
	"                   --reference, hardware beside the model too\n"
	"  --by WHAT        launch: each launch by itself; kernel: the launches of a name together, with\n"
	"                   their least, mean and largest values (kernel; launch with --csv, --json)\n"
	"  --callgrind FILE write what stages counted by instruction (grd --by pc) by source line, for\n"
	"                   cg_annotate and KCachegrind, and print nothing\n"
	"  --kernel RE      only kernels whose name matches this Perl-compatible regular expression\n"
	"  --scale          counts behind gschedule times blocks / modelled_blocks (a part of a grid)\n"
	"  --output FILE    write the report to FILE, not to standard output\n"
	"  --tee            pass the stream on to standard output, unchanged; the report goes to\n"
	"                   standard error or to --output\n"
	"  -v, --verbose    show progress\n"
	"  --quiet          no warnings\n"
	"  --help, --version\n"
	"\n"
	"example: gtrace-order examples/traces/gemm.rdgc.xz | gcoalesce | gstats --csv\n";

struct options {
	const char *form, *names, *kernel, *output, *reference, *report, *callgrind;
	bool tee, errors, form_chosen, by_chosen, by_name, scale;
};

enum { CSV = 1, JSON, BY, CALLGRIND, NAMES, KERNEL, OUTPUT, TEE, REFERENCE, ERRORS, REPORT, SCALE };
static const struct option long_options[] = {
	{"csv", no_argument, NULL, CSV},
	{"json", no_argument, NULL, JSON},
	{"by", required_argument, NULL, BY},
	{"callgrind", required_argument, NULL, CALLGRIND},
	{"names", required_argument, NULL, NAMES},
	{"kernel", required_argument, NULL, KERNEL},
	{"output", required_argument, NULL, OUTPUT},
	{"tee", no_argument, NULL, TEE},
	{"reference", required_argument, NULL, REFERENCE},
	{"errors", no_argument, NULL, ERRORS},
	{"report", required_argument, NULL, REPORT},
	{"scale", no_argument, NULL, SCALE},
	TOOL_OPTIONS,
};

#endif
