/* SPDX-License-Identifier: MIT */
/* The options of grd. */
#ifndef GRD_H
#define GRD_H

#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: grd [--granularity line[:SIZE]|sector|address[:SIZE]] [--per WHAT] [--index FUNCTION] "
		 "[--op loads|stores|atomics|all] [--by CLASS] [--flush kernel|never] "
		 "[--bound N] [--sample RATE] [--sample-lines N] [--name NAME] "
		 "[TABLE [--total | --count]] [STREAM]\n"
		 "Measures reuse distances: the distinct lines touched since the last touch of the same one. "
		 "Passes the stream on and adds its counts; or prints a TABLE instead, tab-separated.\n",
	.verbose = TOOL_PROGRESS,
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | grd --lines 64,256",
};

/* PRINTS: a table of lib/reuse; MEASURES: an option of lib/reuse; else of grd itself. */
enum { PRINTS = 1, DISTANCES, TOTAL, COUNT, FLUSH, NAME, INDEX, MEASURES };
static const struct tool_row option_rows[] = {
	TOOL_HEADING("TABLE:"),
	{"--profile", PRINTS, "how often each distance occurred"},
	{"--csdd", PRINTS, "how many references have a smaller distance: hits by size of an LRU cache"},
	{"--mru WAYS", PRINTS, "hits by position in the LRU stack, then all misses"},
	{"--lines N,...", PRINTS, "hits, compulsory and capacity misses of LRU caches of N lines"},
	{"--curve", PRINTS, "the miss ratio of LRU caches of every size"},
	{"--curve-sets N,...", PRINTS, "the same by ways, of caches of N sets, all in one pass"},
	{"--sdcm SIZE,WAYS,LINE", PRINTS, "hits by the stack distance-based cache model"},
	{"--sdcm-normal SIZE,WAYS,LINE", PRINTS, "the same by the normal approximation"},
	{"--classes WAYS,...", PRINTS, "compulsory, capacity and conflict misses; needs --per set:N"},
	{"--sharing WHO:N,...", PRINTS, "what sharing N lines gains and loses; WHO: warp, block, sm"},
	{"--distances", DISTANCES, "each reference and its distance"},
	{"--total", TOTAL, "one table for all kernels together"},
	{"--count", COUNT, "pass the stream on and add the numbers of the table to its counts"},
	TOOL_HEADING("What is measured:"),
	{"--granularity G", MEASURES, "line (default; 128 bytes or SIZE), sector (32 bytes), or address: that of each lane, in units of "
				      "SIZE bytes (default 1)"},
	{"--line SIZE", MEASURES, "the same as --granularity line:SIZE"},
	{"--per WHAT", MEASURES, "a stack for each warp, block or sm, for each of N sets (set:N), for each set of each SM (sm,set:N), or "
				 "one (global); default: sm if rows are scheduled"},
	{"--index FUNCTION", INDEX, "the set of a line, as in gcache (mod)"},
	{"--op WHICH", MEASURES, "measure only these: a list of loads, stores, atomics, all (default)"},
	{"--by CLASS", MEASURES, "a profile for each pc, source line, op, status, kernel (by its name), or array that the trace names"},
	{"--flush WHEN", FLUSH, "empty the stacks at the end of each kernel (default) or never"},
	{"--bound N", MEASURES, "count distances below N one by one, larger ones in bins that double (65536)"},
	{"--sample RATE", MEASURES, "measure this share of the lines, chosen by hash, and scale the results"},
	{"--sample-lines N", MEASURES, "keep at most N lines; the rate is lowered as needed"},
	{"--name NAME", NAME, "the stage's name in the counts (reuse, or the table's name)"},
	TOOL_GENERAL,
	TOOL_JOBS,
	TOOL_END,
};

#endif
