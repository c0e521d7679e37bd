/* SPDX-License-Identifier: MIT */
#include "reuse/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream/op.h"
#include "stream/status.h"

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

uint64_t gt_launch_place(const struct gt_launch *launch, const struct gt_referrer *referrer)
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

static const struct gt_split splits[] = {
	{"pc", key_pc, format_pc, true},
	{"line", gt_launch_place, format_line, false},
	{"op", key_op, format_op, false},
	{"status", key_status, format_status, false},
	{"array", key_array, format_array, false},
	{"kernel", key_kernel, format_kernel, false},
};
const char gt_split_names[] = "pc, line, op, status, array or kernel";

const struct gt_split *gt_split_find(const char *name)
{
	for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
		if (strcmp(splits[i].name, name) == 0)
			return &splits[i];
	return NULL;
}
