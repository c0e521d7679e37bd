/* SPDX-License-Identifier: MIT */
#include "reuse/classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/utf8.h"
#include "stream/op.h"

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

/* Takes a further reference of a class into what is told of it. */
static void tell(struct gt_reuse_class *class, const struct gt_launch *launch, const struct gt_referrer *referrer)
{
	if (class->op != referrer->rows->op[referrer->i])
		class->op = GT_CLASS_SEVERAL;
	if (class->kernel == launch->kernel || class->kernel == GT_CLASS_SEVERAL)
		return;
	class->kernel = GT_CLASS_SEVERAL;
	if (class->place != gt_launch_place(launch, referrer))
		class->place = GT_CLASS_SEVERAL;
}

struct gt_reuse_class *gt_reuse_classes_of(struct gt_reuse_classes *classes, const struct gt_referrer *referrer, struct gt_error *error)
{
	uint64_t key = classes->split->key(classes->launch, referrer);
	int fresh;
	uint64_t *index = gt_map_put(&classes->index, key, classes->n, &fresh);

	if (!index)
		goto short_of_memory;
	if (!fresh && classes->split->tells)
		tell(&classes->classes[*index], classes->launch, referrer);
	if (!fresh)
		return &classes->classes[*index];
	struct gt_reuse_class *bigger = gt_grown(classes->classes, classes->n, &classes->capacity, sizeof *classes->classes);

	if (!bigger)
		goto short_of_memory;
	classes->classes = bigger;
	classes->classes[classes->n] = (struct gt_reuse_class){.key = key};
	if (classes->split->tells) {
		struct gt_reuse_class *class = &classes->classes[classes->n];
		class->op = referrer->rows->op[referrer->i];
		class->place = gt_launch_place(classes->launch, referrer);
		class->kernel = classes->launch->kernel;
	}
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

const char *gt_reuse_classes_op(const struct gt_reuse_classes *classes, size_t i, char *buffer)
{
	if (classes->classes[i].op == GT_CLASS_SEVERAL)
		return strcpy(buffer, "several");
	return gt_op_format((uint8_t)classes->classes[i].op, buffer);
}

/* The name of a number, tidied for a table. */
static const char *named(const struct gt_names *names, uint64_t number, char *buffer)
{
	const char *name = number == GT_CLASS_SEVERAL ? "several" : names->names[number];

	snprintf(buffer, GT_CLASS_TEXT, "%s", *name ? name : "-");
	return gt_utf8_printable(buffer);
}

const char *gt_reuse_classes_source(const struct gt_reuse_classes *classes, size_t i, char *buffer)
{
	return named(&classes->launch->places, classes->classes[i].place, buffer);
}

const char *gt_reuse_classes_kernel(const struct gt_reuse_classes *classes, size_t i, char *buffer)
{
	return named(&classes->launch->kernels, classes->classes[i].kernel, buffer);
}
