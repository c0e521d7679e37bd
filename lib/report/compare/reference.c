/* SPDX-License-Identifier: MIT */
#include "report/compare/reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

void gt_reference_clear(struct gt_reference *reference)
{
	for (size_t i = 0; i < reference->n; i++) {
		free(reference->launches[i].name);
		free(reference->launches[i].values);
	}
	free(reference->launches);
	gt_map_close(&reference->index);
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
