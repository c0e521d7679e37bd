/* SPDX-License-Identifier: MIT */
/* The importers, one file each. */
#ifndef GT_IMPORT_FORMATS_H
#define GT_IMPORT_FORMATS_H

#include "import/import.h"

extern const struct gt_importer gt_import_nvbit;       /* NVBit's mem_trace */
extern const struct gt_importer gt_import_accelsim;    /* Accel-Sim's .traceg, .trace, kernelslist.g */
extern const struct gt_importer gt_import_pptmem;      /* PPT-GPU's .mem */
extern const struct gt_importer gt_import_rdgc;	       /* RDGC's five-tuples [000] 4.1 */
extern const struct gt_importer gt_import_trc;	       /* the tracer of [002] */
extern const struct gt_importer gt_import_lackey;      /* valgrind --tool=lackey --trace-mem=yes */
extern const struct gt_importer gt_import_din;	       /* Dinero */
extern const struct gt_importer gt_import_drmemtrace;  /* drmemtrace's view tool */
extern const struct gt_importer gt_import_tsv;	       /* gtrace-cat's text */

#endif
