/* SPDX-License-Identifier: MIT */
/* The importers, one file each. */
#ifndef GT_IMPORT_FORMATS_H
#define GT_IMPORT_FORMATS_H

#include "import/import.h"

extern const struct gt_importer gt_import_rdgc;	       /* RDGC's five-tuples [000] 4.1 */

#endif
