/* SPDX-License-Identifier: MIT */
/* The files of PPT-GPU's launches, read in several threads if the trace allows it: each reads a file at a time, and what it
 * reports is passed on in the order of the files. */
#ifndef GT_IMPORT_PPTPARTS_H
#define GT_IMPORT_PPTPARTS_H

#include "import/import.h"
#include "import/pptfolder.h"

struct gt_pptparts;

/* NULL on error. */
struct gt_pptparts *gt_pptparts_open(const struct gt_trace *to, struct gt_error *error);
void gt_pptparts_close(struct gt_pptparts *parts);

/* Reads the files of a launch that has been reported, whose blocks have so many warps (0: unknown), the last with so many
 * lanes. */
int gt_pptparts_read(struct gt_pptparts *parts, const struct gt_pptfile *files, size_t n, unsigned warps, unsigned last_lanes,
		     struct gt_error *error);

#endif
