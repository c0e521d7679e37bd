/* SPDX-License-Identifier: MIT */
/* Reports of gathered counts: a table to read, CSV and JSON to compute with, with our names, those of NVIDIA's
 * profilers or those of Accel-Sim; and counts by source line for cg_annotate. A report is written to a file that the caller opens and checks. */
#ifndef GT_REPORT_REPORT_H
#define GT_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/gather.h"

#define GT_REPORT_VERSION 1 /* of the JSON */

/* The first line of a log in Accel-Sim's names, and the last of Accel-Sim's own, too. */
#define GT_LOG_FIRST "GPGPU-Sim: counts of gtrace, in the form of Accel-Sim's log"
#define GT_LOG_LAST "GPGPU-Sim: *** exit detected ***"

struct gt_report_form;

/* The form of those names, "gtrace", "ncu", "nvprof" or "accelsim": "table" (of Accel-Sim a log), "csv" or "json". NULL if there is none. */
const struct gt_report_form *gt_report_form_find(const char *names, const char *form);

/* Writes a report, which must be finished. Returns 0, or -1 when memory is short; what the file could not take is the caller's
 * to check. */
int gt_report_write(const struct gt_report *report, const struct gt_report_form *form, FILE *to, struct gt_error *error);

/* Writes the launches of a finished report that is not by name, one row for those of one name and shape, in the order of their first
 * launches: a table of 80 columns, or CSV. Returns 0, or -1 when memory is short. */
int gt_report_write_kernels(const struct gt_report *report, bool csv, FILE *to, struct gt_error *error);

/* ---- counts by source line in the format of Cachegrind, which cg_annotate and KCachegrind read: callgrind.c ---- */

/* Writes a report by name, in which each kernel is a function. The references that a stage counted by instruction (grd --by pc),
 * loads, stores and atomics apart, are events, as are the sectors that loads read of a level and missed (gcache --by pc). An
 * instruction without a source line is in line 0 of the file "???". Sets *placed if any has one. Returns 0, or -1: out of
 * memory, or no stage counted by instruction. */
int gt_report_write_callgrind(const struct gt_report *report, const char *command, FILE *to, bool *placed,
			      struct gt_error *error);

/* ---- the source with the counts of its lines, for a terminal: lines.c ---- */

/* Writes a report's source lines with their accesses, hits and misses (gcoalesce and gcache --by site), as text or CSV. Returns 0, or -1: out of memory, malformed source
 * lines, or nothing was counted by instruction. */
int gt_report_write_lines(const struct gt_report *report, bool csv, bool colour, FILE *to, struct gt_error *error);

#endif
