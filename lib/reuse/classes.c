/* SPDX-License-Identifier: MIT */
#include "reuse/classes.h"

#include <stdlib.h>

#include "base/grown.h"
#include "base/utf8.h"

int gt_reuse_classes_open(struct gt_reuse_classes *classes, const struct gt_split *split, const struct gt_launch *launch,
		    struct gt_error *error)
{
	*classes = (struct gt_reuse_classes){.split = split, .launch = launch};
	return gt_map_open(&classes->index, 0, error);
}

void gt_reuse_classes_clear(struct gt_reuse_classes *classes)
{
	classes->n = 0;
	gt_map_clear(&classes->index);
}

void gt_reuse_classes_close(struct gt_reuse_classes *classes)
{
	gt_map_close(&classes->index);
	free(classes->classes);
	*classes = (struct gt_reuse_classes){0};
}

struct gt_reuse_class *gt_reuse_classes_of(struct gt_reuse_classes *classes, const struct gt_referrer *referrer, struct gt_error *error)
{
	uint64_t key = classes->split->key(classes->launch, referrer);
	int fresh;
	uint64_t *index = gt_map_put(&classes->index, key, classes->n, &fresh);

	if (!index)
		goto short_of_memory;
	if (!fresh)
		return &classes->classes[*index];
	struct gt_reuse_class *bigger = gt_grown(classes->classes, classes->n, &classes->capacity, sizeof *classes->classes);

	if (!bigger)
		goto short_of_memory;
	classes->classes = bigger;
	classes->classes[classes->n] = (struct gt_reuse_class){.key = key};
	return &classes->classes[classes->n++];
short_of_memory:
	gt_fail_memory(error, "classes of references");
	return NULL;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t left = ((const struct gt_reuse_class *)a)->key, right = ((const struct gt_reuse_class *)b)->key;

	return (left > right) - (left < right);
}

void gt_reuse_classes_sort(struct gt_reuse_classes *classes)
{
	if (classes->n > 1)
		qsort(classes->classes, classes->n, sizeof *classes->classes, compare_keys);
}

const char *gt_reuse_classes_name(const struct gt_reuse_classes *classes, size_t i, char *buffer)
{
	classes->split->format(classes->launch, classes->classes[i].key, buffer);
	return gt_utf8_printable(buffer);
}
