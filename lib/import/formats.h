/* SPDX-License-Identifier: MIT */
/* The importers, one file each, and their table. */
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

/* In the order in which they are tried. */
extern const struct gt_importer *const gt_importers[];
extern const size_t gt_importers_n;

/* The importer of that name, or NULL. */
const struct gt_importer *gt_importer_find(const char *name);
/* The importer that detects its format in these first bytes, or NULL. */
const struct gt_importer *gt_importer_detect(const char *head, size_t bytes);

/* The importer that reads all of these paths together, or NULL: `forced`, if it can, else one that owns any of
 * them. */
const struct gt_importer *gt_importer_of_paths(const struct gt_importer *forced, char *const paths[],
					       size_t n);

#endif
