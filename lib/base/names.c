/* SPDX-License-Identifier: MIT */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"

int gt_names_open(struct gt_names *names, struct gt_error *error)
{
	*names = (struct gt_names){0};
	return gt_map_open(&names->index, 0, error);
}

void gt_names_close(struct gt_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	gt_map_close(&names->index);
	*names = (struct gt_names){0};
}

static int append(struct gt_names *names, const char *name)
{
	char **bigger = gt_grown(names->names, names->n, &names->capacity, sizeof *names->names);

	if (!bigger)
		return -1;
	names->names = bigger;
	names->names[names->n] = malloc(strlen(name) + 1);
	if (!names->names[names->n])
		return -1;
	memcpy(names->names[names->n++], name, strlen(name) + 1);
	return 0;
}

int gt_names_number(struct gt_names *names, const char *name, uint64_t *number, struct gt_error *error)
{
	uint64_t hash = XXH3_64bits(name, strlen(name)) >> 1, *found;
	int fresh;

	for (;; hash++) { /* names of one hash follow each other */
		found = gt_map_put(&names->index, hash, names->n, &fresh);
		if (!found)
			return gt_fail_memory(error, "names");
		if (fresh || strcmp(names->names[*found], name) == 0)
			break;
	}
	*number = *found;
	return !fresh || append(names, name) == 0 ? 0 : gt_fail_memory(error, "names");
}
