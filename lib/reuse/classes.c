/* SPDX-License-Identifier: MIT */
/* Classes of references. The launch that is read tells what the rows alone do not: arrays, source lines, the kernel. */
#include "reuse/classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/utf8.h"
#include "stream/op.h"

/* ---- the launch ---- */

int gt_launch_open(struct gt_launch *launch, struct gt_error *error)
{
	uint64_t none;

	*launch = (struct gt_launch){0};
	if (gt_arrays_open(&launch->arrays, GT_ARRAYS_STAGE, error) == 0 && gt_names_open(&launch->kernels, error) == 0 &&
	    gt_names_open(&launch->places, error) == 0 && gt_names_number(&launch->places, "-", &none, error) == 0)
		return 0;
	gt_launch_close(launch);
	return -1;
}

void gt_launch_close(struct gt_launch *launch)
{
	gt_arrays_close(&launch->arrays);
	gt_names_close(&launch->kernels);
	gt_names_close(&launch->places);
	gt_sources_clear(&launch->sources);
}

int gt_launch_begin(struct gt_launch *launch, const char *kernel, struct gt_error *error)
{
	gt_sources_clear(&launch->sources);
	return gt_names_number(&launch->kernels, kernel, &launch->kernel, error);
}

int gt_launch_count(struct gt_launch *launch, const struct gt_count *count, struct gt_error *error)
{
	char place[GT_SOURCE_TEXT];

	if (gt_arrays_take(&launch->arrays, count, error) != 0)
		return -1;
	if (strcmp(count->stage, GT_SOURCES_STAGE) != 0)
		return 0;
	if (gt_sources_set(&launch->sources, gt_count_find(count, "pcs"), gt_count_find(count, "lines"),
			   gt_count_find(count, "files"), gt_count_find(count, "names"), error) != 0)
		return -1;
	for (size_t i = 0; i < launch->sources.n; i++) {
		struct gt_source *source = &launch->sources.sources[i];
		if (gt_names_number(&launch->places, gt_source_format(source, place), &source->place, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- splits: the key of a reference's class, and the name of a key ---- */

/* A name for a table, without characters that would end a column or a line. */
static const char *print_name(const char *name, char *buffer)
{
	snprintf(buffer, GT_CLASS_TEXT, "%s", name);
	for (char *c = buffer; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return buffer;
}

static uint64_t key_pc(const struct gt_launch *launch, const struct gt_referrer *referrer)
{
	(void)launch;
	return referrer->rows->pc[referrer->i];
}

static const char *format_pc(const struct gt_launch *launch, uint64_t key, char *buffer)
{
	(void)launch;
	snprintf(buffer, GT_CLASS_TEXT, "0x%" PRIx64, key);
	return buffer;
}

static uint64_t key_op(const struct gt_launch *launch, const struct gt_referrer *referrer)
{
	(void)launch;
	return referrer->rows->op[referrer->i];
}

static const char *format_op(const struct gt_launch *launch, uint64_t key, char *buffer)
{
	(void)launch;
	return gt_op_format((uint8_t)key, buffer);
}

static uint64_t key_status(const struct gt_launch *launch, const struct gt_referrer *referrer)
{
	(void)launch;
	return referrer->rows->has_status ? referrer->rows->status[referrer->i] : GT_STATUS_NONE;
}

static const char *format_status(const struct gt_launch *launch, uint64_t key, char *buffer)
{
	(void)launch;
	snprintf(buffer, GT_CLASS_TEXT, "%s", gt_status_names[key]);
	return buffer;
}

static uint64_t key_array(const struct gt_launch *launch, const struct gt_referrer *referrer)
{
	return gt_arrays_find(&launch->arrays, referrer->address);
}

static const char *format_array(const struct gt_launch *launch, uint64_t key, char *buffer)
{
	return print_name(launch->arrays.names.names[key], buffer);
}

/* The number of the source line in the launch's `places`. */
static uint64_t key_line(const struct gt_launch *launch, const struct gt_referrer *referrer)
{
	const struct gt_source *source = gt_sources_find(&launch->sources, referrer->rows->pc[referrer->i]);

	return source ? source->place : 0;
}

static const char *format_line(const struct gt_launch *launch, uint64_t key, char *buffer)
{
	return print_name(launch->places.names[key], buffer);
}

static uint64_t key_kernel(const struct gt_launch *launch, const struct gt_referrer *referrer)
{
	(void)referrer;
	return launch->kernel;
}

static const char *format_kernel(const struct gt_launch *launch, uint64_t key, char *buffer)
{
	return print_name(launch->kernels.names[key], buffer);
}

const struct gt_split gt_splits[] = {
	{"pc", key_pc, format_pc, true},
	{"line", key_line, format_line, false},
	{"op", key_op, format_op, false},
	{"status", key_status, format_status, false},
	{"array", key_array, format_array, false},
	{"kernel", key_kernel, format_kernel, false},
};
const size_t gt_splits_n = sizeof gt_splits / sizeof *gt_splits;
const char gt_split_names[] = "pc, line, op, status, array or kernel";

/* ---- the classes that occurred ---- */

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
	if (class->place != key_line(launch, referrer))
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
		class->place = key_line(classes->launch, referrer);
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

/* The name of a number, tidied for a table. */
static void write_name(const struct gt_names *names, uint64_t number, char *buffer)
{
	const char *name = number == GT_CLASS_SEVERAL ? "several" : names->names[number];

	snprintf(buffer, GT_CLASS_TEXT, "%s", *name ? name : "-");
	gt_utf8_printable(buffer);
}

void gt_reuse_classes_tell(const struct gt_reuse_classes *classes, size_t i, struct gt_class_words *words)
{
	const struct gt_reuse_class *class = &classes->classes[i];

	if (class->op == GT_CLASS_SEVERAL)
		strcpy(words->op, "several");
	else
		gt_op_format((uint8_t)class->op, words->op);
	write_name(&classes->launch->places, class->place, words->source);
	write_name(&classes->launch->kernels, class->kernel, words->kernel);
}
