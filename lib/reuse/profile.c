/* SPDX-License-Identifier: MIT */
#include "reuse/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/op.h"

static uint64_t key_pc(const struct gt_arrays *arrays, const struct gt_rows *rows, size_t i, uint64_t address)
{
	(void)arrays;
	(void)address;
	return rows->pc[i];
}

static const char *format_pc(const struct gt_arrays *arrays, uint64_t key, char *buffer)
{
	(void)arrays;
	snprintf(buffer, GT_CLASS_TEXT, "0x%" PRIx64, key);
	return buffer;
}

static uint64_t key_op(const struct gt_arrays *arrays, const struct gt_rows *rows, size_t i, uint64_t address)
{
	(void)arrays;
	(void)address;
	return rows->op[i];
}

static const char *format_op(const struct gt_arrays *arrays, uint64_t key, char *buffer)
{
	(void)arrays;
	return gt_op_format((uint8_t)key, buffer);
}

static uint64_t key_array(const struct gt_arrays *arrays, const struct gt_rows *rows, size_t i, uint64_t address)
{
	(void)rows;
	(void)i;
	return gt_arrays_find(arrays, address);
}

static const char *format_array(const struct gt_arrays *arrays, uint64_t key, char *buffer)
{
	snprintf(buffer, GT_CLASS_TEXT, "%s", arrays->names[key]);
	return buffer;
}

static const struct gt_split splits[] = {
	{"pc", key_pc, format_pc},
	{"op", key_op, format_op},
	{"array", key_array, format_array},
};
const char gt_split_names[] = "pc, op or array";

const struct gt_split *gt_split_find(const char *name)
{
	for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
		if (strcmp(splits[i].name, name) == 0)
			return &splits[i];
	return NULL;
}

int gt_profile_open(struct gt_profile *profile, const struct gt_split *split, const struct gt_arrays *arrays,
		    uint64_t bound, struct gt_error *error)
{
	*profile = (struct gt_profile){.split = split, .arrays = arrays};
	gt_histogram_begin(&profile->all, bound);
	return gt_map_open(&profile->index, 0, error);
}

void gt_profile_clear(struct gt_profile *profile)
{
	gt_histogram_clear(&profile->all);
	for (size_t i = 0; i < profile->n; i++)
		gt_histogram_clear(&profile->classes[i].histogram);
	profile->n = 0;
	profile->lines = 0;
	gt_map_clear(&profile->index);
}

void gt_profile_close(struct gt_profile *profile)
{
	if (profile->index.slots)
		gt_profile_clear(profile);
	gt_map_close(&profile->index);
	free(profile->classes);
	*profile = (struct gt_profile){0};
}

/* The class of a key, made if it is new; NULL when memory is short. */
static struct gt_profile_class *class_of(struct gt_profile *profile, uint64_t key, struct gt_error *error)
{
	int fresh;
	uint64_t *index = gt_map_put(&profile->index, key, profile->n, &fresh);

	if (!index)
		goto short_of_memory;
	if (!fresh)
		return &profile->classes[*index];
	if (profile->n == profile->capacity) {
		size_t capacity = profile->capacity ? 2 * profile->capacity : 16;
		struct gt_profile_class *classes = realloc(profile->classes, capacity * sizeof *classes);
		if (!classes)
			goto short_of_memory;
		profile->classes = classes;
		profile->capacity = capacity;
	}
	struct gt_profile_class *class = &profile->classes[profile->n++];
	class->key = key;
	gt_histogram_begin(&class->histogram, profile->all.bound);
	return class;
short_of_memory:
	gt_fail_memory(error, "a profile");
	return NULL;
}

static struct gt_profile_class *class_for(struct gt_profile *profile, const struct gt_profile_reference *reference,
					  struct gt_error *error)
{
	uint64_t key = profile->split->key(profile->arrays, reference->rows, reference->i, reference->address);

	return class_of(profile, key, error);
}

int gt_profile_add(struct gt_profile *profile, const struct gt_profile_reference *reference, uint64_t distance,
		   uint64_t weight, struct gt_error *error)
{
	if (gt_histogram_add(&profile->all, distance, weight, error) != 0)
		return -1;
	if (!profile->split)
		return 0;
	struct gt_profile_class *class = class_for(profile, reference, error);
	return class ? gt_histogram_add(&class->histogram, distance, weight, error) : -1;
}

int gt_profile_pass(struct gt_profile *profile, const struct gt_profile_reference *reference,
		    struct gt_error *error)
{
	profile->all.references++;
	if (!profile->split)
		return 0;
	struct gt_profile_class *class = class_for(profile, reference, error);
	if (!class)
		return -1;
	class->histogram.references++;
	return 0;
}

int gt_profile_settle(struct gt_profile *profile, struct gt_error *error)
{
	int failed = gt_histogram_settle(&profile->all, error);

	for (size_t i = 0; i < profile->n && !failed; i++)
		failed = gt_histogram_settle(&profile->classes[i].histogram, error);
	return failed;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t left = ((const struct gt_profile_class *)a)->key;
	uint64_t right = ((const struct gt_profile_class *)b)->key;

	return (left > right) - (left < right);
}

void gt_profile_sort(struct gt_profile *profile)
{
	if (profile->n > 1)
		qsort(profile->classes, profile->n, sizeof *profile->classes, compare_keys);
}

static int count_number(struct gt_count *count, const char *prefix, const char *name, uint64_t value,
			struct gt_error *error)
{
	char full[GT_COUNT_NAME];

	snprintf(full, sizeof full, "%s%s", prefix, name);
	return gt_count_number(count, full, value, error);
}

static int count_array(struct gt_count *count, const char *prefix, const char *name, const uint64_t *array,
		       size_t n, struct gt_error *error)
{
	char full[GT_COUNT_NAME];

	snprintf(full, sizeof full, "%s%s", prefix, name);
	return gt_count_array(count, full, array, n, error);
}

static int count_histogram(struct gt_count *count, const char *prefix, const struct gt_histogram *histogram,
			   struct gt_error *error)
{
	size_t n;
	uint64_t *array = gt_histogram_array(histogram, &n, error);

	if (!array)
		return -1;
	int failed = count_number(count, prefix, "references", histogram->references, error) ||
		     count_number(count, prefix, "infinite", histogram->infinite, error) ||
		     count_array(count, prefix, "distance", array, n, error) ||
		     count_array(count, prefix, "far", histogram->far, gt_histogram_far_end(histogram), error);
	free(array);
	return failed ? -1 : 0;
}

int gt_profile_count(const struct gt_profile *profile, struct gt_count *count, struct gt_error *error)
{
	char text[GT_CLASS_TEXT], prefix[GT_COUNT_NAME];

	if (count_histogram(count, "", &profile->all, error) != 0)
		return -1;
	for (size_t i = 0; i < profile->n; i++) {
		profile->split->format(profile->arrays, profile->classes[i].key, text);
		snprintf(prefix, sizeof prefix, "%.32s.", text);
		if (count_histogram(count, prefix, &profile->classes[i].histogram, error) != 0)
			return -1;
	}
	return 0;
}
