/* SPDX-License-Identifier: MIT */
#include "import/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDRESS(NAME) &gt_import_##NAME,

const struct gt_importer *const gt_importers[] = {GT_FORMATS(ADDRESS)};
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

char *gt_importer_list_in(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		return NULL;
	for (size_t i = 0; i < gt_importers_n; i++) {
		size_t bytes = strlen(path) + (gt_importers[i]->folder_list ? strlen(gt_importers[i]->folder_list) : 0) + 2;
		char *list = gt_importers[i]->folder_list ? malloc(bytes) : NULL;
		if (!list)
			continue;
		snprintf(list, bytes, "%s/%s", path, gt_importers[i]->folder_list);
		if (access(list, F_OK) == 0)
			return list;
		free(list);
	}
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
