/* SPDX-License-Identifier: MIT */
/* The options of grd. */
#ifndef GRD_H
#define GRD_H

#include "tool.h"

static const char help[] =
	"usage: grd [--granularity line[:SIZE]|sector|address[:SIZE]] [--per WHAT] [--index FUNCTION]\n"
	"           [--op loads|stores|atomics|all] [--by CLASS] [--flush kernel|never]\n"
	"           [--bound N] [--sample RATE] [--sample-lines N] [--name NAME]\n"
	"           [TABLE [--total | --count]] [STREAM]\n"
	"Measures reuse distances: the distinct lines touched since the last touch of the same one.\n"
	"Passes the stream on and adds its counts; or prints a TABLE instead, tab-separated:\n"
	"\n"
	"  --profile        how often each distance occurred\n"
	"  --csdd           how many references have a smaller distance: hits by size of an LRU cache\n"
	"  --mru WAYS       hits by position in the LRU stack, then all misses\n"
	"  --lines N,...    hits, compulsory and capacity misses of LRU caches of N lines\n"
	"  --curve          the miss ratio of LRU caches of every size\n"
	"  --curve-sets N,... the same by ways, of caches of N sets, all in one pass\n"
	"  --sdcm SIZE,WAYS,LINE         hits by the stack distance-based cache model\n"
	"  --sdcm-normal SIZE,WAYS,LINE  the same by the normal approximation\n"
	"  --classes WAYS,...            compulsory, capacity and conflict misses; needs --per set:N\n"
	"  --sharing WHO:N,...           what sharing N lines gains and loses; WHO: warp, block, sm\n"
	"  --distances      each reference and its distance\n"
	"  --total          one table for all kernels together\n"
	"  --count          pass the stream on and add the numbers of the table to its counts\n"
	"\n"
	"  --granularity G  line (default; 128 bytes or SIZE), sector (32 bytes), or address: that of\n"
	"                   each lane, in units of SIZE bytes (default 1)\n"
	"  --line SIZE      the same as --granularity line:SIZE\n"
	"  --per WHAT       a stack for each warp, block or sm, for each of N sets (set:N), for each set\n"
	"                   of each SM (sm,set:N), or one (global); default: sm if rows are scheduled\n"
	"  --index FUNCTION the set of a line, as in gcache (mod)\n"
	"  --op WHICH       measure only these: a list of loads, stores, atomics, all (default)\n"
	"  --by CLASS       a profile for each pc, source line, op, status, kernel (by its name), or array that\n"
	"                   the trace names\n"
	"  --flush WHEN     empty the stacks at the end of each kernel (default) or never\n"
	"  --bound N        count distances below N one by one, larger ones in bins that double (65536)\n"
	"  --sample RATE    measure this share of the lines, chosen by hash, and scale the results\n"
	"  --sample-lines N keep at most N lines; the rate is lowered as needed\n"
	"  --name NAME      the stage's name in the counts (reuse, or the table's name)\n"
	TOOL_JOBS_HELP
	"  -v, --verbose    progress on standard error\n"
	"  --quiet          no warnings\n"
	"  --help, --version\n"
	"\n"
	"example: gtrace-order examples/traces/gemm.rdgc.xz | grd --lines 64,256\n";

/* In the order of the table: tables, options of grd itself, options of lib/reuse. */
enum { PRINTS = 1, DISTANCES = 11, TOTAL, COUNT, FLUSH, NAME, INDEX, MEASURES };
static const struct option long_options[] = {
	{"profile", no_argument, NULL, PRINTS},
	{"csdd", no_argument, NULL, PRINTS + 1},
	{"mru", required_argument, NULL, PRINTS + 2},
	{"lines", required_argument, NULL, PRINTS + 3},
	{"curve", no_argument, NULL, PRINTS + 4},
	{"curve-sets", required_argument, NULL, PRINTS + 5},
	{"sdcm", required_argument, NULL, PRINTS + 6},
	{"sdcm-normal", required_argument, NULL, PRINTS + 7},
	{"classes", required_argument, NULL, PRINTS + 8},
	{"sharing", required_argument, NULL, PRINTS + 9},
	{"distances", no_argument, NULL, DISTANCES},
	{"total", no_argument, NULL, TOTAL},
	{"count", no_argument, NULL, COUNT},
	{"flush", required_argument, NULL, FLUSH},
	{"name", required_argument, NULL, NAME},
	{"index", required_argument, NULL, INDEX},
	{"granularity", required_argument, NULL, MEASURES},
	{"line", required_argument, NULL, MEASURES + 1},
	{"per", required_argument, NULL, MEASURES + 2},
	{"op", required_argument, NULL, MEASURES + 3},
	{"by", required_argument, NULL, MEASURES + 4},
	{"bound", required_argument, NULL, MEASURES + 5},
	{"sample", required_argument, NULL, MEASURES + 6},
	{"sample-lines", required_argument, NULL, MEASURES + 7},
	TOOL_JOBS,
	TOOL_OPTIONS,
};

#endif
