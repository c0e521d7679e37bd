/* SPDX-License-Identifier: MIT */
/* The importers, one file each, and their table. */
#ifndef GT_IMPORT_FORMATS_H
#define GT_IMPORT_FORMATS_H

#include "import/import.h"

/* All importers, as gt_import_NAME, in the order in which they are tried: formats whose first lines are unambiguous come
 * first. */
#define GT_FORMATS(ROW) \
	ROW(nvbit) ROW(accelsim) ROW(pptmem) ROW(tsv) ROW(rdgc) ROW(trc) ROW(lackey) ROW(drmemtrace) ROW(din)
#define GT_DECLARE_FORMAT(NAME) extern const struct gt_importer gt_import_##NAME;
GT_FORMATS(GT_DECLARE_FORMAT)

extern const struct gt_importer *const gt_importers[];
extern const size_t gt_importers_n;

/* The importer of that name, or NULL. */
const struct gt_importer *gt_importer_find(const char *name);
/* The importer that detects its format in these first bytes, or NULL. */
const struct gt_importer *gt_importer_detect(const char *head, size_t bytes);

/* The files that a folder stands for. */
struct gt_import_folder {
	char **paths; /* owned; in the order in which they are to be read */
	size_t n;
	bool is_one; /* and not a file or nothing */
	const char *lacks; /* the name of the list that is not there, in place of which they were found; NULL: it is there */
};

/* Finds them: the list of a format, else traces of one format (`forced`, unless NULL). Returns 0, or -1. Closed in either case. */
int gt_import_folder_open(struct gt_import_folder *folder, const char *path, const struct gt_importer *forced, struct gt_error *error);
void gt_import_folder_close(struct gt_import_folder *folder);

/* The importer that reads all of these paths together, or NULL: `forced`, if it can, else one that owns any of
 * them. */
const struct gt_importer *gt_importer_of_paths(const struct gt_importer *forced, char *const paths[],
					       size_t n);

#endif
