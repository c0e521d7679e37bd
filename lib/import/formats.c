/* SPDX-License-Identifier: MIT */
#include "import/formats.h"

#include <string.h>

/* Formats whose first lines are unambiguous come first. */
const struct gt_importer *const gt_importers[] = {
	&gt_import_nvbit,
	&gt_import_accelsim,
	&gt_import_pptmem,
	&gt_import_tsv,
	&gt_import_rdgc,
	&gt_import_trc,
	&gt_import_lackey,
	&gt_import_drmemtrace,
	&gt_import_din,
};
const size_t gt_importers_n = sizeof gt_importers / sizeof *gt_importers;

const struct gt_importer *gt_importer_find(const char *name)
{
	for (size_t i = 0; i < gt_importers_n; i++)
		if (strcmp(gt_importers[i]->name, name) == 0)
			return gt_importers[i];
	return NULL;
}

const struct gt_importer *gt_importer_detect(const char *head, size_t bytes)
{
	for (size_t i = 0; i < gt_importers_n; i++)
		if (gt_importers[i]->detect && gt_importers[i]->detect(head, bytes))
			return gt_importers[i];
	return NULL;
}

const struct gt_importer *gt_importer_of_paths(const struct gt_importer *forced, char *const paths[],
					       size_t n)
{
	if (forced)
		return forced->read_paths ? forced : NULL;
	for (size_t i = 0; i < gt_importers_n; i++)
		for (size_t p = 0; gt_importers[i]->owns_path && p < n; p++)
			if (gt_importers[i]->owns_path(paths[p]))
				return gt_importers[i];
	return NULL;
}
