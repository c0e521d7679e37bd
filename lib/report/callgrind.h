/* SPDX-License-Identifier: MIT */
/* Counts by source line in the format of Cachegrind, which cg_annotate and KCachegrind read. */
#ifndef GT_REPORT_CALLGRIND_H
#define GT_REPORT_CALLGRIND_H

#include <stdbool.h>
#include <stdio.h>

#include "report/gather.h"

/* Writes a report by name. The references that a stage counted by instruction (grd --by pc), loads, stores and atomics apart, are
 * events, as are the sectors that loads read of a level and missed (gcache --by pc), and each kernel is a function. An instruction without a source line is in line 0 of the file "???". Sets *placed if any has one. Returns 0,
 * or -1: out of memory, or no stage counted by instruction. */
int gt_report_write_callgrind(const struct gt_report *report, const char *command, FILE *to, bool *placed,
			      struct gt_error *error);

#endif
