/* SPDX-License-Identifier: MIT */
#include "report/compare/reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/utf8.h"

void gt_reference_clear(struct gt_reference *reference)
{
	for (size_t i = 0; i < reference->n; i++) {
		free(reference->launches[i].name);
		free(reference->launches[i].values);
	}
	free(reference->launches);
	for (size_t i = 0; i < reference->n_others; i++)
		free(reference->others[i]);
	free(reference->others);
	gt_map_close(&reference->index);
	gt_map_close(&reference->other_names);
	*reference = (struct gt_reference){0};
}

struct gt_reference_value *gt_reference_find(const struct gt_reference_launch *launch, const char *metric)
{
	for (size_t i = 0; i < launch->n; i++)
		if (strcmp(launch->values[i].metric->name, metric) == 0)
			return &launch->values[i];
	return NULL;
}

int gt_reference_add(struct gt_reference *reference, size_t i, const struct gt_reference_value *value,
		     struct gt_error *error)
{
	struct gt_reference_launch *launch = &reference->launches[i];
	struct gt_reference_value *bigger = gt_grown(launch->values, launch->n, &launch->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "the reference");
	launch->values = bigger;
	bigger[launch->n++] = *value;
	return 0;
}

int gt_reference_other(struct gt_reference *reference, const char *name, struct gt_error *error)
{
	uint64_t key = XXH3_64bits(name, strlen(name));
	int fresh;
	char **bigger = gt_grown(reference->others, reference->n_others, &reference->others_capacity, sizeof *bigger);

	if (bigger)
		reference->others = bigger;
	if (!bigger || !gt_map_put(&reference->other_names, key - (key == GT_MAP_EMPTY), 0, &fresh))
		return gt_fail_memory(error, "the reference");
	if (!fresh)
		return 0;
	if (!(bigger[reference->n_others] = strdup(name)))
		return gt_fail_memory(error, "the reference");
	gt_utf8_printable(bigger[reference->n_others++]);
	return 0;
}
